"""A verdict fits a run of launches, or does not: each word's own condition, on both sides."""

from __future__ import annotations

import pytest

from tmalab.gallery.outcome import outcome_sentence, shares
from tmalab.gallery.verdict import Verdict, verdict_of

ALL = {"runs": 8, "right": 0, "wrong": 0, "stopped": 0, "refused": 0, "errors": {}, "launches": 2, "wrong_bytes": None}


def seen(**changes):
    return {**ALL, **changes}


RIGHT, WRONG, STOPPED = seen(right=8), seen(wrong=8, wrong_bytes=[1, 9]), seen(stopped=8)
FAULT = seen(refused=8, errors={"MISALIGNED_ADDRESS": 2})
MIXED = seen(right=3, wrong=2, stopped=3, wrong_bytes=[16, 16])


@pytest.mark.parametrize(
    ("verdict", "fitting"),
    [
        (Verdict("completes", ""), [RIGHT]),
        (Verdict("hang", "", outcomes=("hang",)), [STOPPED]),
        (Verdict("race", "", outcomes=("race", "completes")), [RIGHT, WRONG]),
        (Verdict("race", "", outcomes=("race", "hang")), [RIGHT, WRONG, STOPPED, MIXED]),
        (Verdict("race", "", outcomes=("race", "error")), [RIGHT, WRONG, FAULT]),
        (Verdict("error", ""), [FAULT]),
        (Verdict("fault", "", errors=("MISALIGNED_ADDRESS",)), [FAULT]),
        (Verdict("fault", "", errors=("ILLEGAL_INSTRUCTION",)), []),
        (Verdict("refused", "", errors=("INVALID_VALUE",)), []),
        (Verdict("wrong bytes", ""), [WRONG]),
    ],
)
def test_fits(verdict, fitting):
    for outcome in (RIGHT, WRONG, STOPPED, FAULT, MIXED):
        assert verdict.fits(outcome) == (outcome in fitting), outcome


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (RIGHT, "Right in all 8 runs."),
        (STOPPED, "Past the deadline in all 8 runs."),
        (FAULT, "MISALIGNED_ADDRESS in all 2 launches."),
        (MIXED, "Wrong bytes in 2 of 8 runs (16 a run); past the deadline in 3 of 8 runs; right in the other 3."),
        (
            seen(refused=4, wrong=4, wrong_bytes=[1, 9], errors={"LAUNCH_FAILED": 1}),
            "LAUNCH_FAILED in 1 of 2 launches; wrong bytes in all 4 other runs (1 to 9 a run).",
        ),
    ],
)
def test_an_outcome_in_words(outcome, sentence):
    assert outcome_sentence(outcome) == sentence


def test_the_parts_of_a_bar_are_all_runs():
    assert shares(MIXED) == [("right", 3), ("wrong bytes", 2), ("past the deadline", 3)]


HEAD = """\
//@ launch = { grid = 1 }
//@ buffers.a = { pattern = "fill", value = 0, bytes = 65536 }
//@ maps.m = { buffer = "a", dtype = "float16", global_dim = [64, 64], global_strides = [128], box_dim = [BOX, 8] }
extern "C" __global__ void k() {}
"""


@pytest.mark.parametrize(
    ("box", "rest", "word"),
    [
        (64, "", "completes"),
        (56, "", "completes"),
        (3, "", "refused"),
        (64, '//? copy = { map = "m", direction = "load", coords = [1, 0] }', "fault"),
        (64, '//? copy = { map = "m", direction = "load", coords = [0, 0], storage_bytes = 100 }', "wrong bytes"),
        (64, "//: t0 wait bar=b parity=0\n//: init init bar=b count=1", "hang"),
    ],
)
def test_the_word_is_the_public_api_s(box, rest, word):
    assert verdict_of(HEAD.replace("BOX", str(box)) + rest).word == word
