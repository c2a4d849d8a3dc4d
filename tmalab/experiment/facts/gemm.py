"""What the ladder of matrix products showed: counters, a fence's price, the clock of a GPU at work.

    gemm/rung/wgmma/8192 ──counters──▶ 384 wavefronts a step of a block: all that wgmma reads, and no more

>>> [fact.id for fact in PRODUCTS]
['wgmma-wavefronts', 'cluster-fence', 'clock-of-products']
"""

from __future__ import annotations

from collections.abc import Callable

from tmalab.experiment.facts.fact import Fact, Trial, fact
from tmalab.experiment.gemm_cases import LADDER_SIZE, fenced_case, gemm_case
from tmalab.experiment.gemm_plan import plan_of
from tmalab.experiment.observation import Observation


def _wavefronts(seen: Observation) -> str:
    """A block's, of one step of K, as the profiler counted them."""
    right = "product right" if seen["relative_error"] < 1e-2 else "product wrong"
    counters = seen["counters"]
    if counters is None:  # a live run has no profiler
        return f"not counted, {right}"
    plan = plan_of(seen.case.params)
    steps = plan.tiles_m * plan.tiles_n * -(-plan.k // plan.rung.tile[2])
    conflicts = counters["shared_conflicts"] / counters["shared_wavefronts"]
    share = "no conflict" if conflicts < 0.001 else f"{round(8 * conflicts)} of 8 a conflict"
    count = counters["shared_wavefronts"] / steps
    return f"{8 * round(count / 8)} wavefronts, {share}, {right}"  # to a step of 8: the way out to C is among them


def _rate(seen: Observation) -> str:
    ratio = seen["ratio"]
    return (
        "over 85 % of cuBLAS" if ratio > 0.85 else "under 70 % of cuBLAS" if ratio < 0.7 else f"{ratio:.0%} of cuBLAS"
    )


def _clock(seen: Observation) -> str:
    ghz = seen["cycles_per_ns"]
    return "over 1.7 GHz" if ghz > 1.7 else "under 1.6 GHz" if ghz < 1.6 else f"{ghz:.2f} GHz"


def _rung(name: str, question: str, answer: str, reads: Callable[[Observation], str]) -> Trial:
    case = gemm_case(name, LADDER_SIZE, LADDER_SIZE, LADDER_SIZE)
    return Trial(case, question, answer, reads=reads)


PRODUCTS: tuple[Fact, ...] = (
    fact(
        "wgmma-wavefronts",
        "What wgmma reads from a 128B-swizzled tile counts among shared memory's wavefronts, 128 bytes each and none a "
        "conflict. What TMA writes does not.",
        "Nsight Compute documentation: wavefronts of the load and store unit; of wgmma and TMA nothing.",
        _rung("tma", "64 of K, ldmatrix from rows of 128 bytes that are not swizzled",
              "6144 wavefronts, 7 of 8 a conflict, product right", _wavefronts),
        _rung("wgmma", "two products of 64 x 128: 48 KB read, 32 KB written by TMA",
              "384 wavefronts, no conflict, product right", _wavefronts),
        _rung("persistent", "two products of 64 x 256: 80 KB read, 48 KB written by TMA",
              "640 wavefronts, no conflict, product right", _wavefronts),
    ),
    fact(
        "cluster-fence",
        "An arrival at another block's barrier with .release.cluster waits for the memory of the whole GPU. In each "
        "step of a product it costs a quarter of the rate.",
        "PTX ISA, mbarrier.arrive: the semantics; of the price nothing.",
        _rung("cluster", "a product whose 16 warps arrive in both blocks, without .release.cluster",
              "over 85 % of cuBLAS", _rate),
        Trial(fenced_case(), "the same with it", "under 70 % of cuBLAS", reads=_rate),
    ),
    fact(
        "clock-of-products",
        "An H200 whose tensor cores are busy lowers its clock.",
        "The datasheet gives a rate at one clock, and a limit of power.",
        _rung("plain-loads", "a product that keeps the tensor cores busy for 6 % of the time", "over 1.7 GHz", _clock),
        _rung("store", "one that keeps them busy for 98 %", "under 1.6 GHz", _clock),
    ),
)  # fmt: skip
