"""The lanes of "A pipeline": who does what when, from the moments of one run; pipeline_words.js makes the same.

producer    waits for empty[s] ▒▒▒▒ ▮ 3          full[s]    │ 0 │ 1 │ 0   phases, by their parity
TMA             ├ 2 ──┤ ├ 3 ──┤                  empty[s]   │ 0   │ 1 │
consumers   ▮ 1 ▮ bubble ▮ 2 ▮                   the bands: everything else, while the consumers stand still
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.figures.lanes import Lane, Mark
from tmalab.figures.pipeline_state import PipelineState, Run


def lanes_of(found: PipelineState) -> list[Lane]:
    """All lanes of the view, cut off at the end of the window."""
    if found.cell is None:
        return []
    if found.state["view"] == "difference":
        lead = found.run["read_end"][0] - found.told["read_end"][0]
        return [
            _consumers(found, found.run, f"consumers, {found.gpu}"),
            _consumers(found, _moved(found.told, lead), "consumers, model"), _later(found),
        ]  # fmt: skip
    run, stages = found.shown, range(found.stages)
    return [
        _lane(found, "producer", "hatched: waits", _producer(found, run)),
        _lane(found, "TMA", "loads in flight", _flights(found, run), rows=found.stages),
        *(_lane(found, f"stage {stage}", "full / empty", _phases(found, run, stage), rows=2) for stage in stages),
        _consumers(found, run, "consumers"),
    ]


def bands(found: PipelineState) -> list[tuple[float, float]]:
    """The bubbles: what happens meanwhile stands out in every lane."""
    if found.cell is None or found.state["view"] == "difference":
        return []
    spans = [bubble_of(found.shown, tile) for tile in _tiles(found.shown) if tile]
    return [(begin, min(until, found.end)) for begin, until in spans if begin < min(until, found.end)]


def bubble_of(run: Run, tile: int) -> tuple[int, int]:
    """When the consumers stood still for a tile: what they need to see that it is there comes before."""
    seen = run["full_seen"][tile]
    return seen - run["bubble"][tile], seen


def _lane(found: PipelineState, name: str, note: str, marks: Iterator[Mark], rows: int = 1) -> Lane:
    end = found.end
    kept = (mark for mark in marks if mark.start < end)
    cut = (
        Mark(one.key, one.start, min(one.end or 0, end), one.text, one.kind, one.say, one.row) for one in kept
    )  # fmt: skip
    return Lane(name, tuple(cut), note, rows)


def _tiles(run: Run) -> range:
    return range(len(run["issued"]))


def _producer(found: PipelineState, run: Run) -> Iterator[Mark]:
    """Waiting for a stage to be given back, and issuing."""
    before = 0
    for tile in _tiles(run):
        stage, ready, issued = tile % found.stages, run["empty_seen"][tile], run["issued"][tile]
        if tile >= found.stages:
            yield Mark(
                f"ring-{tile}", before, ready, "", "hatch",
                f"The producer waits for empty[{stage}], {found.span(before, ready)}: tile "
                f"{tile - found.stages} must leave stage {stage} before tile {tile} may come.",
            )  # fmt: skip
        yield Mark(
            f"issue-{tile}", ready, issued, "", "solid",
            f"The producer arms full[{stage}] for {found.state['tile']} bytes and issues the load of tile {tile}, "
            f"{found.span(ready, issued)}.",
        )  # fmt: skip
        before = issued


def _flights(found: PipelineState, run: Run) -> Iterator[Mark]:
    for tile in _tiles(run):
        begin, end = run["issued"][tile], run["full"][tile]
        yield Mark(
            f"flight-{tile}", begin, end, str(tile), "outline",
            f"Tile {tile} is in flight, {found.span(begin, end)}.", tile % found.stages,
        )  # fmt: skip


def _phases(found: PipelineState, run: Run, stage: int) -> Iterator[Mark]:
    """The phases of both barriers of a stage, in order of time."""
    marks, begins = [], [0, 0]
    for turn, tile in enumerate(range(stage, len(run["issued"]), found.stages)):
        for row, name in enumerate(("full", "empty")):
            begin, end = begins[row], run[name][tile]
            ends = (
                f"tile {tile} is there, and the consumers may read it." if name == "full"
                else f"the consumers have read tile {tile}, and the producer may fill stage {stage} again."
            )  # fmt: skip
            marks.append(Mark(
                f"{name}-{tile}", begin, end, str(turn % 2), "shade" if turn % 2 else "soft",
                f"{name}[{stage}], phase {turn}, parity {turn % 2}, {found.span(begin, end)}. It ends as {ends}", row,
            ))  # fmt: skip
            begins[row] = end
    yield from sorted(marks, key=lambda mark: (mark.start, mark.row))


def _consumers(found: PipelineState, run: Run, name: str) -> Lane:
    def marks() -> Iterator[Mark]:
        before = 0
        for tile in _tiles(run):
            (begin, seen), done, stage = bubble_of(run, tile), run["read_end"][tile], tile % found.stages
            if tile:
                yield Mark(
                    f"rest-{tile}", before, begin, "", "soft",
                    f"The consumers give stage {(tile - 1) % found.stages} back, come round and ask full[{stage}], "
                    f"{found.span(before, begin)}: what that takes when nobody has to wait.",
                )  # fmt: skip
            before = done
            long = f"{found.ns(seen - begin)} ns"
            if not tile:
                yield Mark(
                    "start", begin, seen, "start-up", "hatch",
                    f"The consumers wait {long} for the first tile, {found.span(begin, seen)}: no depth hides its way.",
                )  # fmt: skip
            elif begin < seen:
                yield Mark(
                    f"bubble-{tile}", begin, seen, long, "bubble",
                    f"Bubble: the consumers stand still for {long}, {found.span(begin, seen)}. full[{stage}] is not "
                    f"complete: tile {tile} is not there yet.",
                )  # fmt: skip
            yield Mark(
                f"work-{tile}", seen, done, str(tile), "solid",
                f"The consumers read tile {tile} and compute on it, {found.span(seen, done)}; then they give stage "
                f"{stage} back.",
            )  # fmt: skip

    return _lane(found, name, "4 warps", marks())


def _later(found: PipelineState) -> Lane:
    """How much later each tile was done than the model says, both counted from the first tile's end."""

    def marks() -> Iterator[Mark]:
        ends, told = found.run["read_end"], found.told["read_end"]
        for tile in range(1, min(len(ends), len(told))):
            seen, foretold = found.ns(ends[tile] - ends[0]), found.ns(told[tile] - told[0])
            late = f"{seen - foretold:+d}"
            yield Mark(
                f"later-{tile}", ends[tile - 1], ends[tile], late, "soft",
                f"Tile {tile} was done {seen} ns after the first one; the model says {foretold} ns: {late}. Each "
                "load takes its own time; the model takes the times of others.",
            )  # fmt: skip

    return _lane(found, "difference", "of a tile's end, ns", marks())


def _moved(run: Run, by: int) -> Run:
    return {name: all_of_it if name == "bubble" else [one + by for one in all_of_it] for name, all_of_it in run.items()}
