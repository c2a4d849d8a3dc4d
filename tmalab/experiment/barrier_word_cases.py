"""The cases that look into a barrier: its 64-bit word and the states of its arrivals, as lists of steps on one thread.

    [["INIT", 3], ["EXPECT_TX", 4096], ["ARRIVE"], ["PENDING_COUNT"], ["INVAL"], ["LD"]]

>>> [case.name for case in barrier_word_cases()][:2]
['counts/arrivals', 'counts/bytes']

A case holds several launches; ST puts a word that nobody would mistake where the barrier is going to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tmalab.experiment.case import Case

MARK = 0xDEAD0001BEEF0002  # what lies there before init
Steps = list[list[Any]]
_MARKED: Steps = [["ST", hex(MARK)]]
# Every way to read the word; the last two, and the bulk copies, also from the other block of the cluster or past it.
READS = (
    "LD", "LD_VOLATILE", "LD_ACQUIRE_CTA", "LD_ACQUIRE_SYS", "ATOM_OR", "ATOM_CAS", "BULK_TO_GLOBAL", "BULK_TO_SHARED",
    "LD_CLUSTER", "ATOM_CLUSTER",
)  # fmt: skip
ARRIVAL_COUNTS = (1, 2, 3, 5, 100, 1 << 19, (1 << 20) - 1)
BYTE_COUNTS = (1, 16, 2047, 2048, 4096, 65536, (1 << 20) - 1)
OTHERS = (1, 8, 16, 20, 22, 24, 26, 28, 29, 30, 31, 32, 64, 512)
# The barrier at work when it is read: 4 arrivals and 4096 bytes pending.
_AT_WORK: Steps = [*_MARKED, ["INIT", 5], ["ARRIVE"], ["EXPECT_TX", 4096]]


def _reading(read: str, agent: int) -> Steps:
    """Read at work, after every fence, after a millisecond, and after inval."""
    look = [read, 0, 0, agent]
    fenced: Steps = [["FENCE_PROXY_ASYNC"], ["FENCE_SYS"], ["BAR_SYNC"]]
    return [*_AT_WORK, look, *fenced, look, ["SLEEP_NS", 1_000_000], look, ["INVAL"], look]


def barrier_word_cases() -> Iterator[Case]:
    """The counts decoded, the word read in every way, and what writing or keeping the word does."""
    programs: dict[str, list[Steps]] = {
        "arrivals": [[*_MARKED, ["INIT", n], ["ARRIVE"], ["PENDING_COUNT"], ["INVAL"], ["LD"]] for n in ARRIVAL_COUNTS],
        "bytes": [[["INIT", 3], ["EXPECT_TX", n], ["ARRIVE"], ["INVAL"], ["LD"]] for n in BYTE_COUNTS],
        "bytes-early": [[["INIT", 3], ["COMPLETE_TX", n], ["ARRIVE"], ["INVAL"], ["LD"]] for n in BYTE_COUNTS],
        "phases": [[["INIT", 2], *[["ARRIVE"]] * n, ["INVAL"], ["LD"]] for n in range(7)],
        "drop": [[["INIT", 10], *[["ARRIVE_DROP"]] * n, ["ARRIVE"], ["INVAL"], ["LD"]] for n in range(4)],
        "waits": [
            [
                ["INIT", 2],
                ["TEST_PARITY", 0],
                ["TEST_PARITY", 1],
                ["TEST_PARITY", 2],
                ["ARRIVE"],
                ["TEST_STATE"],
                ["TRY_PARITY", 0],
                ["TRY_PARITY", 1],
                ["ARRIVE"],
                ["TEST_STATE"],
                ["TEST_PARITY", 0],
                ["TEST_PARITY", 1],
                ["TEST_PARITY", 2],
                ["TEST_PARITY", 3],
            ]
        ],
        "reads": [_reading(read, 0) for read in READS],
        "reads-from-the-other-block": [_reading(read, 1) for read in READS[-2:]],
        "others": [[*_AT_WORK, ["INIT_OTHERS", n], ["LD"], ["ARRIVE"], ["INVAL"], ["LD"]] for n in OTHERS],
        "others-128-bytes-apart": [
            [*_AT_WORK, ["INIT_OTHERS", n, 0, 0, 16], ["LD"], ["ARRIVE"], ["INVAL"], ["LD"]] for n in OTHERS
        ],
        "stores": [
            [*_AT_WORK, ["ST", "0x0"], ["LD"], ["ARRIVE"], ["LD"], ["INVAL"], ["LD"]],  # overwritten while it works
            [*_AT_WORK, ["INVAL"], ["LD"], ["ARRIVE"], ["LD"], ["INVAL"], ["LD"]],  # used after inval
            # a word that nobody but a store has made: 5 expected, 5 pending, no bytes, phase 0
            [["ST", "0x7fffd800001ffff6"], ["ARRIVE"], ["PENDING_COUNT"], ["LD"], ["INVAL"], ["LD"]],
        ],
    }
    for name, launches in programs.items():
        yield Case(f"counts/{name}", "barrier_ops", {"launches": launches})
    # 66 clusters of two blocks fill the 132 multiprocessors of an H200.
    leaving: list[Steps] = [[*_AT_WORK, ["LD"]], [["LD"]], [["ARRIVE"], ["PENDING_COUNT"]]]
    yield Case("counts/next-launch", "barrier_ops", {"launches": leaving, "clusters": 66})
