"""The task's tile through Pallas Mosaic GPU: the swizzle is a transform of the reference in shared memory.

SMEM((32, 64), float16, transforms=(TilingTransform((8, 64)), SwizzleTransform(128)))
copy_gmem_to_smem(source.at[pl.ds(96, 32), pl.ds(128, 64)], tile, barrier)

The tiling makes four dimensions of the two: 24 x 5 tiles of 8 x 64. The runtime has the driver encode that map.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

# Read by the compiler in jaxlib when it compiles: where it leaves the PTX. And JAX shall not take the whole GPU.
os.environ.setdefault("MOSAIC_GPU_DUMP_TO", tempfile.mkdtemp(prefix="tmalab-pallas-"))
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.mosaic.gpu import utils
from jax.experimental.pallas import mosaic_gpu as plgpu
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import llvm, memref

from tmalab.frontends.driver_watch import watch_driver
from tmalab.frontends.programs import tile_common as common

DUMP = Path(os.environ["MOSAIC_GPU_DUMP_TO"])
SWIZZLE_BYTES = {"128B": 128, "64B": 64, "32B": 32}


def transforms(params: dict) -> tuple:
    """What makes a reference swizzled: tiles of 8 rows as wide as the swizzle's span or, where less, as the box."""
    span = SWIZZLE_BYTES.get(params["swizzle"])
    if span is None:
        return ()
    rows, cols = params["box"]
    return plgpu.TilingTransform((min(8, rows), min(span // 2, cols))), plgpu.SwizzleTransform(span)


def program(params: dict) -> object:
    """The kernel for the task's sizes."""
    (rows, cols), (row, col) = params["box"], params["at"]

    # [kernel]
    def load_tile(source, words, address, both, barrier):
        tile, raw = both
        chosen = source.at[pl.ds(row, rows), pl.ds(col, cols)]
        plgpu.copy_gmem_to_smem(chosen, tile, barrier)
        plgpu.barrier_wait(barrier)
        words[...] = raw[...]  # the same memory, through a reference without transforms
        note_address(raw, address)

    # [/kernel]

    tile = plgpu.SMEM((rows, cols), jnp.float16, transforms=transforms(params))
    return plgpu.kernel(
        load_tile,
        out_type=(jax.ShapeDtypeStruct((rows * cols,), jnp.uint16), jax.ShapeDtypeStruct((1,), jnp.int32)),
        scratch_types={
            "both": plgpu.RefUnion(tile, plgpu.SMEM((rows * cols,), jnp.uint16)), "barrier": plgpu.Barrier(),
        },
    )  # fmt: skip


@plgpu.inline_mgpu(arg_types=(plgpu.RefType(), plgpu.RefType()))
def note_address(context, raw, address):
    """Where the tile begins in shared memory: Pallas has no word for it, the language below has."""
    at = llvm.ptrtoint(ir.IntegerType.get_signless(32), utils.memref_ptr(raw))
    memref.store(at, address, [utils.c(0, ir.IndexType.get())])


def lower_only(params: dict) -> str:
    """The module that jaxlib gets, made without a GPU; what makes PTX of it is in the plugin, and wants one."""
    source = jax.ShapeDtypeStruct(params["shape"], jnp.float16)
    return jax.jit(program(params)).trace(source).lower(lowering_platforms=("cuda",)).as_text()


def run(params: dict) -> tuple[dict, dict]:
    """The task's tile."""
    import numpy as np

    source = jnp.asarray(common.memory(params).view(np.float16))
    before = set(DUMP.rglob("*.ptx"))
    try:
        # [host]
        load = jax.jit(program(params))
        with watch_driver() as seen:
            words, address = jax.block_until_ready(load(source))
        # [/host]
    except Exception as error:
        return common.refused(params, error, "Pallas"), {}
    made = sorted(set(DUMP.rglob("*.ptx")) - before)
    ptx = "\n".join(path.read_text() for path in made)
    call = seen.encoded[0]
    parameters = seen.descriptors()
    values = {
        "smem_address": int(np.asarray(address)[0]), "coords": coords(params, call),
        "captured": "launch parameter" if parameters else "cuTensorMapEncodeTiled",
        "given": {"shape": params["shape"], "box": params["box"], "at": params["at"]},
        "encode_calls": common.encode_calls(seen.encoded), "watch_missed": seen.missed,
        "ptx": common.transfer_lines(ptx), "exposes": exposes(),
        **common.installed("jax", "jaxlib", "jax-cuda13-plugin", "jax-cuda13-pjrt", folders=[jax]), "raised": None,
        "driver_answer": common.driver_answer(params),
    }  # fmt: skip
    smem = np.asarray(words).view(np.uint8)
    return values, {"smem": smem, **common.descriptor_arrays(parameters[0] if parameters else call["bytes"])}


def coords(params: dict, call: dict) -> list[int]:
    """The task's corner in the map's own dimensions, innermost first: with tiles, where in a tile and which tile."""
    row, col = params["at"]
    if call["rank"] == 2:
        return [col, row]
    wide, high = call["global_dim"][:2]
    return [col % wide, row % high, col // wide, row // high]


def exposes() -> dict:
    """What the copies of Pallas and its kinds of reference name."""
    load = [("copy_gmem_to_smem", plgpu.copy_gmem_to_smem)]
    store = [("copy_smem_to_gmem", plgpu.copy_smem_to_gmem)]
    sought = {
        "swizzle": ([("mosaic_gpu", plgpu)], "^SwizzleTransform"), "element_strides": (load, "stride|step"),
        "fill": (load, "oob|fill|pad"), "l2_promotion": ([*load, *store], "l2|promotion"),
        "im2col": ([("mosaic_gpu", plgpu)], "im2col"), "multicast": (load, "collective_axes|multicast"),
        "reductions": (store, "reduc"), "prefetch": ([("mosaic_gpu", plgpu)], "prefetch"),
    }  # fmt: skip
    return common.exposed({name: [(*place, word) for place in places] for name, (places, word) in sought.items()})
