"""The two tensor maps of "Many atoms in one copy" side by side: what each field says, and what the copies counted.

    dimensions      col, row, group      column, row        one memory, two ways to count in it
    box_dim         {64, 16, 2}          {64, 16}
    coords          {0, 0, 0}            {0, 0}, {64, 0}    one copy, or one a group

>>> dict(zip(FIELDS, fields_of("128B", 128, 128), strict=True))["coords"]
['{0, 0, 2}', '{128, 0}, {192, 0}']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tmalab.experiment.atoms_cases import ATOM_SLICE, flat_map, grouped_map
from tmalab.model.box_bytes import footprint_bytes, transaction_bytes

_OF_THE_MAP = ("global_dim", "global_strides", "box_dim")
FIELDS = ("dimensions", *_OF_THE_MAP, "coords", "shared address", "bytes spanned", "bytes counted", "padding")


def fields_of(swizzle: str, group: int, col: int, counted: Sequence[Sequence[int]] = ((), ())) -> list[list[str]]:
    """For each of FIELDS what the three-dimensional map says, and what the two-dimensional one.

    `counted` has for both the bytes that each copy completed on its barrier; where it has none, the model's stand.
    """
    maps = grouped_map(swizzle, group), flat_map(swizzle, group)
    width, each = maps[1].box_dim[0], footprint_bytes(maps[1])
    copies = range(ATOM_SLICE // width)
    coords = [(0, 0, col // width)], [(col + number * width, 0) for number in copies]
    bases = [0], [number * each for number in copies]
    rows = [["col, row, group", "column, row"]]
    rows += [[_braces(getattr(tm, name)) for tm in maps] for name in _OF_THE_MAP]
    rows.append([_listed([_braces(one) for one in side]) for side in coords])
    rows.append([_listed([str(one) for one in side]) for side in bases])
    spanned = [[footprint_bytes(tm)] * len(side) for tm, side in zip(maps, bases, strict=True)]
    predicted = [[transaction_bytes(tm)] * len(side) for tm, side in zip(maps, bases, strict=True)]
    brought = [seen or said for seen, said in zip(counted, predicted, strict=True)]
    rows += [[_sum(side) for side in spanned], [_sum(side) for side in brought]]
    rows.append([f"{sum(all_of) - sum(used)} bytes" for all_of, used in zip(spanned, brought, strict=True)])
    return rows


def verdict(left: Sequence[Any]) -> str:
    """What the two ways left in shared memory (a uint8 array each, where it was measured), held against each other."""
    if len(left) < 2:
        return "Whether both leave the same bytes in shared memory was not measured."
    differ = int((left[0] != left[1]).sum())
    told = f"{differ} of {left[0].size} bytes {'differs' if differ == 1 else 'differ'}"
    return f"Shared memory after one and after the other, measured: {told}."


def _braces(values: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, values))}}}"


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts) if len(texts) < 3 else f"{texts[0]}, {texts[1]} … {texts[-1]}"


def _sum(terms: Sequence[int]) -> str:
    """2 × 2048 = 4096, or the terms where they differ."""
    if len(terms) == 1:
        return str(terms[0])
    told = f"{len(terms)} × {terms[0]}" if len(set(terms)) == 1 else " + ".join(map(str, terms))
    return f"{told} = {sum(terms)}"
