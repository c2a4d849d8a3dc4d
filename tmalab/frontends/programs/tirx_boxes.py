"""Boxes that `T.cuda.tile.apply` loads: any element type, swizzle, steps and repeats; shared memory as it was left.

(*repeat, *box) in shared memory  ◀─ one instruction a repeat ─  coords + repeat · coord_steps, outermost first
"""

from __future__ import annotations

from itertools import product
from math import prod

from tmalab.frontends.programs import tirx_common as common
from tmalab.frontends.programs.tirx_common import LOAD, T, bounded_wait

BITS = {"uint8": 8, "int8": 8, "uint16": 16, "float16": 16, "uint32": 32, "float32": 32, "float4_e2m1fn": 4}


def image_of(params: dict) -> tuple[int, ...]:
    """The shape that one box has in shared memory: an element stride leaves out what it skips."""
    strides = params.get("fields", {}).get("element_strides", [1] * len(params["box"]))
    image = [-(-extent // stride) for extent, stride in zip(params["box"], strides, strict=True)]
    if slices := params.get("fields", {}).get("interleave", 0):  # one slice of channels a load, innermost
        image[1:2], image[len(image) :] = [1], [16 * slices * 8 // BITS[params["dtype"]]]
    return tuple(image)


def layout_of(shape: tuple[int, ...], dtype: str, swizzle: int) -> object:
    """Row-major, and under a swizzle the layout that the engine's XOR gives: chunks of 16 bytes, three bits up."""
    if dtype == "float4_e2m1fn":  # sixteen packed numbers in eight bytes, then eight bytes that are nobody's
        rows, columns = shape
        return T.TileLayout(T.S[(rows, columns // 16, 16) : (2 * columns, 32, 1)])
    plain = T.TileLayout(T.S[shape])
    elements_a_chunk = 128 // BITS[dtype]
    return T.ComposeLayout(elements_a_chunk.bit_length() - 1, swizzle, 3, plain) if swizzle else plain


def kernel_of(params: dict) -> object:
    """The kernel for `params`: loads its boxes with one `apply`, waits, copies the bytes out as they lie."""
    dtype, shape, box, at = params["dtype"], tuple(params["shape"]), tuple(params["box"]), tuple(params["at"])
    repeats, steps = tuple(params.get("repeat", ())), tuple(map(tuple, params.get("steps", ())))
    fields = {name: tuple(one) if isinstance(one, list) else one for name, one in params.get("fields", {}).items()}
    image = (*repeats, *image_of(params))
    layout = layout_of(image, dtype, params.get("shared_swizzle", fields.get("swizzle", 0)))
    stored, stored_dtype = tuple(params.get("stored", shape)), params.get("stored_dtype", dtype)
    payload = prod(image) * BITS[dtype] // 8
    elements = prod(image) * (2 if dtype == "float4_e2m1fn" else 1)
    words = elements * BITS[dtype] // 32
    load = LOAD.format(len(box))

    def seen(tensor: object) -> object:
        tensor = tensor if stored_dtype == dtype else tensor.view(dtype)
        return (
            tensor.view(*shape, layout=T.TileLayout(T.S[shape : tuple(params["strides"])]))
            if "strides" in params
            else tensor
        )

    # [kernel]
    @T.function
    def load_boxes(
        stored_at: T.Tensor(stored, stored_dtype, align=32), out: T.Tensor((words,), "uint32", align=16),
        late: T.Tensor((1,), "int32", align=4),
    ):  # fmt: skip
        source = seen(stored_at)  # before device_entry: the launcher encodes the map of what is seen here
        T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32))
        lane = T.cuda.lane_id()
        raw = T.alloc_shared((elements,), dtype, layout="default", align=1024)
        mbar = T.alloc_shared((1,), "uint64", align=8)
        tile = raw.view(*image, layout=layout)
        as_words = raw.view("uint32")
        if lane == 0:
            T.ptx.mbarrier.init.shared.b64(mbar.ptr_to([0]), T.uint32(1))
            T.ptx.mbarrier.arrive.expect_tx.shared.b64(mbar.ptr_to([0]), T.uint32(payload))
        T.ptx.fence.proxy.async_.shared__cta()
        T.cuda.cta_sync()
        if lane == 0:
            T.cuda.tile.apply(
                T.ptx[load], tile, source, box=box, coords=at, coord_steps=steps, mbar=mbar.ptr_to([0]), **fields
            )
        done = bounded_wait(mbar.ptr_to([0]), 0)
        if lane == 0:
            late[0] = T.Select(done, 0, 1)
        for i in range((words + 31) // 32):
            if i * 32 + lane < words:
                out[i * 32 + lane] = as_words[i * 32 + lane]

    # [/kernel]
    return load_boxes


def compile_all() -> dict[str, object]:
    """One plain box, boxes in a row, a swizzle."""
    plain = {"dtype": "uint16", "shape": [16, 128], "box": [8, 64], "at": [0, 0]}
    row = plain | {"repeat": [2], "steps": [[0, 64]], "fields": {"swizzle": 3}}
    return {name: common.build(kernel_of(params)) for name, params in (("plain", plain), ("row", row))}


def coordinates(params: dict) -> list[list[int]]:
    """Where each repeat's box begins, outermost first, in the order in which they lie in shared memory."""
    repeats, steps = params.get("repeat", []), params.get("steps", [])
    return [
        [at + sum(n * step[i] for n, step in zip(number, steps, strict=True)) for i, at in enumerate(params["at"])]
        for number in product(*map(range, repeats))
    ]


def run(params: dict) -> tuple[dict, dict]:
    """Array `smem`, the bytes of all boxes; `descriptor`; values `late`, `told`, `given`. Or `raised`, by whom."""
    try:
        executable = common.build(kernel_of(params))
    except Exception as error:  # the front end's own, of any kind: its text is what is asked for
        return {"raised": common.said(error), "by": "the front end"}, {}
    maps = common.encoded()
    values = {"told": common.told(executable), "coordinates": coordinates(params)}
    try:
        smem, late = launch(executable, params)
    except Exception as error:
        return values | {"raised": common.said(error), "by": "the launcher"}, {}
    values |= {"late": late, "given": [one["given"] for one in maps[:1]]}
    return values, {"smem": smem, "descriptor": common.rows_of(maps[:1])[0]}


def launch(executable: object, params: dict) -> tuple[object, bool]:
    """The bytes that one launch left, and whether the wait met its deadline. The last of `repeats`."""
    import cupy

    from tmalab.experiment.memory import make_bytes

    dtype, shape = params.get("stored_dtype", params["dtype"]), params.get("stored", params["shape"])
    source = cupy.asarray(make_bytes(params["memory"]))
    source = source[: prod(shape) * BITS[dtype] // 8].view(dtype).reshape(shape)
    bits = 8 if params["dtype"] == "float4_e2m1fn" else BITS[params["dtype"]]
    words = prod(params.get("repeat", [])) * prod(image_of(params)) * bits // 32
    late = cupy.zeros(1, cupy.int32)
    for _ in range(params.get("repeats", 2)):
        out = cupy.full(words, 0xA5A5A5A5, cupy.uint32)
        executable(common.given(source), common.given(out), common.given(late))
        cupy.cuda.runtime.deviceSynchronize()
    import numpy as np

    return out.get().view(np.uint8), bool(late.get()[0])
