"""`measured`: one fact of *What we measured*, put to its recording, or to this machine's GPU, and shown.

    measured("nan-fill") ──observe each case──▶ .holds      and, in a notebook, a table of what was asked and answered

>>> measured("two-fault")
Traceback (most recent call last):
    ...
tmalab.errors.InputError: fact='two-fault': no such fact. Fix: use two-faults.

A table tells the bytes. Where and when they were seen stands below it, marked as volatile: it is another for each run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from tmalab.experiment.facts import Fact, fact
from tmalab.experiment.facts.words import case_text
from tmalab.experiment.observation import Observation
from tmalab.recordings.observe import observe


def measured(fact_id: str, *, live: bool | None = None) -> Measured:
    """The fact of that id with what its cases showed; `live` as for `observe`, whose errors it raises."""
    found = fact(fact_id)
    return Measured(found, {trial.case.name: observe(trial.case, live=live) for trial in found.trials})


@dataclass(frozen=True)
class Measured:
    """A fact, and an observation for each of its cases, by name."""

    fact: Fact
    seen: Mapping[str, Observation]

    @property
    def holds(self) -> bool:
        """Whether the hardware answered as the fact says."""
        return self.fact.holds(self.seen)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What was asked and what was answered. Where two answers are right both are given, so that runs agree."""
        return [
            (trial.question, trial.expected if trial.agrees(seen) else trial.answer_of(seen))
            for trial, seen in ((trial, self.seen[trial.case.name]) for trial in self.fact.trials)
        ]

    def provenance(self) -> list[str]:
        """Recorded or live, and the machine: one line, or more where cases differ."""
        return list(dict.fromkeys(f"{seen.source}: {seen.provenance.line()}" for seen in self.seen.values()))

    def __repr__(self) -> str:
        width = max(len(asked) for asked, _ in self.rows)
        return "\n".join(f"{asked:{width}}  {answer}" for asked, answer in self.rows)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(asked)}</td><td><code>{escape(answer)}</code></td></tr>" for asked, answer in self.rows
        )
        cases = "\n\n".join(f"# {trial.case.name}\n{case_text(trial.case)}" for trial in self.fact.trials)
        return (
            f'<table class="table tma-measured"><thead><tr><th scope="col">asked</th><th scope="col">answered</th></tr>'
            f"</thead><tbody>{rows}</tbody></table>"
            "<details><summary>The experiment, case by case</summary>"
            f'<pre style="white-space: pre-wrap">{escape(cases)}</pre></details>'
            f'<p class="tma-provenance" data-volatile>{"<br>".join(map(escape, self.provenance()))}</p>'
        )
