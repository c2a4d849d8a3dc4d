"""Four warps a block: the initialisation, the arming and the copy done once, or once a warp as elect_one has it.

guarded      warp 0 alone: init(1)   arm 32,768   load once    all four wait and copy out 16 rows each
as it was    every warp:   init(1)   arm 32,768   load         four arrivals on a barrier that awaits one
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

WARPS = 4


# [kernel]
@cute.kernel
def load_strip(
    load_atom: cute.CopyAtom, coordinate_view: cute.Tensor, output: cute.Tensor, report: cute.Tensor,
    shared_layout: cute.ComposedLayout, out_copy: cute.TiledCopy, guarded: cutlass.Constexpr[bool],
):  # fmt: skip
    """One block of four warps, one strip."""
    thread, _, _ = cute.arch.thread_idx()
    row_block, _, _ = cute.arch.block_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    issuing = warp == 0 if cutlass.const_expr(guarded) else warp >= 0

    shared = SmemAllocator()
    tile = shared.allocate_tensor(cutlass.Float16, shared_layout, byte_alignment=128)
    barrier = shared.allocate_array(cutlass.Int64, 1, byte_alignment=8)
    if issuing:
        with cute.arch.elect_one():
            cute.arch.mbarrier_init(barrier, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.barrier()

    mine = out_copy.get_slice(thread)
    phase, missed = cutlass.Int32(0), cutlass.Int32(0)
    for column_tile in cutlass.range(TILES, unroll=1):
        chosen = cute.local_tile(coordinate_view, TILE, (row_block, column_tile))
        shared_part, global_part = cpasync.tma_partition(
            load_atom, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2), cute.group_modes(chosen, 0, 2)
        )
        if issuing:
            with cute.arch.elect_one():
                cute.arch.mbarrier_arrive_and_expect_tx(barrier, TILE_BYTES)
            cute.copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier)
        done = bounded_wait(barrier, phase, DEADLINE_NS)
        phase ^= 1
        if not done:
            missed += 1
        target = cute.local_tile(output, TILE, (row_block, column_tile))
        cute.copy(out_copy, mine.partition_S(tile), mine.partition_D(target))
        cute.arch.barrier()
    if thread == 0:
        report[row_block] = missed


# [/kernel]


@cute.jit
def load_strips(
    source: cute.Tensor, output: cute.Tensor, report: cute.Tensor, guarded: cutlass.Constexpr[bool],
    stream: common.cuda_driver.CUstream,
):  # fmt: skip
    """132 blocks of four warps."""
    shared_layout = common.tile_layout()
    load_atom, coordinate_view = cpasync.make_tiled_tma_atom(
        cpasync.CopyBulkTensorTileG2SOp(), common.row_major(source, ROWS, COLS), shared_layout, TILE
    )
    load_strip(
        load_atom, coordinate_view, common.row_major(output, ROWS, COLS), report, shared_layout,
        common.warp_copy(WARPS * WARP), guarded,
    ).launch(grid=(STRIPS, 1, 1), block=(WARPS * WARP, 1, 1), smem=TILE_BYTES + 8, stream=stream)  # fmt: skip


def compile_one(guarded: bool, options: str = ""):
    """One of the two versions."""
    matrices = [common.matrix(ROWS, COLS) for _ in range(2)]
    return common.compiled(load_strips, *matrices, common.vector(cutlass.Int32, STRIPS), guarded, options=options)


def compile_all(options: str = "") -> dict[str, object]:
    """Both."""
    return {"guarded": compile_one(True, options), "every warp": compile_one(False, options)}


def run(params: dict) -> tuple[dict, dict]:
    """How many elements differ, and array `missed` [132]: how many of a block's seven waits met the deadline."""
    import cupy

    launch = compile_one(params["guarded"])
    report = cupy.zeros(STRIPS, cupy.int32)
    source, output = common.pattern(ROWS, COLS), common.unlike(ROWS, COLS)
    launch(common.given(source), common.given(output), common.given(report), common.stream())
    cupy.cuda.runtime.deviceSynchronize()
    return {"differ": common.count_differing(source, output), "warps": WARPS}, {"missed": report.get()}
