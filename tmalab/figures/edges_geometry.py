"""The experiments of "At the edges", and where each element of a box stands: in the tensor, in memory, in the tile.

    window          the columns and rows of global memory that are drawn: the tensor, the box, what lies between
    box element     i  its cell of the window, its cell of shared memory, and what becomes of it:
                    in (the tensor) · clip (past it, and written all the same) · out

>>> layout(EXPERIMENTS["store-float32"]).kinds[:8]
['in', 'in', 'clip', 'clip', 'out', 'out', 'out', 'out']
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from tmalab import model
from tmalab.experiment.case import Case
from tmalab.experiment.edge_cases import EDGE_PITCH, edge_case
from tmalab.experiment.memory import make_bytes
from tmalab.model.box_bytes import copied_dim, row_pitch_bytes
from tmalab.model.tensor_map import TensorMap


class Experiment(NamedTuple):
    """One entry of the figure: its name in the address, its group and label in the list, its point in a sentence."""

    name: str
    group: str
    label: str
    about: str

    @property
    def case(self) -> Case:
        """What was run on the hardware."""
        return edge_case(self.name)


_LOAD, _STRIDE, _BITS, _STORE, _REDUCE = "Loads", "Element strides", "Bits on a load", "Stores", "Reductions"

EXPERIMENTS: Mapping[str, Experiment] = {
    name: Experiment(name, group, label, about)
    for name, group, label, about in (
        ("zero", _LOAD, "past the end, zeros",
         "A load knows the tensor's end to the element. Past it the box gets zeros, whatever memory holds there."),
        ("nan-float32", _LOAD, "past the end, NaN fill, float32",
         "With NaN fill each element outside gets the bits 7ff77ff7, which as a float32 are a NaN."),
        ("nan-float16", _LOAD, "past the end, NaN fill, float16", "In 16 bits the NaN of the fill is 7ff7."),
        ("nan-bfloat16", _LOAD, "past the end, NaN fill, bfloat16", "In bfloat16 the fill has the same bits, 7ff7."),
        ("before", _LOAD, "before the start",
         "A load may begin before the tensor, at negative coordinates. That part of the box is filled too."),
        ("larger", _LOAD, "a box larger than the tensor",
         "The box may be larger than the tensor in every direction. The barrier counts all of it."),
        ("outside", _LOAD, "a box outside the tensor",
         "A box that meets nothing of the tensor is all fill, and the barrier counts every byte of it."),
        ("padded", _LOAD, "a box narrower than its swizzle span",
         "Rows of 16 bytes under swizzle 32B stand 32 bytes apart. What lies between them is never written."),
        ("stride-2", _STRIDE, "every 2nd row", "Element stride 2: of the six rows of the box, three are taken."),
        ("stride-3", _STRIDE, "every 3rd row, past the end",
         "Element stride 3 on a box of eight rows takes rows 0, 3 and 6. Row 6 is past the tensor, and filled."),
        ("inner-stride", _STRIDE, "every 2nd column: ignored",
         "An element stride in the innermost dimension changes nothing: the row is taken whole."),
        ("bits-tfloat32", _BITS, "tfloat32",
         "Through tfloat32 a load rounds to 10 bits of mantissa; any NaN becomes 7fffe000. The fill is not rounded."),
        ("bits-float32_ftz", _BITS, "float32_ftz",
         "The name says flush to zero, but a load changes no bit: denormals (exponent 0) come through."),
        ("store-float32", _STORE, "past the end, float32",
         "A store knows a row's end to 16 bytes. Two elements past the tensor share its last 16 bytes: overwritten."),
        ("store-float16", _STORE, "past the end, float16",
         "With 2-byte elements, six past the tensor share the last 16 bytes of its row. All six are overwritten."),
        ("store-rank-1", _STORE, "past the end, rank 1",
         "A vector has no row pitch. What the store overwrites past its end belongs to whatever comes next in memory."),
        ("add", _REDUCE, "add, float32",
         "A reduction combines what comes with what was there, and its rows end as a store's do: at 16 bytes."),
        ("min", _REDUCE, "min, float16",
         "The smaller one stays. The first row keeps what was there, the third takes what comes."),
    )
}  # fmt: skip


class Memory(NamedTuple):
    """The three states of a case's two memories that a drawing needs, in bytes: uint8 arrays, whole."""

    memory: Any  # global memory before
    smem: Any  # shared memory before: the background, or what is stored
    result: Any  # what the model says is left: of shared memory after a load, else of global memory


