"""A wait that passed its deadline, in words: every combination of arrivals and bytes."""

import pytest

from tmalab.experiment.stopped import stop_sentence

STOP = {"barrier": "full_barrier", "line": 9, "thread": 3, "address": 64, "phase_parity": 1}


@pytest.mark.parametrize(
    ("count", "pending", "armed", "surplus", "words"),
    [
        (1, 0, 4096, -16, "armed for 4096 bytes, 4080 arrived; 16 are missing."),
        (1, 0, 4096, -1, "armed for 4096 bytes, 4095 arrived; 1 is missing."),
        (1, 0, 4080, 16, "armed for 4080 bytes, 4096 arrived; 16 are too many."),
        (32, 31, 4096, 0, "1 of 32 arrivals came, 31 are missing; armed for 4096 bytes, all arrived."),
        (1, 1, 0, 0, "0 of 1 arrival came, 1 is missing."),
        (1, 1, 0, 512, "0 of 1 arrival came, 1 is missing; armed for 0 bytes, 512 arrived; 512 are too many."),
        (None, 2, 0, 0, "2 arrivals are missing, and no init of this barrier was seen."),
        (1, 0, 64, None, "armed for 64 bytes; how many arrived could not be counted."),
        (1, 0, 0, 0, "nothing is missing: it completed just after the deadline."),
        (1, 0, 64, 0, "armed for 64 bytes, all arrived."),
    ],
)
def test_what_is_missing(count, pending, armed, surplus, words):
    said = stop_sentence(
        {**STOP, "count": count, "pending_arrivals": pending, "armed_bytes": armed, "surplus_bytes": surplus}
    )
    assert said == f"line 9, thread 3 waits for full_barrier, phase of parity 1: {words}"
