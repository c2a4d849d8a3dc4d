"""The task's tile through numba-cuda, which has no word for it: the kernel is Python, each instruction a line of PTX.

way "argument"   cuda.core's TensorMapDescriptor as a kernel's argument: numba knows no type for it
way "inline"     the descriptor in global memory, its address a number; ptx("…", "constraints", (…)) is an intrinsic
"""

from __future__ import annotations

import re

import numpy as np

if not hasattr(np, "row_stack"):  # gone since numpy 2.5; numba-cuda 0.30 names it when it compiles
    np.row_stack = np.vstack
from llvmlite import ir
from numba import cuda, types

try:
    from numba.cuda.extending import intrinsic
except ImportError:  # an older numba-cuda leaves it to numba
    from numba.core.extending import intrinsic

from tmalab.frontends.driver_watch import watch_driver
from tmalab.frontends.programs import tile_common as common

THREADS, TRIES = 128, 100_000


# [ptx]
@intrinsic
def ptx(typing_context, text, constraints, arguments):
    """Inline PTX with a 32-bit result: what LLVM calls an asm with side effects."""
    if not isinstance(text, types.StringLiteral) or not isinstance(constraints, types.StringLiteral):
        return None  # numba asks again, with literal types
    signature = types.int32(text, constraints, arguments)

    def generate(context, builder, signature, given):
        kinds = [context.get_value_type(kind) for kind in signature.args[2].types]
        values = [builder.extract_value(given[2], at) for at in range(len(kinds))]
        words = [signature.args[at].literal_value for at in range(2)]
        asm = ir.InlineAsm(ir.FunctionType(ir.IntType(32), kinds), *words, side_effect=True)
        return builder.call(asm, values)

    return signature, generate


# [/ptx]


# [kernel]
@cuda.jit
def inline_tile(tensor_map, row, col, size, out, report):
    """Dynamic shared memory: the tile at its start, the barrier behind it."""
    shared = cuda.shared.array(0, np.uint8)
    tile = ptx(
        "{ .reg .u64 at; cvta.to.shared.u64 at, $1; cvt.u32.u64 $0, at; }", "=r,l", (np.int64(shared.ctypes.data),)
    )
    bar = np.int32(tile + size)
    if cuda.threadIdx.x == 0:
        ptx("mbarrier.init.shared::cta.b64 [$1], 1; mov.b32 $0, 0;", "=r,r,~{memory}", (bar,))
        ptx("fence.mbarrier_init.release.cluster; mov.b32 $0, $1;", "=r,r,~{memory}", (bar,))
        ptx("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$1], $2; mov.b32 $0, 0;", "=r,r,r,~{memory}", (bar, size))
        ptx(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            " [$1], [$2, {$3, $4}], [$5]; mov.b32 $0, 0;",
            "=r,r,l,r,r,r,~{memory}", (tile, tensor_map, col, row, bar),
        )  # fmt: skip
    cuda.syncthreads()
    done, tries = 0, 0
    while done == 0 and tries < TRIES:  # each try sleeps for a while of its own
        done = ptx(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [$1], 0; selp.u32 $0, 1, 0, p; }",
            "=r,r,~{memory}", (bar,),
        )  # fmt: skip
        tries += 1
    for at in range(cuda.threadIdx.x, size, cuda.blockDim.x):
        out[at] = shared[at]
    report[0], report[1] = tile, done


# [/kernel]


# [argument]
@cuda.jit
def argument_tile(tensor_map, out):
    """As far as a kernel gets with a descriptor for an argument."""
    out[0] = 1


# [/argument]
_NUMBERS = (types.int32, types.int32, types.int32)


def compile_only(params: dict) -> str:
    """The PTX, made without a GPU."""
    arrays = (types.Array(types.uint8, 1, "C"), types.Array(types.int32, 1, "C"))
    return cuda.compile_ptx(inline_tile.py_func, (types.int64, *_NUMBERS, *arrays), cc=(9, 0))[0]


# [host]
def tensor_map(params: dict, source: object) -> bytes:
    """The descriptor is the driver's own: numba makes none."""
    from tmalab.model.tensor_map import TensorMap

    fields = common.task_map(params).to_dict()
    return common.encoded(TensorMap.from_dict({**fields, "address": source.data.ptr}))


def launch(params: dict, descriptor: object, out: object, report: object) -> None:
    """`descriptor`: 128 bytes on the GPU. The address goes over as an int64."""
    row, col = params["at"]
    size = common.tile_bytes(params)
    numbers = np.int64(descriptor.data.ptr), np.int32(row), np.int32(col), np.int32(size)
    inline_tile[1, THREADS, 0, size + 8](*numbers, out, report)


# [/host]


def run(params: dict) -> tuple[dict, dict]:
    """The task's tile by `way` "inline", or what numba says of a descriptor by `way` "argument"."""
    import cupy

    source = common.cupy_memory(params)
    out, report = common.cupy_output(common.tile_bytes(params)), cupy.zeros(2, cupy.int32)
    if params["way"] == "argument":
        return _argument(params, source, out)
    with watch_driver() as seen:
        encoded = tensor_map(params, source)
        descriptor = cupy.asarray(np.frombuffer(encoded, np.uint8))
        cupy.cuda.Device().synchronize()
        launch(params, descriptor, cuda.as_cuda_array(out), cuda.as_cuda_array(report))
        cuda.synchronize()
    address, done = report.get().tolist()
    values = {
        "smem_address": address, "coords": params["at"][::-1], "late": not done, "captured": "global memory",
        "given": {}, "encode_calls": common.encode_calls(seen.encoded), "watch_missed": seen.missed,
        "ptx": common.transfer_lines(compile_only(params)), "exposes": exposes(),
        **common.installed("numba-cuda", "numba", "llvmlite"), "raised": None,
        "driver_answer": common.driver_answer(params),
    }  # fmt: skip
    return values, {"smem": out.get(), **common.descriptor_arrays(descriptor.get().tobytes())}


def _argument(params: dict, source: object, out: object) -> tuple[dict, dict]:
    from cuda.core import Device

    from tmalab.frontends.programs import cudacore_tile

    Device().set_current()
    descriptor = cudacore_tile.tensor_map(params, source)
    try:
        argument_tile[1, 1](descriptor, cuda.as_cuda_array(out))
    except Exception as error:
        error.args = (re.sub(r"\x1b\[\d*m", "", str(error)),)  # numba colours what it says
        told = {**common.installed("numba-cuda", "numba", "llvmlite"), "exposes": exposes()}
        return {**told, **common.refused(params, error, "argument_tile[1, 1](descriptor, …)")}, {}
    return {"raised": None, "driver_answer": common.driver_answer(params)}, {}


def exposes() -> dict:
    """Nothing that numba.cuda, its shared arrays or its atomics name is about a bulk copy."""
    places = [("numba.cuda", cuda), ("cuda.shared", cuda.shared), ("cuda.atomic", cuda.atomic)]
    words = {
        "swizzle": "swizzle|tensor_map", "element_strides": "element_strides|tensor_map", "fill": "oob|tensor_map",
        "l2_promotion": "promotion", "im2col": "im2col", "multicast": "multicast", "reductions": "cp_reduce|bulk",
        "prefetch": "prefetch",
    }  # fmt: skip
    return common.exposed({name: [(*place, word) for place in places] for name, word in words.items()})
