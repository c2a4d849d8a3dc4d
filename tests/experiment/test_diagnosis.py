"""A failed transfer is told in the model's words: what was armed, what came, what to do."""

import pytest

from tmalab.experiment.diagnosis import diagnose_fault, diagnose_load
from tmalab.model.violation import Violation


def test_nothing_to_say_where_all_is_well():
    assert diagnose_load(expect_tx_bytes=1024, delivered_bytes=1024, completed=True) is None


@pytest.mark.parametrize(
    ("armed", "delivered", "completed", "words"),
    [
        (4096, 2048, False, "armed for 4096 bytes, 2048 arrived; 2048 are missing, so the phase never completes."),
        (1025, 1024, False, "armed for 1025 bytes, 1024 arrived; 1 is missing, so the phase never completes."),
        (1008, 1024, False, "armed for 1008 bytes, 1024 arrived; 16 were too many, so the count passed zero"),
        (1023, 1024, False, "1 was too many"),
        (512, 1024, True, "the phase completed too early, when the first 512 were there, and the other 512 count"),
        (1024, None, False, "the phase did not complete; how many bytes arrived could not be counted."),
        (1024, None, True, "the phase completed; how many bytes came after its end could not be counted."),
        (1024, 1024, False, "all arrived, but only after the deadline of the wait."),
    ],
)
def test_what_a_load_met(armed, delivered, completed, words):
    said = diagnose_load(expect_tx_bytes=armed, delivered_bytes=delivered, completed=completed)
    assert words in said
    if delivered not in (None, armed):
        assert f"Arm for {delivered}" in said


def test_a_fault_is_told_by_the_rules_that_foretell_it():
    rule = Violation("inner", "coords[0]", 1, 4, "coords[0]=1 is 4 bytes.", "Use a multiple of 4.", "measured",
                     "ILLEGAL_INSTRUCTION")  # fmt: skip
    other = rule._replace(message="not this", cuda_error="MISALIGNED_ADDRESS")
    said = diagnose_fault("ILLEGAL_INSTRUCTION", [other, rule])
    assert said == "coords[0]=1 is 4 bytes. Use a multiple of 4."


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("ILLEGAL_INSTRUCTION", "which no launch rule of the model foretells"),
        ("INVALID_VALUE", "nothing was launched"),
        ("TIMEOUT", "a new one started"),
        ("WORKER_DIED", "exit code 9"),
    ],
)
def test_faults_that_no_rule_foretells(error, words):
    assert words in diagnose_fault(error, [], "it ended (exit code 9)")
