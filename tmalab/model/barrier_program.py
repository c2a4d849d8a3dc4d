"""`BarrierProgram`: does this synchronisation complete, hang, race or break a rule, in any order that it can run in?

    events ──▶ one run and its order ──proved──▶ every run ends so        what the order leaves open races
                                     ──else────▶ search of the interleavings, bounded

>>> outcome = BarrierProgram([
...     {"t": "init", "op": "init", "bar": "full", "count": 1},
...     {"t": "p", "op": "arrive_expect_tx", "bar": "full", "bytes": 4096},
...     {"t": "p", "op": "tma_load", "bar": "full", "bytes": 2048, "buf": "a"},
...     {"t": "c", "op": "wait", "bar": "full", "parity": 0}]).run()
>>> outcome.verdict, outcome.first_bad
('hang', 3)
>>> outcome.why.split(": ")[-1]
'full is armed for 4096 bytes, 2048 arrived; 2048 are missing, so the phase never completes'

The grammar is `barrier_events.OPS`. Source of the rules: PTX ISA, mbarrier, asynchronous copies, and memory consistency
model; what an H200 did stands in the fault gallery.
"""

from __future__ import annotations

import re
from typing import Any

from tmalab.model.barrier_code import Code, link
from tmalab.model.barrier_events import place_of, read_events
from tmalab.model.barrier_hazards import hazards
from tmalab.model.barrier_machine import Machine
from tmalab.model.barrier_order import Order, run_in_order
from tmalab.model.barrier_outcome import WORST, Finding, Outcome, worst_first
from tmalab.model.barrier_search import Path, Seen, delayed, search
from tmalab.model.barrier_state import Choice, State
from tmalab.model.barrier_trace import replay
from tmalab.model.barrier_words import blocked_in, counts_of, hang_findings, loose_finding, told_finding

BUDGET = 20_000


