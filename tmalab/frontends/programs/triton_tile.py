"""The task's tile through Triton: a descriptor made on the host, and one that the kernel makes for itself.

TensorDescriptor(base, [192, 320], [320, 1], [32, 64])      ─▶ launch parameter      load([96, 128])
tl.make_tensor_descriptor(base, shape, strides, block)      ─▶ 128 bytes of global memory, tensormap.replace by field

Triton chooses the swizzle. No function of its language reads shared memory as it lies: two lines of PTX do.
"""

from __future__ import annotations

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tmalab.frontends.driver_watch import maps_in, watch_driver
from tmalab.frontends.programs import tile_common as common

# [kernel]
# Dynamic shared memory begins with the tile: its only load is the kernel's first allocation.
READ = tl.constexpr("{ .reg .b32 at; mov.b32 at, global_smem; add.s32 at, at, $1; ld.shared.b32 $0, [at]; }")
WHERE = tl.constexpr("{ mov.b32 $0, global_smem; add.s32 $0, $0, $1; }")


@triton.jit
def _dump(tile, words, elements, address, box_rows: tl.constexpr, box_cols: tl.constexpr):
    """Shared memory as it lies, 4 bytes a word; then the tile as Triton understands it."""
    at = tl.arange(0, box_rows * box_cols // 2)
    word = tl.inline_asm_elementwise(READ, "=r,r", [at * 4], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(words + at, word)
    zero = tl.inline_asm_elementwise(WHERE, "=r,r", [tl.arange(0, 1)], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(address + tl.arange(0, 1), zero)
    row, col = tl.arange(0, box_rows)[:, None], tl.arange(0, box_cols)[None, :]
    tl.store(elements + row * box_cols + col, tile)


@triton.jit
def host_tile(descriptor, words, elements, address, row, col, box_rows: tl.constexpr, box_cols: tl.constexpr):
    """A descriptor that the host made."""
    tile = descriptor.load([row, col])
    _dump(tile, words, elements, address, box_rows, box_cols)


@triton.jit
def device_tile(base, words, elements, address, rows, cols, row, col, box_rows: tl.constexpr, box_cols: tl.constexpr):
    """A descriptor that the kernel makes."""
    descriptor = tl.make_tensor_descriptor(base, [rows, cols], [cols, 1], [box_rows, box_cols])
    tile = descriptor.load([row, col])
    _dump(tile, words, elements, address, box_rows, box_cols)


# [/kernel]


def compile_only(params: dict) -> str:
    """The PTX for sm_90, made without a GPU."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    rows, cols = params["box"]
    given = {"words": "*i32", "elements": "*fp16", "address": "*i32"}
    where = {"row": "i32", "col": "i32", "box_rows": "constexpr", "box_cols": "constexpr"}
    if params["way"] == "host":
        kernel, signature = host_tile, {"descriptor": f"tensordesc<fp16[{rows}, {cols}]>", **given, **where}
    else:
        kernel, signature = device_tile, {"base": "*fp16", **given, "rows": "i32", "cols": "i32", **where}
    source = ASTSource(kernel, signature=signature, constexprs={"box_rows": rows, "box_cols": cols})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 1}).asm["ptx"]


# [host]
def host_launch(params: dict, source: object, outputs: tuple) -> object:
    """The host's descriptor, handed over as an argument."""
    rows, cols = params["box"]
    descriptor = TensorDescriptor(source, params["shape"], [params["shape"][1], 1], [rows, cols])
    return host_tile[(1,)](descriptor, *outputs, *params["at"], box_rows=rows, box_cols=cols, num_warps=1)


def device_launch(params: dict, source: object, outputs: tuple) -> object:
    """The tensor's pointer and sizes: the kernel makes the descriptor, in memory that it asks the host for."""
    rows, cols = params["box"]
    return device_tile[(1,)](
        source, *outputs, *params["shape"], *params["at"], box_rows=rows, box_cols=cols, num_warps=1
    )


# [/host]


def run(params: dict) -> tuple[dict, dict]:
    """The task's tile by `way` "host" or "device". Array `elements` uint16 is the tile as Triton understands it."""
    import numpy as np
    import torch

    memory = common.memory(params)
    source = torch.from_numpy(memory.view(np.float16)).cuda()
    tile = params["box"]
    words = torch.full((common.tile_bytes(params) // 4,), -1, dtype=torch.int32, device="cuda")
    elements = torch.zeros(tile[0] * tile[1], dtype=torch.float16, device="cuda")
    address = torch.zeros(1, dtype=torch.int32, device="cuda")
    scratch = []

    def allocate(size: int, alignment: int, stream: int | None) -> object:
        scratch.append(torch.zeros(size, dtype=torch.uint8, device="cuda"))
        return scratch[-1]

    triton.set_allocator(allocate)
    launch = host_launch if params["way"] == "host" else device_launch
    try:
        with watch_driver() as seen:
            kernel = launch(params, source, (words, elements, address))
            torch.cuda.synchronize()
    except Exception as error:
        return common.refused(params, error, launch.__name__), {}
    in_memory = [each for buffer in scratch for each in maps_in(buffer.cpu().numpy().tobytes())]
    found = [(each, "launch parameter") for each in seen.descriptors()] or [
        (each, "global memory") for each in in_memory
    ]
    descriptor, captured = found[0] if found else (None, "nothing")
    read = elements.cpu().numpy().view(np.uint16).reshape(tile)
    row, col = params["at"]
    right = memory[row : row + tile[0], col : col + tile[1]]  # less than a tile where the box leaves the tensor
    values = {
        "smem_address": int(address.cpu()[0]), "coords": params["at"][::-1], "captured": captured,
        "given": {"shape": params["shape"], "strides": [params["shape"][1], 1], "box": tile, "at": params["at"]},
        "encode_calls": common.encode_calls(seen.encoded), "watch_missed": seen.missed,
        "ptx": common.transfer_lines(kernel.asm["ptx"]), "exposes": exposes(), **common.installed("triton"),
        "raised": None, "driver_answer": common.driver_answer(params),
        "elements_differing": int((read[: right.shape[0], : right.shape[1]] != right).sum()),
    }  # fmt: skip
    arrays = {"smem": words.cpu().numpy().view(np.uint8)}
    return values, {**arrays, **(common.descriptor_arrays(descriptor) if descriptor else {})}


def exposes() -> dict:
    """What the parameters and methods of Triton's descriptors name."""
    methods = tl.core.tensor_descriptor_base
    made = [("TensorDescriptor", TensorDescriptor), ("tl.make_tensor_descriptor", tl.make_tensor_descriptor)]
    moved = [("descriptor.load", methods.load), ("descriptor.store", methods.store), ("tensor_descriptor", methods)]
    sought = {
        "swizzle": (made, "swizzle"), "element_strides": (made, "element_stride|traversal"), "fill": (made, "pad|fill"),
        "l2_promotion": (made, "l2|promotion"), "im2col": (made + moved, "im2col|corner"),
        "multicast": (made + moved, "multicast|cta|cluster"), "reductions": (moved, "atomic|reduce"),
        "prefetch": (moved, "prefetch"),
    }  # fmt: skip
    return common.exposed({name: [(*place, word) for place in places] for name, (places, word) in sought.items()})
