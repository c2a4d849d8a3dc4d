"""A loop of several stages: tiles come in, one is added, they go out; S buffers, each with a barrier of its own.

tile k:   wait full[k % S] ─ add one ─ fence ─ store, commit ─ until store k-1 is read ─ load k-1+S into its buffer
"""

from __future__ import annotations

from itertools import pairwise

from tvm_tirx.backend.cuda.lang import SMEMPool

from tmalab.frontends.programs import tirx_common as common
from tmalab.frontends.programs.tirx_common import LOAD, STORE, T, bounded_wait

BLOCKS, THREADS = 132, 256
TILE_ROWS, TILE_COLS = 64, 128  # float32: 32,768 bytes
TILE_BYTES = TILE_ROWS * TILE_COLS * 4
STAY = ((0, 0),)  # ring[stage] keeps an axis of one, which counts as a repeat


def kernel_of(tiles: int, stages: int) -> object:
    """The kernel for `tiles` tiles, one below another: block b takes tiles b, b + 132, b + 264, …"""
    rows, rounds = tiles * TILE_ROWS, tiles // BLOCKS
    held = 1 if stages > 1 else 0  # stores that may still be read from while the next tile is worked on
    load, store = T.ptx[LOAD.format(2)], T.ptx[STORE.format(2)]

    # [kernel]
    @T.function
    def add_one_staged(
        A: T.Tensor((rows, 128), "float32", align=16), B: T.Tensor((rows, 128), "float32", align=16),
        late: T.Tensor((1,), "int32", align=4),
    ):  # fmt: skip
        T.device_entry(launch=T.cuda.LaunchConfig(grid=132, block=256))
        block, thread = T.cuda.block_idx("x"), T.cuda.thread_idx("x")
        pool = SMEMPool()
        ring = pool.alloc((stages, 64, 128), "float32", align=1024)
        full = pool.alloc((stages,), "uint64", align=8)
        pool.commit()
        if thread == 0:
            for stage in range(stages):
                T.ptx.mbarrier.init.shared.b64(full.ptr_to([stage]), T.uint32(1))
        T.ptx.fence.proxy.async_.shared__cta()
        T.cuda.cta_sync()
        if thread == 0:
            for k in range(min(stages, rounds)):
                T.ptx.mbarrier.arrive.expect_tx.shared.b64(full.ptr_to([k]), T.uint32(32768))
                T.cuda.tile.apply(
                    load, ring[k], A, box=(64, 128), coords=((block + 132 * k) * 64, 0), coord_steps=STAY,
                    mbar=full.ptr_to([k]),
                )  # fmt: skip
        for k in range(rounds):
            done = bounded_wait(full.ptr_to([k % stages]), k // stages % 2)
            if not done:
                late[0] = 1
            for i in range(32):
                row, col = i * 2 + thread // 128, thread % 128
                ring[k % stages, row, col] = ring[k % stages, row, col] + 1
            T.ptx.fence.proxy.async_.shared__cta()
            T.cuda.cta_sync()
            if thread == 0:
                T.cuda.tile.apply(
                    store, B, ring[k % stages], box=(64, 128), coords=((block + 132 * k) * 64, 0), coord_steps=STAY
                )
                T.ptx.cp.async_.bulk.commit_group()
                T.ptx.cp.async_.bulk.wait_group.read(held)
                if k >= held and k - held + stages < rounds:
                    coming = k - held + stages
                    T.ptx.mbarrier.arrive.expect_tx.shared.b64(full.ptr_to([coming % stages]), T.uint32(32768))
                    T.cuda.tile.apply(
                        load, ring[coming % stages], A, box=(64, 128), coords=((block + 132 * coming) * 64, 0),
                        coord_steps=STAY, mbar=full.ptr_to([coming % stages]),
                    )  # fmt: skip
        if thread == 0:
            T.ptx.cp.async_.bulk.wait_group(0)

    # [/kernel]
    return add_one_staged


def compile_all() -> dict[str, object]:
    """One to four stages."""
    return {str(stages): common.build(kernel_of(10 * BLOCKS, stages)) for stages in (1, 2, 3, 4)}


def run(params: dict) -> tuple[dict, dict]:
    """Array `ms` [versions + 1, repeats], the last row the driver's own copy; values `differ` of each, `late`."""
    import cupy
    import numpy as np

    tiles, repeats = params["tiles"], params.get("repeats", 1)
    index = cupy.arange(tiles * TILE_ROWS * TILE_COLS, dtype=cupy.int32).reshape(-1, TILE_COLS)
    source = (index % 16_777_213).astype(cupy.float32)  # whole numbers that fp32 holds, and their successors
    output, late = cupy.empty_like(source), cupy.zeros(1, cupy.int32)
    launches, differ = [], []
    for stages in params["stages"]:
        executable = common.build(kernel_of(tiles, stages))
        given = [common.given(one) for one in (source, output, late)]
        output.fill(-1)
        executable(*given)
        cupy.cuda.runtime.deviceSynchronize()
        differ.append(int((output != source + 1).sum()))
        launches.append(lambda run=executable, given=given: run(*given))
    to, of, size = output.data.ptr, source.data.ptr, source.nbytes
    launches.append(lambda: cupy.cuda.runtime.memcpyAsync(to, of, size, 3, 0))
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
    values = {
        "differ": differ,
        "elements": source.size,
        "bytes": size,
        "moved_bytes": 2 * size,
        "late": bool(late.get()[0]),
    }
    return values, {"ms": np.array(ms, np.float32).T.copy()}
