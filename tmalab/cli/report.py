"""What `tmalab check` prints for people: one answer as a short report, a batch as a line each and a total.

    illegal on sm_90: 1 rule broken
      box_inner_le_swizzle_span   box_dim[0]=48 float16 elements is 96 bytes; SWIZZLE_32B allows 32.
                                  Fix: Use at most 16, or split the row into three boxes …

>>> from tmalab.checker import check_text
>>> print(line(check_text('{"dtype": "float32", "global_dim": [8192], "box_dim": [1]}')))
1: illegal: box_inner_bytes_multiple_16 (box_dim[0]: 4, limit 16)

With rich installed and a terminal to print on the findings stand in a table; otherwise the same is plain text.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from tmalab.checker import Answer
from tmalab.errors import short_repr
from tmalab.model.tensor_map_fields import MAX_LISTED_RANK
from tmalab.model.violation import Violation

_LEGAL = {
    "accept": "legal", "reject": "illegal", "fault": "the engine faults", "fault_possible": "the engine may fault",
    "wrong_data": "wrong data", "mixed": "mixed", "table": "as follows", "mapping": "as follows",
    "conflict_degree": "as follows",
    "needs_fence": "needs a fence", "unreadable": "unreadable", "completes": "completes in every order",
    "hang": "hangs", "race": "races", "error": "an error", "ok": "in order", "contested": "contested",
}  # fmt: skip


# What the engine refuses is a fault; of a barrier program a finding is more often no fault but a place.
_FAULTS = dict.fromkeys(("hang", "race", "error"), ("thing wrong", "things wrong"))


def line(answer: Answer) -> str:
    """A batch's line for one answer."""
    if answer.error is not None:
        return f"{answer.line}: unreadable: {answer.error}"
    text = f"{answer.line}: {_LEGAL[answer.verdict]}"
    broken = answer.violations or answer.faults
    if broken:
        text += ": " + "; ".join(_short(violation) for violation in broken)
    if answer.warnings:
        named = ", ".join(dict.fromkeys(warning.rule for warning in answer.warnings))
        text += f"  (unwise: {named})"
    return text


def _short(violation: Violation) -> str:
    limit = "" if violation.limit is None else f", limit {short_repr(violation.limit)}"
    return f"{violation.rule} ({violation.field}: {short_repr(violation.value)}{limit})"


def total(counts: dict[str, int]) -> str:
    """A batch's last line."""
    legal, illegal, unreadable = counts["legal"], counts["illegal"], counts["unreadable"]
    return f"{legal + illegal + unreadable} checked: {legal} legal, {illegal} illegal, {unreadable} unreadable"


def findings(answer: Answer) -> Iterator[tuple[str, str, str, str]]:
    """Kind, rule, message and fix of everything that was found, worst first."""
    for kind, violations in (("broken", answer.violations), ("fault", answer.faults), ("unwise", answer.warnings)):
        for violation in violations:
            raises = f" Raises CUDA_ERROR_{violation.cuda_error}." if violation.cuda_error else ""
            yield kind, violation.rule, violation.message + raises, f"{violation.fix} [{violation.source}]"
    for note in answer.notes:
        yield "note", note.rule or "", note.message, ""


def headline(answer: Answer) -> str:
    """The verdict in one line."""
    text = _LEGAL[answer.verdict]
    where = f" on {answer.arch}" if answer.tensor_map is not None else ""
    counts = [(len(answer.violations), "rule broken", "rules broken")]
    counts.append((len(answer.faults), *_FAULTS.get(answer.verdict, ("fault", "faults"))))
    counts.append((len(answer.warnings), "thing unwise", "things unwise"))
    said = ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)
    return f"{text}{where}{': ' if said else ''}{said}"


def _facts(answer: Answer) -> Iterable[tuple[str, Any]]:
    for name, value in answer.numbers.items():
        if name != "run":
            yield name, short_repr(value) if not isinstance(value, (int, str)) or isinstance(value, bool) else value


def plain(answer: Answer) -> str:
    """The report of one answer as plain text."""
    if answer.error is not None:
        return f"unreadable as {answer.form}, {answer.error}" if answer.error.form else f"unreadable, {answer.error}"
    width = max(min(shutil.get_terminal_size().columns, 110), 60)
    lines = []
    if answer.tensor_map is not None and answer.tensor_map.rank <= MAX_LISTED_RANK:
        lines += textwrap.wrap(short_fields(answer), width, subsequent_indent="    ")
    lines.append(headline(answer))
    for kind, rule, message, fix in findings(answer):
        lines.append(f"  {kind}: {rule}" if rule else f"  {kind}:")
        lines += textwrap.wrap(message, width, initial_indent="      ", subsequent_indent="      ")
        lines += textwrap.wrap(f"Fix: {fix}", width, initial_indent="      ", subsequent_indent="      ") if fix else []
    lines += [f"  {name} = {value}" for name, value in _facts(answer)]
    lines += _run(answer)
    for number, part in enumerate(answer.parts):
        lines.append(f"variant {number}:")
        lines += [f"  {text}" for text in plain(part).splitlines()]
    return "\n".join(lines)


def _run(answer: Answer) -> list[str]:
    """One run of a barrier program, a line a step."""
    steps = answer.facts.get("run", ())
    return ["  run:", *(f"    {step}" for step in steps)] if steps else []


def short_fields(answer: Answer) -> str:
    """The descriptor in one line, as it was understood."""
    fields = answer.tensor_map.to_dict() if answer.tensor_map is not None else {}
    kind, dtype = fields.pop("kind", ""), fields.pop("dtype", "")
    shown = (f"{name} {short_repr(value)}" for name, value in fields.items() if value not in (None, "none"))
    return f"{kind} {dtype}: " + ", ".join(text.replace("'", "") for text in shown)


def table(answer: Answer) -> None:
    """Print the report of one answer through rich. Raises ImportError where that is not installed."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if answer.error is not None:
        console.print(Text(plain(answer), style="red"))
        return
    if answer.tensor_map is not None and answer.tensor_map.rank <= MAX_LISTED_RANK:
        console.print(Text(short_fields(answer), style="dim"))
    colour = "yellow" if answer.legal and (answer.warnings or answer.exit_code) else "green" if answer.legal else "red"
    console.print(Text(headline(answer), style=f"bold {colour}"))
    rows = list(findings(answer))
    if rows:
        grid = Table(show_lines=True)
        for name in ("", "rule", "what", "fix"):
            grid.add_column(name, overflow="fold")
        styles = {"broken": "red", "fault": "red", "unwise": "yellow", "note": "cyan"}
        for kind, rule, message, fix in rows:
            grid.add_row(Text(kind, style=styles[kind]), Text(rule), Text(message), Text(fix))
        console.print(grid)
    for name, value in _facts(answer):
        console.print(Text(f"  {name} = {value}"))
    for text in _run(answer):
        console.print(Text(text, style="dim"))
    for number, part in enumerate(answer.parts):
        console.print(Text(f"variant {number}"))
        table(part)
