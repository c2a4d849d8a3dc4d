"""Which swizzle mode gives a CuTe layout, or why none does.

    Sw<1,4,3> = 32B    Sw<2,4,3> = 64B    Sw<3,4,3> = 128B    Sw<0,…> = none      XOR of 16-byte chunks, by line
    rows as wide as the box, or padded to the span; then rows upon rows without a gap: that is what one copy writes

>>> from tmalab.inputs.cute_layout import parse
>>> found = match(parse("Sw<3,4,3> o 0 o (8,64):(64,1)"), element_bytes=2)
>>> found.swizzle, found.box_dim, found.why_not
('128B', (64, 8), '')

The swizzle counts in bytes (as CuTe's own for shared memory does); where only a count in elements fits, that is said.
Source: PTX ISA, Swizzling Modes; NVIDIA/cutlass copy_traits_sm90_tma_swizzle.hpp for the atoms of 32 and 64 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tmalab.checker.answer import Answer
from tmalab.checker.mapping import Note
from tmalab.checker.options import Options
from tmalab.checker.shared_address import SPANS, TILE_ALIGN_BYTES, pattern_bytes
from tmalab.errors import InputError
from tmalab.inputs.cute_layout import CuteLayout, parse
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading
from tmalab.inputs.words import word
from tmalab.model.element_types import element_type

RULE = "cute_layout_swizzle_mode"
MODES = {(1, 4, 3): "32B", (2, 4, 3): "64B", (3, 4, 3): "128B", (2, 5, 2): "128B_ATOM_32B", (1, 6, 1): "128B_ATOM_64B"}
_NO_MODE = (
    "no mode is Sw<{0},{1},{2}> in bytes: the engine XORs 16-byte chunks (M=4) with the number of the 128-byte line "
    "(M+S=7), over 2, 4 or 8 of them (B=1, 2, 3)"
)


class Match(NamedTuple):
    """A mode, and the box whose copy writes the layout; or `why_not`. `copies` boxes make up the whole layout."""

    swizzle: str
    box_dim: tuple[int, ...]
    copies: int
    element_bytes: int
    why_not: str = ""
    remark: str = ""


def match(layout: CuteLayout, element_bytes: int) -> Match:
    """The mode and box for elements of `element_bytes`, or why there are none."""
    none = Match("none", (), 0, element_bytes)
    swizzle, remark = _mode(layout.swizzle, element_bytes)
    if swizzle is None:
        return none._replace(why_not=_NO_MODE.format(*layout.swizzle))
    pairs = [pair for mode in layout.modes for pair in _merged(mode)]
    extents = sorted((stride, extent) for extent, stride in pairs if extent != 1)
    if any(stride == 0 for stride, _ in extents) or any(extent == 0 for _, extent in extents):
        return none._replace(why_not="an extent or a stride is 0: several coordinates name one address")
    if not extents or extents[0][0] != 1:
        return none._replace(why_not="no mode has stride 1, and a copy writes rows of adjacent elements")
    row, span = extents[0][1] * element_bytes, SPANS[swizzle]
    if row % 16:
        return none._replace(why_not=f"a row is {row} bytes, and a box's row is a multiple of 16")
    if span and row > span:
        fix = f"split it into {-(-row // span)} boxes of {span // element_bytes} elements, with rows {span} bytes apart"
        return none._replace(why_not=f"a row is {row} bytes, and the {swizzle} span is {span}: {fix}")
    return _box(extents, swizzle, span, none, remark, layout)


def _mode(swizzle: tuple[int, int, int], element_bytes: int) -> tuple[str | None, str]:
    bits, base, shift = swizzle
    if bits == 0:
        return "none", ""
    if swizzle in MODES:
        return MODES[swizzle], ""
    if (bits, base) == (2, 6):  # as CUTLASS names it; no H200 takes it, so the pattern was not measured
        return "128B_ATOM_64B", "as CUTLASS names this pattern; not measured"
    in_bytes = (bits, base + element_bytes.bit_length() - 1, shift)
    if in_bytes in MODES:
        return (
            MODES[in_bytes],
            f"counted in elements of {element_bytes} bytes; in bytes the swizzle is Sw<{bits},{in_bytes[1]},{shift}>",
        )
    return None, ""


def _merged(mode: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """The sub-modes of one mode, those that go on where the one before ends made one: (8,16):(64,512) is 128:64."""
    merged: list[tuple[int, int]] = []
    for extent, stride in mode:
        if extent == 1:
            continue
        if merged and stride == merged[-1][0] * merged[-1][1]:
            merged[-1] = (merged[-1][0] * extent, merged[-1][1])
        else:
            merged.append((extent, stride))
    return merged


def _box(
    extents: list[tuple[int, int]], swizzle: str, span: int, none: Match, remark: str, layout: CuteLayout
) -> Match:
    """The box whose rows and blocks follow one another; what leaves a gap, or is longer than 256, is further copies."""
    size, (_, row) = none.element_bytes, extents[0]
    box, copies = [min(row, 256)], -(-row // 256)
    expected = max(box[0] * size, span)
    for stride, extent in extents[1:]:
        at = stride * size
        if at < expected and copies == 1:
            return none._replace(
                why_not=f"rows lie {at} bytes apart, and the {swizzle} mode writes them {expected} apart"
            )
        if at == expected and len(box) < 5:
            box.append(min(extent, 256))
            copies *= -(-extent // 256)
            expected = at * box[-1]
        elif at % TILE_ALIGN_BYTES:
            return none._replace(
                why_not=f"parts lie {at} bytes apart, not {expected}, and a copy begins at a multiple of 128"
            )
        else:
            copies *= extent
    offset = layout.offset * size
    if offset % TILE_ALIGN_BYTES:
        return none._replace(why_not=f"the offset is {offset} bytes, and a copy begins at a multiple of 128")
    return Match(swizzle, tuple(box), copies, size, remark=remark)


def answer_cute(reading: Reading, said: Mapping[str, Any], options: Options) -> Answer:
    """The answer to a layout: the modes that give it, by element size where that was not said."""
    text = said["layout"]
    if not isinstance(text, str):
        raise InputError(
            "not a layout's text", field="layout", value=text, fix="give it as Sw<3,4,3> o 0 o (8,64):(64,1)"
        )
    try:
        layout = parse(text)
    except UnreadableError as error:
        if reading.form == "cute":
            raise
        raise InputError(error.message, field="layout", value=text, fix=error.fix) from None
    if layout.element_bits is not None:
        sizes = [max(layout.element_bits // 8, 1)]
        if "dtype" in said and element_type(word("dtype", said["dtype"])).bits != layout.element_bits:
            message = f"the layout's pointer says elements of {layout.element_bits} bits"
            raise InputError(message, field="dtype", value=said["dtype"], fix="leave out the dtype, or make them agree")
    elif "dtype" in said:
        sizes = [element_type(word("dtype", said["dtype"])).bytes]
    else:
        sizes = [1, 2, 4, 8]
    matches = [match(layout, size) for size in sizes]
    found = [one for one in matches if not one.why_not]
    exact = [one for one in found if not one.remark] or found
    notes = [Note(None, text) for text in reading.notes]
    if not exact:
        notes += [Note(RULE, _why(one, len(sizes) > 1)) for one in matches]
        return Answer(
            form=reading.form, kind="layout_query", verdict="reject", arch=options.arch, notes=tuple(notes),
            facts={"swizzle": None},
        )  # fmt: skip
    notes += [Note(RULE, _says(one)) for one in exact]
    if any("ATOM" in one.swizzle for one in exact):
        notes.append(Note("atom_swizzle_needs_sm100", "sm_90 refuses the atoms of 32 and 64 bytes"))
    best = exact[0]
    facts = {
        "swizzle": best.swizzle, "element_bytes": best.element_bytes, "box_dim": list(best.box_dim),
        "copies": best.copies, "smem_align": pattern_bytes(best.swizzle),
    }  # fmt: skip
    if len(exact) > 1:
        names = ("swizzle", "element_bytes", "box_dim", "copies")
        facts["matches"] = [{name: getattr(one, name) for name in names} for one in exact]
    if layout.offset:
        facts["smem_base"] = layout.offset * best.element_bytes
    return Answer(
        form=reading.form, kind="layout_query", verdict="accept", arch=options.arch, notes=tuple(notes), facts=facts
    )


def _why(one: Match, several: bool) -> str:
    return f"for elements of {one.element_bytes} bytes: {one.why_not}" if several else one.why_not


def _says(one: Match) -> str:
    times = f", {one.copies} copies" if one.copies > 1 else ""
    remark = f" ({one.remark})" if one.remark else ""
    return (
        f"swizzle {one.swizzle} with box_dim {list(one.box_dim)} of {one.element_bytes}-byte elements{times} "
        f"writes this layout{remark}"
    )
