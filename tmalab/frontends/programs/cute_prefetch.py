"""One load, timed: with nothing asked for before it, with the descriptor, with the tile, with both, and a second time.

flush L2 ─ prefetch … ─ 4 µs ─ clock ─ load ─ wait ─ clock
"""

from __future__ import annotations

from tmalab.frontends.programs import cute_common as common
from tmalab.frontends.programs.cute_common import (
    COLS,
    DEADLINE_NS,
    ROWS,
    TILE,
    TILE_BYTES,
    WARP,
    SmemAllocator,
    bounded_wait,
    cpasync,
    cute,
    cutlass,
)

MODES = ("cold", "descriptor", "tile", "both", "tile by 32 lanes", "second")
PAUSE_CYCLES = 8000


# [kernel]
@cute.kernel
def load_timed(
    load_atom: cute.CopyAtom, coordinate_view: cute.Tensor, report: cute.Tensor, shared_layout: cute.ComposedLayout,
    mode: cutlass.Constexpr[str],
):  # fmt: skip
    """Tile (1, 2), into report[0]: cycles from its issue until its phase was seen complete."""
    lane, _, _ = cute.arch.thread_idx()
    shared = SmemAllocator()
    tile = shared.allocate_tensor(cutlass.Float16, shared_layout, byte_alignment=128)
    barrier = shared.allocate_array(cutlass.Int64, 1, byte_alignment=8)
    with cute.arch.elect_one():
        cute.arch.mbarrier_init(barrier, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.barrier()
    shared_part, global_part = cpasync.tma_partition(
        load_atom, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2),
        cute.group_modes(cute.local_tile(coordinate_view, TILE, (1, 2)), 0, 2),
    )  # fmt: skip

    phase = cutlass.Int32(0)
    if cutlass.const_expr(mode in ("descriptor", "both")):
        cpasync.prefetch_descriptor(load_atom)
    if cutlass.const_expr(mode in ("tile", "both")):
        with cute.arch.elect_one():  # a load elects its lane by itself, a prefetch does not
            cute.prefetch(load_atom, global_part)
    if cutlass.const_expr(mode == "tile by 32 lanes"):
        cute.prefetch(load_atom, global_part)
    if cutlass.const_expr(mode == "second"):
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(barrier, TILE_BYTES)
        cute.copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier)
        bounded_wait(barrier, phase, DEADLINE_NS)
        phase ^= 1
    paused = cute.arch.clock64()
    while cute.arch.clock64() - paused < PAUSE_CYCLES:
        pass

    began = cute.arch.clock64()
    with cute.arch.elect_one():
        cute.arch.mbarrier_arrive_and_expect_tx(barrier, TILE_BYTES)
    cute.copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier)
    bounded_wait(barrier, phase, DEADLINE_NS)
    ended = cute.arch.clock64()
    if lane == 0:
        report[0] = ended - began


# [/kernel]


@cute.jit
def load_tile(
    source: cute.Tensor, report: cute.Tensor, mode: cutlass.Constexpr[str], stream: common.cuda_driver.CUstream
):
    """One block of one warp."""
    shared_layout = common.tile_layout()
    load_atom, coordinate_view = cpasync.make_tiled_tma_atom(
        cpasync.CopyBulkTensorTileG2SOp(), common.row_major(source, ROWS, COLS), shared_layout, TILE
    )
    load_timed(load_atom, coordinate_view, report, shared_layout, mode).launch(
        grid=(1, 1, 1), block=(WARP, 1, 1), smem=TILE_BYTES + 8, stream=stream
    )


def compile_one(mode: str, options: str = ""):
    """One mode."""
    return common.compiled(load_tile, common.matrix(ROWS, COLS), common.vector(cutlass.Int64, 1), mode, options=options)


def compile_all(options: str = "") -> dict[str, object]:
    """All modes."""
    return {mode: compile_one(mode, options) for mode in MODES}


def run(params: dict) -> tuple[dict, dict]:
    """Array `cycles` [modes, repeats]; between two launches 256 MB are written, so that nothing is left in the L2."""
    import cupy
    import numpy as np

    source, report = common.pattern(ROWS, COLS), cupy.zeros(1, cupy.int64)
    flush = cupy.zeros(1 << 26, cupy.uint32)
    launches = [compile_one(mode) for mode in MODES]
    cycles = np.zeros((len(MODES), params.get("repeats", 1)), np.int32)
    for repeat in range(-2, cycles.shape[1]):
        for index, launch in enumerate(launches):
            flush += 1
            launch(common.given(source), common.given(report), common.stream())
            cupy.cuda.runtime.deviceSynchronize()
            if repeat >= 0:
                cycles[index, repeat] = int(report[0])
    return {"modes": list(MODES)}, {"cycles": cycles}
