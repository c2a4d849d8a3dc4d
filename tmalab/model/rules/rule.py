"""What a rule is: a small function that yields a finding for each place where a tensor map breaks it.

    @rule("box_dim_range_1_256", …) ──▶ Rule(id, title, explanation, source, check)
    def box_dim_range(tm, arch):              │ check(tm, arch)
        yield field, value, limit,            ▼
              message, fix              Violation(id, field, value, limit, message, fix, source)

>>> from tmalab.model.rules.tiled import box_dim_range
>>> box_dim_range.id, box_dim_range.source_on(SM_100)
('box_dim_range_1_256', 'read in CUDA driver API, cuTensorMapEncodeTiled, boxDim; not measured on sm_100')
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from tmalab.errors import InputError
from tmalab.errors import short_repr as show
from tmalab.model.tensor_map_fields import MAX_LISTED_RANK
from tmalab.model.violation import Violation

MEASURED = "measured on H200, driver 580.159.04, 2026-11-30"

# field, value, limit, message, fix: a violation without the name of its rule
Finding: TypeAlias = tuple[str, Any, Any, str, str]


class Arch(NamedTuple):
    """A compute capability. Where `measured` is False only what the manuals write is applied."""

    name: str
    measured: bool


SM_90, SM_100, SM_120 = Arch("sm_90", True), Arch("sm_100", False), Arch("sm_120", False)
ARCHES = {arch.name: arch for arch in (SM_90, SM_100, SM_120)}
BLACKWELL = ("sm_100", "sm_120")


def find_arch(name: str) -> Arch:
    """The architecture of that name, `sm_90a` and `sm_100f` included. Raises InputError listing those that exist."""
    found = ARCHES.get(name[:-1] if name[-1:] in ("a", "f") else name) if isinstance(name, str) else None
    if found is None:
        raise InputError("unknown architecture", field="arch", value=name, fix=f"use one of {', '.join(ARCHES)}")
    return found


class Rule(NamedTuple):
    """One rule. `written` is the manual's section and `measured` what only the hardware told; one may be None."""

    id: str
    title: str
    check: Callable[..., Iterator[Finding]]
    kinds: tuple[str, ...]
    arches: tuple[str, ...]
    written: str | None
    measured: str | None
    cuda_error: str | None

    @property
    def explanation(self) -> str:
        """The paragraph that the page of all rules prints: the check's docstring."""
        return " ".join((self.check.__doc__ or "").split())

    @property
    def source(self) -> str:
        """Where the rule is from, on the architecture that was measured where there is a measurement."""
        return self.source_on(ARCHES[self.arches[0]])

    def source_on(self, arch: Arch) -> str:
        """Where the rule is from on `arch`: a manual's section, a measurement, both, or a manual read only."""
        if not arch.measured:
            return f"read in {self.written}; not measured on {arch.name}"
        return "; ".join(part for part in (self.written, self.measured) if part)

    def broken_by(self, subject: Any, arch: Arch) -> Iterator[Violation]:
        """A violation for each place where `subject` (a tensor map or a launch) breaks this rule."""
        source = self.source_on(arch)
        for finding in self.check(subject, arch):
            yield Violation(self.id, *finding, source, self.cuda_error)


def rule(
    rule_id: str, title: str, *, written: str | None = None, measured: str | None = None,
    kinds: tuple[str, ...] = ("tiled", "im2col"), arches: tuple[str, ...] | None = None, cuda_error: str | None = None,
) -> Callable[[Callable[..., Iterator[Finding]]], Rule]:  # fmt: skip
    """Make a check into a Rule. What no manual writes holds on sm_90 alone, unless `arches` says otherwise."""
    if arches is None:
        arches = tuple(ARCHES) if written else ("sm_90",)

    def decorate(check: Callable[..., Iterator[Finding]]) -> Rule:
        return Rule(rule_id, title, check, kinds, arches, written, measured, cuda_error)

    return decorate


def rules_in(*modules: ModuleType) -> tuple[Rule, ...]:
    """All rules that these modules define, in their order; not those that they import."""
    return tuple(
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Rule) and value.check.__module__ == module.__name__
    )


# --- What several rules say ------------------------------------------------------------------------------------------


def listed(values: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Index and value of each entry; of a list that is no tensor's, with a million entries, of the first ones."""
    return enumerate(values[:MAX_LISTED_RANK])


def plural(count: int, noun: str) -> str:
    """`two boxes`, `12 copies`: a number and its noun."""
    words = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    number = words[count - 1] if 1 <= count <= 10 else show(count)
    ending = "es" if noun.endswith("x") else "s"
    plural_noun = noun[:-1] + "ies" if noun.endswith("y") else noun + ending
    return f"{number} {noun if count == 1 else plural_noun}"
