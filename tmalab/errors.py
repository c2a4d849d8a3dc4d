"""Every error that tmalab raises on purpose: one base class and its few children.

    TmaLabError ─┬─ InputError        cannot be built: unknown word, non-integer, lists that don't fit
                 ├─ TensorMapError    built, but the driver would refuse it; carries every violation
                 ├─ NoHopperGpuError  this machine cannot run it; the only error a GPU test may skip on
                 ├─ RecordingError    a recording is missing, damaged or of another schema
                 └─ HardwareError     compiling, launching or the worker failed for a reason of its own

>>> str(InputError("unknown swizzle", field="swizzle", value="96B", fix="use one of none, 32B, 64B, 128B"))
"swizzle='96B': unknown swizzle. Fix: use one of none, 32B, 64B, 128B."
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmalab.model.violation import Violation

# A value may be a 10 MB string or an integer of a million digits; a message stays one line.
_LONGEST_VALUE = 120


def short_repr(value: Any) -> str:
    """`repr(value)`, cut to one readable line, whatever the size of the value."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return f"<integer of {value.bit_length()} bits>"
    if isinstance(value, (str, bytes)) and len(value) > _LONGEST_VALUE:
        return repr(value[: _LONGEST_VALUE - 20]) + f"… ({len(value)} long)"
    if isinstance(value, (list, tuple)) and len(value) > 16:
        shown = ", ".join(short_repr(item) for item in value[:8])
        return f"[{shown}, … ({len(value)} entries)]"
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def wrong_length(given: int, needed: int) -> str:
    """*1 entry where 2 are needed*: the message for a list that does not fit."""
    return f"{given} {'entry' if given == 1 else 'entries'} where {needed} {'is' if needed == 1 else 'are'} needed"


class TmaLabError(Exception):
    """Base of all errors of this package.

    `field` names what was wrong, `value` what was given, `limit` what is allowed, `fix` what to do;
    each is None where it has no meaning.
    """

    def __init__(
        self, message: str, *, field: str | None = None, value: Any = None, limit: Any = None, fix: str | None = None
    ):
        self.message, self.field, self.value, self.limit, self.fix = message, field, value, limit, fix
        text = message if field is None else f"{field}={short_repr(value)}: {message}"
        super().__init__(f"{text.rstrip('.')}. Fix: {fix.rstrip('.')}." if fix else text)


class InputError(TmaLabError, ValueError):
    """What was given cannot be built into anything: an unknown word, a non-integer, lists that don't fit."""


class TensorMapError(TmaLabError):
    """The driver would refuse this tensor map. `violations` holds every rule that it breaks."""

    def __init__(self, violations: Sequence[Violation]):
        self.violations = list(violations)
        lines = "\n".join(f"  - {violation.message} {violation.fix}".rstrip() for violation in self.violations)
        count = len(self.violations)
        super().__init__(f"the driver refuses this tensor map, {count} rule{'s'[: count != 1]} broken:\n{lines}")


class NoHopperGpuError(TmaLabError):
    """No Hopper GPU can be used here; `reason` says precisely why (no driver, not sm_90, CuPy for another CUDA …)."""

    def __init__(self, reason: str, *, fix: str | None = None):
        self.reason = reason
        super().__init__(f"no Hopper GPU: {reason}", fix=fix)


class RecordingError(TmaLabError):
    """A recording is missing, damaged (its SHA-256 differs) or written by another schema version."""


class HardwareError(TmaLabError):
    """Compiling, launching, or the worker process failed for a reason that is not the experiment's own."""
