"""132 strips x 7 tiles: each tile loaded by TMA, waited for, copied out, and every element of the copy compared.

block b ─ for j in 0 … 6:  arm ─ load (b, j) ─ wait, phase j % 2 ─ copy out ─ block barrier
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

SHARED_BYTES = TILE_BYTES + common.BARRIER_BYTES


# [kernel]
@cute.kernel
def load_strip(
    load_atom: cute.CopyAtom,
    coordinate_view: cute.Tensor,
    output: cute.Tensor,
    stamps: cute.Tensor,
    shared_layout: cute.ComposedLayout,
    out_copy: cute.TiledCopy,
):
    """One block, one strip: seven tiles through one buffer and one barrier."""
    lane, _, _ = cute.arch.thread_idx()
    row_block, _, _ = cute.arch.block_idx()

    shared = SmemAllocator()
    tile = shared.allocate_tensor(cutlass.Float16, shared_layout, byte_alignment=128)
    barrier = shared.allocate_array(cutlass.Int64, 1, byte_alignment=8)

    with cute.arch.elect_one():
        cute.arch.mbarrier_init(barrier, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.barrier()

    mine = out_copy.get_slice(lane)
    phase = cutlass.Int32(0)
    for column_tile in cutlass.range(TILES, unroll=1):
        chosen = cute.local_tile(coordinate_view, TILE, (row_block, column_tile))
        shared_part, global_part = cpasync.tma_partition(
            load_atom, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2), cute.group_modes(chosen, 0, 2)
        )
        issued = cute.arch.globaltimer()
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(barrier, TILE_BYTES)
        cute.copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier)

        done = bounded_wait(barrier, phase, DEADLINE_NS)
        landed = cute.arch.globaltimer()
        phase ^= 1
        if done:
            target = cute.local_tile(output, TILE, (row_block, column_tile))
            cute.copy(out_copy, mine.partition_S(tile), mine.partition_D(target))
        if lane == 0:
            at = 4 * (row_block * TILES + column_tile)
            stamps[at], stamps[at + 1] = issued, landed
            stamps[at + 2], stamps[at + 3] = cutlass.Int64(cute.arch.smid()), cutlass.Int64(done)
        cute.arch.barrier()


# [/kernel]


# [host]
@cute.jit
def load_strips(source: cute.Tensor, output: cute.Tensor, stamps: cute.Tensor, stream: common.cuda_driver.CUstream):
    """Views, atom, coordinate tensor and launch."""
    matrix_view = common.row_major(source, ROWS, COLS)
    shared_layout = common.tile_layout()
    load_atom, coordinate_view = cpasync.make_tiled_tma_atom(
        cpasync.CopyBulkTensorTileG2SOp(), matrix_view, shared_layout, TILE
    )
    load_strip(
        load_atom, coordinate_view, common.row_major(output, ROWS, COLS), stamps, shared_layout, common.warp_copy()
    ).launch(grid=(STRIPS, 1, 1), block=(WARP, 1, 1), smem=SHARED_BYTES, stream=stream)


# [/host]


def compile_all(options: str = "") -> dict[str, object]:
    """The compiled host function, by name."""
    matrices = [common.matrix(ROWS, COLS) for _ in range(2)]
    stamps = common.vector(cutlass.Int64, 4 * STRIPS * TILES)
    return {"load_strips": common.compiled(load_strips, *matrices, stamps, options=options)}


def differing_of(unequal: object) -> object:
    """How many elements of each tile differ, [132, 7]."""
    return unequal.reshape(STRIPS, common.TILE_ROWS, TILES, common.TILE_COLS).sum(axis=(1, 3)).get()


def run(params: dict) -> tuple[dict, dict]:
    """Arrays, one entry a tile [132, 7]: `issued_ns` and `landed_ns` from the first issue on, `differ`, and `sm` [132].

    `differ` counts the elements that are not what was loaded, over two inputs that together name every element.
    """
    import cupy
    import numpy as np

    launch = compile_all()["load_strips"]
    stamps = cupy.zeros(4 * STRIPS * TILES, cupy.int64)
    unequal, taken = cupy.zeros((ROWS, COLS), bool), []
    for half in ("low", "high"):
        source, output = common.pattern(ROWS, COLS, half), common.unlike(ROWS, COLS)
        launch(common.given(source), common.given(output), common.given(stamps), common.stream())
        cupy.cuda.runtime.deviceSynchronize()
        unequal |= source.view(cupy.uint16) != output.view(cupy.uint16)
        taken.append(stamps.get().reshape(STRIPS, TILES, 4))
    for _ in range(max(int(params.get("repeats", 1)) - 2, 0)):
        launch(common.given(source), common.given(output), common.given(stamps), common.stream())
        cupy.cuda.runtime.deviceSynchronize()
        taken.append(stamps.get().reshape(STRIPS, TILES, 4))
    differ, last = differing_of(unequal), taken[-1]
    first = last[..., 0].min()
    spans = [int(one[..., 1].max() - one[..., 0].min()) for one in taken]
    values = {
        "completed": bool(last[..., 3].all()), "elements_differing": int(differ.sum()), "elements": ROWS * COLS,
        "tiles": STRIPS * TILES, "shared_bytes": SHARED_BYTES, "span_ns": spans,
        "timer_step_ns": int(np.gcd.reduce(last[..., :2].ravel())),
    }  # fmt: skip
    arrays = {
        "issued_ns": (last[..., 0] - first).astype(np.int32), "landed_ns": (last[..., 1] - first).astype(np.int32),
        "differ": differ.astype(np.int32), "sm": last[:, 0, 2].astype(np.int16),
    }  # fmt: skip
    return values, arrays
