"""A kernel's source with everything that a launch needs beside it: the form of the gallery, and of `tmalab run FILE`.

    //@ launch = { grid = 64, block = 32 }                                    TOML, one line each, anywhere in the file
    //@ buffers.a = { pattern = "random", seed = 1, bytes = 262144 }
    //@ maps.a_map = { buffer = "a", dtype = "uint8", global_dim = [64, 64], global_strides = [64], box_dim = [64, 8] }
    //@ arguments = ["a_map", "b", 64]      a map by value, a buffer's address, an int; "&a_map": a map in global memory
    //@ expect = { b = "a" }                after the launch b holds what a holds; b is cut into as many runs as blocks

>>> text = "//@ launch = { grid = 2, block = 32 }\\nextern \\"C\\" __global__ void copy() {}\\n"
>>> parse_kernel_file(text).kernel, parse_kernel_file(text).grid
('copy', (2, 1, 1))

`#ifdef BROKEN … #else … #endif` holds two versions in one file: `version` takes one of them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tmalab.errors import InputError, TmaLabError
from tmalab.model.tensor_map_fields import TensorMapFields

_LAUNCH = "//@"
_EVENT, _QUESTION = "//:", "//?"  # what the gallery's tool is asked: taken off before a source is shown or compiled
_ENTRY = re.compile(r'^\s*extern\s+"C"\s+__global__\s+void\s+(?:__\w+__\s*\([^)]*\)\s*)*(\w+)\s*\(', re.MULTILINE)
_CONDITION = re.compile(r"\s*#\s*(ifdef|ifndef|else|endif)\b\s*(\w*)")
_KNOWN = ("launch", "buffers", "maps", "arguments", "expect", "copy")
_MAP_ONLY = ("buffer", "offset")


@dataclass(frozen=True)
class Expectation:
    """In every `of` bytes of buffer `name`, `bytes` from `at` on are those of `like`; the others are untouched."""

    name: str
    like: str
    at: int
    bytes: int
    of: int


@dataclass(frozen=True)
class MapSpec:
    """A tensor map and where its tensor lies: `offset` bytes into `buffer`."""

    tensor_map: TensorMapFields
    buffer: str
    offset: int = 0


@dataclass(frozen=True)
class KernelFile:
    """One launch, whole: source text, entry point, sizes, memory and what is to come out."""

    text: str
    kernel: str
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (32, 1, 1)
    shared_bytes: int = 0
    runs: int = 1
    buffers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    maps: Mapping[str, MapSpec] = field(default_factory=dict)
    arguments: tuple[str | int, ...] = ()
    expect: tuple[Expectation, ...] = ()
    copy: Mapping[str, Any] | None = None


def version(text: str, *, broken: bool, keep_lines: bool = False) -> str:
    """The broken or the mended version of a source with `#ifdef BROKEN`; with `keep_lines` at the same line numbers."""
    kept, inside = [], []  # type: list[str], list[bool]
    for line in text.splitlines():
        found = _CONDITION.match(line)
        word, name = (found[1], found[2]) if found else ("", "")
        if word in ("ifdef", "ifndef") and (name == "BROKEN" or inside):
            inside.append((word == "ifdef") == broken)
        elif word == "else" and inside:
            inside[-1] = not inside[-1]
        elif word == "endif" and inside:
            inside.pop()
        elif all(inside):
            kept.append(line)
            continue
        if keep_lines:
            kept.append("")
    return "\n".join(kept) + "\n"


def without_events(text: str) -> str:
    """The source as it is shown and compiled: what is for the model alone taken off its lines."""
    if _EVENT not in text and _QUESTION not in text:
        return text
    lines = []
    for line in text.splitlines():
        code, marked, _ = line.partition(_QUESTION if _QUESTION in line else _EVENT)
        if not marked or code.strip():
            lines.append(code.rstrip() if marked else line)
    return "\n".join(lines) + "\n"


def event_lines(text: str) -> list[str]:
    """The model's events that stand in a source, in their order: `t0 wait bar=full parity=0`."""
    return [found[1].strip() for found in re.finditer(rf"{_EVENT}(.*)", text)]


