"""Random transfers for the engine to perform: maps that fit, loaded, stored and reduced, and a few broken launches.

    fields ─fit─▶ tensor within 1 MiB, box within 200 KiB ─▶ coords, base, bytes ─▶ Case("transfer")

>>> from random import Random
>>> random_transfer(Random(3), "demo").to_dict() == random_transfer(Random(3), "demo").to_dict()
True

A faulting launch costs a worker (about a second), so only `FAULT_SHARE` of the transfers are broken on purpose; all
others keep the written rules of a launch. Nobody asks the model whether a launch is legal: where it disagrees with
what is written here, the campaign shows it.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tmalab.experiment.case import Case
from tmalab.experiment.random_descriptor import Fields, manual_legal_fields
from tmalab.experiment.transfer_case import transfer_case
from tmalab.model.element_types import ELEMENT_TYPES
from tmalab.model.tensor_map import TensorMap

FAULT_SHARE = 0.004
WRONG_COUNT_SHARE = 0.01
ANY_TYPE_SHARE = 0.008  # of reductions: any type with any operation
UNIFORM_SHARE = 0.08
MEMORY_BYTES = 1 << 20
BOX_BYTES = 200 << 10
SMEM_BYTES = 226 << 10  # what a block on sm_90 may have, less 1 KiB for the barrier
# Few seeds and few sizes, so that whoever makes the bytes may keep them.
SEEDS = 32
MEMORY_SIZES = (1 << 14, 1 << 16, 1 << 18, MEMORY_BYTES)

# PTX ISA, cp.reduce.async.bulk.tensor: the pairs of operation and type that exist.
REDUCTIONS = {
    "int32": ("add", "min", "max", "and", "or", "xor"),
    "uint32": ("add", "min", "max", "inc", "dec", "and", "or", "xor"),
    "int64": ("min", "max"),
    "uint64": ("add", "min", "max", "and", "or", "xor"),
    "float16": ("add", "min", "max"),
    "bfloat16": ("add", "min", "max"),
    "float32": ("add",),
    "float64": ("add",),
}
OPS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")


def random_transfer(rng: Random, name: str) -> Case:
    """One transfer from `rng`, as a case called `name`."""
    direction = rng.choices(("load", "store", "reduce"), (60, 20, 20))[0]
    any_type = direction == "reduce" and rng.random() < ANY_TYPE_SHARE
    tensor_map = _legal_map(rng, direction, any_type)
    transfer: dict[str, Any] = {
        "coords": _coords(rng, tensor_map, direction),
        "offsets": _offsets(rng, tensor_map),
        "op": rng.choice(OPS if any_type else REDUCTIONS[tensor_map.dtype]) if direction == "reduce" else None,
        "smem_base": 128 * rng.choices((0, rng.randrange(16), rng.randrange(64)), (45, 45, 10))[0],
        "address_offset": rng.choices((0, 32 * rng.randrange(1, 64)), (75, 25))[0],
    }
    if tensor_map.interleave != "32B" and rng.random() < 0.1:
        transfer["address_offset"] += 16
    if direction == "load" and rng.random() < WRONG_COUNT_SHARE:
        transfer["expect_tx_bytes"] = max(1, tensor_map.transaction_bytes() + rng.choice((-16, -1, 1, 16, 128)))
    if rng.random() < 0.06:  # where the descriptor lies makes no difference, as long as the engine can read it
        transfer |= {"descriptor_space": rng.choice(("global", "const")), "descriptor_align": rng.choice((64, 128))}
    if rng.random() < FAULT_SHARE:
        tensor_map = _break_launch(rng, transfer, tensor_map, direction)
    room = tensor_map.footprint_bytes() * (4 if tensor_map.interleave != "none" else 1)
    # Guard bytes behind the box show a write that goes too far.
    smem_bytes = min(-(-(transfer["smem_base"] + room + rng.choice((128, 1024))) // 128) * 128, SMEM_BYTES)
    extent = transfer["address_offset"] + tensor_extent_bytes(tensor_map.to_dict())
    # One number everywhere on both sides of a reduction is where min, max, inc and dec turn.
    uniform = direction == "reduce" and rng.random() < UNIFORM_SHARE
    memory = _bytes(rng, tensor_map.dtype, next(size for size in MEMORY_SIZES if size >= extent), uniform)
    smem = None if direction == "load" else _bytes(rng, tensor_map.dtype, smem_bytes, uniform)
    return transfer_case(name, tensor_map, direction, memory=memory, smem=smem, smem_bytes=smem_bytes, **transfer)


def tensor_extent_bytes(fields: Fields) -> int:
    """Bytes from the tensor's first element to behind its last; a stride of a dimension of one reaches nothing."""
    dims, strides = fields["global_dim"], fields["global_strides"]
    reach: int = dims[0] * _unit_bytes(fields)
    for size, stride in zip(dims[1:], strides, strict=True):
        reach += (size - 1) * stride
    return reach


