"""One tile, armed for a number of bytes, and what becomes of the wait: the promise that no transfer keeps.

armed for 32,776 (tile and barrier) ─ 32,768 arrive ─ 8 are missing for ever ─ the deadline passes
"""

from __future__ import annotations

import numpy as np

from tmalab.frontends.programs import cute_common as common
from tmalab.frontends.programs.cute_common import (
    COLS,
    DEADLINE_NS,
    ROWS,
    TILE,
    WARP,
    SmemAllocator,
    bounded_wait,
    cpasync,
    cute,
    cutlass,
)

REPORT = 2 * WARP + 3  # every lane: done, waited ns; then the barrier's and the tile's address, the dynamic bytes


# [kernel]
@cute.kernel
def load_one(
    load_atom: cute.CopyAtom, coordinate_view: cute.Tensor, output: cute.Tensor, report: cute.Tensor,
    shared_layout: cute.ComposedLayout, out_copy: cute.TiledCopy, armed_bytes: cutlass.Constexpr[int],
    copy_elected: cutlass.Constexpr[bool], barrier_first: cutlass.Constexpr[bool],
    tile_alignment: cutlass.Constexpr[int], bounded: cutlass.Constexpr[bool],
):  # fmt: skip
    """Tile (1, 2), and each lane's report of its wait."""
    lane, _, _ = cute.arch.thread_idx()
    shared = SmemAllocator()
    if cutlass.const_expr(barrier_first):
        barrier = shared.allocate_array(cutlass.Int64, 1, byte_alignment=8)
        tile = shared.allocate_tensor(cutlass.Float16, shared_layout, byte_alignment=tile_alignment)
    else:
        tile = shared.allocate_tensor(cutlass.Float16, shared_layout, byte_alignment=tile_alignment)
        barrier = shared.allocate_array(cutlass.Int64, 1, byte_alignment=8)
    # What an earlier launch left in shared memory must not pass for a load's work.
    mine = out_copy.get_slice(lane)
    cute.copy(out_copy, mine.partition_S(cute.local_tile(output, TILE, (0, 0))), mine.partition_D(tile))
    with cute.arch.elect_one():
        cute.arch.mbarrier_init(barrier, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.fence_proxy("async.shared", space="cta")
    cute.arch.barrier()

    chosen = cute.local_tile(coordinate_view, TILE, (1, 2))
    shared_part, global_part = cpasync.tma_partition(
        load_atom, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2), cute.group_modes(chosen, 0, 2)
    )
    with cute.arch.elect_one():
        cute.arch.mbarrier_arrive_and_expect_tx(barrier, armed_bytes)
        if cutlass.const_expr(copy_elected):
            cute.copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier)
    if cutlass.const_expr(not copy_elected):
        cute.copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier)

    began = cute.arch.globaltimer()
    if cutlass.const_expr(bounded):
        done = bounded_wait(barrier, 0, DEADLINE_NS)
    else:
        cute.arch.mbarrier_wait(barrier, 0)
        done = cutlass.Boolean(True)
    waited = cute.arch.globaltimer() - began
    cute.copy(out_copy, mine.partition_S(tile), mine.partition_D(cute.local_tile(output, TILE, (0, 0))))
    report[2 * lane], report[2 * lane + 1] = cutlass.Int64(done), waited
    if lane == 0:
        report[2 * WARP] = cutlass.Int64(barrier.toint())
        report[2 * WARP + 1] = cutlass.Int64(tile.iterator.toint())
        report[2 * WARP + 2] = cutlass.Int64(cute.arch.dynamic_smem_size())


# [/kernel]


@cute.jit
def load_tile(
    source: cute.Tensor, output: cute.Tensor, report: cute.Tensor, armed_bytes: cutlass.Constexpr[int],
    copy_elected: cutlass.Constexpr[bool], barrier_first: cutlass.Constexpr[bool],
    tile_alignment: cutlass.Constexpr[int], bounded: cutlass.Constexpr[bool], shared_bytes: cutlass.Constexpr,
    stream: common.cuda_driver.CUstream,
):  # fmt: skip
    """One block of one warp."""
    shared_layout = common.tile_layout()
    load_atom, coordinate_view = cpasync.make_tiled_tma_atom(
        cpasync.CopyBulkTensorTileG2SOp(), common.row_major(source, ROWS, COLS), shared_layout, TILE
    )
    load_one(
        load_atom, coordinate_view, common.row_major(output, *TILE), report, shared_layout, common.warp_copy(),
        armed_bytes, copy_elected, barrier_first, tile_alignment, bounded,
    ).launch(grid=(1, 1, 1), block=(WARP, 1, 1), smem=shared_bytes, stream=stream)  # fmt: skip


def compile_one(params: dict, options: str = ""):
    """The version that `params` describes; without `shared_bytes` the allocator counts for the launch."""
    arrays = common.matrix(ROWS, COLS), common.matrix(*TILE), common.vector(cutlass.Int64, REPORT)
    return common.compiled(
        load_tile, *arrays, params["armed_bytes"], params.get("copy_elected", False),
        params.get("barrier_first", False), params.get("tile_alignment", 128), params.get("bounded", True),
        params.get("shared_bytes"), options=options,
    )  # fmt: skip


def compile_all(options: str = "") -> dict[str, object]:
    """Armed rightly, for the allocation, with the copy elected twice, and in another order."""
    right = {"armed_bytes": common.TILE_BYTES}
    variants = {"right": {}, "allocation": {"armed_bytes": common.TILE_BYTES + 8}, "elected": {"copy_elected": True}}
    variants |= {"barrier-first": {"barrier_first": True}}
    return {name: compile_one(right | changed, options) for name, changed in variants.items()}


def run(params: dict) -> tuple[dict, dict]:
    """Each of `repeats` launches: which lanes saw the phase complete, their waits, how much of the tile was wrong."""
    import cupy

    launch = compile_one(params)
    source, output = common.pattern(ROWS, COLS), common.unlike(*TILE)
    chosen = source[common.TILE_ROWS :, 2 * common.TILE_COLS :][: common.TILE_ROWS, : common.TILE_COLS]
    reports, differ = [], []
    for _ in range(params.get("repeats", 1)):
        output[...] = common.unlike(*TILE)
        report = cupy.zeros(REPORT, cupy.int64)
        launch(common.given(source), common.given(output), common.given(report), common.stream())
        cupy.cuda.runtime.deviceSynchronize()
        reports.append(report.get())
        differ.append(common.count_differing(cupy.ascontiguousarray(chosen), output))
    seen = np.array(reports)
    lanes = seen[:, : 2 * WARP].reshape(-1, WARP, 2)
    barrier, tile, dynamic = (int(one) for one in seen[-1, 2 * WARP :])
    values = {
        "phase_completed": bool(lanes[:, :, 0].all()), "waited_ns": lanes[:, :, 1].max(axis=1).tolist(),
        "deadline_ns": DEADLINE_NS, "differ": differ, "elements": TILE[0] * TILE[1],
        "barrier_at": barrier, "tile_at": tile, "dynamic_bytes": dynamic,
    }  # fmt: skip
    return values, {"lane_done": lanes[:, :, 0].astype(bool), "lane_waited_ns": lanes[:, :, 1]}
