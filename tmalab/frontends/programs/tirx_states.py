"""Figure 1 by TIRx: a kernel for each swizzle and shared address, the box at each place that the controls reach.

16 x 128 fp16 ─ box at (row, col) ─▶ 3072 bytes of shared memory, 0xCD before, the tile at a multiple of 128
"""

from __future__ import annotations

from tmalab.experiment.catalogue import TILE_BOXES, TILE_COLS, TILE_MEMORY, TILE_ROWS
from tmalab.frontends.programs import tirx_common as common
from tmalab.frontends.programs.tirx_boxes import layout_of
from tmalab.frontends.programs.tirx_common import LOAD, T, bounded_wait

SMEM_BYTES = 3072
MODES = ("none", "32B", "64B", "128B")  # TIRx gives them by number


def kernel_of(swizzle: str, base: int) -> object:
    """The kernel that puts the box at shared address `base`, counted from a 1024-byte aligned start."""
    mode, (columns, rows) = MODES.index(swizzle), TILE_BOXES[swizzle]
    all_rows = SMEM_BYTES // (2 * columns)
    first = base // (2 * columns)  # the row of all shared memory, seen as rows of the box's length
    layout = layout_of((all_rows, columns), "float16", mode)
    load, payload = LOAD.format(2), 2 * columns * rows

    # [kernel]
    @T.function
    def load_at(
        A: T.Tensor((16, 128), "float16", align=16), out: T.Tensor((768,), "uint32", align=16),
        late: T.Tensor((1,), "int32", align=4), row: T.int32, col: T.int32,
    ):  # fmt: skip
        T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32))
        lane = T.cuda.lane_id()
        raw = T.alloc_shared((1536,), "float16", layout="default", align=1024)
        mbar = T.alloc_shared((1,), "uint64", align=8)
        memory = raw.view(all_rows, columns, layout=layout)
        words = raw.view("uint32")
        for i in range(24):
            words[i * 32 + lane] = T.uint32(0xCDCDCDCD)
        if lane == 0:
            T.ptx.mbarrier.init.shared.b64(mbar.ptr_to([0]), T.uint32(1))
            T.ptx.mbarrier.arrive.expect_tx.shared.b64(mbar.ptr_to([0]), T.uint32(payload))
        T.ptx.fence.proxy.async_.shared__cta()
        T.cuda.cta_sync()
        if lane == 0:
            T.cuda.tile.apply(
                T.ptx[load], memory[first : first + rows, :], A,
                box=(rows, columns), coords=(row, col), swizzle=mode, mbar=mbar.ptr_to([0]),
            )  # fmt: skip
        done = bounded_wait(mbar.ptr_to([0]), 0)
        if lane == 0:
            late[0] = late[0] | T.Select(done, 0, 1)
        for i in range(24):
            out[i * 32 + lane] = words[i * 32 + lane]

    # [/kernel]
    return load_at


def compile_all() -> dict[str, object]:
    """The first and the last address, swizzled."""
    return {str(base): common.build(kernel_of("128B", base)) for base in (0, 1024)}


def run(params: dict) -> tuple[dict, dict]:
    """Arrays `smem` [bases, rows, columns, 3072], `descriptors`; values `late`, of any wait, and `runs_differing`."""
    import cupy
    import numpy as np

    from tmalab.experiment.memory import make_bytes

    source = cupy.asarray(make_bytes(TILE_MEMORY)).view(cupy.float16).reshape(16, 128)
    late, found, descriptors, differing = cupy.zeros(1, cupy.int32), [], [], 0
    for base in params["bases"]:
        launch, maps = common.build(kernel_of(params["swizzle"], base)), common.encoded()
        for row in TILE_ROWS:
            for col in TILE_COLS:
                seen = []
                for _ in range(params.get("repeats", 1)):
                    out = cupy.zeros(SMEM_BYTES // 4, cupy.uint32)
                    launch(common.given(source), common.given(out), common.given(late), row, col)
                    cupy.cuda.runtime.deviceSynchronize()
                    seen.append(out.get().view(np.uint8))
                found.append(seen[0])
                differing += sum(not np.array_equal(one, seen[0]) for one in seen)
        descriptors.append(common.rows_of(maps[:1])[0])
    places = (len(params["bases"]), len(TILE_ROWS), len(TILE_COLS), SMEM_BYTES)
    arrays = {"smem": np.stack(found).reshape(places), "descriptors": np.stack(descriptors)}
    return {"late": bool(late.get()[0]), "runs_differing": differing}, arrays
