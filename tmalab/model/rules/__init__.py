"""Every rule that the driver holds a tensor map against, and what is legal but unwise: one small function a rule.

    shared, tiled, im2col, box, architectures ──▶ RULES ─────▶ violations(tm, arch)   the driver would refuse it
    unwise                                    ──▶ WARNINGS ──▶ warnings(tm)           it would not, but look again

>>> from tmalab import TensorMap
>>> tm = TensorMap.tiled("float32", (1733, 128), (6932,), (512, 32), swizzle="128B", address=4)
>>> [(found.rule, found.value, found.limit) for found in violations(tm)]
[('base_address_align_16', 4, 16), ('global_stride_multiple_16', 6932, 16), ('box_dim_range_1_256', 512, 256),
 ('box_inner_le_swizzle_span', 2048, 128)]

Each rule is a function that yields a finding for each place where it is broken, so that all are found and not only
the first. A rule over several fields takes one that breaks its own rule at the nearest legal value: what is left
when that is mended is reported, what would go away with it is not. No numpy is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tmalab.errors import InputError
from tmalab.model.rules import allocation, architectures, box, im2col, modes, shared, tiled, unwise
from tmalab.model.rules.allocation import extent_warnings
from tmalab.model.rules.rule import ARCHES, MEASURED, SM_90, Arch, Finding, Rule, find_arch, rules_in
from tmalab.model.tensor_map_fields import TensorMapFields
from tmalab.model.violation import Violation

# In the order in which they are reported, and in which the page of all rules lists them.
RULES = rules_in(shared, tiled, im2col, box, architectures)
MODE_RULES = rules_in(modes)
WARNINGS = rules_in(unwise)
ALLOCATION_WARNINGS = rules_in(allocation)

__all__ = [
    "ALLOCATION_WARNINGS", "ARCHES", "MEASURED", "MODE_RULES", "RULES", "WARNINGS", "Rule", "extent_warnings",
    "mode_violations", "violations", "warnings",
]  # fmt: skip

Checks = tuple[tuple[str, Callable[..., Iterator[Finding]], str], ...]


def _checks(rules: Iterable[Rule], kind: str, arch: Arch) -> Checks:
    """Id, check and source of the rules that hold for maps of this kind on `arch`."""
    return tuple(
        (rule.id, rule.check, rule.source_on(arch)) for rule in rules if kind in rule.kinds and arch.name in rule.arches
    )


# Looked up once here: a batch of 100,000 maps asks each time.
_CHECKS = {(kind, arch): _checks(RULES, kind, arch) for kind in ("tiled", "im2col") for arch in ARCHES.values()}
_WARNING_CHECKS = {kind: _checks(WARNINGS, kind, SM_90) for kind in ("tiled", "im2col")}


def _broken(checks: Checks, tm: TensorMapFields, arch: Arch) -> list[Violation]:
    return [Violation(rule_id, *finding, source) for rule_id, check, source in checks for finding in check(tm, arch)]


def violations(tm: TensorMapFields, arch: str = "sm_90") -> list[Violation]:
    """Every rule that the encoder refuses `tm` for on `arch`, all of them and in one go; [] for a legal map.

    Raises InputError for an architecture that is not known, naming those that are.
    """
    found_arch = find_arch(arch)
    return _broken(_CHECKS[tm.kind, found_arch], tm, found_arch)


def warnings(tm: TensorMapFields) -> list[Violation]:
    """What is legal but unwise in `tm`; what needs the allocation's size to be known is in `extent_warnings`."""
    return _broken(_WARNING_CHECKS[tm.kind], tm, SM_90)


def mode_violations(tm: TensorMapFields, mode: str, arch: str = "sm_100") -> list[Violation]:
    """Every rule that `tm` breaks for the load mode `mode`, those of `violations` included.

    `mode` is tile::gather4, tile::scatter4, im2col::w or im2col::w::128, as in PTX. For the last two `tm` is an
    im2col map, of whose corners W is meant; H and D are 0. All of it is read in the manuals and none measured.
    Raises InputError for an unknown mode or architecture, or for a map of the other kind.
    """
    found_arch = find_arch(arch)
    if mode not in modes.LOAD_MODES:
        fix = f"use one of {', '.join(modes.LOAD_MODES)}"
        raise InputError("unknown load mode", field="mode", value=mode, fix=fix)
    if tm.kind != modes.LOAD_MODES[mode].kind:
        fix = f"build it with TensorMap.{modes.LOAD_MODES[mode].kind}"
        raise InputError(f"a {tm.kind} map has no load mode {mode}", field="mode", value=mode, fix=fix)
    replaced = modes.LOAD_MODES[mode].replaces
    plain = [checked for checked in _CHECKS[tm.kind, found_arch] if checked[0] not in replaced]
    return [
        *modes.unsupported(mode, found_arch),
        *_broken((*plain, *_checks(MODE_RULES, tm.kind, found_arch)), tm, found_arch),
    ]
