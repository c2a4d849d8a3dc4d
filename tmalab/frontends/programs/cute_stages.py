"""The strips again, through 1 to 6 buffers: loads run ahead while a tile is stored. Rates, and one block's timeline.

tile k:   wait full[k % S] ─ store ─ until the buffer before it is read ─ load k + S - 1 into that one
"""

from __future__ import annotations

from itertools import pairwise

from tmalab.frontends.programs import cute_common as common
from tmalab.frontends.programs.cute_common import (
    DEADLINE_NS,
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

COLS = TILES * common.TILE_COLS
STAMPS = 4  # a tile: its load issued, seen complete, its store issued, its buffer free


# [kernel]
@cute.kernel
def walk(
    load_atom: cute.CopyAtom, coordinates: cute.Tensor, store_atom: cute.CopyAtom, targets: cute.Tensor,
    output: cute.Tensor, stamps: cute.Tensor, ring_layout: cute.ComposedLayout, out_copy: cute.TiledCopy,
    rounds: cutlass.Int32, num_stages: cutlass.Constexpr[int], via: cutlass.Constexpr[str],
    stamped: cutlass.Constexpr[bool],
):  # fmt: skip
    """Block b walks strips b, b + grid, …; its tiles go round a ring of `num_stages` buffers."""
    lane, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    grid, _, _ = cute.arch.grid_dim()

    shared = SmemAllocator()
    ring = shared.allocate_tensor(cutlass.Float16, ring_layout, byte_alignment=128)
    full = shared.allocate_array(cutlass.Int64, num_stages, byte_alignment=8)
    with cute.arch.elect_one():
        for stage in cutlass.range_constexpr(num_stages):
            cute.arch.mbarrier_init(full + stage, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.barrier()

    tiles = cute.zipped_divide(coordinates, TILE)
    load_shared, load_global = cpasync.tma_partition(
        load_atom, 0, cute.make_layout(1), cute.group_modes(ring, 0, 2), tiles
    )
    store_shared, store_global = cpasync.tma_partition(
        store_atom, 0, cute.make_layout(1), cute.group_modes(ring, 0, 2), cute.zipped_divide(targets, TILE)
    )
    mine = out_copy.get_slice(lane)
    held = cutlass.const_expr(1 if via != "registers" and num_stages > 1 else 0)  # stores that may still be read from
    total = rounds * TILES

    for ahead in cutlass.range_constexpr(num_stages):
        if ahead < total:
            if stamped and lane == 0:
                stamps[STAMPS * (block * total + ahead)] = cute.arch.clock64()
            with cute.arch.elect_one():
                cute.arch.mbarrier_arrive_and_expect_tx(full + ahead, TILE_BYTES)
            place = (block + grid * (ahead // TILES), ahead % TILES)
            cute.copy(load_atom, load_global[None, place], load_shared[None, ahead], tma_bar_ptr=full + ahead)

    for k in cutlass.range(total, unroll=1):
        stage, at = k % num_stages, STAMPS * (block * total + k)
        place = (block + grid * (k // TILES), k % TILES)
        bounded_wait(full + stage, (k // num_stages) & 1, DEADLINE_NS)
        if stamped and lane == 0:
            stamps[at + 1] = cute.arch.clock64()
        if cutlass.const_expr(via != "registers"):
            if cutlass.const_expr(via == "tma"):
                with cute.arch.elect_one():  # a load elects its lane by itself, a store does not
                    cute.copy(store_atom, store_shared[None, stage], store_global[None, place])
                    cute.arch.cp_async_bulk_commit_group()
            else:
                cute.copy(store_atom, store_shared[None, stage], store_global[None, place])
                cute.arch.cp_async_bulk_commit_group()
            if stamped and lane == 0:
                stamps[at + 2] = cute.arch.clock64()
            cute.arch.cp_async_bulk_wait_group(held, read=True)
        else:
            tile, target = ring[None, None, stage], cute.local_tile(output, TILE, place)
            cute.copy(out_copy, mine.partition_S(tile), mine.partition_D(target))
            if stamped and lane == 0:
                stamps[at + 2] = cute.arch.clock64()
            cute.arch.sync_warp()
        freed, coming = k - held, k - held + num_stages
        if freed >= 0 and coming < total:
            spare = freed % num_stages
            if stamped and lane == 0:
                stamps[at - STAMPS * held + 3] = cute.arch.clock64()
                stamps[STAMPS * (block * total + coming)] = cute.arch.clock64()
            with cute.arch.elect_one():
                cute.arch.mbarrier_arrive_and_expect_tx(full + spare, TILE_BYTES)
            next_place = (block + grid * (coming // TILES), coming % TILES)
            cute.copy(load_atom, load_global[None, next_place], load_shared[None, spare], tma_bar_ptr=full + spare)
    if cutlass.const_expr(via != "registers"):
        cute.arch.cp_async_bulk_wait_group(0, read=False)


# [/kernel]


@cute.jit
def walk_strips(
    source: cute.Tensor, output: cute.Tensor, stamps: cute.Tensor, strips: cutlass.Constexpr[int],
    blocks: cutlass.Constexpr[int], num_stages: cutlass.Constexpr[int], via: cutlass.Constexpr[str],
    stamped: cutlass.Constexpr[bool], stream: common.cuda_driver.CUstream,
):  # fmt: skip
    """The matrix of `strips` x 7 tiles, copied by `blocks` blocks of one warp."""
    rows = strips * common.TILE_ROWS
    matrix_view, output_view = common.row_major(source, rows, COLS), common.row_major(output, rows, COLS)
    staged = cute.make_layout((*TILE, num_stages), stride=(common.TILE_COLS, 1, common.TILE_ROWS * common.TILE_COLS))
    ring_layout = cute.make_composed_layout(cute.make_swizzle(0, 4, 3), 0, staged)
    load_atom, coordinates = cpasync.make_tiled_tma_atom(
        cpasync.CopyBulkTensorTileG2SOp(), matrix_view, common.tile_layout(), TILE
    )
    store_atom, targets = cpasync.make_tiled_tma_atom(
        cpasync.CopyBulkTensorTileS2GOp(), output_view, common.tile_layout(), TILE
    )
    walk(
        load_atom, coordinates, store_atom, targets, output_view, stamps, ring_layout, common.warp_copy(),
        strips // blocks, num_stages, via, stamped,
    ).launch(
        grid=(blocks, 1, 1), block=(WARP, 1, 1), smem=num_stages * (TILE_BYTES + common.BARRIER_BYTES), stream=stream
    )  # fmt: skip


def compile_one(strips: int, blocks: int, num_stages: int, via: str, stamped: bool = False, options: str = ""):
    """One version, compiled."""
    matrices = [common.matrix(strips * common.TILE_ROWS, COLS) for _ in range(2)]
    stamps = common.vector(cutlass.Int64, STAMPS * strips * TILES if stamped else 1)
    return common.compiled(walk_strips, *matrices, stamps, strips, blocks, num_stages, via, stamped, options=options)


def compile_all(options: str = "") -> dict[str, object]:
    """Every version that `run` has, at the seed's size."""
    return {
        f"{via}-{stages}": compile_one(STRIPS, STRIPS, stages, via, stamped=True, options=options)
        for via in ("tma", "registers", "tma by 32 lanes") for stages in (1, 2, 3, 4)
    }  # fmt: skip


def run(params: dict) -> tuple[dict, dict]:
    """`task` rate: times of copies of a large matrix; `task` timeline: one block's stamps, in cycles."""
    return rates(params) if params["task"] == "rate" else timelines(params)


def rates(params: dict) -> tuple[dict, dict]:
    """Array `ms` [versions + 1, repeats], each row a version of `versions`, the last the driver's own copy."""
    import cupy
    import numpy as np

    strips, versions, repeats = params["strips"], params["versions"], params["repeats"]
    rows = strips * common.TILE_ROWS
    source, output = common.pattern(rows, COLS), common.unlike(rows, COLS)
    stamps = cupy.zeros(1, cupy.int64)
    taken = [common.given(source), common.given(output), common.given(stamps), common.stream()]
    launches, differ = [], []
    for via, stages, blocks in versions:
        launch = compile_one(strips, blocks, stages, via)
        output.view(cupy.uint16).fill(0xA5A5)
        launch(*taken)
        cupy.cuda.runtime.deviceSynchronize()
        differ.append(common.count_differing(source, output))
        launches.append(lambda launch=launch: launch(*taken))
    to, of, size = output.data.ptr, source.data.ptr, source.nbytes
    handle = cupy.cuda.get_current_stream().ptr
    launches.append(lambda: cupy.cuda.runtime.memcpyAsync(to, of, size, 3, handle))
    for launch in launches:  # warm
        launch()
    # Every version once a round, one queued behind the other: the events lie between kernels and never wait for a host.
    events = [[cupy.cuda.Event() for _ in range(len(launches) + 1)] for _ in range(repeats)]
    for marks in events:
        marks[0].record()
        for launch, mark in zip(launches, marks[1:], strict=True):
            launch()
            mark.record()
    cupy.cuda.runtime.deviceSynchronize()
    ms = [[cupy.cuda.get_elapsed_time(*pair) for pair in pairwise(marks)] for marks in events]
    values = {"differ": differ, "bytes": size, "moved_bytes": 2 * size, "elements": rows * COLS}
    return values, {"ms": np.array(ms, np.float32).T.copy()}


def timelines(params: dict) -> tuple[dict, dict]:
    """Array `cycles` [versions, tiles, 4] of one block among 132, from its first issue on (STAMPS)."""
    import cupy
    import numpy as np

    strips, block = params["strips"], params["block"]
    source, output = common.pattern(strips * common.TILE_ROWS, COLS), common.unlike(strips * common.TILE_ROWS, COLS)
    flush = cupy.zeros(1 << 26, cupy.uint32)
    stamps = cupy.zeros(STAMPS * strips * TILES, cupy.int64)
    found = []
    for via, stages in params["versions"]:
        launch = compile_one(strips, STRIPS, stages, via, stamped=True)
        for _ in range(2):
            stamps.fill(0)
            flush += 1  # 256 MB: nothing of the matrix is left in the L2
            launch(common.given(source), common.given(output), common.given(stamps), common.stream())
            cupy.cuda.runtime.deviceSynchronize()
        mine = stamps.get().reshape(STRIPS, strips // STRIPS * TILES, STAMPS)[block]
        found.append(np.where(mine == 0, -1, mine - mine[0, 0]))
    return {}, {"cycles": np.array(found, np.int32)}
