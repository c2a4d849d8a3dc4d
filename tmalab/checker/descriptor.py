"""The answer to a tensor map: would the driver take it, would the engine then copy with it, and is it wise?

    violations  ◀── rules            of the descriptor alone
    faults      ◀── launch rules     once it is said where it is used (coords, direction, op, smem_base …)
    warnings    ◀── rules, and what was said of the allocation, the shared base, the bytes that a barrier expects

>>> from tmalab.inputs.reading import Reading
>>> fields = {"dtype": "float16", "global_dim": [96, 128], "global_strides": [192], "box_dim": [48, 128]}
>>> answer = answer_descriptor(Reading("json", {**fields, "swizzle": "32B"}), Options())
>>> answer.verdict, answer.rule
('reject', 'box_inner_le_swizzle_span')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tmalab.checker.answer import Answer
from tmalab.checker.convolution import corner_facts
from tmalab.checker.mapping import Note, copy_facts, live_rows, store_facts
from tmalab.checker.options import Options, arch_name
from tmalab.errors import InputError, short_repr
from tmalab.inputs.numbers import integer_text
from tmalab.inputs.reading import Reading
from tmalab.model.launch_rules import launch_violations, launch_warnings
from tmalab.model.rules import extent_warnings, mode_violations
from tmalab.model.tensor_map import TensorMap
from tmalab.model.tensor_map_fields import integer
from tmalab.model.violation import Violation

# Any of these says that the descriptor is used in a copy, so that the engine's rules apply.
_LAUNCH = frozenset({
    "coords", "coords_inner", "offsets", "direction", "op", "smem_base", "smem_bytes", "descriptor_space",
    "descriptor_align",
})  # fmt: skip
_ADDRESS = frozenset({"address", "base_align", "address_offset"})
_BESIDE = _LAUNCH | {"storage_bytes", "expect_tx_bytes", "live_rows", "conv", "fill", "built_on", "load_mode", "arch"}


def answer_descriptor(reading: Reading, options: Options) -> Answer:
    """The answer to a tiled or im2col reading. Raises UnreadableError, at its place, for what cannot be built."""
    if not _ADDRESS.isdisjoint(options.facts) and _ADDRESS.isdisjoint(reading.fields):
        of_base = {name: value for name, value in options.facts.items() if name in _ADDRESS}
        reading = reading._replace(fields={**reading.fields, **of_base})
    tm = reading.tensor_map()
    said: Mapping[str, Any] = {**options.facts, **reading.fields} if options.facts else reading.fields
    if not _BESIDE.isdisjoint(said):
        try:
            return _beside(reading, tm, said, options)
        except InputError as error:
            raise reading.unreadable(error) from None
    broken = tuple(tm.violations(options.arch))
    return Answer(
        form=reading.form, kind=tm.kind, verdict="reject" if broken else "accept", arch=options.arch, tensor_map=tm,
        violations=broken, warnings=tuple(tm.warnings()),
        notes=tuple(Note(None, text) for text in reading.notes),
    )  # fmt: skip


def _beside(reading: Reading, tm: TensorMap, said: Mapping[str, Any], options: Options) -> Answer:
    """The answer where more is known than the map."""
    arch = arch_name(said["arch"]) if "arch" in said else options.arch
    mode = said.get("load_mode")
    broken = tm.violations(arch) if mode is None else _of_mode(tm, mode, arch)
    notes = [Note(None, text) for text in reading.notes]
    facts: dict[str, Any] = {}
    warnings = tm.warnings()
    if "storage_bytes" in said:
        warnings += extent_warnings(tm, byte_count("storage_bytes", said["storage_bytes"]))
    if "expect_tx_bytes" in said and not broken:
        warnings += expect_warning(tm.transaction_bytes(), number("expect_tx_bytes", said["expect_tx_bytes"]))
    faults: list[Violation] = []
    if not _LAUNCH.isdisjoint(said):
        faults, unwise = launch_findings(tm, said)
        faults = [] if broken else faults  # the driver refuses it first
        warnings += unwise
    coords = coordinates(tm, said)
    if coords is not None:
        facts |= copy_facts(tm, coords)
    if "fill" in said and tm.swizzle != "none":
        rule = f"swizzle_{tm.swizzle}"
        notes.append(Note(rule, f"the {tm.swizzle} swizzle moves 16-byte chunks within rows; predict shows where to"))
    if coords is not None and any(step > 1 for step in tm.element_strides[1:]):
        notes.append(Note("element_stride_ceil", "a strided dimension takes ceil(box_dim / element_stride) elements"))
    if said.get("direction") == "store" and coords is not None:
        facts |= store_facts(tm, coords)
    if "live_rows" in said:
        _add(facts, notes, live_rows(tm, coords or (0,) * tm.rank, number("live_rows", said["live_rows"])))
    wrong = False
    if tm.kind == "im2col" and "conv" in said:
        _add(facts, notes, found := corner_facts(tm, said["conv"]))
        wrong = bool(found[1])
    if said.get("built_on") == "device" and broken:
        notes.append(Note(None, "a descriptor that is built on the device is checked by nobody: the copy goes wrong"))
    return Answer(
        form=reading.form, kind=tm.kind, arch=arch, tensor_map=tm, violations=tuple(broken), faults=tuple(faults),
        verdict="reject" if broken else "fault" if faults else "wrong_data" if wrong else "accept",
        warnings=tuple(warnings), notes=tuple(notes), facts=facts,
    )  # fmt: skip


def _of_mode(tm: TensorMap, mode: Any, arch: str) -> list[Violation]:
    """What the map breaks for a load mode. Raises InputError under the field's name here; `mode` is the kind's."""
    try:
        return mode_violations(tm, str(mode)[:80], arch)
    except InputError as error:
        if error.field != "mode":
            raise
        raise InputError(error.message, field="load_mode", value=mode, fix=error.fix) from None


def _add(facts: dict[str, Any], notes: list[Note], found: tuple[dict[str, Any], list[Note]]) -> None:
    facts |= found[0]
    notes += found[1]


def number(field: str, value: Any) -> int:
    """An integer that JSON or a flag gave. Raises InputError naming the field."""
    return integer_text(field, value) if isinstance(value, str) else integer(field, value)


def byte_count(field: str, value: Any) -> int:
    """A number of bytes. Raises InputError where it is no integer, or negative."""
    if (count := number(field, value)) < 0:
        raise InputError("a number of bytes is not negative", field=field, value=count, limit=0, fix="give 0 or more")
    return count


def numbers(field: str, value: Any) -> tuple[int, ...]:
    """A list of integers. Raises InputError naming the field and the entry."""
    if isinstance(value, (list, tuple)):
        return tuple(integer(f"{field}[{index}]", entry) for index, entry in enumerate(value))
    raise InputError("not a list of integers", field=field, value=value, fix="give a list of integers")


def coordinates(tm: TensorMap, said: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The coordinates of the copy, or None where none were said. Raises InputError where there are not rank of them."""
    if "coords" not in said:
        return None
    coords = numbers("coords", said["coords"])
    if len(coords) != tm.rank:
        raise InputError(
            f"{len(coords)} coordinates for a tensor of rank {tm.rank}", field="coords", value=list(coords),
            limit=tm.rank, fix="give one coordinate a dimension, innermost first",
        )  # fmt: skip
    return coords


