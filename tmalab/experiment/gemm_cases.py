"""The cases of the ladder of matrix products: every rung on one large square, the best on every shape, ragged ones.

    gemm/rung/store/8192       timed beside cuBLAS, with block 0's stamps      gemm/rung/store/65536x1024x4096
    gemm/ragged/store/997x1001x1003     checked alone: no size divides the tile, rows are padded to 16 bytes

>>> [case.name for case in gemm_cases()][:2]
['gemm/rung/plain-loads/8192', 'gemm/rung/tma/8192']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tmalab.experiment.case import Case
from tmalab.experiment.gemm_fastest import FASTEST, fastest_rung
from tmalab.experiment.gemm_plan import RUNGS

LADDER_SIZE, SMALLER = 8192, (2048, 4096)
BEST = "fastest"
SQUARES = (1024, 2048, 4096, 6144, 8192, 16384)
SHORT = (16384, 16384, 256)  # too short a K for the last rung to hide a way out behind
OBLONG = ((65536, 1024, 4096), (1024, 65536, 4096), SHORT, (2048, 2048, 65536))  # tall, wide, K small, K large
RAGGED = (997, 1001, 1003)
SHAPES = (*((size, size, size) for size in SQUARES), *OBLONG)
# The last rung's other widths are no rungs of their own: of them what suits a shape, and their two neighbours at 4096.
LADDER = tuple(name for name in RUNGS if name == BEST or name not in FASTEST)
# Of the best rung: less than a tile, one element past it, an odd row of tiles, a last step of 8, of one element.
RAGGED_SHAPES = (
    (1, 8, 8), (1, 1, 1), (129, 257, 65), (385, 264, 72), (4000, 4008, 136), (8191, 8193, 513), RAGGED,
)  # fmt: skip


def shape_name(m: int, n: int, k: int) -> str:
    """One number for a cube, else all three."""
    return str(m) if m == n == k else f"{m}x{n}x{k}"


def gemm_case(rung: str, m: int, n: int, k: int, *, seed: int = 1, traced: bool = True) -> Case:
    """That rung on that shape, timed beside cuBLAS; `traced` keeps block 0's stamps."""
    params = {"rung": rung, "m": m, "n": n, "k": k, "seed": seed, **({} if traced else {"traced": False})}
    return Case(f"gemm/rung/{rung}/{shape_name(m, n, k)}", "gemm", params)


def ragged_case(rung: str, m: int, n: int, k: int, *, seed: int = 1) -> Case:
    """That rung on a shape whose rows are padded to whole 16 bytes and 8 elements more; checked, not timed."""
    pitches = {name: -(-width // 8) * 8 + 8 for name, width in (("lda", k), ("ldb", k), ("ldc", n))}
    params = {"rung": rung, "m": m, "n": n, "k": k, **pitches, "seed": seed, "timed": False}
    return Case(f"gemm/ragged/{rung}/{shape_name(m, n, k)}", "gemm", params)


def fenced_case() -> Case:
    """The cluster's rung with an arrival that orders all of the GPU's memory (-DTMALAB_FENCED), for its price."""
    case = gemm_case("cluster", LADDER_SIZE, LADDER_SIZE, LADDER_SIZE)
    return Case(f"gemm/fenced/cluster/{LADDER_SIZE}", "gemm", {**case.params, "options": ["-DTMALAB_FENCED"]})


def ladder_cases(cases: Iterable[Case]) -> list[Case]:
    """Of these, every rung on the one shape that they are compared at."""
    shape = dict.fromkeys(("m", "n", "k"), LADDER_SIZE)
    return [case for case in cases if shape.items() <= case.params.items() and case.name.startswith("gemm/rung/")]


def gemm_cases() -> Iterator[Case]:
    """All of them."""
    for rung in LADDER:
        yield gemm_case(rung, LADDER_SIZE, LADDER_SIZE, LADDER_SIZE)
    yield fenced_case()
    shaped = dict.fromkeys((rung, shape) for shape in SHAPES for rung in ("store", fastest_rung(*shape)))
    shaped |= dict.fromkeys((rung, (4096, 4096, 4096)) for rung in FASTEST if rung != BEST)
    shaped |= {(BEST, SHORT): None}
    for size in SMALLER:
        for rung in LADDER:
            if (rung, (size, size, size)) not in shaped:
                yield gemm_case(rung, size, size, size, traced=False)
    for rung, shape in shaped:
        if shape != (LADDER_SIZE, LADDER_SIZE, LADDER_SIZE):
            yield gemm_case(rung, *shape)
    for rung in (*LADDER, *(name for name in FASTEST if name != BEST)):
        for shape in RAGGED_SHAPES if rung in ("store", BEST) else [RAGGED]:
            yield ragged_case(rung, *shape)
