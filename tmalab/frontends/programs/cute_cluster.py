"""Two CTAs of a cluster want one tile: each loads half of it and the engine delivers both halves to both.

CTA 0: rows  0 … 31 ─┬─▶ CTA 0's tile, rows  0 … 31      armed in each CTA: 32,768 bytes, for what it receives
                     └─▶ CTA 1's tile, rows  0 … 31      mcast_mask 0b11: to both
CTA 1: rows 32 … 63 ──▶ both, rows 32 … 63
"""

from __future__ import annotations

from tmalab.frontends.programs import cute_common as common
from tmalab.frontends.programs.cute_common import (
    COLS,
    DEADLINE_NS,
    ROWS,
    STRIPS,
    TILE,
    TILE_BYTES,
    TILES,
    WARP,
    SmemAllocator,
    bounded_wait,
    cpasync,
    cute,
    cutlass,
)

CTAS = 2


# [kernel]
@cute.kernel
def load_strip(
    load_atom: cute.CopyAtom, coordinate_view: cute.Tensor, output: cute.Tensor, report: cute.Tensor,
    shared_layout: cute.ComposedLayout, out_copy: cute.TiledCopy, multicast: cutlass.Constexpr[bool],
):  # fmt: skip
    """Both CTAs of a cluster bring in strip `cluster` and write it to their own half of the output."""
    lane, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    strip, cta = block // CTAS, cute.arch.make_warp_uniform(cute.arch.block_idx_in_cluster())

    shared = SmemAllocator()
    tile = shared.allocate_tensor(cutlass.Float16, shared_layout, byte_alignment=128)
    barrier = shared.allocate_array(cutlass.Int64, 1, byte_alignment=8)
    with cute.arch.elect_one():
        cute.arch.mbarrier_init(barrier, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.cluster_arrive()  # the other CTA's bytes may come at once: both barriers first
    cute.arch.cluster_wait()

    mine = out_copy.get_slice(lane)
    phase, missed = cutlass.Int32(0), cutlass.Int32(0)
    for column_tile in cutlass.range(TILES, unroll=1):
        chosen = cute.local_tile(coordinate_view, TILE, (strip, column_tile))
        coordinate = cta if cutlass.const_expr(multicast) else 0
        layout = cute.make_layout(CTAS if cutlass.const_expr(multicast) else 1)
        shared_part, global_part = cpasync.tma_partition(
            load_atom, coordinate, layout, cute.group_modes(tile, 0, 2), cute.group_modes(chosen, 0, 2)
        )
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(barrier, TILE_BYTES)
        if cutlass.const_expr(multicast):
            cute.copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier, mcast_mask=cutlass.Int16(0b11))
        else:
            cute.copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier)
        done = bounded_wait(barrier, phase, DEADLINE_NS)
        phase ^= 1
        if not done:
            missed += 1
        target = cute.local_tile(output, TILE, (cta * STRIPS + strip, column_tile))
        cute.copy(out_copy, mine.partition_S(tile), mine.partition_D(target))
        cute.arch.cluster_arrive()  # both have read their tile: the next may overwrite it
        cute.arch.cluster_wait()
    if lane == 0:
        report[block] = missed


# [/kernel]


@cute.jit
def load_strips(
    source: cute.Tensor, output: cute.Tensor, report: cute.Tensor, multicast: cutlass.Constexpr[bool],
    stream: common.cuda_driver.CUstream,
):  # fmt: skip
    """132 clusters of two blocks."""
    shared_layout = common.tile_layout()
    op = cpasync.CopyBulkTensorTileG2SMulticastOp() if multicast else cpasync.CopyBulkTensorTileG2SOp()
    load_atom, coordinate_view = cpasync.make_tiled_tma_atom(
        op, common.row_major(source, ROWS, COLS), shared_layout, TILE, num_multicast=CTAS if multicast else 1
    )
    load_strip(
        load_atom, coordinate_view, common.row_major(output, CTAS * ROWS, COLS), report, shared_layout,
        common.warp_copy(), multicast,
    ).launch(
        grid=(CTAS * STRIPS, 1, 1), block=(WARP, 1, 1), cluster=(CTAS, 1, 1), smem=TILE_BYTES + 8, stream=stream
    )  # fmt: skip


def compile_one(multicast: bool, options: str = ""):
    """With one load for both CTAs, or a load each."""
    matrices = common.matrix(ROWS, COLS), common.matrix(CTAS * ROWS, COLS)
    report = common.vector(cutlass.Int32, CTAS * STRIPS)
    return common.compiled(load_strips, *matrices, report, multicast, options=options)


def compile_all(options: str = "") -> dict[str, object]:
    """Both."""
    return {"multicast": compile_one(True, options), "a load each": compile_one(False, options)}


def run(params: dict) -> tuple[dict, dict]:
    """`differ` of both CTAs' copies, and array `ms` [2, repeats]: with multicast, and with a load each."""
    import cupy
    import numpy as np

    report = cupy.zeros(CTAS * STRIPS, cupy.int32)
    source, output = common.pattern(ROWS, COLS), common.unlike(CTAS * ROWS, COLS)
    taken = common.given(source), common.given(output), common.given(report), common.stream()
    launches, differ, missed = [], [], []
    for multicast in (True, False):
        output.view(cupy.uint16).fill(0xA5A5)
        launches.append(compile_one(multicast))
        launches[-1](*taken)
        cupy.cuda.runtime.deviceSynchronize()
        differ.append(sum(common.count_differing(source, half) for half in (output[:ROWS], output[ROWS:])))
        missed.append(int(report.sum()))
    flush = cupy.zeros(1 << 26, cupy.uint32)
    ms = np.zeros((2, params.get("repeats", 1)), np.float32)
    for repeat in range(ms.shape[1]):
        for index, launch in enumerate(launches):
            flush += 1
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            launch(*taken)
            end.record()
            cupy.cuda.runtime.deviceSynchronize()
            ms[index, repeat] = cupy.cuda.get_elapsed_time(begin, end)
    return {"differ": differ, "missed": missed, "elements": CTAS * ROWS * COLS}, {"ms": ms}