def parse_kernel_file(text: str) -> KernelFile:
    """What a source says of its launch. Raises InputError, with the field, for what is missing, unknown or wrong."""
    spec = _toml(text)
    unknown = [name for name in spec if name not in _KNOWN]
    if unknown:
        raise InputError("not known", field=unknown[0], value=spec[unknown[0]], fix=f"use {', '.join(_KNOWN)}")
    launch = _table(spec, "launch")
    kernel = launch.get("kernel") or _entry_point(text)
    grid = _sizes("launch.grid", launch.get("grid", 1))
    block = _sizes("launch.block", launch.get("block", 32))
    buffers = _table(spec, "buffers")
    maps = {name: _map_spec(name, fields, buffers) for name, fields in _table(spec, "maps").items()}
    arguments = spec.get("arguments", [])
    for position, argument in enumerate(arguments):
        name = argument.removeprefix("&") if isinstance(argument, str) else ""
        known = name in maps or argument in buffers
        if not known and (isinstance(argument, bool) or not isinstance(argument, int)):
            raise InputError(
                "no such map or buffer", field=f"arguments[{position}]", value=argument,
                fix=f"use one of {', '.join([*maps, *buffers])}, or an integer",
            )  # fmt: skip
    return KernelFile(
        text, kernel, grid, block, _count("launch.shared_bytes", launch.get("shared_bytes", 0)),
        _count("launch.runs", launch.get("runs", grid[0] * grid[1] * grid[2])), buffers, maps, tuple(arguments),
        _expectations(_table(spec, "expect"), buffers), spec.get("copy"),
    )  # fmt: skip


def _toml(text: str) -> dict[str, Any]:
    marked = [line.strip() for line in text.splitlines()]
    lines = [line[len(_LAUNCH) :].strip() if line.startswith((_LAUNCH, _QUESTION)) else "" for line in marked]
    try:
        return tomllib.loads("\n".join(lines))  # empty lines keep TOML's line numbers those of the file
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"the {_LAUNCH} lines are no TOML: {error}", field="launch", value=_LAUNCH, fix="one key = value a line"
        ) from None


def _entry_point(text: str) -> str:
    found = _ENTRY.findall(text)
    if len(found) != 1:
        raise InputError(
            f"{len(found)} kernels are declared extern \"C\" __global__ void", field="launch.kernel", value=found,
            fix='declare one so, or name it: //@ launch = { kernel = "name" }',
        )  # fmt: skip
    return str(found[0])


def _table(spec: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = spec.get(name, {})
    if not isinstance(value, dict):
        raise InputError("not a table", field=name, value=value, fix=f"write {name} = {{ … }}")
    return value


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 31:
        raise InputError("not a size", field=name, value=value, limit=(1 << 31) - 1, fix="use an integer")
    return value


def _sizes(name: str, value: Any) -> tuple[int, int, int]:
    listed = [value] if isinstance(value, int) else value
    if not isinstance(listed, list) or not 1 <= len(listed) <= 3:
        raise InputError("not a size", field=name, value=value, fix="use an integer or up to three")
    sizes = [_count(name, size) for size in listed] + [1] * (3 - len(listed))
    if 0 in sizes:
        raise InputError("nothing to launch", field=name, value=value, limit=1, fix="use 1 or more")
    return sizes[0], sizes[1], sizes[2]


def _map_spec(name: str, fields: Any, buffers: Mapping[str, Any]) -> MapSpec:
    place = f"maps.{name}"
    if not isinstance(fields, dict) or fields.get("buffer") not in buffers:
        raise InputError(
            "it has no buffer", field=f"{place}.buffer", value=fields, fix=f"use one of {', '.join(buffers) or 'none'}"
        )
    plain = {key: value for key, value in fields.items() if key not in _MAP_ONLY}
    im2col = "lower_corner" in plain
    try:
        tensor_map = (TensorMapFields.im2col if im2col else TensorMapFields.tiled)(**plain)
    except TmaLabError as error:
        raise InputError(
            error.message, field=f"{place}.{error.field}", value=error.value, limit=error.limit, fix=error.fix
        ) from None
    except TypeError as error:  # a field too many or too few
        raise InputError(str(error).split("() ")[-1], field=place, value=sorted(plain), fix="see TensorMap") from None
    return MapSpec(tensor_map, fields["buffer"], _count(f"{place}.offset", fields.get("offset", 0)))


def _expectations(spec: Mapping[str, Any], buffers: Mapping[str, Any]) -> tuple[Expectation, ...]:
    """`{ b = "a" }`, or `{ b = "a", at = 16, bytes = 128, of = 144 }` for a part of every 144 bytes."""
    part = {name: _count(f"expect.{name}", spec[name]) for name in ("at", "bytes", "of") if name in spec}
    found = []
    for name, like in spec.items():
        if name in part:
            continue
        if name not in buffers or not isinstance(like, str) or like not in buffers:
            raise InputError(
                "no such buffer", field=f"expect.{name}", value=like, fix=f"use one of {', '.join(buffers) or 'none'}"
            )
        size = min(_count(f"buffers.{buffer}.bytes", buffers[buffer].get("bytes", 0)) for buffer in (name, like))
        found.append(Expectation(name, like, **{"at": 0, "bytes": size, "of": size, **part}))
    return tuple(found)
