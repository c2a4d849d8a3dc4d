"""What the public API says of one kernel of the gallery: nothing here decides, it asks, and gives the answer one form.

    //@ maps      ─▶ TensorMap.violations        refused      the driver will not encode it
    //? copy      ─▶ launch_violations           fault        the GPU will not run it, with this CUDA error
                  ─▶ launch_warnings             wrong bytes  it runs, and moves other bytes than was meant
    //: events    ─▶ BarrierProgram.run          completes | hang | race | error

>>> from tmalab.gallery.entries import entry
>>> verdict_of(entry("expect-too-many").text("broken")).word
'hang'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tmalab.hardware.kernel_file import KernelFile, event_lines, parse_kernel_file
from tmalab.model.barrier_program import BarrierProgram
from tmalab.model.launch_rules import launch_violations, launch_warnings
from tmalab.model.rules.allocation import extent_warnings
from tmalab.model.tensor_map import TensorMap
from tmalab.model.violation import Violation

REFUSED_ERROR = "INVALID_VALUE"  # what cuTensorMapEncodeTiled answers to a map that it refuses


@dataclass(frozen=True)
class Verdict:
    """`word`, the reason, what to do, every outcome that is possible, and the CUDA errors that are foretold."""

    word: str
    why: str
    fix: str = ""
    outcomes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def fits(self, seen: Mapping[str, Any]) -> bool:
        """Whether a run of all these launches (`gallery_runs.add_up`) is what this verdict foretells.

        A race may show itself or not, in any of its outcomes; all else is foretold for every run.
        """
        runs, errors = seen["runs"], set(seen["errors"])
        if self.word == "completes":
            return bool(seen["right"] == runs)
        if self.word == "hang":
            return bool(seen["stopped"] == runs)
        if self.word == "wrong bytes":
            return bool(seen["wrong"] == runs)
        if self.word == "race":
            return (not errors or "error" in self.outcomes) and (not seen["stopped"] or "hang" in self.outcomes)
        return bool(seen["refused"] == runs) and (self.word == "error" or errors <= set(self.errors))


def events_of(text: str) -> list[dict[str, Any]]:
    """The kernel's event list, in the grammar of `BarrierProgram`, as it stands beside its lines."""
    return [_event(line) for line in event_lines(text)]


def _event(line: str) -> dict[str, Any]:
    agent, op, *fields = line.split()
    pairs = (field.split("=", 1) for field in fields)
    return {"t": agent, "op": op, **{key: int(value) if value.isdigit() else value for key, value in pairs}}


def verdict_of(text: str) -> Verdict:
    """The verdict on one version of a kernel file."""
    file = parse_kernel_file(text)
    for spec in file.maps.values():
        if broken := TensorMap.from_dict(spec.tensor_map.to_dict()).violations():
            return _from_rules("refused", broken, (REFUSED_ERROR,))
    if file.copy:
        broken, unwise = (list(found) for found in _asked_of_the_copy(file))
        if broken:
            return _from_rules("fault", broken, tuple(found.cuda_error for found in broken if found.cuda_error))
        if unwise:
            return _from_rules("wrong bytes", unwise)
    events = events_of(text)
    if not events:
        return Verdict("completes", "No rule is broken.", outcomes=("completes",))
    outcome = BarrierProgram(events).run()
    if outcome.verdict == "completes" and outcome.notes:  # legal, and worth knowing
        return Verdict(outcome.verdict, outcome.notes[0].message, outcome.notes[0].fix, outcome.outcomes)
    return Verdict(outcome.verdict, outcome.why, outcome.fix, outcome.outcomes)


def _asked_of_the_copy(file: KernelFile) -> Iterator[list[Violation]]:
    """What `//? copy` breaks, and what of it is legal but unwise."""
    asked = dict(file.copy or {})
    tm, coords = file.maps[asked.pop("map")].tensor_map, asked.pop("coords")
    storage_bytes = asked.pop("storage_bytes", None)
    yield launch_violations(tm, coords, **asked)
    yield [
        *launch_warnings(tm, coords, **asked),
        *([] if storage_bytes is None else extent_warnings(tm, storage_bytes)),
    ]


def _from_rules(word: str, broken: list[Violation], errors: tuple[str, ...] = ()) -> Verdict:
    why, fix = " ".join(found.message for found in broken), " ".join(found.fix for found in broken)
    return Verdict(word, why, fix, (word,), errors)
