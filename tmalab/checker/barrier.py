"""The answer to a barrier program: does it complete in every order, and where and why does it not?

    {"events": [{"t": "p", "op": "arrive_expect_tx", "bar": "full", "bytes": 4096}, …]}   ──run──▶   Answer
    completes | hang | race | error        a story (barriers that nobody initialises): ok | contested | race …

>>> from tmalab.inputs.reading import Reading
>>> events = [{"t": "p", "op": "arrive", "bar": "b"}]
>>> answer = answer_barrier(Reading("json", {"kind": "barrier_program", "events": events}), Options())
>>> answer.verdict, [fault.rule for fault in answer.faults]
('error', ['mbarrier_must_be_initialised'])

The model is `tmalab.model.barrier_program`; nothing is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tmalab.checker.answer import Answer
from tmalab.checker.barrier_rules import BARRIER_RULES
from tmalab.checker.mapping import Note
from tmalab.checker.options import Options
from tmalab.errors import InputError, short_repr
from tmalab.inputs.reading import Reading
from tmalab.model.barrier_events import KNOWN_OPS, place_of
from tmalab.model.barrier_outcome import Finding, Outcome, Step
from tmalab.model.barrier_program import BarrierProgram
from tmalab.model.mbarrier import MOST
from tmalab.model.violation import Violation

# Rules that the barrier model shares with the rules of a tensor map, and their sources.
_SHARED_RULES = {
    "expect_tx_equals_delivered": "PTX ISA, mbarrier, tx-count; measured on H200",
    "fence_proxy_tensormap_after_global_write": "PTX ISA, fence.proxy.tensormap; measured on H200",
}
# What stands there and what is allowed, as the model's numbers name the two.
_VALUES = (
    ("arrived", "expected_arrivals"), ("delivered", "expected"), ("pending_groups", "required_n"), ("value", "limit"),
)  # fmt: skip
# A run is shown up to here; the JSON of the model's own Outcome has it whole.
_MOST_STEPS = 60
_MOST_CTAS = 16
_TO_WHOM = (
    r"\b(own|local\w*|itself|self)\b",
    r"\b(peers?|others?)\b",
    r"\b(leader|first|cta ?0)\b",
    r"\b(each|every|all|both)\b",
)
_HOW_MANY = {"one": 1, "once": 1, "two": 2, "twice": 2, "three": 3, "four": 4, "eight": 8}


def answer_barrier(reading: Reading, options: Options) -> Answer:
    """The answer to a barrier program, a story or a cluster's barrier. Raises UnreadableError for a malformed event."""
    said = reading.fields
    try:
        events = _cluster_events(said) if reading.kind == "cluster_barrier" else said.get("events")
        if events is None:
            raise InputError("missing", field="events", value=None, fix='give a list of {"t": agent, "op": …}')
        story = reading.kind == "sync_story"
        aside = _unknown_ops(events) if story and options.keep_unknown else []
        program = BarrierProgram([event for event in events if event not in aside] if aside else events, story=story)
    except InputError as error:
        raise _at_its_event(reading, error) from None
    outcome = program.run()
    notes = [Note(None, text) for text in reading.notes]
    notes += [Note(None, f"{short_repr(event['op'])} is not known and was left aside") for event in aside]
    notes += [Note(note.rule, note.message) for note in outcome.notes]
    notes += _beside(said, outcome)
    if outcome.bounded:
        notes.append(Note(None, f"not every order was searched: {outcome.bounded}"))
    verdict = outcome.verdict
    if reading.kind == "sync_story" and verdict == "completes":
        contested = any(note.message.startswith("contested") for note in outcome.notes)
        verdict = "contested" if contested else "ok"
    facts = _facts(program, outcome)
    if reading.kind == "cluster_barrier":
        arrivals = _arrivals_per_barrier(said)
        facts["arrivals_per_barrier"] = arrivals
        message = f"each barrier gets {arrivals} arrivals a phase and counts {said.get('init_count')}"
        notes.append(Note("cluster_wide_arrival_count", message))
    faults = tuple(_violation(finding) for finding in outcome.findings)
    return Answer(
        form=reading.form, kind=reading.kind, verdict=verdict, arch=options.arch, faults=faults, notes=tuple(notes),
        facts=facts,
    )  # fmt: skip


