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

from tmalab.checker.answer import Answer
from tmalab.checker.check import check_text
from tmalab.checker.host_snippet import host_snippet
from tmalab.checker.markup import Markup, tag
from tmalab.checker.options import Options
from tmalab.checker.page_tables import findings, notes_list, numbers, plain, run_steps
from tmalab.errors import short_repr
from tmalab.inputs.position import UnreadableError
from tmalab.model.tensor_map_fields import MAX_LISTED_RANK

_MOST_PARTS = 50  # past these a page is no help; the JSON has them all
_FORMS = {
    "json": "JSON", "tilelang": "a TileLang dump", "cutlass": "a CUTLASS dump", "cpp": "a C++ call", "flags": "flags",
    "cute": "a CuTe layout", "array": "an array", "tvm": "a call in a TVM script", "triton": "a Triton descriptor",
    "encoded": "a map's 128 bytes",
}  # fmt: skip
_VERDICTS = {
    "accept": "Legal", "reject": "Illegal", "fault": "The engine faults", "fault_possible": "The engine may fault",
    "wrong_data": "Wrong data", "mixed": "Some are legal, some are not", "table": "As follows",
    "conflict_degree": "As follows",
    "mapping": "As follows", "needs_fence": "Needs a fence", "completes": "Completes in every order", "hang": "Hangs",
    "race": "Races", "error": "An error", "ok": "In order", "contested": "Contested",
}  # fmt: skip

_FAULTS = dict.fromkeys(("hang", "race", "error"), ("thing wrong", "things wrong"))


def page_answer(text: str, options: str = "{}") -> str:
    """The answer to `text` as JSON: `answer` and `html`. `options` is a JSON object, as for `check_text`.

    Raises InputError for an option that is not known; what is wrong with `text` is an answer.
    """
    # One architecture of the page's is always chosen: it stands for what the text leaves out, and contradicts nothing.
    answer = check_text(text, Options.of(json.loads(options))._replace(arch_said=False))
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
    if answer.parts:
        kinds = (f"{answer.facts[kind]} {kind}" for kind in ("legal", "illegal", "unreadable") if answer.facts[kind])
        return f"{len(answer.parts)} asked: {', '.join(kinds)}"
    counts = [
        (len(answer.violations), "rule broken", "rules broken"),
        (len(answer.faults), *_FAULTS.get(answer.verdict, ("fault foretold", "faults foretold"))),
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
    yield from findings("The driver refuses it", answer.violations)
    ours = answer.kind in ("barrier_program", "sync_story", "cluster_barrier")
    yield from findings("What goes wrong" if ours else "The engine refuses the copy", answer.faults)
    yield from findings("Legal, but unwise", answer.warnings)
    yield from notes_list(answer.notes)
    yield from _parts(answer.parts, text)
    yield from run_steps(answer.facts.get("run", ()))
    others = {name: value for name, value in answer.numbers.items() if name != "run"}
    yield from numbers(others, folded=not answer.legal)
    if answer.legal and answer.tensor_map is not None:
        code = tag("pre", tag("code", host_snippet(answer.tensor_map)), tabindex="0", class_="check-code")
        yield tag("div", tag("p", "Host code", class_="check-head"), code, class_="check-host")


def _fields(answer: Answer) -> str:
    """The descriptor in one line, as it was understood."""
    fields = answer.tensor_map.to_dict() if answer.tensor_map is not None else {}
    kind, dtype = fields.pop("kind", ""), fields.pop("dtype", "")
    shown = (f"{name} {plain(value)}" for name, value in fields.items() if value not in (None, "none"))
    return f"{kind} {dtype}, " + ", ".join(shown)


def _parts(parts: Sequence[Answer], text: str) -> Iterator[Markup]:
    for number, part in enumerate(parts[:_MOST_PARTS], 1):
        place = f"{number}. " if part.line is None else f"{number}. Line {part.line}: "
        summary = tag("summary", place + headline(part))
        is_open = "" if not part.legal and len(parts) <= 4 else None
        yield tag("details", summary, answer_html(part, text), class_="check-part", open=is_open)
    if len(parts) > _MOST_PARTS:
        yield tag("p", f"… and {len(parts) - _MOST_PARTS} more, which the JSON lists.", class_="check-soft")


def _unreadable(error: UnreadableError, text: str) -> Markup:
    """What could not be read, and where: the line, with a mark under the column."""
    first, *others = error.message.split("\n")
    first = first.rstrip(".:")
    if error.field is None:
        what = [first[:1].upper() + first[1:]]
    else:
        value = "" if error.value is None else f" = {short_repr(error.value)}"
        what = [tag("code", error.field + value), ": ", first]
    answer = Answer(error.form or "unknown", "unknown", "unreadable", error=error)
    return tag(
        "div",
        tag("p", headline(answer), class_="check-verdict"),
        tag("p", *what, ":" if others else "."),
        tag("ul", *(tag("li", other.strip()) for other in others), class_="check-notes") if others else None,
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
