"""The answer to what a warp's access costs: the degree of its bank conflicts and its wavefronts, for one or several.

    {"addr": "128 * lane", "width_bytes": 4}  ──each lane──▶  0, 128, 256 …  ──▶  32-way, 32 wavefronts

>>> from tmalab.inputs.reading import Reading
>>> said = {"kind": "bank_pattern", "width_bytes": 4, "addr": "(lane * 128) ^ ((lane & 7) << 4)"}
>>> answer_banks(Reading("json", said), Options()).facts
{'degree': 4, 'wavefronts': 4, 'fewest_wavefronts': 1, 'cycles': 4}

`addr` is an expression of the lane, parsed and never run, or a list of byte addresses with null for a lane that is
off; `lanes` is how many take part (32), `op` a load (as it is unsaid), a store, or one of ldmatrix and stmatrix. The
lane may bear another of its names (`tid`, `threadIdx.x`), and a matrix operation its mnemonic's words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tmalab.checker.answer import Answer
from tmalab.checker.mapping import Note
from tmalab.checker.options import Options
from tmalab.errors import InputError, short_repr
from tmalab.inputs.reading import Reading
from tmalab.model.banks import LANES, WarpAccess, warp_access
from tmalab.model.lane_expression import read_expression
from tmalab.model.matrix_access import MATRIX_OPS, ROW_BYTES, ROWS, matrix_access
from tmalab.model.tensor_map_fields import integer

_MOST_VARIANTS = 1000
_KEYS = ("addr", "width_bytes", "lanes", "op")
_LANE_NAMES = ("lane", "lane_id", "laneid", "tid")
# What is put aside with as many blanks, so that the columns stay: the lane's long name, and a division's rounding.
_LONG_NAME = re.compile(r"\b(?:threadIdx\.x|lane_idx)\b")
_ROUNDED = re.compile(r"\b(?:floor|int)(?=\(\s*(?:\w+|\([^()/]*\))\s*/\s*\w+\s*\))")
_MATRIX_OP = re.compile(r"(?:ld|st)matrix(?![a-z0-9])", re.ASCII)


def answer_banks(reading: Reading, options: Options) -> Answer:
    """The answer to a reading of access patterns. Raises UnreadableError for an address that no lane can have."""
    said = reading.fields
    try:
        variants = said.get("variants")
        aside = _unknown_keys(variants) if options.keep_unknown else []
        found = _several(said, variants, aside) if variants is not None else {"": _access(said)}
    except InputError as error:
        raise reading.unreadable(error) from None
    notes = [Note(None, text) for text in reading.notes]
    notes += [Note(None, f"the key {short_repr(key)} of a variant is not known and was left aside") for key in aside]
    notes += [Note(None, f"{name}: {_words(access)}" if name else _words(access)) for name, access in found.items()]
    facts: dict[str, Any] = {
        "degree": {name: access.degree for name, access in found.items()},
        "wavefronts": {name: access.count for name, access in found.items()},
        "fewest_wavefronts": {name: access.min_count for name, access in found.items()},
        "cycles": {name: access.cycles for name, access in found.items()},
    }
    if variants is None:
        facts = {name: of[""] for name, of in facts.items()}
    return Answer(
        form=reading.form, kind="bank_pattern", verdict="conflict_degree", arch=options.arch, notes=tuple(notes),
        facts=facts,
    )  # fmt: skip


def _unknown_keys(variants: Any) -> list[str]:
    each = [variant for variant in variants if isinstance(variant, dict)] if isinstance(variants, list) else []
    return sorted({key for variant in each for key in variant} - {"name", *_KEYS})


def _several(said: Mapping[str, Any], variants: Any, aside: list[str]) -> dict[str, WarpAccess]:
    if not isinstance(variants, list) or not 0 < len(variants) <= _MOST_VARIANTS:
        fix = 'give [{"name": "column", "addr": "128 * lane"}, …]'
        raise InputError("not a list of patterns", field="variants", value=variants, limit=_MOST_VARIANTS, fix=fix)
    found = {}
    for index, variant in enumerate(variants):
        field = f"variants[{index}]"
        if not isinstance(variant, dict):
            raise InputError("not an object", field=field, value=variant, fix="give a name and an addr")
        if unknown := sorted(set(variant) - {"name", *_KEYS, *aside}):
            fix = f"use {', '.join(('name', *_KEYS))}"
            raise InputError(f"unknown key {short_repr(unknown[0])}", field=field, value=variant, fix=fix)
        name = str(variant.get("name", index))
        if name in found:
            raise InputError("two patterns of one name", field=field, value=name, fix="name each its own")
        try:
            found[name] = _access({key: said[key] for key in _KEYS if key in said} | variant)
        except InputError as error:
            message = str(error).removesuffix(f" Fix: {error.fix}.") if error.fix else str(error)
            raise InputError(message, field=field, value=name, fix=error.fix) from None
    return found


def _access(said: Mapping[str, Any]) -> WarpAccess:
    """One pattern. Raises InputError, ExpressionError for its expression."""
    op = said.get("op", "load")
    addr = said.get("addr")
    if addr is None:
        fix = "give an expression such as 128 * lane, or a list of byte addresses"
        raise InputError("missing", field="addr", value=None, fix=fix)
    if isinstance(addr, str):
        lanes = integer("lanes", said.get("lanes", LANES))
        if not 1 <= lanes <= LANES:
            raise InputError("not a number of lanes", field="lanes", value=lanes, limit=LANES, fix="use 1 to 32")
        addresses: Any = _computed(addr, lanes)
    else:
        addresses = addr
    if (matrix := _matrix_op(op, addresses)) is not None:
        return matrix_access(addresses, matrix)
    width = said.get("width_bytes")
    if width is None:
        raise InputError("missing", field="width_bytes", value=None, fix=f"give what a lane moves, 1 to {ROW_BYTES}")
    return warp_access(addresses, width, op=op)


def _computed(addr: str, lanes: int) -> list[int]:
    text = _LONG_NAME.sub(lambda found: "lane".ljust(len(found[0])), addr)
    text = _ROUNDED.sub(lambda found: " " * len(found[0]), text)  # `/` is the division without remainder here
    expression = read_expression(text, _LANE_NAMES)
    return [_one(expression(**dict.fromkeys(_LANE_NAMES, lane)), addr) for lane in range(lanes)]


def _matrix_op(op: Any, addresses: Any) -> str | None:
    """The name of a matrix operation, told as `ldmatrix.x4.trans` or with its number of matrices left out."""
    if not isinstance(op, str) or op in MATRIX_OPS:
        return op if isinstance(op, str) else None
    found = _MATRIX_OP.match(op)
    if not found:
        return None
    words = re.split(r"[._]", op)
    rows = len(addresses) if isinstance(addresses, list) else 0
    count = next((word for word in words if word in ("x1", "x2", "x4")), None)
    count = count or ("x1" if rows <= ROWS else "x2" if rows <= 2 * ROWS else "x4")
    return f"{words[0]}_{count}{'_trans' * ('trans' in words)}"


def _one(values: tuple[int, ...], addr: str) -> int:
    if len(values) != 1:
        raise InputError("a row and a column, and not an address", field="addr", value=addr, fix="give byte addresses")
    return values[0]


def _words(access: WarpAccess) -> str:
    ways = "no conflict" if access.degree == 1 else f"{access.degree}-way"
    fronts = f"{access.count} wavefront{'s'[: access.count != 1]}"
    return f"{ways}; {fronts} for {4 * len(access.words)} bytes, {access.min_count} at the least"