def _unknown_ops(events: Any) -> list[dict[str, Any]]:
    """The events of a story that the grammar has no word for: a story may tell more than is counted."""
    each = [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []
    return [event for event in each if isinstance(op := event.get("op"), str) and op not in KNOWN_OPS]


def _at_its_event(reading: Reading, error: InputError) -> InputError:
    """The error with the place of the event in the text, whose field (`events[3].bytes`) is inside that event."""
    outer = (error.field or "").split(".")[0]
    placed = reading.unreadable(InputError(error.message, field=outer, value=error.value, limit=error.limit))
    return type(placed).from_error(error, text=reading.text, offset=placed.offset, form=reading.form)


# --- the outcome as an answer -----------------------------------------------------------------------------------------


def _violation(finding: Finding) -> Violation:
    numbers = finding.numbers
    value, limit = next(((numbers[a], numbers[b]) for a, b in _VALUES if a in numbers and b in numbers), (None, None))
    source = BARRIER_RULES[finding.rule][2] if finding.rule in BARRIER_RULES else _SHARED_RULES[finding.rule]
    field = "events" if finding.event is None else f"events[{finding.event}]"
    return Violation(finding.rule, field, value, limit, _sentence(finding.message), _sentence(finding.fix), source)


def _sentence(text: str) -> str:
    return text and text[0].upper() * (not text.startswith("events")) + text[(not text.startswith("events")) :] + "."


def _facts(program: BarrierProgram, outcome: Outcome) -> dict[str, Any]:
    facts: dict[str, Any] = {"outcomes": list(outcome.outcomes), **outcome.numbers}
    if outcome.first_bad is not None:
        facts["first_bad_event"] = place_of(program.events[outcome.first_bad])
        facts["counts"] = {
            bar: f"phase {counts.phase}, {counts.pending_count} of {counts.expected_count} arrivals pending, "
            f"tx-count {counts.tx_count}"
            for bar, counts in outcome.counts.items()
        }
    if outcome.blocked:
        facts["blocked"] = {agent: place_of(program.events[event]) for agent, event in outcome.blocked.items()}
    steps = outcome.trace
    cut = max(len(steps) - _MOST_STEPS, 0)
    facts["run"] = ([f"… {cut} steps before"] if cut else []) + [_step(step) for step in steps[cut:]]
    return facts


def _step(step: Step) -> str:
    bar = f" {step.bar}" if step.bar else ""
    return f"{step.agent}: {step.op}{bar}: {step.text}" if step.bar else f"{step.agent}: {step.text}"


# --- what a report says beside its events -----------------------------------------------------------------------------


def _beside(said: Mapping[str, Any], outcome: Outcome) -> list[Note]:
    notes = []
    issued, tiles = said.get("issued_k_tiles"), said.get("k_tiles")
    if isinstance(issued, list) and isinstance(tiles, int) and any(isinstance(k, int) and k >= tiles for k in issued):
        message = (
            f"tiles past the last of {tiles} are outside the tensor: their loads fetch nothing, write the fill and "
            "complete all their bytes; wait for them before the buffer or the block ends"
        )
        notes.append(Note("oob_box_still_counts_full_bytes", message))
    site = said.get("issue_site")
    if isinstance(site, str) and ("if " in site or "one thread" in site or "elect" in site):
        message = "a DSL's copy elects its thread itself: call it from a converged warp, outside a branch of one thread"
        notes.append(Note("dsl_copy_elects_internally", message))
    return notes


# --- a barrier of a cluster, said in numbers --------------------------------------------------------------------------


def _cluster_events(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The program of a cluster in which each CTA arrives at its own, its peers' or every CTA's barrier, and waits."""
    size, count = _integer(said, "cluster"), _integer(said, "init_count")
    if not 1 <= size <= _MOST_CTAS:
        raise InputError("not a cluster's size", field="cluster", value=size, limit=_MOST_CTAS, fix="give 1 to 16")
    bars = [f"cta{k}.bar" for k in range(size)]
    events: list[dict[str, Any]] = [{"t": "init", "op": "init", "bar": bar, "count": count} for bar in bars]
    for source in range(size):
        arrive = {"t": f"c{source}", "op": "arrive"}
        events += [{**arrive, "bar": bars[k], "count": _times(said)} for k in _targets(said, source, size)]
    return events + [{"t": f"c{k}", "op": "wait", "bar": bar, "parity": 0} for k, bar in enumerate(bars)]


def _targets(said: Mapping[str, Any], source: int, size: int) -> list[int]:
    words = said.get("arrivals_per_cta")
    if isinstance(words, str):
        own, peers, leader, every = (re.search(pattern, words.lower()) for pattern in _TO_WHOM)
        chosen = {k for k in range(size) if (own and k == source) or (peers and k != source) or (leader and k == 0)}
        if chosen or own or peers:
            return sorted(chosen)
        if every:
            return list(range(size))
    fix = "say to whom: one to each cta, its own, its peers', or the leader's"
    raise InputError("not known where each CTA arrives", field="arrivals_per_cta", value=words, fix=fix)


def _times(said: Mapping[str, Any]) -> int:
    """How many arrivals go to each barrier that is named: 2 of *two to each cta*, 1 where no number begins the text."""
    words = said["arrivals_per_cta"]
    first = words.lower().split()[0]
    count = int(first[:20]) if first.isascii() and first.isdigit() else _HOW_MANY.get(first, 1)
    if not 1 <= count <= MOST:
        fix = f"give 1 to {MOST}"
        raise InputError("not a number of arrivals", field="arrivals_per_cta", value=words, limit=MOST, fix=fix)
    return count


def _arrivals_per_barrier(said: Mapping[str, Any]) -> int:
    size = _integer(said, "cluster")
    reached = max(sum(k in _targets(said, source, size) for source in range(size)) for k in range(size))
    return reached * _times(said)


def _integer(said: Mapping[str, Any], field: str) -> int:
    value = said.get(field)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError("not an integer", field=field, value=value, fix="give a number")
    return value