class Layout(NamedTuple):
    """Where everything of one experiment stands. A rectangle is [left, top, width, height], in elements."""

    direction: str
    tensor_map: TensorMap
    element_bytes: int
    window: list[int]  # of global memory, by the tensor's coordinates
    tensor: list[int]
    box: list[int]
    shared: list[int]  # of shared memory: [its first byte, 0, columns, rows]
    coords: list[tuple[int, int]]  # of each element of the box, its column and row in the tensor
    memory_cells: list[int]  # of each, its cell of the window
    shared_cells: list[int]
    kinds: list[str]

    def memory_byte(self, cell: int) -> int | None:
        """Where a cell of the window begins, in bytes from the tensor's start; None where no memory has its place."""
        left, top, width, _ = self.window
        column, row = left + cell % width, top + cell // width
        in_pitch = 0 <= column < EDGE_PITCH and (self.tensor_map.rank > 1 or row == 0)
        return (row * EDGE_PITCH + column) * self.element_bytes if in_pitch else None

    def shared_byte(self, cell: int) -> int:
        """Where a cell of shared memory begins, in bytes."""
        return self.shared[0] + cell * self.element_bytes


@lru_cache
def layout(experiment: Experiment) -> Layout:
    """Where everything of `experiment` stands."""
    params = experiment.case.params
    tm = TensorMap.from_dict(params["tensor_map"])
    size, base = tm.element.bytes, params["smem_base"]
    column, row = (*params["coords"], 0)[:2]
    width, height = (*tm.global_dim, 1)[:2]
    box = [column, row, *(*tm.box_dim, 1)[:2]]
    left, top = min(0, column), min(0, row)
    right, bottom = max(width + 2, column + box[2]), max(height, row + box[3])
    taken = (*copied_dim(tm), 1)[:2]
    step = (*tm.element_strides, 1)[1]
    pitch = row_pitch_bytes(tm) // size
    coords = [(column + x, row + y * step) for y, x in product(range(taken[1]), range(taken[0]))]
    offsets = (model.shared_offsets(tm, base).T.ravel() - base) // size
    return Layout(
        params["direction"], tm, size, [left, top, right - left, bottom - top], [0, 0, width, height], box,
        [base, 0, pitch, taken[1]], coords,
        [(y - top) * (right - left) + x - left for x, y in coords], offsets.tolist(),
        _kinds(tm, params, coords),
    )  # fmt: skip


def _kinds(tm: TensorMap, params: Mapping[str, Any], coords: list[tuple[int, int]]) -> list[str]:
    """in, clip or out, of each element of the box; what is clipped, the model's store says."""
    width, height = (*tm.global_dim, 1)[:2]
    inside = [0 <= x < width and 0 <= y < height for x, y in coords]
    if params["direction"] == "load":
        return ["in" if one else "out" for one in inside]
    ones = np.full(params["smem_bytes"], 0xFF, np.uint8)
    memory = np.zeros(params["memory"]["bytes"], np.uint8)
    written = model.store(tm, ones, params["coords"], memory=memory, smem_base=params["smem_base"])
    size = tm.element.bytes
    places = [(y * EDGE_PITCH + x) * size for x, y in coords]
    return ["in" if one else "clip" if written[at] else "out" for one, at in zip(inside, places, strict=True)]


@lru_cache
def memories(experiment: Experiment) -> Memory:
    """What was there, and what the model says is left. Global memory begins before the tensor, at its offset."""
    params = experiment.case.params
    tm, first = TensorMap.from_dict(params["tensor_map"]), params["address_offset"]
    memory, smem = make_bytes(params["memory"]), make_bytes(params["smem"])
    operands: dict[str, Any] = {"smem_base": params["smem_base"]}
    if params["direction"] == "load":
        left = model.load(tm, memory[first:], params["coords"], smem_bytes=params["smem_bytes"], **operands)
        return Memory(memory, smem, left)
    if params["op"]:
        left = model.reduce(tm, smem, params["coords"], params["op"], memory=memory[first:], **operands)
    else:
        left = model.store(tm, smem, params["coords"], memory=memory[first:], **operands)
    return Memory(memory, smem, np.concatenate([memory[:first], left]))
