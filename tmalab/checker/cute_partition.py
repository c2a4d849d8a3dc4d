"""The answer to `tma_partition` of a CuTe tensor: after the grouping, is the first mode of both exactly one tile?

    atom    (64,128):(1@1,1@0)         one tile: 8192 elements
    smem    ((8,16),(64,1),(1,3))  ─ group_modes 0, 2 ─▶  first mode 8192, then (1,3)
    gmem    ((128,64),64)          ─ group_modes 0, 2 ─▶  first mode 524288: the tiles are in it too

>>> from tmalab.inputs.reading import Reading
>>> said = {"kind": "cute_partition", "atom_gbasis": "(256,64):(1@1,1@0)", "smem": "(64,256,3)", "gmem": "(64,256,7)"}
>>> answer_cute_partition(Reading("json", {**said, "group_modes": [0, 2]}), Options()).verdict
'accept'
>>> answer_cute_partition(Reading("json", {**said, "group_modes": [0, 4]}), Options()).rule
'group_modes_within_rank'
"""

from __future__ import annotations

import re
from math import prod
from typing import Any

from tmalab.checker.answer import Answer
from tmalab.checker.descriptor import number
from tmalab.checker.mapping import Note
from tmalab.checker.options import Options
from tmalab.errors import InputError
from tmalab.inputs.cute_layout import Nested, parse_shape
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading
from tmalab.model.violation import Violation

_MOST_MODES = 64
RULE = "first_mode_must_be_one_tile"
_SOURCE = "CuTe DSL 4.8.1, group_modes; compiled"
# Before its shape CuTe prints the swizzle, the pointer or the start: S<3,4,3> o smem_ptr[16b](unset) o (128,64).
_COMPOSED = re.compile(r"\s(?:o|∘)\s")


def answer_cute_partition(reading: Reading, options: Options) -> Answer:
    """The answer, with the sizes of the first modes. Raises UnreadableError where a shape is missing or is none."""
    said = {**options.facts, **reading.fields}
    try:
        shapes = {name: _modes(_shape(said, name)) for name in ("smem", "gmem")}
        groups = {name: _group(said.get("group_modes", [0, 2]), name, len(shape)) for name, shape in shapes.items()}
        tile = _size(_shape(said, "atom_gbasis"))
    except InputError as error:
        raise reading.unreadable(error) from None
    if beyond := [
        _beyond(name, shape, *groups[name]) for name, shape in shapes.items() if groups[name][1] > len(shape)
    ]:
        return Answer(
            form=reading.form, kind="cute_partition", verdict="error", arch=options.arch, violations=tuple(beyond),
            facts={"tile_elems": tile},
        )  # fmt: skip
    first = {name: _size(_grouped(shape, *groups[name])[0]) for name, shape in shapes.items()}
    rest = {name: _text(_grouped(shape, *groups[name])[1:]) for name, shape in shapes.items()}
    off = {name: size for name, size in first.items() if size != tile}
    facts: dict[str, Any] = {"tile_elems": tile, "first_mode_elems": first, "left_to_iterate": rest}
    if off:
        found = " and ".join(f"that of {name} has {size}" for name, size in off.items())
        message = (
            f"after {_as_written(said)} the first mode of both tensors must be one tile of the atom, {tile} "
            f"elements; {found}. Group the tile's modes alone; leave stages and further tiles in modes of their own."
        )
    else:
        message = f"the first mode of both is one tile of {tile} elements; the modes behind it are iterated"
    return Answer(
        form=reading.form, kind="cute_partition", verdict="error" if off else "accept", arch=options.arch,
        notes=(Note(RULE, message),), facts=facts,
    )  # fmt: skip


def _group(value: Any, name: str, rank: int) -> tuple[int, int]:
    """The range of modes, those that are negative counted from the end of a tensor of that rank, as CuTe counts them.

    Asked of CuTe DSL 4.8.1: a first mode further back than the rank is mode 0, and an empty range is refused; 4.2.1
    refuses both.
    """
    if not isinstance(value, list) or len(value) != 2:
        raise InputError("not two modes", field="group_modes", value=value, fix="give [first, one past the last]")
    first, last = (number("group_modes", one) for one in value)
    begin = max(first + rank, 0) if first < 0 else first
    end = last + rank if last < 0 else last
    if not begin < end <= _MOST_MODES:
        counted = f": of the {rank} modes of {name} it is [{begin}, {end}]" if min(first, last) < 0 else ""
        fix = "give [0, 2] for the first two modes, or count from the end, as [-2, 3] of three"
        raise InputError(f"no range of modes{counted}", field="group_modes", value=value, fix=fix)
    return begin, end


def _as_written(said: Any) -> str:
    return f"group_modes({', '.join(map(str, said.get('group_modes', [0, 2])))})"


def _shape(said: Any, name: str) -> Nested:
    text = said.get(name)
    if not isinstance(text, str):
        raise InputError("not a shape", field=name, value=text, fix='give it as CuTe prints it: "((128,64),7)"')
    try:
        return parse_shape(_COMPOSED.split(text.split(":")[0])[-1])
    except UnreadableError as error:
        fix = 'give it as CuTe prints it: "((128,64),7)"'
        raise InputError(error.message, field=name, value=text, fix=fix) from None


def _size(shape: Nested) -> int:
    return shape if isinstance(shape, int) else prod(map(_size, shape))


def _modes(shape: Nested) -> tuple[Nested, ...]:
    return shape if isinstance(shape, tuple) else (shape,)


def _beyond(name: str, modes: tuple[Nested, ...], begin: int, end: int) -> Violation:
    """What CuTe refuses of a range that reaches past the rank."""
    rank = len(modes)
    has = f"{name}={_text(modes)[:80]} has {rank} mode{'s'[: rank != 1]}"
    fix = f"Use at most {rank}, or give {name} with the modes that are to be grouped."
    message = f"group_modes[1]={end}; {has}, and group_modes({begin}, {end}) reaches past them."
    return Violation("group_modes_within_rank", "group_modes[1]", end, rank, message, fix, _SOURCE)


def _grouped(modes: tuple[Nested, ...], begin: int, end: int) -> tuple[Nested, ...]:
    return (*modes[:begin], modes[begin:end], *modes[end:])


def _text(shape: Nested) -> str:
    return str(shape) if isinstance(shape, int) else f"({','.join(map(_text, shape))})"
