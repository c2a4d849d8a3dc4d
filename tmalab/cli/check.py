"""`tmalab check`: would the driver take this descriptor, would the engine then copy with it, and is it wise?

    tmalab check --dtype float16 --global-dim 128,16 --global-strides 256 --box-dim 64,8 --swizzle 128B
    tmalab check descriptors.jsonl          tmalab check -          tmalab check "Sw<3,4,3> o 0 o (8,64):(64,1)"
    tmalab check gdb.txt                    what x/32xw &map or p/x map printed: a map's 128 bytes, read back

>>> from tmalab.cli import main
>>> main(["check", "16,128:128,1:float16", "--box", "8,64"])  # doctest: +ELLIPSIS
tiled float16: global_dim [128, 16], global_strides [256], box_dim [64, 8], element_strides [1, 1]
legal on sm_90 ...
0

Exit codes: 0 legal, 1 illegal, 2 the input cannot be read; of a batch the worst.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from tmalab.checker import Answer, Options, answers
from tmalab.checker.answer import SCHEMA
from tmalab.cli import report
from tmalab.errors import InputError
from tmalab.inputs.detect import FORM_NAMES
from tmalab.inputs.position import UnreadableError
from tmalab.model.encoded_map import ENCODED_BYTES

SUMMARY = "say which rules a tensor map, a copy or a layout breaks, and how to mend it"
_MAP = {
    "dtype": "element type: float16, bfloat16, tfloat32, uint8 …", "global-dim": "extents in elements, innermost first",
    "global-strides": "bytes, one entry less than global-dim", "box-dim": "elements of one copy, innermost first",
    "element-strides": "every n-th element of a dimension", "interleave": "none, 16B, 32B",
    "swizzle": "none, 32B, 64B, 128B", "l2-promotion": "none, 64B, 128B, 256B", "oob-fill": "none, nan",
    "address": "base address", "lower-corner": "im2col: W first", "upper-corner": "im2col: W first",
    "channels-per-pixel": "im2col", "pixels-per-column": "im2col",
}  # fmt: skip
_ARRAY = {
    "array": "shape:strides:dtype in NumPy's order",
    "box": "the box of --array, in its order",
    "layout": "a CuTe layout",
}
# Beside an input these could only contradict what it says.
_WHOLE = {
    *_MAP.keys() - {"dtype", "box-dim", "interleave", "swizzle", "l2-promotion", "oob-fill"}, "array", "layout",
}  # fmt: skip
_USE = {
    "coords": "the copy's coordinates, innermost first", "direction": "load, store, reduce",
    "op": "of a reduction: add, min, max, inc, dec, and, or, xor", "offsets": "im2col offsets",
    "smem-base": "shared address of the box", "smem-bytes": "the block's shared memory",
    "storage-bytes": "bytes from the tensor's first to the allocation's end",
    "expect-tx-bytes": "what the barrier is armed for", "live-rows": "rows in use of dimension 1",
    "base-align": "alignment that the base address is known to have",
    "descriptor-space": "param, const, global, local", "descriptor-align": "the descriptor's address or alignment",
    "load-mode": "sm_100: tile::gather4, im2col::w …",
}  # fmt: skip
_GROUPS = (
    ("tensor map", "dimensions innermost first; beside an input that says a whole map these are refused", _MAP),
    ("array or layout", "--dtype and --swizzle go with these too", _ARRAY),
    ("how it is used", "each may stand beside any input that says a map; a descriptor's own win", _USE),
)
_READ_AT_MOST = 1 << 28
_MAPS_AT_MOST = 1 << 16


def add_parser(subparsers: Any) -> None:
    """Add `check` to the command line."""
    parser = subparsers.add_parser(
        "check", help=SUMMARY, description=SUMMARY, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"Input forms: {', '.join(FORM_NAMES)}. The form is found from the text.",
    )  # fmt: skip
    add_input(parser)
    group = parser.add_argument_group("answer")
    group.add_argument("--json", action="store_true", help="JSON: one object, or one a line and the total")
    group.add_argument("--cuda", action="store_true", help="the host code that encodes it, where it is legal")
    group.add_argument("--explain", metavar="RULE", help="a rule's page; 'all' lists them")
    group.add_argument("--plain", action="store_true", help="plain text even on a terminal")


def add_input(parser: Any) -> None:
    """Add what says the question: the input and every flag of a descriptor, a view, a layout and its use."""
    # -1,-1 is a value and no option; argparse knows that of -1 alone.
    parser._negative_number_matcher = re.compile(r"^-\d[-\d,x ]*$")
    parser.add_argument("input", nargs="?", help="a file, - for standard input, or the text itself")
    for title, text, flags in _GROUPS:
        group = parser.add_argument_group(title, text)
        for name, meaning in flags.items():
            group.add_argument(f"--{name}", metavar="VALUE", help=meaning, action=_Once)
    group = parser.add_argument_group("reading")
    group.add_argument("--arch", help="sm_90 (measured; where nothing is said), sm_100, sm_120 (read only)")
    group.add_argument("--form", choices=FORM_NAMES, help="read the input as this form")
    group.add_argument("--ignore-unknown", action="store_true", help="leave unknown JSON keys aside")


def run(arguments: argparse.Namespace) -> int:
    """Answer, and return the exit code."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that cannot show a sign shows its number
    if arguments.explain:
        return _explain(arguments.explain)
    try:
        text, options = question(arguments)
    except UnreadableError as error:
        print(f"tmalab check: {error}", file=sys.stderr)
        return 2
    found = answers(text, options)
    first = next(found)
    second = next(found, None)
    return _one(first, arguments) if second is None else _batch(chain((first, second), found), arguments)


