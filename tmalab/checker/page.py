"""The answer as a page of the book shows it: the same JSON as `tmalab check --json`, and the HTML of it.

    text ──check_text──▶ Answer ──▶ {"answer": to_dict(), "html": verdict, tables of rules, sizes, host code}

>>> made = json.loads(page_answer('{"dtype": "float32", "global_dim": [40], "box_dim": [64]}'))
>>> made["answer"]["verdict"], "Legal on sm_90" in made["html"]
('accept', True)

The book's build and the worker in the reader's browser call the same function, so that a recorded answer and a live
one cannot differ. No numpy is imported here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tmalab.checker.answer import Answer
from tmalab.checker.check import check_text
from tmalab.checker.explain import rule_ids
from tmalab.checker.host_snippet import host_snippet
from tmalab.checker.mapping import Note
from tmalab.checker.markup import Markup, breakable, join, tag
from tmalab.errors import short_repr
from tmalab.inputs.position import UnreadableError
from tmalab.model.tensor_map_fields import MAX_LISTED_RANK
from tmalab.model.violation import Violation

RULES_PAGE = "rules.html"
# Past these a page is no help; the JSON has them all.
_MOST_PARTS, _MOST_FINDINGS = 50, 50
_KNOWN_RULES = frozenset(rule_ids())
_FORMS = {
    "json": "JSON", "tilelang": "a TileLang dump", "cutlass": "a CUTLASS dump", "cpp": "a C++ call", "flags": "flags",
    "cute": "a CuTe layout", "array": "an array",
}  # fmt: skip
_VERDICTS = {
    "accept": "Legal", "reject": "Illegal", "fault": "The engine faults", "fault_possible": "The engine may fault",
    "wrong_data": "Wrong data", "mixed": "Some are legal, some are not", "table": "As follows",
    "mapping": "As follows", "needs_fence": "Needs a fence",
}  # fmt: skip
_MEANINGS = {
    "transaction_bytes": "what one load completes on its mbarrier: expect_tx",
    "footprint_bytes": "shared memory from the box's first byte to its last",
    "row_bytes": "one row of the box", "last_byte": "the tensor's last byte, counted from its first",
    "dense_strides": "the strides of the same tensor without gaps, in bytes",
    "copies": "copies that it takes", "total_tx_bytes": "what all of them complete",
    "smem_align": "alignment in shared memory, in bytes, at which the pattern begins",
    "element_bytes": "bytes of an element", "count": "how many were asked about",
}  # fmt: skip


def page_answer(text: str, options: str = "{}") -> str:
    """The answer to `text` as JSON: `answer` and `html`. `options` is a JSON object, as for `check_text`.

    Raises InputError for an option that is not known; what is wrong with `text` is an answer.
    """
    answer = check_text(text, json.loads(options))
    return json.dumps({"answer": answer.to_dict(), "html": answer_html(answer, text)})


def answer_html(answer: Answer, text: str = "") -> Markup:
    """The answer as HTML, whose words all come from it escaped. `text` is what was asked, to show a place in it."""
    if answer.error is not None:
        return _unreadable(answer.error, text)
    verdict = "legal" if answer.legal and not answer.warnings else "unwise" if answer.legal else "illegal"
    return tag("div", *_parts_of(answer, text), class_="check-answer", data_verdict=verdict)


def headline(answer: Answer) -> str:
    """The verdict in one line."""
    if answer.error is not None:
        where = f"line {answer.error.line}, column {answer.error.column}"
        form = _FORMS.get(answer.form)
        return f"Unreadable as {form}: {where}" if form else f"Unreadable: {where}"
    counts = [
        (len(answer.violations), "rule broken", "rules broken"),
        (len(answer.faults), "fault foretold", "faults foretold"),
        (len(answer.warnings), "thing unwise", "things unwise"),
    ]
    said = ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)
    where = f" on {answer.arch}" if answer.tensor_map is not None else ""
    return f"{_VERDICTS[answer.verdict]}{where}{': ' if said else ''}{said}"


def _parts_of(answer: Answer, text: str) -> Iterator[Markup]:
    yield tag("p", headline(answer), class_="check-verdict")
    if answer.tensor_map is not None and answer.tensor_map.rank <= MAX_LISTED_RANK:
        form = _FORMS.get(answer.form, answer.form)
        yield tag("p", f"Read from {form}: ", tag("code", _fields(answer)), class_="check-read")
    yield from _table("The driver refuses it", answer.violations)
    yield from _table("The engine refuses the copy", answer.faults)
    yield from _table("Legal, but unwise", answer.warnings)
    yield from _notes(answer.notes)
    yield from _parts(answer.parts, text)
    yield from _numbers(answer)
    if answer.legal and answer.tensor_map is not None:
        code = tag("pre", tag("code", host_snippet(answer.tensor_map)), tabindex="0", class_="check-code")
        yield tag("div", tag("p", "Host code", class_="check-head"), code, class_="check-host")


def _fields(answer: Answer) -> str:
    """The descriptor in one line, as it was understood."""
    fields = answer.tensor_map.to_dict() if answer.tensor_map is not None else {}
    kind, dtype = fields.pop("kind", ""), fields.pop("dtype", "")
    shown = (f"{name} {_shown(value)}" for name, value in fields.items() if value not in (None, "none"))
    return f"{kind} {dtype}, " + ", ".join(shown)


def _shown(value: Any) -> str:
    """A value as text: a word without its quotes, a huge number by its size."""
    if value is None:
        return "–"
    return value if isinstance(value, str) and len(value) <= 120 else short_repr(value).replace("'", "")


def rule_link(rule_id: str) -> Markup:
    """The rule's name, leading to its section of the page of all rules where it has one."""
    name = tag("code", breakable(rule_id))
    return tag("a", name, href=f"{RULES_PAGE}#rule-{rule_id}") if rule_id in _KNOWN_RULES else name


