"""The ways through the front ends beside each other, as tables: how each is told the tile, and what it names at all.

    compare(observe).told      shape and box in which order, strides and coordinates in which unit, who wrote the map
    compare(observe).named     swizzle, fill, prefetch …: what the installed package calls it, or –
    compare(observe).copies    the mnemonic of the copy that each emitted
    check_table()              which rules each checks before it asks the driver
    answer_table(answers(…))   unusual maps: what the driver and each front end make of them

>>> print(check_table().rows[-1])
['inner_element_stride_ignored', '–', 'TIRx']

Nothing here is typed in: the first table comes from what a program handed over, held against the descriptor that came
out, the second from what the program found in the installed package, the third from its PTX, the last from runs. The
checks were read in the packages' sources, and a test looks for their words there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from tmalab.experiment.case import Case
from tmalab.experiment.frontend_tile_cases import TASK, TITLES, tile_case, way_names
from tmalab.experiment.frontend_tiles import TileVerdict
from tmalab.experiment.observation import Observation
from tmalab.experiment.refusals import Answer
from tmalab.frontends.checks import CHECKS

FEATURES = ("swizzle", "element_strides", "fill", "l2_promotion", "im2col", "multicast", "reductions", "prefetch")
_NONE = "–"


@dataclass(frozen=True)
class Table:
    """Texts in rows; `volatile` names the columns that another installation or run may change: shown, not compared.

    `note` stands under such a table: where its numbers are from.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    volatile: Sequence[str] = field(default=())
    note: str = ""

    def __repr__(self) -> str:
        kept = [at for at, name in enumerate(self.head) if name not in self.volatile]
        lines = [[row[at] for at in kept] for row in (self.head, *self.rows)]
        widths = [max(len(line[at]) for line in lines) for at in range(len(kept))]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        body = _html(self.head, self.rows) + (f"\n<p><small>{escape(self.note)}</small></p>" if self.note else "")
        return f"<section data-volatile>\n{body}\n</section>" if self.volatile else body


@dataclass(frozen=True)
class Comparison:
    """Every way, judged, by its name: `Triton host`."""

    verdicts: Mapping[str, TileVerdict]

    @property
    def told(self) -> Table:
        """A row a way that loaded the tile: the order and the units of what it takes."""
        head = ("way", "shape and box", "strides", "coordinates", "map encoded by", "caught as")
        loaded = {name: one for name, one in self.verdicts.items() if one.bytes_differing is not None}
        return Table(head, [[name, *told(one)] for name, one in loaded.items()])

    @property
    def named(self) -> Table:
        """A row a front end: what of the tensor map and of the copy it has a name for."""
        head = ("front end", *(feature.replace("_", " ") for feature in FEATURES))
        found = {name: one.seen.values["exposes"] for name, one in self._each().items()}
        return Table(head, [[name, *(_names(told[it]["found"]) for it in FEATURES)] for name, told in found.items()])

    @property
    def copies(self) -> Table:
        """A row a way that loaded the tile: the copy's mnemonic in the PTX, without predicate and operands."""
        words = {name: " ".join(one.seen.values.get("ptx") or ()).split() for name, one in self.verdicts.items()}
        found = {
            name: [word for word in said if word.startswith("cp.async.bulk.tensor")] for name, said in words.items()
        }
        return Table(("way", "copy"), [[name, said[0]] for name, said in found.items() if said])

    @property
    def installed(self) -> Table:
        """A row a front end: its version and what it takes on disk, in MB."""
        seen = {name: one.seen.values for name, one in self._each().items()}
        rows = [[name, one["package"]["version"], f"{one['package_mb']:.0f}"] for name, one in seen.items()]
        return Table(("front end", "version", "MB"), rows, ("version", "MB"))

    def _each(self) -> dict[str, TileVerdict]:
        """One way of each front end, by its title: they share their package."""
        known = {one.seen.case.probe: one for one in self.verdicts.values() if one.seen.values.get("exposes")}
        return {TITLES[name]: one for name, one in known.items()}


