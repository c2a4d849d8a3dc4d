"""The command line's own flags, from `tmalab check` or pasted as a text: `--dtype float16 --global-dim 128,16 …`.

    --box-dim 64,8   --box-dim=64,8   --box-dim 64 8   ──▶  box_dim: [64, 8]

>>> read("tmalab check --dtype half --global-dim 64 --box-dim 64").fields
{'dtype': 'half', 'global_dim': [64], 'box_dim': [64]}

Lists are innermost first, except with `--array`, whose shape, strides and `--box` are in NumPy's order.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from tmalab.errors import InputError, short_repr
from tmalab.inputs import array_spec
from tmalab.inputs.field_names import canonical, close_to
from tmalab.inputs.lines import lines_of
from tmalab.inputs.numbers import integer_text, list_text
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading

FORM = "flags"
LISTS = {
    "global_dim", "global_strides", "box_dim", "element_strides", "lower_corner", "upper_corner", "coords",
    "coords_inner", "offsets", "shape", "strides_elements", "strides_bytes", "box_shape", "tile", "element",
    "slot_offsets", "group_modes",
}  # fmt: skip
INTEGERS = {
    "rank", "channels_per_pixel", "pixels_per_column", "address", "base_align", "address_offset", "storage_bytes",
    "smem_base", "smem_bytes", "smem_align", "descriptor_align", "expect_tx_bytes", "live_rows", "row_offset",
    "scan_elems", "smem_offset", "smem_offset_mod_128", "tensormap_address_mod_128", "gmem_align", "size_bytes",
}  # fmt: skip
# What describes a whole tensor or layout, and the fields that would contradict it.
_MAP = {"global_dim", "global_strides", "lower_corner", "upper_corner", "channels_per_pixel", "pixels_per_column"}
_SAID_BY = {"array": _MAP | {"dtype"}, "layout": _MAP | {"box_dim", "swizzle", "array"}}
_WHOLE = {"array", "layout"}  # each is a whole question by itself
_COMMAND = re.compile(r"\s*(?:\$\s*)?tmalab\s+check\b")
_FLAG = re.compile(r"(?<!\S)--([A-Za-z][\w-]*)")
_WORD = re.compile(r"\"([^\"]*)\"|'([^']*)'|((?:[^\s\"'\\]|\\\S)+|\\)")
_LONGEST = 1 << 20
_MOST_WORDS = 10_000


def looks_like(text: str) -> bool:
    """Whether `text` is a `tmalab check` command or begins with a flag."""
    begin = text.lstrip()[:80]
    return begin.startswith("--") or _COMMAND.match(begin) is not None


def starts(text: str) -> list[int]:
    """Where each question begins: at a command, or at a line that says anew what the lines above it said.

    One question may be broken into lines too, even one flag a line; a line behind a backslash begins nothing.
    """
    found: list[int] = []
    said: set[str] = set()
    goes_on = False
    for offset, line in lines_of(text):
        flags = {canonical(name) or name for name in _FLAG.findall(line)}
        whole = bool(flags & _WHOLE) or {"dtype", "global_dim"} <= flags
        again = bool(flags & said) and (whole or len(flags) > 1)
        above = bool(said & _WHOLE) or {"dtype", "global_dim"} <= said
        if not goes_on and (not found or _COMMAND.match(line) or again or (whole and above)):
            found.append(offset)
            said = set()
        said |= flags
        goes_on = line.rstrip().endswith("\\")
    return found


def read(text: str) -> Reading:
    """What the flags in `text` say. Raises UnreadableError at a flag that is not known or whose value is not one."""
    if len(text) > _LONGEST:
        raise UnreadableError(
            "too long for a command line", text=text, form=FORM, fix="put descriptors into JSON lines"
        )
    words = []
    for found in _WORD.finditer(text):
        if found.group() != "\\":  # a line that goes on
            words.append((found.group(1) or found.group(2) or found.group(3) or "", found.start()))
        if len(words) > _MOST_WORDS:
            break
    start = next((index for index, word in enumerate(words) if word[0].startswith("--")), len(words))
    said: dict[str, str] = {}
    places: dict[str, int] = {}
    index = start
    while index < len(words):
        name, offset = words[index]
        index += 1
        if not name.startswith("--"):
            raise UnreadableError(
                f"expected a flag, not {short_repr(name)}", text=text, offset=offset, form=FORM, fix="begin it with --"
            )
        name, equals, value = name[2:].partition("=")
        values = [value] if equals else []
        while index < len(words) and not words[index][0].startswith("--"):
            values.append(words[index][0])
            index += 1
        field = "array" if name == "array" else canonical(name)
        if field is None:
            near = " or ".join(f"--{known.replace('_', '-')}" for known in close_to(name))
            raise UnreadableError(
                f"unknown flag --{name[:80]}", text=text, offset=offset, form=FORM,
                fix=f"did you mean {near}?" if near else "see tmalab check --help",
            )  # fmt: skip
        if field in said:
            raise UnreadableError(
                f"--{name[:80]} says a second time what {field} is", text=text, offset=offset, form=FORM,
                fix="say it once; descriptors by the dozen go into JSON lines",
            )  # fmt: skip
        said[field], places[field] = ",".join(values), offset
    if not said:
        raise UnreadableError(
            "a command without flags", text=text, offset=0, form=FORM, fix="say --dtype, --global-dim …"
        )
    place = partial(_place, places)
    try:
        if "op" in said and "direction" not in said:
            raise InputError("only a reduction has one", field="op", value=said["op"], fix="add --direction reduce")
        return Reading(FORM, fields_of(said), text, words[start][1], place)
    except InputError as error:
        raise UnreadableError.from_error(error, text=text, offset=place(error.field or ""), form=FORM) from None


def _place(places: dict[str, int], field: str) -> int:
    name = field.partition("[")[0]
    if name in places:
        return places[name]
    return places.get({"box_shape": "box_dim"}.get(name, "array"), min(places.values()))


def fields_of(said: dict[str, str]) -> dict[str, Any]:
    """The fields that flags say, each value made what its field holds. Raises InputError naming the field."""
    for whole, parts in _SAID_BY.items():
        if whole in said and (twice := parts & said.keys()):
            other = min(twice)
            flag = f"--{other.replace('_', '-')}"
            raise InputError(
                f"--{whole} says it already", field=other, value=said[other], fix=f"leave out {flag} or --{whole}"
            )
    fields: dict[str, Any] = {}
    for field, text in said.items():
        if field == "array":
            fields |= array_spec.read(text).fields
        elif field in LISTS:
            fields[field] = list_text(field, text)
        elif field in INTEGERS:
            fields[field] = integer_text(field, text)
        else:
            fields[field] = text
    if "array" in said and "box_dim" in fields:  # --box 8,64 beside --array: in the array's own order
        fields["box_shape"] = fields.pop("box_dim")
    if "layout" in fields:
        fields.setdefault("kind", "layout_query")
    return fields
