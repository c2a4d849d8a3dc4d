"""`Card` shows one entry, `Index` all of them by symptom: plain HTML, the same in the book, a notebook and on paper.

    title, symptom │ the tool says: verdict, why │ the GPU did: counts, what it waited for │ the fix │ mended: counts

Every word of a verdict is the public API's, every count an observation's, and the fix is a diff of two sources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from tmalab.experiment.case import Case
from tmalab.experiment.observation import Observation
from tmalab.experiment.stopped import stop_sentence
from tmalab.gallery.broken_kernel import Entry
from tmalab.gallery.entries import GROUPS, entry
from tmalab.gallery.outcome import outcome_sentence, shares
from tmalab.gallery.verdict import Verdict
from tmalab.hardware.kernel_file import event_lines

Observe = Callable[[Case], Observation]


class Card:
    """One entry with its verdict and with what `observe` (tmalab.observe) answers: the recording, or a run of now.

    Raises InputError for an unknown entry, and what `observe` raises.
    """

    def __init__(self, name: str, observe: Observe):
        self.entry: Entry = entry(name)
        self.observation = observe(self.entry.case)

    @property
    def verdict(self) -> Verdict:
        """What the public API says of the broken kernel."""
        return self.entry.verdict("broken")

    @property
    def broken(self) -> Mapping[str, Any]:
        """What became of its runs (gallery_runs.add_up)."""
        return dict(self.observation["broken"])

    @property
    def fixed(self) -> Mapping[str, Any]:
        """What became of the mended kernel's."""
        return dict(self.observation["fixed"])

    def fits(self) -> bool:
        """Whether both versions did what the API says of them, and every run of the mended one was right."""
        mended = self.entry.verdict("fixed")
        return self.verdict.fits(self.broken) and mended.word == "completes" and mended.fits(self.fixed)

    def __repr__(self) -> str:
        return f"Card({self.entry.id!r})"

    def _repr_html_(self) -> str:
        found, verdict = self.entry, self.verdict
        stops = "".join(f"<p>{_mono(stop_sentence(stop))}</p>" for stop in self.broken["stops"])
        rows = [
            ("The tool says", f"<p>{_word(verdict.word)} {escape(_sentence(verdict.why))}</p>" + _advice(verdict)),
            ("The GPU did", f"<section data-volatile>{_counts(self.broken)}{stops}</section>"),
            ("The fix", _diff(found.diff())),
            ("Mended", f"<section data-volatile>{_counts(self.fixed)}</section>"),
            ("Reported in", f"<p>{', '.join(map(_report, found.reports))}</p>" if found.reports else ""),
        ]
        body = "".join(f"<dt>{name}</dt><dd>{content}</dd>" for name, content in rows if content)
        remark = f"<p>{escape(found.remark)}</p>" if found.remark else ""
        folds = [("The broken kernel, whole", found.source("broken")), ("The events that the tool saw", _events(found))]
        whole = "".join(_fold(*fold) for fold in folds)
        measured, _ = self.observation.provenance.line().rsplit(" · ", 1)  # its "runs" are launches here
        launches = f"{self.broken['launches']} launches of each"
        foot = f'<p class="tma-foot" data-volatile>{escape(measured)} · {launches}</p>'
        return (
            f'<div class="tma tma-gallery" id="gallery-{found.id}">'
            f"<header><b>{escape(found.title)}</b><p>{escape(found.symptom)}</p>{remark}</header>"
            f"<dl>{body}</dl>{whole}{foot}</div>"
        )


class Index:
    """All entries by what is seen first, each a link to its card on the same page."""

    def __repr__(self) -> str:
        return f"Index({', '.join(GROUPS)})"

    def _repr_html_(self) -> str:
        parts = []
        for group, entries in GROUPS.items():
            rows = "".join(
                f'<tr><td><a href="#gallery-{found.id}">{escape(found.title)}</a></td>'
                f"<td>{escape(found.symptom)}</td><td>{_word(found.verdict('broken').word)}</td></tr>"
                for found in entries
            )
            head = '<tr><th scope="col">Fault</th><th scope="col">What is seen</th><th scope="col">Verdict</th></tr>'
            parts.append(f"<table><caption>{escape(group)}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>")
        return f'<div class="tma tma-gallery tma-index">{"".join(parts)}</div>'


def _report(report: str) -> str:
    repository, number = report.split("#")
    address = f"https://github.com/{repository}/issues/{number}"
    return f'<a href="{escape(address)}">{escape(report)}</a>'


def _word(word: str) -> str:
    return f'<b class="tma-fault" data-word="{escape(word)}">{escape(word)}</b>'


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _advice(verdict: Verdict) -> str:
    return f"<p>Fix: {escape(_sentence(verdict.fix))}</p>" if verdict.fix else ""


def _events(found: Entry) -> str:
    """The event list, numbered as verdicts count; empty where a rule of the map or of the copy decides."""
    lines = enumerate(event_lines(found.text("broken")))
    return "\n".join(f"{number:>2}  {line}" for number, line in lines)


def _fold(summary: str, text: str) -> str:
    if not text:
        return ""
    listing = f'<pre role="group" tabindex="0" aria-label="{summary}">{escape(text)}</pre>'
    return f"<details><summary>{summary}</summary>{listing}</details>"


def _mono(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _counts(seen: Mapping[str, Any]) -> str:
    """A bar of its parts and the sentence; counts, so they stand where a regression run does not look."""
    parts = "".join(
        f'<span data-word="{escape(word)}" style="flex-grow:{runs}" title="{runs} {escape(word)}"></span>'
        for word, runs in shares(seen)
    )
    return f'<p><span class="tma-share" aria-hidden="true">{parts}</span>{outcome_sentence(seen)}</p>'


def _diff(lines: list[str]) -> str:
    kinds = {"+": "added", "-": "removed", "@": "hunk"}
    marked = "".join(
        f'<span data-line="{kinds.get(line[:1], "same")}">{escape(line) or " "}</span>\n' for line in lines
    )
    return f'<pre role="group" tabindex="0" aria-label="The fix as a diff">{marked}</pre>'
