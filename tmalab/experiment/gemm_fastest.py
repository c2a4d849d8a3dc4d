"""Which rung suits a shape: of the last one's tiles, the width whose waves take the fewest cycles; or "store".

    8192 x 8192:  128 x 200 ─▶ 20 waves x 200 = 4000      128 x 128 ─▶ 32 x 128 = 4096      128 x 112 ─▶ 36 x 112 = 4032

A wave is one tile a multiprocessor, and takes as long full as nearly empty; a tile takes as long as it is wide. Its way
out is hidden only behind a product that takes longer: it takes 5,200 to 6,000 cycles, a step of 128 x 200 takes 800.
For a K that short, "store" was faster.

>>> [fastest_rung(8192, 8192, k) for k in (8192, 256)], fastest_rung(2048, 2048, 2048), fastest_rung(6144, 6144, 6144)
(['fastest', 'store'], 'fastest-128', 'fastest-112')
"""

from __future__ import annotations

from tmalab.experiment.gemm_plan import RUNGS, SMS, gemm_plan
from tmalab.model.tensor_map_fields import integer

SHORT_STEPS = 8  # of K: fewer hide no way out
FASTEST = tuple(name for name, rung in RUNGS.items() if rung.file == RUNGS["fastest"].file)


def wave_columns(name: str, m: int, n: int, k: int, *, sms: int = SMS) -> int:
    """Waves of tiles times the width of one: what the product's time is in proportion to. Raises as `gemm_plan`."""
    n, k, sms = integer("n", n), integer("k", k), integer("sms", sms)
    plan = gemm_plan(name, m, n, k, lda=_padded(k), ldb=_padded(k), ldc=_padded(n), sms=sms)
    cluster, columns = plan.rung.cluster, plan.rung.tile[1]
    groups = -(-plan.tiles_m // cluster) * plan.tiles_n
    return -(-groups // (sms // cluster)) * columns


def fastest_rung(m: int, n: int, k: int, *, sms: int = SMS) -> str:
    """The name of the rung for C (m x n): fewest `wave_columns`; of two alike the wider, which loads less.

    Raises InputError, as `gemm_plan` does.
    """
    waves = {name: wave_columns(name, m, n, k, sms=sms) for name in FASTEST}
    if k <= (SHORT_STEPS - 1) * RUNGS["fastest"].tile[2]:
        return "store"
    return min(FASTEST, key=lambda name: (waves[name], -RUNGS[name].tile[1]))


def _padded(width: int) -> int:
    return -(-width // 8) * 8
