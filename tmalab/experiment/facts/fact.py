"""`Fact`: what the hardware does and no manual says, with the smallest experiment that shows it.

    Fact ─ trials ─┬─ case ──observe──▶ Observation ──answer_of──▶ "00000000*2 7ff77ff7*2"   is it `answer`?
                   └─ answer                                       "refused"  "ILLEGAL_ADDRESS"

>>> import numpy as np
>>> hex_words(np.array([0, 0, 0, 1, 0xCD, 0xCD, 0xCD, 0xCD], np.uint8), 2)
'0000 0100 cdcd*2'

An answer is one short line, so that a reader sees whole what was measured and a test compares nothing less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tmalab.experiment.case import Case
from tmalab.experiment.encode_cases import ADDRESS
from tmalab.experiment.facts.steps import shown_steps
from tmalab.experiment.observation import Observation
from tmalab.experiment.transfer_case import transfer_case
from tmalab.model.tensor_map import TensorMap

if TYPE_CHECKING:
    import numpy as np


_UNCOUNTED = "not counted, "


@dataclass(frozen=True)
class Trial:
    """One case of an experiment, what is asked of it, and the answer that an H200 gave.

    `shows` is "bytes" (in words of `word_bytes`) or "count", the bytes that the barrier was told of; of a warp's
    access "wavefronts", with the cycles of the full pipe, or "latency"; of steps on a barrier what they returned.
    `reads` makes the line itself, of what a front end's program saw. Where the hardware does now one thing and now
    another, `answer` holds both.
    """

    case: Case
    question: str
    answer: str | tuple[str, ...]
    shows: str = "bytes"
    word_bytes: int = 4
    reads: Callable[[Observation], str] | None = None

    def answer_of(self, seen: Observation) -> str:
        """What was seen, as a line to be compared with `answer`."""
        if seen.values.get("error"):
            return str(seen["error"])
        if self.reads is not None:
            return self.reads(seen)
        if self.case.probe == "encode":
            return str(seen.values.get("answer") or ("accepted" if seen["accepted"] else "refused"))
        if self.case.probe == "banks":
            if self.shows == "latency":
                return _counted(round(float(seen["latency_cycles"][0])), "cycle")
            cycles = _counted(round(float(seen["cycles"][0])), "cycle")
            if "ncu_wavefronts" not in seen.arrays:  # a live run has no profiler
                return f"{_UNCOUNTED}{cycles}"
            return f"{_counted(int(seen['ncu_wavefronts'][0]), 'wavefront')}, {cycles}"
        if self.case.probe == "barrier_ops":
            return shown_steps(self.case.params["launches"][-1], seen["results"][-1, 0].tolist())
        if self.shows == "count":
            ended = "completed" if seen["completed"] else "never completed"
            return f"{ended}, {seen['delivered_bytes']} bytes counted"
        name = "smem" if self.case.params["direction"] == "load" else "memory"
        return hex_words(seen[name], self.word_bytes, seen.undefined.get(name))

    def agrees(self, seen: Observation) -> bool:
        """Whether the hardware still answers so."""
        expected = self.answer if isinstance(self.answer, tuple) else (self.answer,)
        answer = self.answer_of(seen)
        if answer.startswith(_UNCOUNTED):
            return answer.removeprefix(_UNCOUNTED) in {each.split(", ")[-1] for each in expected}
        return answer in expected

    @property
    def expected(self) -> str:
        """The answer, or both where there are two."""
        return self.answer if isinstance(self.answer, str) else ", or ".join(self.answer)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s'[: count != 1]}"


# Words of an id that are written in another way.
_SPELT = {
    "kib": "KiB", "nan": "NaN", "nans": "NaNs", "tf32": "TF32", "ftz": "FTZ", "32b": "32B", "cute": "CuTe",
    "tirx": "TIRx", "cccl": "CCCL",
}  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """One fact. `manual` says what is written about it and where; `rules` are the ids of the rules that rest on it."""

    id: str
    statement: str
    manual: str
    trials: tuple[Trial, ...]
    rules: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The id as a heading."""
        words = [_SPELT.get(word, word) for word in self.id.split("-")]
        return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])

    def holds(self, seen: Mapping[str, Observation]) -> bool:
        """Whether every trial was answered as the fact says; `seen` holds an observation for each case's name."""
        return all(trial.agrees(seen[trial.case.name]) for trial in self.trials)


def hex_words(content: np.ndarray, word_bytes: int, undefined: np.ndarray | None = None) -> str:
    """Bytes as little-endian words in hexadecimal, equal ones in a row counted: `cdcd*2`. A masked word is ????."""
    words = [f"{word:0{2 * word_bytes}x}" for word in content.view(f"<u{word_bytes}").tolist()]
    if undefined is not None:
        masked = [bool(word.any()) for word in undefined.reshape(-1, word_bytes)]
        words = ["?" * len(word) if hidden else word for word, hidden in zip(words, masked, strict=True)]
    runs = [(word, len(list(same))) for word, same in groupby(words)]
    return " ".join(word if count == 1 else f"{word}*{count}" for word, count in runs)


# --- What most experiments are made of --------------------------------------------------------------------------------

ZEROS = {"pattern": "fill", "value": 0}
COUNTED = {"pattern": "iota16"}  # 16-bit word i holds i
FLOATS = {"pattern": "arange_float32"}  # float32 i holds i


def line(dtype: str, elements: int, box: int, **fields: Any) -> TensorMap:
    """A tensor of one dimension, and a box of it."""
    return TensorMap.tiled(dtype, (elements,), (), (box,), **fields)


def encoded(label: str, answer: str, tensor_map: TensorMap, *, question: str = "", context: bool = True) -> Trial:
    """The driver is asked to encode a map; where it has no address, one of no allocation."""
    fields = tensor_map.to_dict()
    if fields["address"] is None:
        fields["address"] = ADDRESS
    params = {"tensor_map": fields} | ({} if context else {"context": False})
    return Trial(Case(label, "encode", params), question or label, answer)


def moved(
    label: str, answer: str | tuple[str, ...], direction: str, tensor_map: TensorMap, coords: Sequence[int], *,
    memory: Mapping[str, Any], memory_bytes: int, smem_bytes: int, smem: Mapping[str, Any] | None = None,
    question: str = "", shows: str = "bytes", word_bytes: int = 4, **given: Any,
) -> Trial:  # fmt: skip
    """The engine moves one box; `given` are `transfer_case`'s."""
    case = transfer_case(
        label, tensor_map, direction, coords, memory={**memory, "bytes": memory_bytes}, smem_bytes=smem_bytes,
        smem=None if smem is None else {**smem, "bytes": smem_bytes}, **given,
    )  # fmt: skip
    return Trial(case, question or label, answer, shows, word_bytes)


def fact(fact_id: str, statement: str, manual: str, *trials: Trial, rules: tuple[str, ...] = ()) -> Fact:
    """A fact whose cases are named facts/`fact_id`/…, after the label that each trial was given.

    A trial that was named whole, facts/…/…, serves several facts; one with `reads` is a case of another group.
    """

    def named(trial: Trial) -> Trial:
        if trial.reads is not None or trial.case.name.startswith("facts/"):
            return trial
        return replace(trial, case=replace(trial.case, name=f"facts/{fact_id}/{trial.case.name}"))

    return Fact(fact_id, statement, manual, tuple(named(trial) for trial in trials), rules)
