"""Stores and reductions by `T.cuda.tile.apply`: bytes are put into shared memory as they are, then one box goes out.

smem ─ fence.proxy.async ─ cp(.reduce).async.bulk.tensor… ─ commit_group ─ wait_group 0 ─▶ global memory, all of it seen
"""

from __future__ import annotations

from math import prod

from tmalab.frontends.programs import tirx_common as common
from tmalab.frontends.programs.tirx_boxes import BITS, layout_of
from tmalab.frontends.programs.tirx_common import REDUCE, STORE, T


def kernel_of(params: dict) -> object:
    """The kernel: a box of shared memory is stored, or combined by `op`; `format` is the element type of the map."""
    dtype, shape, box, at = params["dtype"], tuple(params["shape"]), tuple(params["box"]), tuple(params["at"])
    fields = dict(params.get("fields", {}))
    elements = prod(box)
    words = elements * BITS[dtype] // 32
    layout = layout_of(box, dtype, fields.get("swizzle", 0))
    op = params.get("op")
    send = REDUCE.format(len(box), op) if op else STORE.format(len(box))

    # [kernel]
    @T.function
    def send_box(B: T.Tensor(shape, dtype, align=16), smem: T.Tensor((words,), "uint32", align=16)):
        T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32))
        lane = T.cuda.lane_id()
        raw = T.alloc_shared((elements,), dtype, layout="default", align=1024)
        tile = raw.view(*box, layout=layout)
        as_words = raw.view("uint32")
        for i in range((words + 31) // 32):
            if i * 32 + lane < words:
                as_words[i * 32 + lane] = smem[i * 32 + lane]
        T.ptx.fence.proxy.async_.shared__cta()
        T.cuda.cta_sync()
        if lane == 0:
            T.cuda.tile.apply(T.ptx[send], B, tile, box=box, coords=at, **fields)
            T.ptx.cp.async_.bulk.commit_group()
            T.ptx.cp.async_.bulk.wait_group(0)

    # [/kernel]
    return send_box


def compile_all() -> dict[str, object]:
    """A store and a reduction."""
    store = {"dtype": "uint32", "shape": [32, 32], "box": [8, 16], "at": [0, 0]}
    return {name: common.build(kernel_of(store | more)) for name, more in (("store", {}), ("add", {"op": "add"}))}


def run(params: dict) -> tuple[dict, dict]:
    """Arrays `memory`, all of the tensor after the first run, `descriptor`; `runs_differing`. Or `raised`, by whom."""
    import cupy
    import numpy as np

    from tmalab.experiment.memory import make_bytes

    try:
        executable = common.build(kernel_of(params))
    except Exception as error:  # the front end's own, of any kind: its text is what is asked for
        return {"raised": common.said(error), "by": "the front end"}, {}
    maps, dtype, seen = common.encoded(), params["dtype"], []
    for _ in range(params.get("repeats", 1)):
        memory = cupy.asarray(make_bytes(params["memory"])).view(dtype).reshape(params["shape"])
        smem = cupy.asarray(make_bytes(params["smem"])).view(cupy.uint32)
        executable(common.given(memory), common.given(smem))
        cupy.cuda.runtime.deviceSynchronize()
        seen.append(memory.get().view(np.uint8).ravel())
    values = {
        "told": common.told(executable), "given": [one["given"] for one in maps[:1]],
        "runs_differing": sum(not np.array_equal(one, seen[0]) for one in seen),
    }  # fmt: skip
    return values, {"memory": seen[0], "descriptor": common.rows_of(maps[:1])[0]}