def _table(title: str, found: Sequence[Violation]) -> Iterator[Markup]:
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
        tag("code", breakable(violation.field)), tag("code", _shown(violation.value)),
        tag("code", _shown(violation.limit)), what,
    )  # fmt: skip
    rule = tag("th", rule_link(violation.rule), scope="row")
    return tag("tr", rule, *(tag("td", cell, data_name=name) for name, cell in zip(names[1:], cells, strict=True)))


def _notes(notes: Sequence[Note]) -> Iterator[Markup]:
    if notes:
        yield tag("ul", *(tag("li", *_note(note)) for note in notes[:_MOST_FINDINGS]), class_="check-notes")


def _note(note: Note) -> Iterator[str]:
    if note.rule:
        yield from (rule_link(note.rule), ": ")
    yield note.message


def _parts(parts: Sequence[Answer], text: str) -> Iterator[Markup]:
    for number, part in enumerate(parts[:_MOST_PARTS], 1):
        place = f"{number}. " if part.line is None else f"{number}. Line {part.line}: "
        summary = tag("summary", place + headline(part))
        is_open = "" if not part.legal and len(parts) <= 4 else None
        yield tag("details", summary, answer_html(part, text), class_="check-part", open=is_open)
    if len(parts) > _MOST_PARTS:
        yield tag("p", f"… and {len(parts) - _MOST_PARTS} more, which the JSON lists.", class_="check-soft")


def _numbers(answer: Answer) -> Iterator[Markup]:
    """The facts. Those of a legal map are what its user needs next; otherwise they stand behind a line."""
    rows = [_number(name, value) for name, value in answer.numbers.items()]
    if not rows:
        return
    table = tag("table", tag("caption", "Numbers"), tag("tbody", *rows), class_="check-numbers")
    yield table if answer.legal else tag("details", tag("summary", "Numbers"), table, class_="check-more")


def _number(name: str, value: Any) -> Markup:
    head = tag("th", tag("code", breakable(name)), scope="row")
    return tag("tr", head, tag("td", tag("code", _shown(value))), tag("td", _MEANINGS.get(name, "")))


def _unreadable(error: UnreadableError, text: str) -> Markup:
    """What could not be read, and where: the line, with a mark under the column."""
    first, *others = error.message.split("\n")
    what = f"{error.field} = {short_repr(error.value)}: {first}" if error.field else first
    answer = Answer(error.form or "unknown", "unknown", "unreadable", error=error)
    return tag(
        "div",
        tag("p", headline(answer), class_="check-verdict"),
        tag("p", f"{what[:1].upper()}{what[1:]}".rstrip(".:") + (":" if others else ".")),
        tag("pre", "\n".join(others), tabindex="0", class_="check-tried") if others else None,
        tag("p", tag("b", "Fix:"), f" {error.fix.rstrip('.')}.") if error.fix else None,
        tag("pre", _place(text, error.line, error.column), tabindex="0", class_="check-place"),
        class_="check-answer", data_verdict="unreadable", data_line=str(error.line), data_column=str(error.column),
    )  # fmt: skip


def _place(text: str, line: int, column: int, around: int = 60) -> str:
    """The part of the line about the column, and a mark under the column."""
    lines: Iterable[str] = text.split("\n", line)[line - 1 : line] or [""]
    [whole] = lines
    begin = max(column - 1 - around, 0)
    shown = whole[begin : column - 1 + around].replace("\t", " ").rstrip("\r")
    cut = "…" if begin else ""
    number = f"{line} │ "
    return f"{number}{cut}{shown}\n{' ' * (len(number) + len(cut) + column - 1 - begin)}▲"
