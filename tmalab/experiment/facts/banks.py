"""What a warp pays for shared memory where no manual says it: which loads merge, and what comes back how fast.

    32 addresses ──once──▶ wavefronts, by the profiler's counters, and cycles of the pipe when it is kept full

>>> BANKS[0].trials[1].question, BANKS[0].trials[1].answer
('16 bytes, lane i at vector i // 2', '2 wavefronts, 2 cycles')
"""

from __future__ import annotations

from collections.abc import Callable

from tmalab.experiment.case import Case
from tmalab.experiment.facts.fact import Trial, fact
from tmalab.model.banks import LANES

GUIDE = "CUDA programming guide, Shared Memory"
FORUM = "An engineer's answer in NVIDIA's developer forum (topic 77228)"


def _warp(
    label: str, answer: str, width_bytes: int, vector: Callable[[int], int | None], question: str, *,
    op: str = "load", shows: str = "wavefronts",
) -> Trial:  # fmt: skip
    """One access: `vector(lane)` is the lane's address in units of `width_bytes`, None where it takes no part."""
    vectors = [vector(lane) for lane in range(LANES)]
    addresses = [None if place is None else place * width_bytes for place in vectors]
    params = {"patterns": [{"addresses": addresses, "width_bytes": width_bytes, "op": op}]}
    return Trial(Case(label, "banks", params), question, answer, shows)


def _every(stride: int) -> Callable[[int], int]:
    return lambda lane: lane * stride


BANKS = (
    fact(
        "loads-that-merge",
        "A load of 8 or 16 bytes looks at twice as many lanes at once if all lanes i and i XOR 1 want the same "
        "address, or all i and i XOR 2; a lane that is off agrees.",
        f"{GUIDE}: nothing. {FORUM} gives this rule for compute capability 7.0 to 7.5.",
        _warp("in-order", "4 wavefronts, 4 cycles", 16, lambda lane: lane, "16 bytes, lane i at vector i"),
        _warp("pairs", "2 wavefronts, 2 cycles", 16, lambda lane: lane // 2, "16 bytes, lane i at vector i // 2"),
        _warp("pairs-of-xor-2", "2 wavefronts, 2 cycles", 16, lambda lane: lane // 4 * 2 + lane % 2,
              "16 bytes, lane i at vector 2 (i // 4) + i % 2"),
        _warp("pairs-of-xor-4", "4 wavefronts, 4 cycles", 16, lambda lane: lane // 8 * 4 + lane % 4,
              "16 bytes, lane i at vector 4 (i // 8) + i % 4: lanes i and i XOR 4 agree"),
        _warp("both-halves", "4 wavefronts, 4 cycles", 16,
              lambda lane: lane // 2 if lane < 16 else lane // 4 * 2 + lane % 2,
              "16 bytes, i and i XOR 1 agree in lanes 0 to 15, i and i XOR 2 in the rest"),
        _warp("every-second", "2 wavefronts, 2 cycles", 16, lambda lane: None if lane % 2 else lane // 2,
              "16 bytes, every second lane, in order"),
        _warp("8-bytes", "2 wavefronts, 2 cycles", 8, lambda lane: lane, "8 bytes, lane i at vector i"),
        _warp("8-bytes-pairs", "1 wavefront, 1 cycle", 8, lambda lane: lane // 2, "8 bytes, lane i at vector i // 2"),
    ),
    fact(
        "stores-do-not-merge",
        "A store of 8 or 16 bytes is always served 16 or 8 lanes at a time.",
        f"{GUIDE}: nothing.",
        _warp("pairs", "4 wavefronts, 4 cycles", 16, lambda lane: lane // 2, "16 bytes, lane i at vector i // 2",
              op="store"),
        _warp("8-bytes-pairs", "2 wavefronts, 2 cycles", 8, lambda lane: lane // 2, "8 bytes, lane i at vector i // 2",
              op="store"),
    ),
    fact(
        "a-register-a-cycle",
        "What a load read goes back one register of all lanes a cycle: 16 bytes take 4 cycles, 8 bytes 2, however few "
        "lanes ask; half of that where the load merges.",
        f"{GUIDE}: nothing. {FORUM}: 128 bytes a cycle, one register.",
        _warp("8-lanes", "1 wavefront, 4 cycles", 16, lambda lane: lane if lane < 8 else None,
              "load of 16 bytes, lanes 0 to 7"),
        _warp("one-lane", "1 wavefront, 2 cycles", 16, lambda lane: 0 if lane == 0 else None,
              "load of 16 bytes, lane 0 alone"),
        _warp("16-lanes", "1 wavefront, 2 cycles", 8, lambda lane: lane if lane < 16 else None,
              "load of 8 bytes, lanes 0 to 15"),
        _warp("8-lanes-store", "1 wavefront, 1 cycle", 16, lambda lane: lane if lane < 8 else None,
              "store of 16 bytes, lanes 0 to 7", op="store"),
    ),
    fact(
        "a-wavefront-two-cycles",
        "Whoever waits for a load waits 2 cycles longer for each further wavefront.",
        f"{GUIDE}: separate accesses one after another; no time is named.",
        *(
            _warp(f"{ways}-way", f"{26 + 2 * ways} cycles", 4, _every(ways), f"load of 4 bytes, {ways}-way",
                  shows="latency")
            for ways in (1, 2, 4, 8, 16, 32)
        ),
    ),
    fact(
        "matrices-share-no-wavefront",
        "ldmatrix and stmatrix take at least a wavefront a matrix, even where all read the same row; .trans is free.",
        "PTX ISA, ldmatrix: nothing of banks.",
        *(
            _warp(label, answer, 16, vector, f"{op.replace('_', ' ')}, {question}", op=op)
            for label, answer, vector, op, question in (
                ("one-row", "4 wavefronts, 4 cycles", lambda _: 0, "ldmatrix_x4", "all 32 rows the same"),
                ("128-byte-rows", "32 wavefronts, 32 cycles", lambda lane: 8 * lane, "ldmatrix_x4", "128 bytes apart"),
                ("trans", "32 wavefronts, 32 cycles", lambda lane: 8 * lane, "ldmatrix_x4_trans", "128 bytes apart"),
                ("store", "4 wavefronts, 4 cycles", lambda lane: lane, "stmatrix_x4", "16 bytes apart"),
            )
        ),
    ),
)  # fmt: skip