def _unit_bytes(fields: Fields) -> int:
    """Bytes from one index of dimension 0 to the next: of an element, or of an interleaved layout's slice."""
    slices = {"16B": 16, "32B": 32}
    return slices.get(fields["interleave"], ELEMENT_TYPES[fields["dtype"]].bytes)


def _legal_map(rng: Random, direction: str, any_type: bool) -> TensorMap:
    """A map that the model holds for legal, its tensor and box cut down to what fits."""
    while True:
        kind = "tiled" if direction != "load" else rng.choices(("tiled", "im2col"), (65, 35))[0]
        fields = manual_legal_fields(rng, kind=kind, largest_dim=4096)
        fields["address"] = None
        if direction == "reduce" and not any_type and fields["dtype"] not in REDUCTIONS:
            continue
        _fit_tensor(rng, fields, overlap=direction == "load")
        tensor_map = TensorMap.from_dict(fields)
        if tensor_map.violations():
            continue
        # An interleaved box was seen to span more than its elements; the room for it is generous.
        limit = BOX_BYTES // (8 if tensor_map.interleave != "none" else 1)
        while tensor_map.footprint_bytes() > limit:
            _halve_box(rng, fields)
            tensor_map = TensorMap.from_dict(fields)
        return tensor_map


def _fit_tensor(rng: Random, fields: Fields, *, overlap: bool) -> None:
    """Cut dimensions until the tensor fits; without `overlap` no two elements share a byte (stores have no order)."""
    dims, unit = fields["global_dim"], _unit_bytes(fields)
    multiple, limit = 32 if fields["interleave"] == "32B" else 16, MEMORY_BYTES - 8192
    while True:
        strides, row = [], dims[0] * unit
        for size in dims[1:]:
            strides.append(-(-row // multiple) * multiple + rng.choice((0, 0, multiple, 5 * multiple)))
            row = strides[-1] * size
        fields["global_strides"] = strides
        if tensor_extent_bytes(fields) <= limit:
            break
        largest = max(range(len(dims)), key=dims.__getitem__)
        dims[largest] = max(1, dims[largest] // 2 - rng.randrange(2))
    if strides and overlap and rng.random() < 0.08:  # rows that overlap, or are all the same row
        position = rng.randrange(len(strides))
        strides[position] = rng.choice((0, multiple, strides[position] // (2 * multiple) * multiple))
    if strides and rng.random() < 0.04:  # a stride that no address ever uses
        position = rng.randrange(len(strides))
        dims[position + 1] = 1
        strides[position] = rng.randrange(0, 1 << 40, multiple)


def _halve_box(rng: Random, fields: Fields) -> None:
    if fields["kind"] == "im2col":
        fields["pixels_per_column"] = max(1, fields["pixels_per_column"] // 2 - rng.randrange(2))
        return
    outer = range(1, len(fields["box_dim"]))
    largest = max(outer, key=fields["box_dim"].__getitem__)
    fields["box_dim"][largest] = max(1, fields["box_dim"][largest] // 2 - rng.randrange(2))


def _coords(rng: Random, tensor_map: TensorMap, direction: str) -> list[int]:
    """A coordinate a dimension: inside, at the ends, before, past, and very far; the inner one 16-byte aligned."""
    coords = []
    for position, size in enumerate(tensor_map.global_dim):
        low, high = 0, size - 1
        corner = position - (tensor_map.interleave == "none")
        if tensor_map.kind == "im2col" and 0 <= corner < tensor_map.rank - 2:
            # Where the bounding box of the pixels starts and ends. A start outside it is a fault: few are wanted.
            low, high = tensor_map.lower_corner[corner], size - 1 + tensor_map.upper_corner[corner]
            outside = rng.random() < FAULT_SHARE and rng.choice((low - 1, high + 1, low - 9, high + 40))
            coords.append(outside or rng.choice((low, rng.randint(low, high), rng.randint(low, high), high)))
            continue
        inside = rng.randint(low, high)
        coords.append(
            rng.choices(
                (low, inside, size + rng.randint(-8, 8), -rng.randint(1, 20), rng.choice((-(1 << 31), (1 << 31) - 1))),
                (30, 46, 14, 9, 1),
            )[0]
        )
    if tensor_map.kind == "tiled" or tensor_map.interleave == "none":
        chunk = max(16 // tensor_map.element.bytes, 1)
        coords[0] = coords[0] // chunk * chunk
    return coords if direction == "load" else [max(0, coord) for coord in coords]


def _offsets(rng: Random, tensor_map: TensorMap) -> list[int]:
    """An im2col load's offsets, mostly within a small filter, sometimes the largest that the instruction holds."""
    if tensor_map.kind == "tiled":
        return []
    largest = {3: (1 << 16) - 1, 4: (1 << 8) - 1, 5: (1 << 5) - 1}[tensor_map.rank]
    return [
        rng.choices((rng.randint(0, 4), rng.randint(0, 31), largest), (85, 13, 2))[0]
        for _ in range(tensor_map.rank - 2)
    ]


def _bytes(rng: Random, dtype: str, size: int, uniform: bool) -> dict[str, Any]:
    if uniform:
        return {"pattern": "fill", "value": rng.choice((0, 0, 1, 0x7F, 0x80, 0xFF)), "bytes": size}
    if ELEMENT_TYPES[dtype].is_float and rng.random() < 0.45:
        return {"pattern": "float_edges", "dtype": dtype, "seed": rng.randrange(SEEDS), "bytes": size}
    return {"pattern": "random", "seed": rng.randrange(SEEDS), "bytes": size}


def _break_launch(rng: Random, transfer: dict[str, Any], tensor_map: TensorMap, direction: str) -> TensorMap:
    """Break one written rule of a launch, in `transfer` or in the map, which is returned."""
    chunk = max(16 // tensor_map.element.bytes, 1)
    missing = [op for op in OPS if op not in REDUCTIONS.get(tensor_map.dtype, ())]  # none for uint32
    of_direction = {"load": [], "store": ["negative"] * 3, "reduce": ["negative"] * 2 + ["op"] * bool(missing)}[
        direction
    ]
    chosen = rng.choice(["inner", "inner", "base", "space", "align", "null", *of_direction])
    if chosen == "inner":
        transfer["coords"][0] += rng.randint(1, chunk - 1)
    elif chosen == "base":
        transfer["smem_base"] += rng.choice((16, 32, 64, 112))
    elif chosen == "negative":
        transfer["coords"][rng.randrange(tensor_map.rank)] = -chunk * rng.randint(1, 3)
    elif chosen == "op":
        transfer["op"] = rng.choice(missing)
    elif chosen == "space":
        transfer["descriptor_space"] = rng.choice(("shared", "local"))
    elif chosen == "align":
        transfer |= {"descriptor_space": rng.choice(("global", "const")), "descriptor_align": rng.choice((16, 32))}
    else:
        return TensorMap.from_dict({**tensor_map.to_dict(), "address": 0})
    return tensor_map
