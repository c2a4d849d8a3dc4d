"""Will the engine refuse this copy, although the encoder took the map? Every reason, with the CUDA error it raises.

    TensorMap ── violations ──▶ encoder ──▶ 128 bytes ── launch_violations ──▶ engine ── launch_warnings ──▶ bytes

>>> from tmalab import TensorMap
>>> tm = TensorMap.tiled("int32", (512, 32), (2048,), (32, 32))
>>> [found] = launch_violations(tm, (1, 0), direction="store")
>>> found.message, found.cuda_error
('coords[0]=1 int32 element is 4 bytes; the inner coordinate must be a multiple of 16 bytes.', 'ILLEGAL_INSTRUCTION')
>>> [found.rule for found in bulk_copy_violations(gmem_address=4, smem_address=0, size_bytes=4096)]
['bulk_gmem_align_16']

The rules themselves are in `tmalab.model.rules.launch`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tmalab.errors import InputError, wrong_length
from tmalab.model import rules
from tmalab.model.rules import bulk_copy, launch_advice
from tmalab.model.rules import launch as launch_rules
from tmalab.model.rules.launch import REDUCTION_TYPES, Launch
from tmalab.model.rules.rule import SM_90, Rule, rules_in
from tmalab.model.tensor_map_fields import TensorMapFields, integer, require_map
from tmalab.model.violation import Violation

DIRECTIONS = ("load", "store", "reduce")
OPS = tuple(REDUCTION_TYPES)
DESCRIPTOR_SPACES = ("param", "const", "global", "local", "shared")

# In the order in which they are reported, and in which the page of all rules lists them.
LAUNCH_RULES = rules_in(launch_rules)
LAUNCH_WARNINGS = rules_in(launch_advice)
BULK_COPY_RULES = rules_in(bulk_copy)


def launch_violations(
    tm: TensorMapFields, coords: Sequence[int], *, direction: str, op: str | None = None, smem_base: int = 0,
    offsets: Sequence[int] = (), smem_bytes: int | None = None, descriptor_space: str = "param",
    descriptor_align: int = 64,
) -> list[Violation]:  # fmt: skip
    """Every reason for which the engine would refuse this copy; [] if it runs. The map's own violations are not among.

    `coords` has rank entries, innermost first; `offsets` rank-2 for an im2col map (left out they are all 0).
    `smem_base` is the box's shared address, `smem_bytes` the block's shared memory (left out: the most that a block can
    have), `descriptor_align` the address of the descriptor or what it is a multiple of.
    `cuda_error` of each is what the launch raises, or None where a number wraps and nothing is raised.
    Raises InputError for an unknown word, a non-integer, a list of the wrong length, or an op where there is none.
    """
    launch = _launch(tm, coords, direction, op, smem_base, offsets, smem_bytes, descriptor_space, descriptor_align)
    return _broken(LAUNCH_RULES, launch)


def launch_warnings(
    tm: TensorMapFields, coords: Sequence[int], *, direction: str, op: str | None = None, smem_base: int = 0,
    offsets: Sequence[int] = (), descriptor_space: str = "param",
) -> list[Violation]:  # fmt: skip
    """What runs and still moves other bytes than was meant; arguments and errors are those of `launch_violations`."""
    return _broken(LAUNCH_WARNINGS, _launch(tm, coords, direction, op, smem_base, offsets, None, descriptor_space, 64))


def _broken(found: Iterable[Rule], launch: Any) -> list[Violation]:
    return [violation for rule in found for violation in rule.broken_by(launch, SM_90)]


def bulk_copy_violations(*, gmem_address: int, smem_address: int, size_bytes: int) -> list[Violation]:
    """The rules that `cp.async.bulk`, the copy without a tensor map, breaks with these operands.

    Raises InputError for a non-integer.
    """
    operands = {"gmem_address": gmem_address, "smem_address": smem_address, "size_bytes": size_bytes}
    copy = bulk_copy.BulkCopy(**{field: integer(field, value) for field, value in operands.items()})
    return _broken(BULK_COPY_RULES, copy)


# --- The operands, read ----------------------------------------------------------------------------------------------


def _launch(
    tm: TensorMapFields, coords: Any, direction: Any, op: Any, smem_base: Any, offsets: Any, smem_bytes: Any,
    descriptor_space: Any, descriptor_align: Any,
) -> Launch:  # fmt: skip
    require_map(tm)
    _one_of("direction", direction, DIRECTIONS)
    _one_of("descriptor_space", descriptor_space, DESCRIPTOR_SPACES)
    if direction == "reduce":
        _one_of("op", op, OPS)
    elif op is not None:
        raise InputError(f"a {direction} has no op", field="op", value=op, fix="use direction='reduce'")
    return Launch(
        tm=tm,
        legal=not rules.violations(tm),
        coords=_integers("coords", coords, tm.rank),
        direction=direction,
        op=op,
        smem_base=integer("smem_base", smem_base),
        offsets=_offsets(tm, offsets),
        smem_bytes=None if smem_bytes is None else integer("smem_bytes", smem_bytes),
        descriptor_space=descriptor_space,
        descriptor_align=integer("descriptor_align", descriptor_align),
    )


def _offsets(tm: TensorMapFields, offsets: Any) -> tuple[int, ...]:
    needed = max(tm.rank - 2, 0) if tm.kind == "im2col" else 0
    given = _integers("offsets", offsets, None)
    if not any(given) and (not given or tm.kind == "tiled"):
        return (0,) * needed  # left out, or the zeros that a tiled copy does without
    return _integers("offsets", given, needed)


def _one_of(field: str, word: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(word, str) or word not in allowed:
        raise InputError(f"unknown {field}", field=field, value=word, fix=f"use one of {', '.join(allowed)}")


def _integers(field: str, values: Any, length: int | None) -> tuple[int, ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError("not a list of integers", field=field, value=values, fix="give a list of integers")
    listed = tuple(values)
    if length is not None and len(listed) != length:
        raise InputError(
            wrong_length(len(listed), length), field=field, value=list(listed), limit=length,
            fix=f"give {length} integers, innermost dimension first",
        )  # fmt: skip
    return tuple(integer(f"{field}[{position}]", value) for position, value in enumerate(listed))