def launch_findings(
    tm: TensorMap, said: Mapping[str, Any], coords: Sequence[int] | None = None
) -> tuple[list[Violation], list[Violation]]:
    """What the engine would refuse of this copy, and what runs and is unwise; coordinates not said are zeros."""
    if coords is None:
        coords = coordinates(tm, said) or (0,) * tm.rank
    operands: dict[str, Any] = {"direction": said.get("direction", "reduce" if said.get("op") else "load")}
    operands["op"] = said.get("op")
    if "offsets" in said and tm.kind == "im2col":
        # Records carry three whatever the rank; the instruction takes rank-2.
        operands["offsets"] = numbers("offsets", said["offsets"])[: max(tm.rank - 2, 0)]
    if "smem_base" in said:
        operands["smem_base"] = number("smem_base", said["smem_base"])
    if "descriptor_space" in said:
        operands["descriptor_space"] = said["descriptor_space"]
    unwise = launch_warnings(tm, coords, **operands)
    if said.get("fence_tensormap_acquire") is True:
        unwise = [warning for warning in unwise if warning.rule != "fence_proxy_tensormap_after_global_write"]
    if "smem_bytes" in said:
        operands["smem_bytes"] = byte_count("smem_bytes", said["smem_bytes"])
    if "descriptor_align" in said:
        operands["descriptor_align"] = number("descriptor_align", said["descriptor_align"])
    return launch_violations(tm, coords, **operands), unwise


def expect_warning(delivered: int, expected: int) -> list[Violation]:
    """A warning where the barrier is armed for other bytes than one copy completes."""
    if expected == delivered:
        return []
    effect = "is never completed" if expected > delivered else "completes too early, or never"
    return [
        Violation(
            "expect_tx_equals_delivered", "expect_tx_bytes", expected, delivered,
            f"expect_tx_bytes={short_repr(expected)}; one copy completes {delivered}, so the phase {effect}.",
            f"Arm the barrier for {delivered} bytes a copy.", "PTX ISA, mbarrier, tx-count",
        )
    ]  # fmt: skip
