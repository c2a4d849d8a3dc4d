"""The answer to a question about one copy's operands: coordinates, shared addresses, where the descriptor lies.

    coords_inner [-4, 0, 1]   ──▶ ok, ok, fault: mixed
    slot_offsets [0, 64]      ──▶ slot 1 is not 128-byte aligned: fault
    smem_offset 640, 128B     ──▶ aligned to 128 and not to 1024: wrong data for a tile-relative reader

>>> from tmalab.inputs.reading import Reading
>>> said = {"kind": "launch_operand", "dtype": "int32", "coords_inner": [-4, 0, 1], "box_dim": [16, 8]}
>>> answer = answer_launch(Reading("json", said), Options())
>>> answer.verdict, answer.facts["per_coord"]
('mixed', {'-4': 'ok', '0': 'ok', '1': 'fault'})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.checker.answer import Answer
from tmalab.checker.descriptor import launch_findings, number, numbers
from tmalab.checker.mapping import Note, countable
from tmalab.checker.options import Options
from tmalab.checker.shared_address import SPANS, TILE_ALIGN_BYTES, pattern_bytes
from tmalab.errors import InputError, short_repr
from tmalab.inputs.reading import Reading
from tmalab.inputs.words import word
from tmalab.model.element_types import element_type
from tmalab.model.launch_rules import bulk_copy_violations
from tmalab.model.tensor_map import TensorMap
from tmalab.model.violation import Violation

# The worst of what was found is the verdict.
_WORST_FIRST = ("reject", "fault", "needs_fence", "mixed", "fault_possible", "wrong_data", "table")
# A reader that takes the address of each element as the engine does is right at any base.
_ABSOLUTE_READERS = ("absolute", "absolute_address")
_MOST_OPERANDS = 4096


class _Findings:
    """What the operands lead to: verdicts, violations, notes, numbers."""

    def __init__(self) -> None:
        self.verdicts: list[str] = []
        self.faults: list[Violation] = []
        self.notes: list[Note] = []
        self.facts: dict[str, Any] = {}

    def fault(self, found: list[Violation], verdict: str = "fault") -> None:
        if found:
            self.verdicts.append(verdict)
            self.faults += found
            error = next((violation.cuda_error for violation in found if violation.cuda_error), None)
            if error and "error" not in self.facts:
                self.facts["error"] = f"CUDA_ERROR_{error}"

    def note(self, rule: str, message: str, verdict: str | None = None) -> None:
        self.notes.append(Note(rule, message))
        if verdict:
            self.verdicts.append(verdict)


def answer_launch(reading: Reading, options: Options) -> Answer:
    """The answer to a reading of operands. Raises UnreadableError where one is not what it must be."""
    said = {**options.facts, **reading.fields}
    found = _Findings()
    try:
        tm = _map(reading, said)
        instruction = str(said.get("instruction", ""))[:200]
        if "bulk" in instruction and "tensor" not in instruction:
            _bulk(said, found)
        else:
            _descriptor(said, tm, found)
            _coordinates(said, tm, found)
            _addresses(said, tm, found)
            _pattern(said, found)
        if "dtype" in said and "box_dim" in said and countable(tm):
            found.facts["expect_bytes"] = tm.transaction_bytes()
    except InputError as error:
        raise reading.unreadable(error) from None
    verdict = next((word for word in _WORST_FIRST if word in found.verdicts), "accept")
    notes = (*(Note(None, text) for text in reading.notes), *found.notes)
    return Answer(
        form=reading.form, kind=reading.kind, verdict=verdict, arch=options.arch, faults=tuple(found.faults),
        notes=notes, facts=found.facts,
    )  # fmt: skip


def _map(reading: Reading, said: Mapping[str, Any]) -> TensorMap:
    """The map that the operands belong to: the one that is said, or one that breaks nothing by itself."""
    if "global_dim" in said:
        return Reading(
            reading.form, {**said, "kind": "tiled"}, reading.text, reading.offset, reading.locate
        ).tensor_map()
    if "dtype" not in said and ("coords" in said or "coords_inner" in said):
        raise InputError(
            "missing", field="dtype", value=None, fix="a coordinate counts elements: say of how many bytes"
        )
    element = element_type(word("dtype", said.get("dtype", "uint8")))
    box = numbers("box_dim", said["box_dim"]) if "box_dim" in said else (max(128 // element.bits, 1),)
    rank = len(numbers("coords", said["coords"])) if "coords" in said else len(box)
    if not 1 <= rank <= 5:
        raise InputError(f"{rank} dimensions", field="coords" if "coords" in said else "box_dim", value=rank, limit=5)
    box = (*box, *(1,) * rank)[:rank]
    strides = [1 << (20 + dim) for dim in range(rank - 1)]
    swizzle = word("swizzle", said.get("swizzle", "none"))
    return TensorMap.tiled(element, (1 << 16,) * rank, strides, box, swizzle=swizzle)


def _bulk(said: Mapping[str, Any], found: _Findings) -> None:
    """`cp.async.bulk` has no tensor map and other limits; what is not said of its operands breaks nothing."""

    def operand(*names: str) -> int:
        return next((number(name, said[name]) for name in names if name in said), 0)

    gmem = operand("gmem_align", "address", "base_align")
    smem = operand("smem_align", "smem_offset", "smem_offset_mod_128", "smem_base")
    found.fault(bulk_copy_violations(gmem_address=gmem, smem_address=smem, size_bytes=operand("size_bytes")))


def _descriptor(said: Mapping[str, Any], tm: TensorMap, found: _Findings) -> None:
    """Where the descriptor lies: its address, its memory, and the fence that global memory needs."""
    names = ("tensormap_address", "tensormap_address_mod_128", "descriptor_align")
    address = next((said[name] for name in names if name in said), None)
    if address is not None:
        address = number("tensormap_address", address)
        found.fault(launch_findings(tm, {"descriptor_align": address})[0], "reject")
        found.facts |= {"documented_min": 64, "cuda13_type_alignment": 128}
        past = f"; at {address % 128} past a multiple of 128 one of them may refuse it" if address % 128 else ""
        message = f"the encoder asks for 64 bytes; CUDA 13's type, and what checks by it, for 128{past}"
        found.note("tensormap_address_align_64", message)
    place = said.get("location", said.get("descriptor_space"))
    if place is None:
        return
    spaces = {"register": "local", "stack": "local", "grid_constant": "param", "constant": "const"}
    if isinstance(place, str):
        place = spaces.get(place, place)
    fence = {"fence_tensormap_acquire": said.get("fence_tensormap_acquire")}
    faults, unwise = launch_findings(tm, {"descriptor_space": place, **fence})
    found.fault(faults)
    for warning in unwise:
        found.note(warning.rule, f"{warning.message} {warning.fix}", "needs_fence")


def _coordinates(said: Mapping[str, Any], tm: TensorMap, found: _Findings) -> None:
    operands = {name: said[name] for name in ("direction", "op", "offsets") if name in said}
    if "coords_inner" not in said:
        if "coords" in said or operands:
            found.fault(
                launch_findings(tm, {**operands, **({"coords": said["coords"]} if "coords" in said else {})})[0]
            )
        return
    given = said["coords_inner"]
    coords = numbers("coords_inner", given if isinstance(given, (list, tuple)) else [given])
    if len(coords) > _MOST_OPERANDS:
        raise InputError(f"{len(coords)} coordinates", field="coords_inner", value=list(coords), limit=_MOST_OPERANDS)
    results: dict[str, list[Violation]] = {}
    for coord in coords:
        results[f"{coord}"] = launch_findings(tm, operands, (coord, *(0,) * (tm.rank - 1)))[0]
    found.facts["per_coord"] = {coord: "fault" if faults else "ok" for coord, faults in results.items()}
    faults = [fault for each in results.values() for fault in each]
    found.fault(faults, "fault" if all(results.values()) else "mixed")


def _addresses(said: Mapping[str, Any], tm: TensorMap, found: _Findings) -> None:
    """Every shared address that is said, each held against the 128 bytes of the instruction."""
    for name in ("smem_base", "smem_offset", "smem_offset_mod_128"):
        if name in said:
            size = {"smem_bytes": said["smem_bytes"]} if "smem_bytes" in said else {}
            found.fault(launch_findings(tm, {"smem_base": number(name, said[name]), **size})[0])
    slots = _slots(said, tm)
    bad = [slot for slot, offset in enumerate(slots) if offset % TILE_ALIGN_BYTES]
    if bad:
        found.facts |= {"bad_slot": bad[0], "bad_slots": bad}
        for slot in bad[:16]:
            found.fault(launch_findings(tm, {"smem_base": slots[slot]})[0])
    if "smem_align" in said:
        declared = number("smem_align", said["smem_align"])
        if declared < 1 or declared % TILE_ALIGN_BYTES:
            doubt = f"smem_align={short_repr(declared)}; a tensor copy needs 128 bytes, and less works by luck."
            fix = "Declare the buffer with __align__(1024), which suits every swizzle."
            source = "CUDA programming guide, Tensor Memory Accelerator"
            violation = Violation(
                "smem_dst_align_128", "smem_align", declared, TILE_ALIGN_BYTES, doubt, fix, source, "MISALIGNED_ADDRESS"
            )
            found.verdicts.append("fault_possible")
            found.faults.append(violation)


def _slots(said: Mapping[str, Any], tm: TensorMap) -> list[int]:
    """The byte offsets of a ring's slots: given, or a slot's bytes times its number."""
    if "slot_offsets" in said:
        return list(numbers("slot_offsets", said["slot_offsets"]))[:_MOST_OPERANDS]
    if "slots" not in said:
        return []
    count = min(number("slots", said["slots"]), _MOST_OPERANDS)
    if "slot_bytes" in said:
        return [slot * number("slot_bytes", said["slot_bytes"]) for slot in range(count)]
    if "slot_elems" in said:
        return [slot * number("slot_elems", said["slot_elems"]) * tm.element.bits // 8 for slot in range(count)]
    return []


def _pattern(said: Mapping[str, Any], found: _Findings) -> None:
    """Whether the swizzle pattern begins where the reader of the tile takes it to."""
    if isinstance(said.get("swizzles"), (list, tuple)):
        modes = [word("swizzle", mode) for mode in said["swizzles"][:64]]
        if unknown := [mode for mode in modes if not isinstance(mode, str) or mode not in SPANS]:
            raise InputError("unknown swizzle", field="swizzles", value=unknown[0], fix=f"use {', '.join(SPANS)}")
        found.facts["align"] = {mode: pattern_bytes(mode) for mode in modes}
        message = "the instruction asks for 128 bytes in every mode; the pattern begins with its first row at 8 spans"
        found.note("smem_pattern_alignment", message, "table")
        return
    swizzle = word("swizzle", said.get("swizzle", "none"))
    if not isinstance(swizzle, str) or not SPANS.get(swizzle):
        return
    need = pattern_bytes(swizzle)
    if "smem_offset" in said or "smem_base" in said:
        name = "smem_offset" if "smem_offset" in said else "smem_base"
        offset = number(name, said[name])
        if offset % need and offset % TILE_ALIGN_BYTES == 0:
            relative = said.get("reader") is not None and said["reader"] not in _ABSOLUTE_READERS
            message = (
                f"{short_repr(offset)} is no multiple of {need}, where the {swizzle} pattern begins: the engine XORs "
                "the absolute address, a reader that XORs the tile's own offset finds other chunks"
            )
            found.note("smem_pattern_alignment", message, "wrong_data" if relative else None)
            found.facts["align"] = {mode: pattern_bytes(mode) for mode in ("32B", "64B", "128B")}
    elif "smem_align" in said and number("smem_align", said["smem_align"]) % need:
        found.note("smem_pattern_alignment", f"a {swizzle} tile begins its pattern at multiples of {need} bytes")
