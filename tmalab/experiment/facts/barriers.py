"""What a barrier's 64 bits hold and when they can be read, and what an arrival too many does.

    63 phase   62 … 43 pending   41 … 21 bytes   20 … 1 expected        the counts negated

>>> [fact.id for fact in WORDS]
['word-while-at-work', 'counts-in-the-word', 'state-is-half', 'no-init-needed', 'one-bit-of-parity', 'arrive-too-often']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tmalab.experiment.barrier_word_cases import MARK
from tmalab.experiment.case import Case
from tmalab.experiment.facts.fact import Trial, fact

PTX = "PTX ISA, mbarrier"
_MARKED = ["ST", hex(MARK)]
_AT_WORK: list[list[Any]] = [_MARKED, ["INIT", 5], ["ARRIVE"], ["EXPECT_TX", 4096]]
_STATE, _WORD = "7fffd800", "7fffe3fe001ffff6"  # of the first arrive; 4 arrivals and 4096 bytes pending


def _stepped(label: str, answer: str, question: str, *steps: Sequence[Any]) -> Trial:
    """One thread takes the steps; the answer is what the arrivals, the tests and the readings returned."""
    return Trial(Case(label, "barrier_ops", {"launches": [[list(step) for step in steps]]}), question, answer)


WORDS = (
    fact(
        "word-while-at-work",
        "While a barrier works, shared memory does not hold it: its 64 bits come back with inval, or when 32 other "
        "barriers have been used since.",
        f"{PTX}: an opaque object, touched by mbarrier operations alone; of what a load returns nothing.",
        _stepped("read", f"{_STATE} {MARK:016x}", "read after an arrive", *_AT_WORK, ["LD_ACQUIRE_CTA"]),
        _stepped("atomic", f"{_STATE} {MARK:016x}", "read by an atomic", *_AT_WORK, ["ATOM_OR"]),
        _stepped("bulk", f"{_STATE} {MARK:016x}", "read by a bulk copy", *_AT_WORK, ["BULK_TO_GLOBAL"]),
        _stepped("inval", f"{_STATE} {_WORD}", "read after inval", *_AT_WORK, ["INVAL"], ["LD"]),
        _stepped("31-others", f"{_STATE} {MARK:016x}", "31 others used", *_AT_WORK, ["INIT_OTHERS", 31], ["LD"]),
        _stepped("32-others", f"{_STATE} {_WORD}", "32 others used", *_AT_WORK, ["INIT_OTHERS", 32], ["LD"]),
    ),
    fact(
        "counts-in-the-word",
        "Bit 63 is the phase, bits 62 to 43 are the pending arrivals, 41 to 21 the bytes, 20 to 1 the arrivals that "
        "each phase awaits; all counts negated.",
        f"{PTX}: opaque, 64 bits.",
        _stepped("init-1", "7ffff800001ffffe", "init 1", ["INIT", 1], ["INVAL"], ["LD"]),
        _stepped("phase-1", "7ffff800 fffff800001ffffe", "init 1, arrive", ["INIT", 1], ["ARRIVE"], ["INVAL"], ["LD"]),
        _stepped("16-bytes", "7fffebfffe1ffffa", "init 3, expect 16", ["INIT", 3], ["EXPECT_TX", 16], ["INVAL"],
                 ["LD"]),
        _stepped("16-early", "7fffe800021ffffa", "init 3, complete 16", ["INIT", 3], ["COMPLETE_TX", 16], ["INVAL"],
                 ["LD"]),
        _stepped("drop", "7fffb000 7fffb800001fffee", "init 10, arrive_drop", ["INIT", 10], ["ARRIVE_DROP"], ["INVAL"],
                 ["LD"]),
    ),
    fact(
        "state-is-half",
        "An arrive's state holds the upper 32 bits of the word as it was before: the phase, the pending arrivals, the "
        "bytes in steps of 2048.",
        f"{PTX}.arrive: an opaque 64-bit state. Of its lower half, which is left as the register was, nothing.",
        _stepped("2048-bytes", "7fffebff", "init 3, expect 2048", ["INIT", 3], ["EXPECT_TX", 2048], ["ARRIVE"]),
        _stepped("2049-bytes", "7fffebfe", "init 3, expect 2049", ["INIT", 3], ["EXPECT_TX", 2049], ["ARRIVE"]),
        _stepped("pending", "7fffebfe 3", "init 3, expect 4096, pending_count", ["INIT", 3], ["EXPECT_TX", 4096],
                 ["ARRIVE"], ["PENDING_COUNT"]),
    ),
    fact(
        "no-init-needed",
        "After inval an arrive goes on from the counts that were left.",
        f"{PTX}.init: any other operation before it, or after inval, is undefined.",
        _stepped("after-inval", "7fffd800 7fffe000", "init 5, arrive, inval, arrive", ["INIT", 5], ["ARRIVE"],
                 ["INVAL"], ["ARRIVE"]),
    ),
    fact(
        "one-bit-of-parity",
        "Of a wait's parity only bit 0 counts: a loop's index works as well as its last bit.",
        f"{PTX}.test_wait: phaseParity is 0 or 1; of other values nothing.",
        _stepped("fresh", "false true false true", "parities 0 to 3", ["INIT", 1],
                 *(["TEST_PARITY", parity] for parity in range(4))),
        _stepped("complete", "7ffff800 true false true false", "after one phase", ["INIT", 1], ["ARRIVE"],
                 *(["TEST_PARITY", parity] for parity in range(4))),
    ),
    fact(
        "arrive-too-often",
        "An arrive that no phase awaits faults: one too many while bytes are pending, or one on 64 zero bits.",
        f"{PTX}: the pending count lies between 1 and 2^20 - 1; of an arrive below that nothing.",
        _stepped("bytes-pending", "LAUNCH_FAILED", "init 1, arrive.expect_tx, arrive", ["INIT", 1],
                 ["ARRIVE_EXPECT_TX", 4096], ["ARRIVE"]),
        _stepped("zeros", "LAUNCH_FAILED", "arrive on zeros", ["ST", "0x0"], ["ARRIVE"]),
        _stepped("two-at-once", "LAUNCH_FAILED", "init 1, arrive by 2", ["INIT", 1], ["ARRIVE_COUNT", 2]),
    ),
)  # fmt: skip
