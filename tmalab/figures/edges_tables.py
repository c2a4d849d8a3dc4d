"""What "At the edges" shows, as tables: each experiment's two memories element by element, seen and predicted.

    given      the memory that is read: global memory of a load, shared memory of a store or reduction
    before, model, hardware     the one that is written; all as the bits of its elements, in hex, "" where nothing is
    labels     of each bits that occurs: what stands in the cell, in one or two lines, and in words
    words      of each element of the box: what becomes of it, in a sentence

>>> label("43000000", "float32"), label("7ff77ff7", "float32"), label("0080", "float16")
(('128', '', '128'), ('7ff7', '7ff7', 'NaN (7ff77ff7)'), ('128', '', '128'))

The hardware's table is its bytes alone; the model takes no part in it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import product
from math import isnan
from typing import Any

from tmalab.experiment.observation import Observation
from tmalab.figures.answers import Observe, answer_of
from tmalab.figures.edges_geometry import EXPERIMENTS, Experiment, Layout, layout, memories
from tmalab.figures.tile_tables import gpu_name, source_line

VIEWS = ("hardware", "model", "difference")
CELLS = tuple(product(range(8), range(16)))  # (row, column) of the largest boxes
_BACKGROUND = "cd"
_MOST_COUNTED = 1000  # more digits than a cell has room for


def bits_of(content: Any, byte: int | None, size: int) -> str:
    """The element at `byte` of `content` as hex digits, the highest first; "" for None."""
    return "" if byte is None else bytes(content[byte : byte + size])[::-1].hex()


def label(bits: str, dtype: str, *, as_bits: bool = False) -> tuple[str, str, str]:
    """What stands in a cell, in one or two lines, and the same in words.

    A number that the memory was made of is written as such: a float32's value, a 16-bit element's bits, counted.
    """
    if set(bits[:2]) <= {"", *_BACKGROUND} and bits == _BACKGROUND * (len(bits) // 2):
        return "", "", "untouched" if bits else "nothing"
    value = struct.unpack(">f", bytes.fromhex(bits))[0] if len(bits) == 8 else int(bits, 16)
    if not as_bits and (len(bits) == 4 or not isnan(value)) and abs(value) < _MOST_COUNTED and value == int(value):
        return str(int(value)), "", str(int(value))
    infinity = {"float16": 0x7C00, "bfloat16": 0x7F80}.get(dtype, 0x7F800000)
    is_nan = int(bits, 16) & (1 << (4 * len(bits) - 1)) - 1 > infinity
    return bits[:4], bits[4:], f"NaN ({bits})" if is_nan else bits


def edges_spec(observe: Observe | None, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that the figure draws, and where it was measured: (spec, provenance), both plain JSON.

    An experiment's `hardware` is null and its `line` -1 where nothing is recorded; `elsewhere` counts the bytes that
    differ from the model and are not drawn.
    """
    lines: dict[str, int] = {}
    gpu = gpu_name(None)
    experiments = []
    for experiment in EXPERIMENTS.values():
        seen = answer_of(observe, experiment.case)
        if seen is not None:
            gpu = gpu_name(seen)
        line = -1 if seen is None else lines.setdefault(source_line(seen), len(lines))
        experiments.append({**_tables(experiment, seen), "line": line})
    spec = {
        "schema": 1, "name": "edges", "title": title, "experiments": experiments, "background": _BACKGROUND,
        "choices": {"experiment": list(EXPERIMENTS), "view": list(VIEWS)}, "cells": [list(cell) for cell in CELLS],
    }  # fmt: skip
    return spec, {"lines": list(lines), "gpu": gpu}


