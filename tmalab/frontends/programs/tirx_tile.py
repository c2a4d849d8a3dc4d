"""The task's tile through TIRx: `T.cuda.tile.apply` from a tensor and a box, or from a map that the launcher encodes.

A, box=(32, 64), coords=(96, 128), swizzle=3     outermost first     ─▶ cuTensorMapEncodeTiled, launch parameter

The shared tensor's layout must be what the swizzle makes of it, and TIRx proves that it is; a flat view of the same
memory reads the bytes as they lie.
"""

from __future__ import annotations

from tmalab.frontends.driver_watch import watch_driver
from tmalab.frontends.programs import tile_common as common
from tmalab.frontends.programs import tirx_common as tirx
from tmalab.frontends.programs.tirx_boxes import layout_of
from tmalab.frontends.programs.tirx_common import LOAD, T, bounded_wait

SWIZZLES = ("none", "32B", "64B", "128B")
WHERE = "__device__ __forceinline__ unsigned address_of(void* at) { return (unsigned)__cvta_generic_to_shared(at); }"


def kernel_of(params: dict) -> object:
    """The kernel for the task; `way` is "default", a tensor and a box, or "own map"."""
    shape, box, at = (tuple(params[name]) for name in ("shape", "box", "at"))
    (rows, cols), (box_rows, box_cols) = shape, box
    swizzle, own = SWIZZLES.index(params["swizzle"]), params["way"] == "own map"
    layout, load, payload = layout_of(box, "float16", swizzle), LOAD.format(2), 2 * box_rows * box_cols
    words = payload // 4

    # [kernel]
    @T.function
    def load_tile(
        A: T.Tensor(shape, "float16", align=16), smem: T.Tensor((words,), "uint32", align=16),
        elements: T.Tensor(box, "float16", align=16), report: T.Tensor((2,), "uint32", align=4),
    ):  # fmt: skip
        if T.constexpr(own):
            own_map: T.let = T.stack_alloca("tensormap", 1)
            T.cuda.tensormap_encode_tiled(
                own_map, A.ptr_to([0, 0]), cols, rows, 2 * cols, box_cols, box_rows, 1, 1,
                descriptor_dtype="float16", rank=2, swizzle=swizzle,
            )  # fmt: skip
        T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32))
        lane = T.cuda.lane_id()
        raw = T.alloc_shared((box_rows * box_cols,), "float16", layout="default", align=1024)
        mbar = T.alloc_shared((1,), "uint64", align=8)
        tile = raw.view(*box, layout=layout)
        as_words = raw.view("uint32")
        if lane == 0:
            T.ptx.mbarrier.init.shared.b64(mbar.ptr_to([0]), T.uint32(1))
            T.ptx.mbarrier.arrive.expect_tx.shared.b64(mbar.ptr_to([0]), T.uint32(payload))
        T.ptx.fence.proxy.async_.shared__cta()
        T.cuda.cta_sync()
        if lane == 0:
            source = T.address_of(own_map) if T.constexpr(own) else A
            T.cuda.tile.apply(T.ptx[load], tile, source, box=box, coords=at, swizzle=swizzle, mbar=mbar.ptr_to([0]))
        done = bounded_wait(mbar.ptr_to([0]), 0)
        if lane == 0:
            report[0] = T.cuda.func_call("address_of", raw.ptr_to([0]), WHERE, ty="uint32")
            report[1] = T.Select(done, T.uint32(0), T.uint32(1))
        for i in range(words // 32):
            smem[i * 32 + lane] = as_words[i * 32 + lane]
        for i in range(box_rows * box_cols // 32):
            at_row, at_col = (i * 32 + lane) // box_cols, (i * 32 + lane) % box_cols
            elements[at_row, at_col] = tile[at_row, at_col]

    # [/kernel]
    return load_tile


def compile_only(params: dict) -> str:
    """The PTX for sm_90a, made without a GPU."""
    return tirx.ptx_of(tirx.cuda_source(tirx.build(kernel_of(params))))


def compile_all() -> dict[str, object]:
    """Both ways."""
    task = {"shape": [192, 320], "box": [32, 64], "at": [96, 128], "swizzle": "128B"}
    return {way: tirx.build(kernel_of({**task, "way": way})) for way in ("default", "own map")}


# [host]
def launch(executable: object, *arrays: object) -> None:
    """The launcher encodes the map from the tensor that it is given, and passes it to the kernel as a parameter."""
    executable(*map(tirx.given, arrays))


# [/host]


def run(params: dict) -> tuple[dict, dict]:
    """The task's tile. Array `elements` uint16 is the tile as TIRx's layout understands it."""
    import cupy
    import numpy as np

    try:
        executable = tirx.build(kernel_of(params))
    except Exception as error:
        return common.refused(params, error, "tvm_tirx.tirx.compile"), {}
    source = common.cupy_memory(params)
    smem = common.cupy_output(common.tile_bytes(params)).view(cupy.uint32)
    elements, report = cupy.zeros(params["box"], cupy.float16), cupy.zeros(2, cupy.uint32)
    try:
        with watch_driver() as seen:
            launch(executable, source, smem, elements, report)
            cupy.cuda.runtime.deviceSynchronize()
    except Exception as error:
        return common.refused(params, error, "launch"), {}
    address, late = (int(one) for one in report.get())
    (row, col), (rows, cols) = params["at"], params["box"]
    found = elements.get().view(np.uint16)
    maps = seen.descriptors() or [call["bytes"] for call in seen.encoded if call["answer"] == 0]
    values = {
        "smem_address": address, "late": bool(late), "coords": params["at"][::-1],
        "captured": "launch parameter" if seen.descriptors() else "cuTensorMapEncodeTiled" if maps else "nothing",
        "given": {"strides": [params["shape"][1], 1], **{name: params[name] for name in ("shape", "box", "at")}},
        "encode_calls": common.encode_calls(seen.encoded), "watch_missed": seen.missed,
        "ptx": common.transfer_lines(tirx.ptx_of(tirx.cuda_source(executable))), "exposes": exposes(),
        **common.installed("apache-tvm-tirx", "apache-tvm-ffi", "apache-tvm-ffi-orcjit", folders=[tirx.tvm_tirx]),
        "raised": None, "driver_answer": common.driver_answer(params),
        "elements_differing": int((found != common.memory(params)[row : row + rows, col : col + cols]).sum()),
    }  # fmt: skip
    arrays = {"smem": smem.get().view(np.uint8)}
    return values, {**arrays, **(common.descriptor_arrays(maps[0]) if maps else {})}


def exposes() -> dict:
    """What the TMA pattern's own parameters, the encoding call and the table of instructions name."""
    from tvm_tirx.backend.cuda.tile.patterns import tma

    pattern = [("tile.apply", tma.__doc__)]
    encode = [("tensormap_encode_tiled", T.cuda.TensorMapEncodeTiledAttr)]
    instructions = [("T.ptx", instruction_words())]
    sought = {
        "swizzle": (pattern + encode, "^swizzle"), "element_strides": (pattern, "element_strides"),
        "fill": (pattern + encode, "oob_fill"), "l2_promotion": (pattern + encode, "l2_promotion"),
        "im2col": (pattern + instructions, "^cp_async_bulk_tensor_g2s_.*im2col:im2col$"),
        "multicast": (pattern + instructions, "^cp_async_bulk_tensor_g2s_cluster:multicast"),
        "reductions": (pattern + instructions, "^cp_reduce_async_bulk_tensor:(add|min|max|inc|dec|and|or|xor)$"),
        "prefetch": (pattern + instructions, "^cp_async_bulk_tensor_prefetch:tile$"),
    }  # fmt: skip
    return common.exposed({name: [(*place, word) for place in places] for name, (places, word) in sought.items()})


def instruction_words() -> str:
    """The package's table of instructions: `name:modifier` for each modifier that one may have."""
    from tvm_tirx.backend.cuda.ptx import TABLE

    return " ".join(
        f"{name}:{value}" for name, entry in TABLE.items() for slot in entry.slots for value in slot.choices
    )