def _explain(rule: str) -> int:
    from tmalab.checker.explain import explain, rule_ids

    print("\n".join(rule_ids()) if rule == "all" else explain(rule))
    return 0


class _Once(argparse.Action):
    """A flag that is said once: of two values one would be dropped in silence."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{self.option_strings[0]} is said twice; say it once")
        setattr(namespace, self.dest, values)


def question(arguments: argparse.Namespace) -> tuple[str, Options]:
    """The text to answer, and what was said beside it. Raises InputError."""
    said = {name: getattr(arguments, name.replace("-", "_")) for name in (*_MAP, *_ARRAY, *_USE)}
    said = {name: value for name, value in said.items() if value is not None}
    beside = {"arch": arguments.arch, "form": arguments.form, "keep_unknown": arguments.ignore_unknown}
    if arguments.input is None and said:
        words = (f"--{name} {_quoted(value)}" for name, value in said.items())
        return "tmalab check " + " ".join(words), Options.of(beside | {"form": "flags"})
    for name in (name for name in said if name in _WHOLE):
        fix = f"leave out --{name}, or the input to ask what the flags say"
        raise InputError("there is an input too, and it says its own", field=f"--{name}", value=said[name], fix=fix)
    if said:
        from tmalab.inputs.flags import fields_of

        box = said.pop("box", None)
        beside |= fields_of({name.replace("-", "_"): value for name, value in said.items()})
        if box is not None:
            beside["box"] = fields_of({"box_dim": box})["box_dim"]
    if arguments.input is None and (sys.stdin is None or sys.stdin.isatty()):
        raise InputError(
            "nothing to check", fix="give a file, -, a descriptor's text or flags; see tmalab check --help"
        )
    return _read(arguments.input or "-"), Options.of(beside)


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value and '"' not in value else value


def _read(name: str) -> str:
    """The text of a file, of standard input, or `name` itself where it is no file. Raises InputError."""
    if name == "-" and sys.stdin is None:
        raise InputError("standard input is closed", field="file", value=name, fix="give a file or the text itself")
    if _is(Path.is_dir, name):
        raise InputError("a folder", field="file", value=name, fix="give a file, -, or a descriptor's text")
    if name == "-":
        data = sys.stdin.buffer.read(_READ_AT_MOST + 1)
    elif _is(Path.is_file, name):
        try:
            with Path(name).open("rb") as file:
                data = file.read(_READ_AT_MOST + 1)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", field="file", value=name) from None
    elif re.fullmatch(r"[\w./~-]+\.\w{1,6}", name) and "<" not in name:
        raise InputError(
            "there is no such file", field="file", value=name, fix="give a file, -, or a descriptor's text"
        )
    else:
        return name
    if len(data) > _READ_AT_MOST:
        raise InputError("more than 256 MiB", field="file", value=name, fix="split the batch")
    if len(data) in range(ENCODED_BYTES, _MAPS_AT_MOST + 1, ENCODED_BYTES) and b"\0" in data[:ENCODED_BYTES]:
        return data.hex()  # maps as a program wrote them, and no text: no text holds a zero
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = data[: error.start].decode("utf-8-sig", errors="replace")
        raise UnreadableError(
            f"not UTF-8: the byte {data[error.start]:#04x}", text=text, offset=len(text), fix="save the file as UTF-8"
        ) from None


def _is(kind: Callable[[Path], bool], name: str) -> bool:
    """Whether `name` is a path of that kind; a descriptor's text may be too long to be any path."""
    try:
        return "\n" not in name and kind(Path(name))
    except (OSError, ValueError):
        return False


def _one(answer: Answer, arguments: argparse.Namespace) -> int:
    if arguments.json:
        print(json.dumps(answer.to_dict(), indent=2))
    elif arguments.cuda and answer.exit_code == 0 and answer.tensor_map is not None:
        from tmalab.checker.host_snippet import host_snippet

        print(host_snippet(answer.tensor_map))
    else:
        _report(answer, arguments)
        if arguments.cuda and answer.error is None:
            why = "no tensor map was given" if answer.tensor_map is None else "mend the descriptor first"
            print(f"tmalab check: no host code: {why}", file=sys.stderr)
    return answer.exit_code


def _report(answer: Answer, arguments: argparse.Namespace) -> None:
    """The report on standard output; what cannot be read is an error, and goes to standard error."""
    if answer.error is not None:
        print(f"tmalab check: {report.plain(answer)}", file=sys.stderr)
        return
    if sys.stdout.isatty() and not arguments.plain:
        try:
            report.table(answer)
            return
        except ImportError:
            pass
    print(report.plain(answer))


def _batch(found: Iterator[Answer], arguments: argparse.Namespace) -> int:
    """One line an answer and the total; the worst exit code."""
    counts = {"legal": 0, "illegal": 0, "unreadable": 0}
    worst = 0
    lines: list[str] = []
    for answer in found:
        worst = max(worst, answer.exit_code)
        counts["unreadable" if answer.error is not None else "legal" if answer.exit_code == 0 else "illegal"] += 1
        lines.append(json.dumps(answer.to_line()) if arguments.json else report.line(answer))
        if len(lines) == 1000:
            print("\n".join(lines))
            lines.clear()
    lines.append(json.dumps({"schema": SCHEMA, "total": counts}) if arguments.json else report.total(counts))
    print("\n".join(lines))
    return worst
