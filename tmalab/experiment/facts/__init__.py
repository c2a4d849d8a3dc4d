"""The facts that no manual states, or that one states differently: what the page *What we measured* lists.

    FACTS ──┬─ fact_cases() ──▶ the catalogue's group "facts" ──▶ recorder, observe(case, live=True)
            └─ fact(id).holds({name: observation}) ──▶ the test, and the page's assert

>>> fact("two-faults").trials[0].answer
'ILLEGAL_INSTRUCTION'
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from tmalab.errors import InputError
from tmalab.experiment.case import Case
from tmalab.experiment.facts.banks import BANKS
from tmalab.experiment.facts.barriers import WORDS
from tmalab.experiment.facts.copies import LOADS, STORES
from tmalab.experiment.facts.encoder import ENCODER, IM2COL_ENCODER
from tmalab.experiment.facts.fact import Fact, Trial
from tmalab.experiment.facts.front_ends import FRONT_ENDS
from tmalab.experiment.facts.gemm import PRODUCTS
from tmalab.experiment.facts.launches import BARRIERS, FAULTS, WALKS
from tmalab.experiment.facts.pipelines import PIPELINES
from tmalab.experiment.facts.reductions import REDUCTIONS

__all__ = ["CHAPTERS", "FACTS", "Fact", "Trial", "fact", "fact_cases"]

# The page's headings, and the facts under each.
CHAPTERS: dict[str, tuple[Fact, ...]] = {
    "The encoder": ENCODER,
    "Loads": LOADS,
    "Stores": STORES,
    "Reductions": REDUCTIONS,
    "Im2col": (*IM2COL_ENCODER, *WALKS),
    "The barrier": (*BARRIERS, *WORDS),
    "Faults": FAULTS,
    "Banks": BANKS,
    "Pipelines": PIPELINES,
    "Matrix products": PRODUCTS,
    "Front ends": FRONT_ENDS,
}
FACTS: tuple[Fact, ...] = tuple(found for facts in CHAPTERS.values() for found in facts)


def fact(fact_id: str) -> Fact:
    """The fact of that id. Raises InputError, with the nearest ids, where there is none."""
    known = {found.id: found for found in FACTS}
    if fact_id not in known:
        near = get_close_matches(str(fact_id)[:200], known, n=3)
        fix = f"use {' or '.join(near)}" if near else f"use one of {', '.join(known)}"
        raise InputError("no such fact", field="fact", value=fact_id, fix=fix)
    return known[fact_id]


def fact_cases() -> Iterator[Case]:
    """Every case of every fact but those of other groups; an experiment that serves two is there once."""
    keys = set()
    for found in FACTS:
        for trial in found.trials:
            if trial.reads is None and trial.case.key not in keys:
                keys.add(trial.case.key)
                yield trial.case
