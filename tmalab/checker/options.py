"""What is said beside the text: the architecture, and facts that hold for every descriptor in it.

    --arch sm_100   --storage-bytes 4096   --coords 0,64   --direction store   --smem-base 640

>>> Options.of({"arch": "sm90", "storageBytes": 4096}).facts
{'storage_bytes': 4096}

A page passes the same things as a JSON object. Of a copy's facts a descriptor's own win over them. The architecture and
the words of the map itself (`--box`, `--swizzle`, `--dtype` …) are refused where the text leaves them nothing to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tmalab.errors import InputError, short_repr
from tmalab.inputs.detect import FORM_NAMES
from tmalab.inputs.field_names import FACTS, IGNORED, canonical, close_to
from tmalab.inputs.reading import Reading
from tmalab.inputs.words import word
from tmalab.model.rules.rule import ARCHES

# Facts and defaults that may be given beside the text. `dtype` is for what carries none (a CuTe layout).
_BESIDE = {*FACTS, "dtype", "box_shape", "swizzle", "interleave", "l2_promotion", "oob_fill", "reader"} - {"variants"}
# Those of them that describe the map, and the kinds of question that take some of them from beside the text. A tensor
# map takes none: it is said whole.
_OF_THE_MAP = {"dtype", "box_shape", "swizzle", "interleave", "l2_promotion", "oob_fill"}
_TAKES = {
    "dlpack": _OF_THE_MAP, "triton_descriptor": {"dtype", "oob_fill"}, "layout_query": {"dtype", "swizzle"},
    "launch_operand": {"dtype", "swizzle"}, "tile_partition": {"dtype"},
}  # fmt: skip
_WHAT = {
    "tiled": "a whole tensor map", "im2col": "a whole tensor map", "tiled_set": "a whole set of maps",
    "triton_descriptor": "Triton's descriptor, whose map Triton chooses",
}  # fmt: skip
_ARCH = re.compile(r"(?:sm|compute)?_?(\d{2,3})[af]?", re.ASCII)


class Options(NamedTuple):
    """How to answer. `facts` bear canonical names; `form` forces an input form; `keep_unknown` forgives JSON keys.

    `arch_said` is False where `arch` is only what is taken when nobody says one; `names` are the facts' names as they
    were written.
    """

    arch: str = "sm_90"
    form: str | None = None
    keep_unknown: bool = False
    facts: Mapping[str, Any] = {}
    arch_said: bool = False
    names: Mapping[str, str] = {}

    @classmethod
    def of(cls, said: Mapping[str, Any] | Options | None) -> Options:
        """Options from a mapping of their names. Raises InputError for a name or value that is not known."""
        if isinstance(said, Options):
            return said
        made: dict[str, Any] = {}
        facts: dict[str, Any] = {}
        names: dict[str, str] = {}
        for name, value in (said or {}).items():
            if value is None:
                continue
            field = canonical(name) if isinstance(name, str) else None
            if name in ("form", "keep_unknown"):
                made[name] = value
            elif field == "arch":
                made |= {"arch": arch_name(value), "arch_said": True}
            elif field in _BESIDE | {"box_dim"} and field not in IGNORED:
                # A box beside an array or a layout: in NumPy's order, as theirs.
                fact = "box_shape" if field == "box_dim" else str(field)
                if fact in facts:
                    message, fix = f"said a second time, as --{names[fact]} too", "say it once"
                    raise InputError(message, field=f"--{_dashes(name)}", value=value, fix=fix)
                facts[fact], names[fact] = value, _dashes(name)
            else:
                near = " or ".join(known for known in close_to(str(name)) if known in _BESIDE)
                fix = f"did you mean {near}?" if near else f"use arch, form or one of {', '.join(sorted(_BESIDE))}"
                raise InputError("unknown option", field="options", value=name, fix=fix)
        if made.get("form") not in (None, *FORM_NAMES):
            raise InputError(
                "unknown form", field="form", value=made["form"], fix=f"use one of {', '.join(FORM_NAMES)}"
            )
        return cls(**made, facts=facts, names=names)


def _dashes(name: str) -> str:
    return name.replace("_", "-")


def refuse_what_changes_nothing(options: Options, reading: Reading) -> None:
    """Raises InputError for a word of the map beside a text that says another, or whose question has no use for it.

    It would be dropped in silence, and the answer taken for one about it.
    """
    takes = _TAKES.get(reading.kind, set()) - ({"swizzle"} if "layout" in reading.fields else set())
    for name in sorted(_OF_THE_MAP & options.facts.keys()):
        value, said = options.facts[name], reading.fields.get(name)
        flag = f"--{options.names.get(name, _dashes(name))}"
        if name not in takes:
            what = _WHAT.get(reading.kind, "a CuTe layout" if "layout" in reading.fields else f"a {reading.kind}")
            message = f"the text says {what}, in which this would change nothing"
            fix = f"leave out {flag}" + (", or write it into the text" if what.startswith("a whole") else "")
        elif said is None or said == value or (name != "box_shape" and word(name, said) == word(name, value)):
            continue
        else:
            message, fix = f"the text says {short_repr(said)}", f"leave out {flag}, or change the text"
        raise InputError(message, field=flag, value=value, fix=fix)


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