def _tables(experiment: Experiment, seen: Observation | None) -> dict[str, Any]:
    found, there, params = layout(experiment), memories(experiment), experiment.case.params
    is_load, size, first = found.direction == "load", found.element_bytes, params["address_offset"]
    places = [found.memory_byte(cell) for cell in range(found.window[2] * found.window[3])]
    in_memory = [None if place is None else first + place for place in places]
    in_shared = [found.shared_byte(cell) for cell in range(found.shared[2] * found.shared[3])]
    written = in_shared if is_load else in_memory

    def elements(content: Any, at: Any) -> list[str]:
        return [bits_of(content, byte, size) for byte in at]

    hardware, elsewhere = None, 0
    if seen is not None:
        left = seen["smem" if is_load else "memory"]
        hardware = elements(left, written)
        drawn = {byte + one for byte in written if byte is not None for one in range(size)}
        elsewhere = sum(int(byte) not in drawn for byte in (left != there.result).nonzero()[0])
    tables = {
        "given": elements(there.memory if is_load else there.smem, in_memory if is_load else in_shared),
        "before": elements(there.smem if is_load else there.memory, written),
        "model": elements(there.result, written), "hardware": hardware,
    }  # fmt: skip
    as_bits, dtype = experiment.group == "Bits on a load", found.tensor_map.dtype
    occurring = sorted({bits for table in tables.values() for bits in table or ()})
    labels = {bits: label(bits, dtype, as_bits=as_bits) for bits in occurring}
    return {
        "name": experiment.name, "group": experiment.group, "label": experiment.label, "about": experiment.about,
        "direction": found.direction, "dtype": dtype, "bytes": size, "engine": _engine(found, params, seen),
        "window": found.window, "tensor": found.tensor, "box": found.box, "shared": found.shared,
        "memory_cells": found.memory_cells, "shared_cells": found.shared_cells, "coords": found.coords,
        "kinds": found.kinds, **tables, "labels": labels, "words": _words(found, tables, labels, params["op"]),
        "elsewhere": elsewhere,
    }  # fmt: skip


def _engine(found: Layout, params: Mapping[str, Any], seen: Observation | None) -> list[str]:
    """The operands, as the drawing has them between the two memories."""
    tm = found.tensor_map
    words = [f"coords {{{', '.join(map(str, params['coords']))}}}", f"box {{{', '.join(map(str, tm.box_dim))}}}"]
    if any(step != 1 for step in tm.element_strides):
        words.append(f"strides {{{', '.join(map(str, tm.element_strides))}}}")
    if tm.swizzle != "none":
        words.append(f"swizzle {tm.swizzle}")
    if found.direction != "load":
        return [*words, params["op"] or "store"]
    counted = tm.transaction_bytes() if seen is None else seen.values.get("delivered_bytes", tm.transaction_bytes())
    return [*words, f"{counted} bytes counted"]


def _words(found: Layout, tables: dict[str, Any], labels: dict[str, Any], op: str | None) -> list[str]:
    """Of each element of the box, what becomes of it by the model, in one sentence or two."""

    def said(table: str, cell: int) -> str:
        return str(labels[tables[table][cell]][2])

    across = found.shared[2] if found.tensor_map.swizzle == "none" else found.tensor_map.box_dim[0]
    told = []
    for number, (kind, (column, row)) in enumerate(zip(found.kinds, found.coords, strict=True)):
        memory, shared = found.memory_cells[number], found.shared_cells[number]
        y, x = divmod(number, across)
        mine, theirs = f"Box row {y}, column {x}", f"row {row}, column {column}"
        byte = f"shared byte {found.shared_byte(shared)}"
        if found.direction == "load":
            value, there = said("model", shared), said("given", memory)
            if kind == "in":
                change = "" if value == there else f", rounded to {value}"
                told.append(f"{mine} is {theirs} of the tensor: {there}{change} → {byte}.")
            else:
                ignored = "" if there == "nothing" else f" Memory holds {there} there; the box does not get it."
                told.append(f"{mine} is {theirs}, outside the tensor: filled with {value} → {byte}.{ignored}")
            continue
        was, now, came = said("before", memory), said("model", memory), said("given", shared)
        place = {
            "in": f"{theirs} of the tensor", "clip": f"{theirs}, past the tensor but in the last 16 bytes of its row",
            "out": f"{theirs}, not in the tensor",
        }[kind]  # fmt: skip
        if kind == "out":
            told.append(f"{mine}, {byte} → {place}: not written, still {was}.")
        else:
            how = {None: f"it was {was}, now {now}", "add": f"{was} + {came} = {now}"}
            told.append(f"{mine}, {byte} → {place}: {how.get(op, f'{op} of {was} and {came} is {now}')}.")
    return told
