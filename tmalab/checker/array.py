"""The answer to an array view: is there a tensor map for it, and does the driver take that one?

    shape (16, 128), strides (128, 1) elements of float16   ──reversed──▶   global_dim (128, 16), global_strides (256,)

>>> from tmalab.inputs.reading import Reading
>>> view = Reading("array", {"kind": "dlpack", "dtype": "float32", "shape": [64], "strides_elements": [2]})
>>> answer_array(view, Options()).rule
'inner_stride_must_be_1'

Shape, strides and box are in NumPy's order, outermost first. Without a box the rules for boxes are left out; a
symbolic extent such as L stands for any, and the rules that depend on it are left out too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.checker.answer import Answer
from tmalab.checker.descriptor import answer_descriptor
from tmalab.checker.mapping import Note
from tmalab.checker.options import Options
from tmalab.errors import InputError, short_repr
from tmalab.inputs.reading import Reading, base_address
from tmalab.inputs.words import word
from tmalab.model.element_types import ElementType, element_type
from tmalab.model.tensor_map_fields import MAX_LISTED_RANK, integer
from tmalab.model.violation import Violation

SOURCE = "CUDA driver API, cuTensorMapEncodeTiled, globalStrides (rank-1 entries)"
_PASSED_ON = (
    "swizzle", "interleave", "l2_promotion", "oob_fill", "storage_bytes", "coords", "direction", "op", "smem_base",
    "smem_bytes", "expect_tx_bytes", "descriptor_space", "descriptor_align", "arch", "base_align", "address_offset",
    "built_on", "live_rows", "load_mode",
)  # fmt: skip
# Stands for an extent that is not known: no rule can be broken by it, and none is warned of.
_ANY = 1 << 16


def answer_array(reading: Reading, options: Options) -> Answer:
    """The answer to a reading of an array. Raises UnreadableError for what is no array."""
    said = {**options.facts, **reading.fields}
    try:
        element = element_type(word("dtype", _needed(said, "dtype")))
        shape, symbols = _extents(said)
        strides = _stride_bytes(said, shape, element)
        fields = _fields(said, element, shape, strides)
        address = base_address(said)
        if address is not None and "byte_offset" in said:
            address += integer("byte_offset", said["byte_offset"])
        elif "byte_offset" in said:  # an allocation's own start is aligned to 256 bytes and more
            address = (1 << 20) + integer("byte_offset", said["byte_offset"])
    except InputError as error:
        raise reading.unreadable(error) from None
    if address is not None:
        fields |= {"address": address, "address_offset": None, "base_align": None}
    notes = reading.notes
    if symbols:
        notes += (f"{', '.join(symbols)}: any extent; rules that depend on it were left out",)
    known = Reading(reading.form, fields, reading.text, reading.offset, reading.locate, notes)
    answer = answer_descriptor(known, Options(options.arch))
    broken = [found for found in answer.violations if "box_shape" in said or not _is_about_box(found)]
    if inner := _inner_stride(element, shape, strides):  # the other strides are its neighbours': they may go with it
        broken = inner + [found for found in broken if not found.field.startswith("global_strides")]
    if "box_shape" not in said:
        text = "no box was given, so no rule about boxes was asked"
        facts = {name: fields[name] for name in ("global_dim", "global_strides")}
        known_sizes = () if symbols else ("last_byte", "dense_strides")
        facts |= {name: value for name, value in answer.numbers.items() if name in known_sizes}
        answer = answer._replace(
            tensor_map=None, facts=facts,
            warnings=tuple(found for found in answer.warnings if not _is_about_box(found)),
            notes=(*answer.notes, Note(None, text)),
        )  # fmt: skip
    verdict = "reject" if broken else answer.verdict if answer.verdict != "reject" else "accept"
    return answer._replace(kind="dlpack", verdict=verdict, violations=tuple(broken))


def _needed(said: Mapping[str, Any], name: str) -> Any:
    if said.get(name) is None:
        raise InputError("missing", field=name, value=None, fix="an array has a shape and a dtype")
    return said[name]


def _extents(said: Mapping[str, Any]) -> tuple[list[int], list[str]]:
    shape = _needed(said, "shape")
    if not isinstance(shape, (list, tuple)):
        raise InputError("not a list", field="shape", value=shape, fix="give the extents, outermost first")
    if len(shape) > MAX_LISTED_RANK:
        fix = "NumPy itself has at most 64 dimensions, and a tensor map 5"
        raise InputError(f"{len(shape)} dimensions", field="shape", value=list(shape), limit=MAX_LISTED_RANK, fix=fix)
    symbols = [size for size in shape if isinstance(size, str)]
    return [_ANY if isinstance(size, str) else integer(f"shape[{index}]", size) for index, size in enumerate(shape)], [
        short_repr(symbol)[1:-1] for symbol in symbols
    ]


def _stride_bytes(said: Mapping[str, Any], shape: list[int], element: ElementType) -> list[int | None]:
    """The strides in bytes, outermost first; None for a symbolic one."""
    name = "strides_bytes" if "strides_bytes" in said else "strides_elements"
    strides = said.get(name)
    if strides is None:  # contiguous
        bits, made = element.bits, []
        for size in reversed(shape):
            made.append(bits // 8)
            bits *= size
        return list(reversed(made))
    if not isinstance(strides, (list, tuple)) or len(strides) != len(shape):
        fix = f"give {len(shape)}, or none for contiguous rows"
        raise InputError("not one stride for each extent", field=name, value=strides, limit=len(shape), fix=fix)
    scale = 8 if name == "strides_bytes" else element.bits
    return [
        None if isinstance(stride, str) else integer(f"{name}[{index}]", stride) * scale // 8
        for index, stride in enumerate(strides)
    ]


def _fields(
    said: Mapping[str, Any], element: ElementType, shape: list[int], strides: list[int | None]
) -> dict[str, Any]:
    """The fields of the tiled map: the array's lists reversed, the box too; a box that breaks nothing where none is."""
    box = said.get("box_shape")
    if box is not None and (not isinstance(box, (list, tuple)) or len(box) != len(shape)):
        fix = f"give {len(shape)}, outermost first"
        raise InputError("not one entry for each dimension", field="box_shape", value=box, limit=len(shape), fix=fix)
    least = max(128 // element.bits, 1)
    fields: dict[str, Any] = {name: said[name] for name in _PASSED_ON if name in said}
    return fields | {
        "kind": "tiled", "dtype": element.name, "global_dim": shape[::-1],
        "global_strides": [16 if stride is None else stride for stride in strides[-2::-1]] if len(shape) > 1 else [],
        "box_dim": [least, *[1] * (len(shape) - 1)][: len(shape)] if box is None else list(box)[::-1],
    }  # fmt: skip


def _is_about_box(found: Violation) -> bool:
    return found.field.startswith("box_dim") or found.rule == "swizzled_row_is_padded"


def _inner_stride(element: ElementType, shape: list[int], strides: list[int | None]) -> list[Violation]:
    """The violation of a view whose innermost elements do not lie side by side."""
    if not shape or shape[-1] == 1 or strides[-1] is None or strides[-1] * 8 == element.bits:
        return []
    inner = strides[-1]
    dense = next(
        (axis for axis, stride in enumerate(strides[:-1]) if stride is not None and stride * 8 == element.bits), None
    )
    fix = "Copy the view so that its last dimension is contiguous, or copy without TMA."
    if dense is not None:
        fix = f"Dimension {dense} is the contiguous one: transpose it to the end."
    elif inner > 0 and inner % 16 == 0:
        fix = "Add a dimension of size 1 behind it; its elements are then rows of 16 bytes and more."
    return [
        Violation(
            "inner_stride_must_be_1", f"strides[{len(shape) - 1}]", inner * 8 // element.bits, 1,
            f"strides[{len(shape) - 1}]={short_repr(inner)} bytes, and one {element.name} is {element.bits / 8:g}; a "
            "tensor map has no stride for the innermost dimension, and would read the elements in between.",
            fix, SOURCE,
        )
    ]  # fmt: skip
