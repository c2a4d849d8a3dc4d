"""One state of "When may I reuse the buffer?", read out of its tables as reuse.js reads it.

letter     of a store: c covered by the wait, p left pending, o in no group, n nothing waits for it
counts     of each 128-byte line: in how many rounds it reached global memory overwritten; None where not measured
differs    a line of a covered store that was overwritten: what the model rules out
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.figures.lanes import Lane, Mark
from tmalab.figures.reuse_tables import KINDS, LETTERS, STORE_LINES, WAITS, state_number, unpack_runs


class ReuseState:
    """The figure's `spec` and `provenance` in one state: `stores`, `commits`, `wait`, `n`, `view` and `line`."""

    def __init__(self, spec: Mapping[str, Any], provenance: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        self.stores: int = state["stores"]
        self.commits: int = state["commits"] & ((1 << self.stores) - 1)
        kind = KINDS[state["wait"]]
        wait = WAITS.index((kind, 0 if kind == "none" else state["n"]))
        number = state_number(self.stores, self.commits, wait)
        numbers, said = spec["model"][number]
        self.letters = [LETTERS[int(one)] for one in numbers]
        self.verdict, self.fix = spec["said"][said]
        self.groups: list[int] = spec["groups"][number // len(WAITS)]
        self.run: Mapping[str, Any] | None = provenance["runs"][self.stores - 1]
        self.seen: list[Any] | None = provenance["states"][number]
        self.counts = None if self.seen is None else unpack_runs(self.seen[2])
        self.source = (
            provenance["lines"][self.run["line"]] if self.run else "Model, not measured: there is no recording of this."
        )
        cells = range(self.stores * STORE_LINES)
        self.unequal = [cell for cell in cells if self.counts and self.counts[cell] and self.covered(cell)]

    @property
    def wait(self) -> str:
        """The wait as an instruction; "" for none."""
        if self.state["wait"] == "none":
            return ""
        return f"wait_group{'.read' if self.state['wait'] == '.read' else ''} {self.state['n']}"

    @property
    def line(self) -> int:
        """The line that is singled out; where there are too few stores, that line of the last one."""
        store, line = divmod(self.state["line"], STORE_LINES)
        return int(min(store, self.stores - 1) * STORE_LINES + line)

    def covered(self, cell: int) -> bool:
        """Whether the wait covers the store that the line belongs to."""
        return bool(self.letters[cell // STORE_LINES] == "c")

    def program(self) -> list[str]:
        """The steps of the issuing thread, and the overwriting."""
        steps = []
        for store in range(self.stores):
            steps.append(f"store {store}")
            steps += ["commit_group"] if self.commits >> store & 1 else []
        return [*steps, *([self.wait] if self.wait else []), "overwrite"]

    def fate(self, store: int) -> str:
        """What becomes of a store, in a few words."""
        group = self.groups[store]
        where = "in no group" if group < 0 else f"group {group}"
        told = {"c": ", waited for", "p": ", left pending", "o": "", "n": ", no wait"}[self.letters[store]]
        return where + told

    def hits(self, store: int) -> str:
        """In how many rounds bytes of a store were overwritten, in words; "" where the view shows the model."""
        if self.state["view"] == "model":
            return "safe" if self.letters[store] == "c" else "may be overwritten"
        if self.seen is None or self.run is None:
            return "not measured"
        return f"overwritten in {self.seen[1][store]} of {self.run['rounds']} rounds"

    def says(self) -> str:
        """The verdict of the event machine, its remedy, and what was seen."""
        told = f"BarrierProgram says: {self.verdict}." + (f" Fix: {self.fix}." if self.fix else "")
        if self.seen is None or self.run is None:
            return f"{told} Model, not measured."
        return f"{told} Seen: overwritten bytes in {self.seen[0]} of {self.run['rounds']} rounds."

    def note(self) -> str:
        """How many lines differ from the model."""
        if self.seen is None:
            return "model, not measured"
        safe = STORE_LINES * self.letters.count("c")
        if not safe:
            return "the wait covers no line"
        return f"{len(self.unequal)} of {safe} lines that the wait covers were overwritten"

    def sentence(self, cell: int | None = None) -> str:
        """Why a line is safe or not, and in how many rounds it was overwritten."""
        cell = self.line if cell is None else cell
        store, line = divmod(cell, STORE_LINES)
        n, group, letter = self.state["n"], self.groups[store], self.letters[store]
        many = f"newest {n} groups pending, its group {group} among them"
        why = {
            "c": f"{self.wait} waits for its group, {group}.",
            "p": f"{self.wait} leaves the {'newest group pending, which is its own' if n == 1 else many}.",
            "o": "no commit_group follows it, so no wait waits for it.",
            "n": "nothing waits for it.",
        }[letter]
        head = f"Store {store}, line {line}: {why}"
        if self.state["view"] == "model" or self.counts is None or self.run is None:
            told = "It is safe." if letter == "c" else "It may be overwritten before the engine has read it."
            return f"{head} {told}" + (" Model, not measured." if self.counts is None else "")
        count = self.counts[cell]
        more = (
            " The model says never."
            if letter == "c" and count
            else " A race all the same."
            if letter != "c" and not count
            else ""
        )
        return f"{head} It reached global memory overwritten in {count} of {self.run['rounds']} rounds.{more}"

    def lanes(self) -> list[Lane]:
        """Who did what when, in cycles since the first issue; none where nothing was measured."""
        if self.seen is None or self.run is None:
            return []
        issue, low, middle, high, over, done = self.seen[3]
        rounds, wait = self.run["rounds"], self.wait or "no wait"
        stores = f"{self.stores} stores" if self.stores > 1 else "1 store"
        waiter = f"The {wait}" if self.wait else "Without a wait, thread 0"
        told = {
            "issue": f"{stores} and the commits were issued in {issue} cycles.",
            "wait": f"{waiter} was done after {middle} cycles (median of {rounds} rounds).",
            "last": f"The kernel's last wait, for everything, returned after {done} cycles.",
            "over": f"The buffer was overwritten from {middle} to {over} cycles, the last store's part first.",
            "band": f"Of {rounds} rounds, four in five ended the wait between {low} and {high} cycles.",
            "median": f"Half of {rounds} rounds had ended the wait by {middle} cycles.",
        }
        mine = (
            Mark("issue", 0, issue, "issue", "solid", told["issue"]),
            Mark("wait", issue, middle, wait, "hatch", told["wait"]),
            Mark("last", over, done, "", "soft", told["last"]),
        )
        all_of_it = (Mark("over", middle, over, "overwrite", "outline", told["over"]),)
        spread = (
            Mark("band", low, high, "", "soft", told["band"]),
            Mark("median", middle, None, "", "solid", told["median"]),
        )
        return [
            Lane("thread 0", mine, "issues and waits"), Lane("all threads", all_of_it, "the last store first"),
            Lane(f"{rounds} rounds", spread, "end of the wait"),
        ]  # fmt: skip

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The state as texts: a row a stretch of lines of one store that are alike."""
        rows = []
        for store in range(self.stores):
            first = store * STORE_LINES
            mine = [None] * STORE_LINES if self.counts is None else self.counts[first : first + STORE_LINES]
            start = 0
            for line in range(1, STORE_LINES + 1):
                if line < STORE_LINES and mine[line] == mine[start]:
                    continue
                rows.append(
                    [str(store), f"{start} to {line - 1}", self.fate(store), *self._compared(store, mine[start])]
                )
                start = line
        return ["Store", "Lines", "Its group", "Overwritten, rounds", "The model says", "Equal"], rows

    def _compared(self, store: int, count: int | None) -> list[str]:
        safe = self.letters[store] == "c"
        model = "never" if safe else "possible"
        if count is None or self.run is None:
            return ["not measured", model, "–"]
        return [f"{count} of {self.run['rounds']}", model, "differs" if safe and count else "equal"]

    def data(self) -> dict[str, Any]:
        """The table as plain JSON, with the verdict and the times."""
        head, rows = self.table()
        return {
            "program": self.program(), "verdict": self.verdict, "fix": self.fix,
            "rounds_seen": None if self.seen is None else self.seen[0],
            "cycles": None if self.seen is None else dict(zip(TIMES, self.seen[3], strict=True)),
            "table": [dict(zip(head, row, strict=True)) for row in rows],
        }  # fmt: skip


TIMES = ("issued", "wait_low", "wait_median", "wait_high", "overwritten", "done")
