"""The answer to a question about a tile in shared memory: where a chunk lies, and whether a reader finds it.

    row_offset 3       a slice that begins inside the pattern is permuted for a reader that counts from the slice
    element, scan      a swizzled row is contiguous only from its own start
    cp.async.bulk      moves bytes in line: it does not know a swizzle

>>> from tmalab.inputs.reading import Reading
>>> said = {"kind": "layout_query", "dtype": "float16", "tile": [16, 64], "swizzle": "128B", "element": [1, 0]}
>>> answer_layout(Reading("json", said), Options()).facts["physical_byte"]
144

`tile` and `element` are outermost first, as NumPy shapes are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.checker.answer import Answer
from tmalab.checker.cute_match import answer_cute
from tmalab.checker.descriptor import number, numbers
from tmalab.checker.mapping import Note
from tmalab.checker.options import Options
from tmalab.checker.shared_address import SPANS, pattern_bytes
from tmalab.errors import InputError, short_repr
from tmalab.inputs.reading import Reading
from tmalab.inputs.words import word
from tmalab.model.element_types import element_type
from tmalab.model.swizzle import swizzled


def answer_layout(reading: Reading, options: Options) -> Answer:
    """The answer to a reading of a layout. Raises UnreadableError where it says too little to be answered."""
    said = {**options.facts, **reading.fields}
    try:
        if "layout" in said:
            return answer_cute(reading, said, options)
        verdict, notes, facts = _answer(said)
    except InputError as error:
        raise reading.unreadable(error) from None
    notes = [*(Note(None, text) for text in reading.notes), *notes]
    return Answer(
        form=reading.form, kind="layout_query", verdict=verdict, arch=options.arch, notes=tuple(notes), facts=facts
    )


def _answer(said: Mapping[str, Any]) -> tuple[str, list[Note], dict[str, Any]]:
    swizzle = word("swizzle", said.get("swizzle", "none"))
    if not isinstance(swizzle, str) or swizzle not in SPANS or "ATOM" in swizzle:
        fix = "use none, 32B, 64B or 128B: the others are not on sm_90 and were not measured"
        raise InputError("no layout is known", field="swizzle", value=swizzle, fix=fix)
    tile = numbers("tile", said["tile"]) if "tile" in said else ()
    if any(size < 1 for size in tile) or len(tile) > 5:
        raise InputError("not a tile", field="tile", value=list(tile), fix="give 1 to 5 extents of at least 1")
    bits = element_type(word("dtype", said.get("dtype", "uint8"))).bits
    row_bytes = tile[-1] * bits // 8 if tile else SPANS[swizzle]
    pitch = max(row_bytes, SPANS[swizzle])
    if swizzle != "none" and row_bytes > SPANS[swizzle]:
        message = f"a row of {row_bytes} bytes is wider than the {swizzle} span: no copy writes such a tile"
        return "reject", [Note("box_inner_le_swizzle_span", message)], {"row_bytes": row_bytes, "span": SPANS[swizzle]}
    instruction = str(said.get("instruction", "")).lower()
    if "bulk" in instruction and "tensor" not in instruction:
        if swizzle == "none":
            return "accept", [], {}
        message = (
            f"{instruction[:60]} has no tensor map and moves bytes in line: chunk c of row r lands where chunk c XOR "
            "(r mod 8) belongs; use the tensor form with this swizzle, or keep the tile linear"
        )
        return "wrong_data", [Note("bulk_copy_is_linear", message)], {}
    base = number("smem_base", said["smem_base"]) if "smem_base" in said else 0
    if "element" in said:
        return _element(said, swizzle, tile, bits, pitch, base)
    if "row_offset" in said or "smem_offset" in said:
        rows = number("row_offset", said.get("row_offset", 0))
        return _slice(said, swizzle, base + rows * pitch + number("smem_offset", said.get("smem_offset", 0)))
    raise InputError(
        "nothing is asked", field="layout_query", value=None,
        fix="say element, row_offset or instruction, or give a CuTe layout",
    )  # fmt: skip


def _slice(said: Mapping[str, Any], swizzle: str, start: int) -> tuple[str, list[Note], dict[str, Any]]:
    """Whether a slice that begins at byte `start` can be read as if the pattern began there."""
    need = pattern_bytes(swizzle)
    facts = {"start_byte": start, "multiple_of": need if swizzle != "none" else 1}
    if swizzle == "none" or start % need == 0 or said.get("reader") in ("absolute", "absolute_address"):
        return "accept", [], facts
    rows = need // SPANS[swizzle]
    message = (
        f"the pattern follows the absolute address: a slice must begin at a multiple of {rows} rows ({need} bytes), "
        f"and byte {start} is {start % need} past one; a reader that counts from the slice XORs with other row numbers"
    )
    return "wrong_data", [Note("swizzle_phase_follows_address", message)], facts


def _element(
    said: Mapping[str, Any], swizzle: str, tile: tuple[int, ...], bits: int, pitch: int, base: int
) -> tuple[str, list[Note], dict[str, Any]]:
    """Where one element lies, and what a scan from there would read."""
    element = numbers("element", said["element"])
    if len(element) != len(tile) or any(not 0 <= at < size for at, size in zip(element, tile, strict=False)):
        raise InputError("not an element of the tile", field="element", value=list(element), limit=list(tile))
    row = 0
    for at, size in zip(element[:-1], tile[:-1], strict=True):
        row = row * size + at
    start_of_row = base + row * pitch
    physical = swizzled(start_of_row + element[-1] * bits // 8, swizzle)
    row_bytes = tile[-1] * bits // 8
    facts: dict[str, Any] = {"physical_byte": physical, "row_bytes": [start_of_row, start_of_row + row_bytes - 1]}
    notes = (
        [Note(f"swizzle_{swizzle}", f"element {list(element)} lies at byte {physical}")] if swizzle != "none" else []
    )
    if "scan_elems" not in said:
        return "mapping", notes, facts
    count = number("scan_elems", said["scan_elems"]) * bits // 8
    facts["bytes_read"] = [physical, physical + count - 1]
    wanted = [swizzled(start_of_row + element[-1] * bits // 8 + byte, swizzle) for byte in range(min(count, 4096))]
    if wanted == list(range(physical, physical + len(wanted))):
        return "accept", notes, facts
    message = (
        f"a scan of {short_repr(count)} bytes from byte {physical} leaves the row's own {facts['row_bytes']}, or takes "
        "its chunks out of order"
    )
    return "wrong_data", [Note("swizzled_row_is_not_linear", message)], facts
