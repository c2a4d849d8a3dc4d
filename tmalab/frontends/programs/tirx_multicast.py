"""Two CTAs of a cluster and one tile of 16 rows: each loads 8 of them for both, or all of them for itself alone.

CTA 0 loads rows 0…7   ─┬─▶ both shared memories, at the same offset; each barrier is told of all 2048 bytes
CTA 1 loads rows 8…15  ─┘
"""

from __future__ import annotations

from tmalab.frontends.programs import tirx_common as common
from tmalab.frontends.programs.tirx_boxes import layout_of
from tmalab.frontends.programs.tirx_common import T, bounded_wait

CTAS, ROWS, COLS = 2, 16, 64
MULTICAST = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"


# [kernel]
@T.function
def load_for_both(
    A: T.Tensor((32, 128), "float16", align=16), out: T.Tensor((2, 512), "uint32", align=16),
    late: T.Tensor((2,), "int32", align=4),
):  # fmt: skip
    T.device_entry(launch=T.cuda.LaunchConfig(grid=2, block=32, cluster=2))
    lane = T.cuda.lane_id()
    rank = T.cuda.cluster_cta_id("x")
    raw = T.alloc_shared((1024,), "float16", layout="default", align=1024)
    mbar = T.alloc_shared((1,), "uint64", align=8)
    tile = raw.view(16, 64, layout=layout_of((16, 64), "float16", 3))
    words = raw.view("uint32")
    if lane == 0:
        T.ptx.mbarrier.init.shared.b64(mbar.ptr_to([0]), T.uint32(1))
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(mbar.ptr_to([0]), T.uint32(2048))
    T.ptx.fence.mbarrier_init.release.cluster()
    T.ptx.fence.proxy.async_.shared__cta()
    T.cuda.cluster_sync()  # either's load writes into both, and completes on both barriers
    for part in range(2):  # a loop's number can be proved of, a CTA's cannot
        if lane == 0 and rank == part:
            T.cuda.tile.apply(
                T.ptx[MULTICAST], tile[part * 8 : part * 8 + 8, :], A,
                box=(8, 64), coords=(part * 8 + 8, 32), swizzle=3, mbar=mbar.ptr_to([0]), cta_mask=3,
            )  # fmt: skip
    done = bounded_wait(mbar.ptr_to([0]), 0)
    if lane == 0:
        late[rank] = T.Select(done, 0, 1)
    for i in range(16):
        out[rank, i * 32 + lane] = words[i * 32 + lane]
    T.cuda.cluster_sync()


# [/kernel]


def compile_all() -> dict[str, object]:
    """The one kernel."""
    return {"multicast": common.build(load_for_both)}


def run(params: dict) -> tuple[dict, dict]:
    """Array `smem` [2, 2048], what each CTA's shared memory held; `descriptor`; values `late` of each."""
    import cupy
    import numpy as np

    from tmalab.experiment.memory import make_bytes

    executable, maps = common.build(load_for_both), common.encoded()
    source = cupy.asarray(make_bytes(params["memory"])).view(cupy.float16).reshape(32, 128)
    out, late = cupy.zeros((CTAS, 512), cupy.uint32), cupy.zeros(CTAS, cupy.int32)
    for _ in range(params.get("repeats", 1)):
        out.fill(0xA5A5A5A5)
        executable(common.given(source), common.given(out), common.given(late))
        cupy.cuda.runtime.deviceSynchronize()
    values = {"late": [bool(one) for one in late.get()], "told": common.told(executable), "given": [maps[0]["given"]]}
    return values, {"smem": out.get().view(np.uint8).reshape(CTAS, -1), "descriptor": common.rows_of(maps[:1])[0]}
