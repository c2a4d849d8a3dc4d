"""`Answer`: what the checker says about one descriptor, layout, operand or batch; the same for a page and a terminal.

    verdict   accept | reject | fault | fault_possible | wrong_data | mixed | table | needs_fence | unreadable
              of a barrier program: completes | hang | race | error; of a story: ok | contested too
    exit      0 legal             1 illegal                                          2 unreadable

>>> Answer(form="json", kind="tiled", verdict="accept").exit_code
0

The verdicts are the case file's words. `reject` is the driver's, `fault` the engine's; what is legal and unwise stands
in `warnings` and changes neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tmalab.checker.mapping import Note, size_facts
from tmalab.errors import short_repr
from tmalab.inputs.position import UnreadableError
from tmalab.model.tensor_map import TensorMap
from tmalab.model.tensor_map_fields import MAX_LISTED_RANK
from tmalab.model.violation import Violation

# The form of the JSON that leaves this package. A key that is added does not change it; one that changes meaning does.
SCHEMA = 1
_BAD = frozenset({
    "reject", "fault", "fault_possible", "wrong_data", "mixed", "needs_fence", "hang", "race", "error",
})  # fmt: skip
# JSON readers hold at least this much; a number with more bits is told by its size.
_MOST_BITS = 1024


class Answer(NamedTuple):
    """One answer. `violations` are the driver's, `faults` the engine's; `facts` are numbers that decided something.

    `parts` are the answers to a set's or batch's entries, in order. `line` and `column` say where the question began;
    for an unreadable one `error` says what is wrong and where.
    """

    form: str
    kind: str
    verdict: str
    arch: str = "sm_90"
    tensor_map: TensorMap | None = None
    violations: tuple[Violation, ...] = ()
    faults: tuple[Violation, ...] = ()
    warnings: tuple[Violation, ...] = ()
    notes: tuple[Note, ...] = ()
    facts: Mapping[str, Any] = {}
    parts: tuple[Answer, ...] = ()
    error: UnreadableError | None = None
    line: int | None = None
    column: int | None = None

    def at(self, line: int, column: int) -> Answer:
        """The same answer to a question that stands there."""
        return Answer(*self[:-2], line, column)

    @property
    def legal(self) -> bool:
        """Whether the driver takes the descriptor and the engine the copy; None of it is said of an unreadable one."""
        if self.error is not None or self.violations or self.faults:
            return False
        if self.parts:
            return all(part.legal for part in self.parts)
        return self.tensor_map is not None or self.verdict not in _BAD

    @property
    def exit_code(self) -> int:
        """0 legal, 1 illegal, 2 unreadable; of a batch the worst."""
        if self.error is not None:
            return 2
        return max((part.exit_code for part in self.parts), default=0 if self.legal else 1)

    @property
    def rule(self) -> str | None:
        """The rule that decides: the first that is broken, or the one that the verdict is about."""
        found = next((violation.rule for violation in (*self.violations, *self.faults)), None)
        return found or next((note.rule for note in self.notes if note.rule), None)

    @property
    def rules(self) -> set[str]:
        """Every rule that the answer names: broken, warned of, or told about."""
        named = {violation.rule for violation in (*self.violations, *self.faults, *self.warnings)}
        named |= {note.rule for note in self.notes if note.rule}
        return named.union(*(part.rules for part in self.parts))

    @property
    def numbers(self) -> dict[str, Any]:
        """The facts, and the sizes of the map's copy and tensor; these are computed when they are asked for."""
        return {**(size_facts(self.tensor_map) if self.tensor_map is not None else {}), **self.facts}

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON values, with its schema's version."""
        made = self.to_line()
        if self.error is not None:
            return made
        if self.tensor_map is not None and self.tensor_map.rank <= MAX_LISTED_RANK:
            made["tensor_map"] = self.tensor_map.to_dict()
        for name in ("faults", "notes", "facts", "parts"):
            made.setdefault(name, [])
        made["facts"] = self.numbers
        made["parts"] = [part.to_dict() for part in self.parts]
        return _plain(made)  # type: ignore[no-any-return]

    def to_line(self) -> dict[str, Any]:
        """The same for a line of a batch: without the map itself and what can be computed from it."""
        made: dict[str, Any] = {"schema": SCHEMA, "form": self.form, "kind": self.kind, "verdict": self.verdict}
        if self.line is not None:
            made["line"], made["column"] = self.line, self.column
        if self.error is not None:
            made["legal"], made["error"] = False, _error_dict(self.error)
            return made
        made["legal"], made["rule"], made["arch"] = self.legal, self.rule, self.arch
        made["violations"] = [_violation_dict(violation) for violation in self.violations]
        made["warnings"] = [_violation_dict(violation) for violation in self.warnings]
        if self.faults:
            made["faults"] = [_violation_dict(violation) for violation in self.faults]
        if self.notes:
            made["notes"] = [note._asdict() for note in self.notes]
        if self.facts:
            made["facts"] = _plain(self.facts)
        return made


def _violation_dict(violation: Violation) -> dict[str, Any]:
    rule, field, value, limit, message, fix, source, cuda_error = violation
    made = {
        "rule": rule, "field": field, "value": _plain(value), "limit": _plain(limit), "message": message, "fix": fix,
        "source": source,
    }  # fmt: skip
    if cuda_error is not None:
        made["cuda_error"] = cuda_error
    return made


def _error_dict(error: UnreadableError) -> dict[str, Any]:
    value = None if error.value is None else short_repr(error.value)
    return {
        "message": error.message, "line": error.line, "column": error.column, "form": error.form, "field": error.field,
        "value": value, "fix": error.fix, "text": str(error),
    }  # fmt: skip


def _plain(value: Any) -> Any:
    """`value` with nothing in it that JSON cannot hold: an integer of thousands of digits becomes its description."""
    if isinstance(value, int):
        return value if value.bit_length() <= _MOST_BITS else short_repr(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (str, float)) else short_repr(value)


def unreadable(error: UnreadableError) -> Answer:
    """The answer to what could not be read."""
    # The frames of the traceback hold the text, which may be megabytes, for as long as the answer is kept.
    error.__traceback__ = error.__context__ = None
    return Answer(
        form=error.form or "unknown", kind="unknown", verdict="unreadable", error=error, line=error.line,
        column=error.column,
    )  # fmt: skip


def of_parts(form: str, kind: str, parts: tuple[Answer, ...], *, arch: str = "sm_90") -> Answer:
    """One answer over several: theirs where they agree, else mixed."""
    verdicts = {part.verdict for part in parts}
    verdict = verdicts.pop() if len(verdicts) == 1 else "mixed"
    counts = {"legal": sum(part.legal for part in parts), "unreadable": sum(part.error is not None for part in parts)}
    counts["illegal"] = len(parts) - counts["legal"] - counts["unreadable"]
    facts = {"count": len(parts), **counts}
    broken = {violation.rule: violation for part in parts for violation in part.violations}
    notes = tuple(Note(rule, f"broken by {_count(rule, parts)} of {len(parts)}") for rule in broken)
    return Answer(form=form, kind=kind, verdict=verdict, arch=arch, parts=parts, facts=facts, notes=notes)


def _count(rule: str, parts: tuple[Answer, ...]) -> int:
    return sum(any(violation.rule == rule for violation in part.violations) for part in parts)
