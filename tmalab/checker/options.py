"""What is said beside the text: the architecture, and facts that hold for every descriptor in it.

    --arch sm_100   --storage-bytes 4096   --coords 0,64   --direction store   --smem-base 640

>>> Options.of({"arch": "sm90", "storageBytes": 4096}).facts
{'storage_bytes': 4096}

A page passes the same things as a JSON object. A descriptor's own fields win over them, but for the architecture: two
that differ are a contradiction, and refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tmalab.errors import InputError
from tmalab.inputs.detect import FORM_NAMES
from tmalab.inputs.field_names import FACTS, IGNORED, canonical, close_to
from tmalab.model.rules.rule import ARCHES

# Facts and defaults that may be given beside the text. `dtype` is for what carries none (a CuTe layout).
_BESIDE = {*FACTS, "dtype", "box_shape", "swizzle", "interleave", "l2_promotion", "oob_fill", "reader"} - {"variants"}
_ARCH = re.compile(r"(?:sm|compute)?_?(\d{2,3})[af]?", re.ASCII)


class Options(NamedTuple):
    """How to answer. `facts` bear canonical names; `form` forces an input form; `keep_unknown` forgives JSON keys.

    `arch_said` is False where `arch` is only what is taken when nobody says one.
    """

    arch: str = "sm_90"
    form: str | None = None
    keep_unknown: bool = False
    facts: Mapping[str, Any] = {}
    arch_said: bool = False

    @classmethod
    def of(cls, said: Mapping[str, Any] | Options | None) -> Options:
        """Options from a mapping of their names. Raises InputError for a name or value that is not known."""
        if isinstance(said, Options):
            return said
        made: dict[str, Any] = {}
        facts: dict[str, Any] = {}
        for name, value in (said or {}).items():
            if value is None:
                continue
            field = canonical(name) if isinstance(name, str) else None
            if name in ("form", "keep_unknown"):
                made[name] = value
            elif field == "arch":
                made |= {"arch": arch_name(value), "arch_said": True}
            elif field == "box_dim":
                facts["box_shape"] = value  # beside an array or a layout: NumPy's order, as theirs
            elif field in _BESIDE and field not in IGNORED:
                facts[str(field)] = value
            else:
                near = " or ".join(known for known in close_to(str(name)) if known in _BESIDE)
                fix = f"did you mean {near}?" if near else f"use arch, form or one of {', '.join(sorted(_BESIDE))}"
                raise InputError("unknown option", field="options", value=name, fix=fix)
        if made.get("form") not in (None, *FORM_NAMES):
            raise InputError(
                "unknown form", field="form", value=made["form"], fix=f"use one of {', '.join(FORM_NAMES)}"
            )
        return cls(**made, facts=facts)


def refuse_another_arch(options: Options, fields: Mapping[str, Any]) -> None:
    """Raises InputError where the text names one architecture and what is said beside it names another."""
    if options.arch_said and "arch" in fields and arch_name(fields["arch"]) != options.arch:
        raise InputError(
            f"--arch says {options.arch}", field="arch", value=fields["arch"], limit=options.arch,
            fix="leave out --arch, or the arch in the text",
        )  # fmt: skip


def arch_name(value: Any) -> str:
    """The architecture's name as the rules know it, from sm90, sm_90a or 90. Raises InputError for another one."""
    found = _ARCH.fullmatch(value.lower()) if isinstance(value, str) else None
    name = f"sm_{found[1]}" if found else None
    if name not in ARCHES:
        raise InputError("unknown architecture", field="arch", value=value, fix=f"use one of {', '.join(ARCHES)}")
    return str(name)