def compare(observe: Callable[[Case], Observation]) -> Comparison:
    """The comparison of all ways, as `observe` answers for their cases."""
    return Comparison({name: TileVerdict(observe(tile_case(*way))) for way, name in way_names().items()})


def answer_table(found: Iterable[Answer]) -> Table:
    """A row a situation, a column the driver and each front end: what it came to."""
    cells: dict[str, dict[str, str]] = {}
    for answer in found:
        cells.setdefault(answer.situation.words, {})[answer.name] = _came_to(answer)
    who = list(dict.fromkeys(name for row in cells.values() for name in row))
    rows = [[words, *(row.get(name, _NONE) for name in who)] for words, row in cells.items()]
    return Table(("asked for", *(_asked(name) for name in who)), rows)


def check_table() -> Table:
    """A row a rule: the front ends that check it by themselves, and those that refuse there what the driver takes."""
    cells: dict[str, dict[bool, list[str]]] = {}
    for check in CHECKS:
        cells.setdefault(check.rule, {False: [], True: []})[check.only_here].append(TITLES[check.front_end])
    rows = [[rule, *(", ".join(who[only_here]) or _NONE for only_here in (False, True))] for rule, who in cells.items()]
    return Table(("rule or warning", "checked before the driver is asked", "refused, and the driver takes it"), rows)


def _asked(name: str) -> str:
    version = name.removeprefix("cccl-")
    return f"CCCL {version}" if version != name else TITLES.get(name, name)


def _came_to(answer: Answer) -> str:
    if answer.refused is not None:
        return "the driver refuses" if answer.by_the_driver else "refuses"
    if answer.bytes_differing:
        return "loads other elements"
    return "loads" if answer.copies == 1 else f"loads, in {answer.copies} copies"


def told(verdict: TileVerdict) -> list[str]:
    """How a program was told the tile: order of shape and box, unit of strides, coordinates; its map's origin."""
    given = verdict.seen.values.get("given") or {}
    rows_first = [list(given[name]) == list(TASK[name]) for name in ("shape", "box") if name in given]
    order = "outermost first" if all(rows_first) else "innermost first" if not any(rows_first) else "mixed"
    strides = _NONE
    if "strides" in given:
        strides = "elements" if given["strides"][0] == TASK["shape"][1] else "bytes"
    elif given:
        strides = "the array's own"
    asked = verdict.seen.values.get("encode_calls") or ()
    maker = "the driver" if asked else "itself"
    return [order if given else _NONE, strides, _coordinates(given), maker, verdict.seen.values["captured"]]


def _coordinates(given: Mapping[str, Sequence[int]]) -> str:
    if "tile index" in given:
        return "tiles, outermost first"
    if "at" not in given:
        return "the kernel's own"
    return "elements, outermost first" if list(given["at"]) == list(TASK["at"]) else "elements, innermost first"


def _names(found: Sequence[str]) -> str:
    """`T.copy: a, b, c` as `a and 2 more`; of several places the first."""
    if not found:
        return _NONE
    first, *others = found[0].split(": ", 1)[1].split(", ")
    return f"{first} and {len(others)} more" if others else first


def _cell(text: str) -> str:
    """The text for HTML; a long word may be broken behind a point, a colon or a low line, as a phone's width wants."""
    words = escape(text).split(" ")
    return " ".join(re.sub(r"(?<=\w)(::|[._])(?=\w)", r"\1<wbr>", word) if len(word) > 20 else word for word in words)


def _html(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "\n".join(
        f'<tr><th scope="row">{_cell(row[0])}</th>' + "".join(f"<td>{_cell(cell)}</td>" for cell in row[1:]) + "</tr>"
        for row in rows
    )
    label = escape(f"{head[0]}: {', '.join(head[1:])}")  # no two tables of a page alike
    inner = f"<thead><tr>{top}</tr></thead><tbody>\n{body}\n</tbody>"
    table = f'<table class="table" style="font-size: .85em">{inner}</table>'
    return f'<div style="overflow-x: auto" tabindex="0" role="region" aria-label="{label}">{table}</div>'
