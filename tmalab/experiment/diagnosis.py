"""What went wrong with a transfer, in the model's words and with what to do about it.

    armed - delivered > 0   missing: the phase never completes     < 0   too many: it never does, or did so too early

>>> print(diagnose_load(expect_tx_bytes=4096, delivered_bytes=2048, completed=False).split(". ")[0])
armed for 4096 bytes, 2048 arrived; 2048 are missing, so the phase never completes

Plain integers in, a sentence out: no numpy and no GPU.
"""

from __future__ import annotations

from collections.abc import Sequence

from tmalab.model.violation import Violation


def diagnose_load(*, expect_tx_bytes: int, delivered_bytes: int | None, completed: bool) -> str | None:
    """Why a load's phase did not complete, or completed too early; None where all is well.

    `delivered_bytes` is what the engine completed on the barrier, None where that could not be found out.
    """
    armed = f"armed for {expect_tx_bytes} bytes"
    if delivered_bytes is None:
        if completed:
            return f"{armed}, and the phase completed; how many bytes came after its end could not be counted."
        return f"{armed}, and the phase did not complete; how many bytes arrived could not be counted."
    if delivered_bytes == expect_tx_bytes:
        return None if completed else f"{armed}, and all arrived, but only after the deadline of the wait."
    came, fix = f"{delivered_bytes} arrived", f"Arm for {delivered_bytes}"
    if delivered_bytes < expect_tx_bytes:
        missing = expect_tx_bytes - delivered_bytes
        verb = "is" if missing == 1 else "are"
        return (
            f"{armed}, {came}; {missing} {verb} missing, so the phase never completes. "
            f"{fix}, or issue the copies that bring the rest."
        )
    surplus = delivered_bytes - expect_tx_bytes
    if completed:
        return (
            f"{armed}, {came}; the phase completed too early, when the first {expect_tx_bytes} were there, and the "
            f"other {surplus} count against the next phase. {fix}."
        )
    verb = "was" if surplus == 1 else "were"
    return f"{armed}, {came}; {surplus} {verb} too many, so the count passed zero and the phase never completes. {fix}."


def diagnose_fault(error: str, foreseen: Sequence[Violation], detail: str = "") -> str:
    """Why a transfer raised `error` (without CUDA_ERROR_): the launch rules that foretell it, or that none does."""
    if error == "TIMEOUT":
        return "the kernel did not return before the host's deadline; its worker was stopped and a new one started."
    if error == "WORKER_DIED":
        return f"the worker process ended without an answer: {detail or 'it left no last words'}."
    named = [violation for violation in foreseen if violation.cuda_error == error]
    if named:
        return " ".join(f"{violation.message} {violation.fix}".strip() for violation in named)
    if error == "INVALID_VALUE":
        return "the driver refuses to encode this tensor map, so that nothing was launched."
    return f"the engine refused the copy with {error}, which no launch rule of the model foretells."
