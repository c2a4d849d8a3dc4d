"""A row-major view of what is not row-major, and sizes that do not divide: the same loads, other matrices.

storage  (1792, 8448) row-major, handed over as its transpose (8448, 1792):(1, 8448)
seed's view of it        (8448, 1792):(1792, 1)      reads other elements
the view that is right   (8448, 1792):(1, 8448)      a tile whose rows are adjacent, 64 x 256 again
"""

from __future__ import annotations

from tmalab.frontends.programs import cute_common as common
from tmalab.frontends.programs.cute_common import (
    DEADLINE_NS,
    TILE,
    TILE_BYTES,
    TILE_COLS,
    TILE_ROWS,
    WARP,
    SmemAllocator,
    bounded_wait,
    cpasync,
    cute,
    cutlass,
)


# [kernel]
@cute.kernel
def copy_tile(
    load_atom: cute.CopyAtom, coordinates: cute.Tensor, output: cute.Tensor, report: cute.Tensor,
    shared_layout: cute.ComposedLayout, out_copy: cute.TiledCopy,
):  # fmt: skip
    """Block (x, y) loads tile (x, y) and writes it, whole, as rows, to tile (x, y) of the output."""
    lane, _, _ = cute.arch.thread_idx()
    row_block, column_tile, _ = cute.arch.block_idx()
    shared = SmemAllocator()
    tile = shared.allocate_tensor(cutlass.Float16, shared_layout, byte_alignment=128)
    barrier = shared.allocate_array(cutlass.Int64, 1, byte_alignment=8)
    with cute.arch.elect_one():
        cute.arch.mbarrier_init(barrier, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.barrier()
    chosen = cute.local_tile(coordinates, TILE, (row_block, column_tile))
    shared_part, global_part = cpasync.tma_partition(
        load_atom, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2), cute.group_modes(chosen, 0, 2)
    )
    with cute.arch.elect_one():
        cute.arch.mbarrier_arrive_and_expect_tx(barrier, TILE_BYTES)
    cute.copy(load_atom, global_part, shared_part, tma_bar_ptr=barrier)
    done = bounded_wait(barrier, 0, DEADLINE_NS)
    if not done and lane == 0:
        report[0] = 1
    mine = out_copy.get_slice(lane)
    target = cute.local_tile(output, TILE, (row_block, column_tile))
    cute.copy(out_copy, mine.partition_S(tile), mine.partition_D(target))


# [/kernel]


@cute.jit
def copy_tiles(
    source: cute.Tensor, output: cute.Tensor, report: cute.Tensor, shape: cutlass.Constexpr,
    strides: cutlass.Constexpr, grid: cutlass.Constexpr, stream: common.cuda_driver.CUstream,
):  # fmt: skip
    """A view of `shape` and `strides` (in elements) of the source; the output is row-major, whole tiles."""
    view = cute.make_tensor(source.iterator, cute.make_layout(shape, stride=strides))
    across = cutlass.const_expr(strides[0] == 1)  # a column's elements adjacent: in shared memory too
    tile_strides = (1, TILE_ROWS) if across else (TILE_COLS, 1)
    shared_layout = cute.make_composed_layout(
        cute.make_swizzle(0, 4, 3), 0, cute.make_layout(TILE, stride=tile_strides)
    )
    load_atom, coordinates = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), view, shared_layout, TILE)
    bits = cutlass.const_expr(16 if across else 128)
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float16, num_bits_per_copy=bits)
    lanes = cute.make_layout((1, WARP), stride=(WARP, 1))
    out_copy = cute.make_tiled_copy_tv(atom, lanes, cute.make_layout((1, bits // 16), stride=(bits // 16, 1)))
    target = common.row_major(output, grid[0] * TILE_ROWS, grid[1] * TILE_COLS)
    copy_tile(load_atom, coordinates, target, report, shared_layout, out_copy).launch(
        grid=(*grid, 1), block=(WARP, 1, 1), smem=TILE_BYTES + 8, stream=stream
    )


def compile_one(shape: tuple, strides: tuple, grid: tuple, options: str = ""):
    """For a matrix of `shape`, seen with `strides`, in `grid` tiles."""
    source = common.vector(cutlass.Float16, shape[0] * shape[1])
    output = common.matrix(grid[0] * TILE_ROWS, grid[1] * TILE_COLS)
    report = common.vector(cutlass.Int32, 1)
    return common.compiled(copy_tiles, source, output, report, shape, strides, grid, options=options)


def compile_all(options: str = "") -> dict[str, object]:
    """The two views of a transposed matrix, and a matrix with a residue."""
    shape = (common.ROWS, common.COLS)
    return {
        "as rows": compile_one(shape, (common.COLS, 1), (132, 7), options),
        "transposed": compile_one(shape, (1, common.ROWS), (132, 7), options),
        "residue": compile_one((200, 600), (600, 1), (4, 3), options),
    }


def run(params: dict) -> tuple[dict, dict]:
    """Copy every tile of `grid`. `differ` elements of the tensor as its owner sees it are not what was copied.

    With `keep`, array `output` uint16 is the copy of the tiles from row and column `keep` on, and `touched` counts the
    output's words that were written.
    """
    import cupy
    import numpy as np

    rows, cols = shape = tuple(params["shape"])
    strides, grid = tuple(params["strides"]), tuple(params["grid"])
    launch = compile_one(shape, strides, grid)
    if params["stored"] == "rows":
        whole = common.pattern(rows, cols)
        memory = whole
    else:  # the owner's matrix is the transpose of what lies in memory
        memory = common.pattern(cols, rows)
        whole = memory.T
    output = common.unlike(grid[0] * TILE_ROWS, grid[1] * TILE_COLS)
    report = cupy.zeros(1, cupy.int32)
    launch(common.given(memory.reshape(-1)), common.given(output), common.given(report), common.stream())
    cupy.cuda.runtime.deviceSynchronize()
    covered = min(rows, output.shape[0]), min(cols, output.shape[1])
    inside = output[: covered[0], : covered[1]]
    expected = whole[: covered[0], : covered[1]]
    differ = common.count_differing(cupy.ascontiguousarray(inside), cupy.ascontiguousarray(expected))
    values = {
        "differ": differ, "compared": covered[0] * covered[1], "elements": rows * cols,
        "never_loaded": rows * cols - covered[0] * covered[1], "late": bool(report.get()[0]),
    }  # fmt: skip
    arrays = {}
    if "keep" in params:
        words = output.view(cupy.uint16).get()
        outside = np.ones(words.shape, bool)
        outside[: covered[0], : covered[1]] = False
        values["outside"] = int(outside.sum())
        values["outside_zero"] = int((words[outside] == 0).sum())
        arrays["output"] = words[params["keep"][0] :, params["keep"][1] :]
    if params["stored"] == "columns":  # where the first elements of the copy really come from, as (row, col)
        first = output.view(cupy.uint16)[:2, :4].get()
        values["first"] = [[int(one) for one in row] for row in first]
    return values, arrays