class BarrierProgram:
    """A list of events, read and linked.

    `events` are mappings as in the grammar; with `story` a barrier that nobody initialises is taken as given, and lets
    through. Raises InputError, its field `events[3].bytes`, for what has no meaning.
    """

    def __init__(self, events: Any, *, story: bool = False):
        self.events = read_events(events, story=story)
        self.code: Code = link(self.events)
        self._machine = Machine(self.code, story)

    def run(self, *, budget: int = BUDGET, prove: bool = True) -> Outcome:
        """The outcome over every interleaving.

        Where the order of one run proves that all runs count alike (`prove`), that run stands for all; else the
        interleavings are searched, `budget` states at most, and `bounded` says so where that did not suffice.
        """
        order = run_in_order(self._machine)
        found = hazards(order)
        if prove and order.always() and order.last is not None:
            return self._proved(order, found)
        seen = search(self._machine, budget)
        if seen.stopped and not self._raced(seen):
            nodes = dict.fromkeys(order.open_nodes()) if order.last is not None else {}
            delayed(self._machine, nodes, order.turn, seen)
        return self._searched(order, found, seen)

    # --- one run stands for all ---------------------------------------------------------------------------------------

    def _proved(self, order: Order, found: list[Finding]) -> Outcome:
        assert order.last is not None
        run = replay(self._machine, order.choices)
        done = self._machine.done(order.last)
        if not done:
            found = [*found, *hang_findings(self._machine, run)]
        ends = {"completes" if done else "hang"}
        return self._outcome(found, ends, order.choices, {} if done else self._blocked(order.last))

    # --- all runs -----------------------------------------------------------------------------------------------------

    def _searched(self, order: Order, found: list[Finding], seen: Seen) -> Outcome:
        machine = self._machine
        paths: dict[tuple[str, int | None], Path] = {}
        found = list(found)
        for verdict, rule, trouble, path in seen.told.values():
            finding = told_finding(machine, verdict, rule, trouble, replay(machine, path[:-1]))
            paths.setdefault(_key(finding), path)
            found.append(finding)
        always = bool(seen.stuck) and not seen.ended
        if not any(finding.verdict == "race" for finding in found):  # else they only follow from what was found
            for finding in self._loose(seen):
                beside = always or (seen.stuck and self._only_orders(finding))
                found.append(finding._replace(verdict="note") if beside else finding)
        raced = {self._bar_of(finding) for finding in found if finding.verdict == "race"}
        for path in seen.stuck:
            for finding in hang_findings(machine, replay(machine, path)):
                known = any(_key(finding) == _key(other) for other in found if other.verdict in WORST)
                # A wait that hangs in one order and races in another is told once, as a race.
                if not known and (self._bar_of(finding) or "") not in raced:
                    if not raced and not self._only_orders(finding) and seen.idle & self._nodes_of(finding):
                        message = f"{finding.message}; in another order it returns at once, for the phase before"
                        finding = finding._replace(verdict="race", message=message)
                    paths.setdefault(_key(finding), path)
                    found.append(finding)
        ends = ({"completes"} if seen.ended else set()) | ({"hang"} if seen.stuck else set())
        if any(finding.rule == "arrivals_within_count" for finding in found):
            if not ends and not seen.stopped:  # in no order does it go well
                found = [f._replace(verdict="error") if f.rule == "arrivals_within_count" else f for f in found]
            ends.add("error")
        worst = min((finding for finding in found if finding.verdict in WORST), key=self._rank, default=None)
        shown = paths.get(_key(worst)) if worst is not None else None
        if shown is None:
            shown = seen.ended[0] if seen.ended else tuple(order.choices)
        blocked = self._blocked(replay(machine, seen.stuck[0]).state) if seen.stuck else {}
        outcome = self._outcome(found, ends, shown, blocked)
        why = f"no fault was found; {seen.stopped}" if seen.stopped and not outcome.findings else outcome.why
        return outcome._replace(bounded=seen.stopped, states=seen.states, why=why)

    def _loose(self, seen: Seen) -> list[Finding]:
        """Operations that count in several phases of a barrier that somebody waits for: the first such barrier's."""
        by_node = {i.node: i for made in self.code.code for i in made}
        waited = {bar for _, bar in self._machine.waiters}
        latest = self._latest_wait(seen)
        loose = {
            at: phases for at, phases in seen.booked.items()
            if len(phases) > 1 and at[1] in waited and latest.get(at[1], -1) >= min(phases)
        }  # fmt: skip
        if not loose:
            return []
        first = min(loose, key=lambda at: by_node[at[0]].event.number)[1]
        return [loose_finding(self._machine, by_node[n], bar, [*at]) for (n, bar), at in loose.items() if bar == first]

    def _latest_wait(self, seen: Seen) -> dict[int, int]:
        """The latest phase of each barrier that a wait returns for; where one may never return, no phase is later."""
        latest: dict[int, int] = {}
        for made in self.code.code:
            for instruction in made:
                for bar in instruction.bars if instruction.op == "wait" else ():
                    phases = seen.booked.get((instruction.node, bar), {1 << 62})
                    latest[bar] = max(latest.get(bar, -1), *phases)
        for path in seen.stuck:
            state = replay(self._machine, path).state
            for instruction in blocked_in(self._machine, state).values() if state is not None else ():
                latest |= dict.fromkeys(instruction.bars if instruction.op == "wait" else (), 1 << 62)
        return latest

    def _only_orders(self, finding: Finding) -> bool:
        """Whether the barrier of a finding only orders threads of a program without data, and no arrival is too many.

        Then nothing can be read or overwritten too early: what goes wrong is that somebody waits for ever.
        """
        code = [i for made in self.code.code for i in {i.node: i for i in made}.values()]
        if any(flight.tx_bytes for flight in self.code.flights) or any(i.bufs for i in code):
            return False
        bars = {bar for i in code if i.event.number == finding.event for bar in i.bars}
        inits = [i for i in (*self.code.first, *code) if i.op == "init"]
        for bar in bars:
            counts = [i.event.amount for i in inits if bar in i.bars]
            arrived = sum(1 if i.op == "arrive_expect_tx" else i.event.amount for i in code
                          if bar in i.bars and i.op in ("arrive", "arrive_expect_tx", "arrive_drop"))  # fmt: skip
            waits = max(sum(i.op == "wait" and bar in i.bars for i in made) for made in self.code.code)
            if len(counts) != 1 or arrived > counts[0] * waits:
                return False
        return True

    @staticmethod
    def _raced(seen: Seen) -> bool:
        return any(verdict == "race" for verdict, *_ in seen.told.values())

    def _nodes_of(self, finding: Finding) -> set[int]:
        return {i.node for made in self.code.code for i in made if i.event.number == finding.event}

    def _bar_of(self, finding: Finding) -> str | None:
        return self.events[finding.event].bar if finding.event is not None else None

    # --- the answer ---------------------------------------------------------------------------------------------------

    def _outcome(
        self, found: list[Finding], ends: set[str], path: tuple[Choice, ...] | list[Choice], blocked: dict[str, int]
    ) -> Outcome:
        faults = sorted((finding for finding in found if finding.verdict in WORST), key=self._rank)
        faults = self._with_bad_turns(faults)
        notes = [finding for finding in found if finding.verdict not in WORST]
        verdict = faults[0].verdict if faults else "completes"
        others = {*ends, *(finding.verdict for finding in faults)}
        if any(finding.rule == "exit_before_peer_is_done" for finding in faults):
            others.add("error")  # measured: bytes for a block that has ended end the kernel
        others -= {verdict}
        outcomes = (verdict, *worst_first(others))
        run = replay(self._machine, path)
        if not faults:
            notes += self._fresh_waits()
            why = "every interleaving completes"
            return Outcome("completes", outcomes, why, counts=counts_of(self._machine, run.state), trace=run.steps,
                           notes=tuple(notes), numbers=self._totals(run.given))  # fmt: skip
        first = faults[0]
        counts = first.counts or self._counts_at(run.steps, first.event)
        return Outcome(
            verdict, outcomes, first.message, first.rule, first.fix, first.event, counts, run.steps, tuple(faults),
            tuple(notes), blocked, first.numbers,
        )  # fmt: skip

    @staticmethod
    def _rank(finding: Finding) -> tuple[int, int]:
        return WORST.index(finding.verdict), 1 << 30 if finding.event is None else finding.event

    def _with_bad_turns(self, faults: list[Finding]) -> list[Finding]:
        """Where waits of several numbered barriers are wrong alike, the first finding names all the numbers."""
        if not faults or faults[0].rule != "parity_counts_barrier_phases":
            return faults
        alike = [
            f for f in faults if f.rule == faults[0].rule and f.verdict == faults[0].verdict and f.event is not None
        ]
        bars = [self.events[f.event].bar or "" for f in alike if f.event is not None]
        turns = [int(found[0]) for bar in bars if (found := re.search(r"\d+$", bar))]
        numbers = {**faults[0].numbers, "bad_s": sorted(set(turns))} if turns else faults[0].numbers
        return [faults[0]._replace(numbers=numbers), *faults[1:]]

    def _fresh_waits(self) -> list[Finding]:
        """Waits that return at once since the barrier is fresh: how a producer finds every stage empty."""
        first: dict[str | None, bool] = {self.code.bars[bar]: True for bar in self._machine.armed_by_loads}
        notes = []
        for event in self.events:
            if event.op in ("arrive", "arrive_expect_tx"):
                first[event.bar] = True
            elif event.op == "wait" and event.parity & 1 and event.bar not in first:
                first[event.bar] = True
                message = (
                    f"{place_of(event)} returns at once: the barrier is in phase 0, and the phase before it, of "
                    "parity 1, counts as complete"
                )
                notes.append(Finding("note", "fresh_barrier_parity", message, "", event.number))
        return notes

    @staticmethod
    def _totals(given: dict[tuple[int, int], Any]) -> dict[str, Any]:
        """The bytes that a phase expects, where every phase that expects any expects the same."""
        armed = {each.armed_bytes for each in given.values() if each.armed_bytes}
        return dict.fromkeys(("expect_bytes", "expected", "delivered"), armed.pop()) if len(armed) == 1 else {}

    def _counts_at(self, steps: tuple[Any, ...], event: int | None) -> dict[str, Any]:
        """The counts just before an event of the run."""
        counts = {}
        for step in steps:
            if step.event == event and event is not None:
                break
            if step.bar is not None and step.after is not None:
                counts[step.bar] = step.after
        return counts

    def _blocked(self, state: State | None) -> dict[str, int]:
        if state is None:
            return {}
        return {self.code.agents[agent]: i.event.number for agent, i in blocked_in(self._machine, state).items()}


def _key(finding: Finding) -> tuple[str, int | None]:
    return finding.rule, finding.event
