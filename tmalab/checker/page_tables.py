"""Tables of what an answer found, as HTML: a row for each violation, a line for each note, a row for each number.

    Rule                  Field        Value   Limit   What to do
    box_dim_range_1_256   box_dim[1]     512     256   the message · Fix: … · Source: …

>>> from tmalab.checker import check_text
>>> answer = check_text('{"dtype": "float32", "global_dim": [64], "box_dim": [512]}')
>>> "Use 256 and issue two copies." in next(findings("The driver refuses it", answer.violations))
True

Every rule's name leads to its section of the page of all rules. No numpy is imported here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tmalab.checker.explain import rule_ids
from tmalab.checker.mapping import Note
from tmalab.checker.markup import Markup, breakable, join, tag
from tmalab.errors import short_repr
from tmalab.model.violation import Violation

RULES_PAGE = "rules.html"
_MOST_FINDINGS = 50  # past these a page is no help; the JSON has them all
_KNOWN_RULES = frozenset(rule_ids())
_MEANINGS = {
    "transaction_bytes": "what one load completes on its mbarrier: expect_tx",
    "footprint_bytes": "shared memory from the box's first byte to its last",
    "row_bytes": "one row of the box", "last_byte": "the tensor's last byte, counted from its first",
    "dense_strides": "the strides of the same tensor without gaps, in bytes",
    "copies": "copies that it takes", "total_tx_bytes": "what all of them complete",
    "smem_align": "alignment in shared memory, in bytes, at which the pattern begins",
    "element_bytes": "bytes of an element", "count": "how many were asked about",
    "outcomes": "what can happen, over every order of the events", "first_bad_event": "where it first shows",
    "counts": "the barriers at that moment", "blocked": "who waits for ever, and in which event",
    "hanging": "who waits for ever", "expected": "bytes that the phase is armed for",
    "delivered": "bytes that are sent to it", "pending": "bytes still to come",
    "pending_arrivals": "arrivals still to come", "arrived": "arrivals that came",
    "expected_arrivals": "arrivals that init counts", "pending_groups": "groups that may still be read",
    "required_n": "the largest n whose wait covers the store", "expect_bytes": "what one phase is armed for",
    "first_bad_iteration": "which of its agent's waits for the barrier, from 0",
}  # fmt: skip


def plain(value: Any) -> str:
    """A value as text: a word without its quotes, a huge number by its size."""
    if value is None:
        return "–"
    return value if isinstance(value, str) and len(value) <= 120 else short_repr(value).replace("'", "")


def rule_link(rule_id: str) -> Markup:
    """The rule's name, leading to its section of the page of all rules where it has one."""
    name = tag("code", breakable(rule_id))
    return tag("a", name, href=f"{RULES_PAGE}#rule-{rule_id}") if rule_id in _KNOWN_RULES else name


def findings(title: str, found: Sequence[Violation]) -> Iterator[Markup]:
    """A table of violations, faults or warnings under its title; nothing where there are none."""
    if not found:
        return
    names = ("Rule", "Field", "Value", "Limit", "What to do")
    head = tag("tr", *(tag("th", name, scope="col") for name in names))
    rows = (_row(violation, names) for violation in found[:_MOST_FINDINGS])
    more = len(found) - _MOST_FINDINGS
    rest = tag("p", f"… and {more} more, which the JSON lists.", class_="check-soft") if more > 0 else None
    caption = tag("caption", title)
    yield tag("table", caption, tag("thead", head), tag("tbody", *rows), class_="check-findings")
    if rest:
        yield rest


def _row(violation: Violation, names: Sequence[str]) -> Markup:
    raises = f" Raises CUDA_ERROR_{violation.cuda_error}." if violation.cuda_error else ""
    what = join((
        tag("p", violation.message + raises),
        tag("p", tag("b", "Fix:"), " " + violation.fix) if violation.fix else None,
        tag("p", f"Source: {violation.source}", class_="check-soft"),
    ))  # fmt: skip
    cells = (
        tag("code", breakable(violation.field)), tag("code", plain(violation.value)),
        tag("code", plain(violation.limit)), what,
    )  # fmt: skip
    rule = tag("th", rule_link(violation.rule), scope="row")
    return tag("tr", rule, *(tag("td", cell, data_name=name) for name, cell in zip(names[1:], cells, strict=True)))


def notes_list(notes: Sequence[Note]) -> Iterator[Markup]:
    """What is worth knowing and breaks nothing."""
    if notes:
        yield tag("ul", *(tag("li", *_note(note)) for note in notes[:_MOST_FINDINGS]), class_="check-notes")


def _note(note: Note) -> Iterator[str]:
    if note.rule:
        yield from (rule_link(note.rule), ": ")
    yield note.message


def run_steps(steps: Sequence[str]) -> Iterator[Markup]:
    """One run of a barrier program, a line a step, behind one line."""
    if steps:
        code = tag("pre", tag("code", "\n".join(steps)), tabindex="0", class_="check-code")
        yield tag("details", tag("summary", "One run, step by step"), code, class_="check-more")


def numbers(found: Mapping[str, Any], folded: bool) -> Iterator[Markup]:
    """What decided, and what a user of the map needs next; `folded` behind one line."""
    rows = [_number(name, value) for name, value in found.items()]
    if not rows:
        return
    table = tag("table", tag("caption", "Numbers"), tag("tbody", *rows), class_="check-numbers")
    yield table if not folded else tag("details", tag("summary", "Numbers"), table, class_="check-more")


def _number(name: str, value: Any) -> Markup:
    head = tag("th", tag("code", breakable(name)), scope="row")
    return tag("tr", head, tag("td", tag("code", plain(value))), tag("td", _MEANINGS.get(name, "")))
