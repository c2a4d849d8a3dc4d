"""`tmalab observe NAME`: what a Hopper GPU did with a case of the catalogue, recorded or (`--live`) run now.

tmalab observe --list tile/128B        the names, and which are recorded
tmalab observe edges/fill-nan --dump   … and the bytes
tmalab observe timeline/two-loads/warm/one-barrier --trace two-loads.json     … as Perfetto reads it
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from tmalab.experiment.observation import Observation

SCHEMA = 1
_ROW = 16


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "observe",
        help="show what a Hopper GPU did with a named case",
        description="Show what a Hopper GPU did with a case of the catalogue: the recording, or a run of now.",
    )
    parser.add_argument("name", nargs="?", help="the case's name; with --list, how the names begin")
    parser.add_argument("--list", action="store_true", help="print the names instead, recorded ones marked with *")
    parser.add_argument("--live", action="store_true", default=None, help="run it now, on this machine's Hopper GPU")
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help="how often a live run is measured")
    parser.add_argument("--dump", action="store_true", help="print the bytes of every array")
    parser.add_argument("--trace", metavar="FILE", help="write its timeline for Perfetto (ui.perfetto.dev)")
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")
    parser.set_defaults(usage=parser.format_usage)


def run(args: argparse.Namespace) -> int:
    """Print the observation or the list; 0, 1 for an empty list, 2 where neither was asked for."""
    if args.list:
        return _print_list(args.name or "")
    if args.name is None:
        print(f"{args.usage()}tmalab observe: give a case's name, or --list", file=sys.stderr)
        return 2
    from tmalab.recordings.observe import observe

    seen = observe(args.name, live=args.live, repeats=args.repeats)
    if args.trace:
        _write_trace(seen, args.trace)
    if args.json:
        print(json.dumps(as_json(seen)))
        return 0
    print(f"{seen.case.name}: {seen.source}\n{seen.provenance.line()}")
    for name, value in seen.values.items():
        print(f"  {name:<16} {value}")
    for name, array in seen.arrays.items():
        hidden = seen.undefined.get(name)
        masked = "" if hidden is None else f", {int(hidden.sum())} undefined"
        digest = hashlib.sha256(array.tobytes()).hexdigest()[:16]
        print(f"  {name:<16} {array.dtype}{list(array.shape)}, sha256 {digest}…{masked}")
        if args.dump:
            print("\n".join(dump(array)))
    return 0


def _write_trace(seen: Observation, file: str) -> None:
    """The timeline in the Trace Event Format. Raises InputError where there is none, or the file cannot be written."""
    from tmalab.errors import InputError
    from tmalab.experiment.timeline_builders import as_chrome_trace

    trace = json.dumps(as_chrome_trace(seen))
    try:
        Path(file).write_text(trace, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error})", field="trace", value=file,
            fix="name a file in a folder of yours",
        ) from None  # fmt: skip


def _print_list(prefix: str) -> int:
    from tmalab.experiment import catalogue
    from tmalab.recordings.store import default_store

    store = default_store()
    listed = [case for name, case in catalogue.cases().items() if name.startswith(prefix)]
    for case in listed:
        print(f"{'*' if case in store else ' '} {case.name}")
    if not listed:
        print(f"tmalab observe: no case's name begins with {prefix!r}; without it, --list prints all", file=sys.stderr)
    return 0 if listed else 1


def dump(array: np.ndarray) -> Iterator[str]:
    """The array's bytes, 16 a line behind their offset; `*` stands for lines like the one above it."""
    content, above = array.tobytes(), b""
    for at in range(0, len(content), _ROW):
        row = content[at : at + _ROW]
        if row != above:
            yield f"    {at:06x}  {row.hex(' ')}"
        elif content[at - _ROW : at] == row and content[max(at - 2 * _ROW, 0) : at - _ROW] != row:
            yield "    *"
        above = row
    yield f"    {len(content):06x}"


def as_json(seen: Observation) -> dict[str, Any]:
    """The observation as plain JSON with a schema version; arrays as base64 of their little-endian bytes."""
    return {
        "schema": SCHEMA,
        "case": seen.case.to_dict(),
        "source": seen.source,
        "provenance": seen.provenance.to_dict(),
        "values": dict(seen.values),
        "arrays": {name: _packed(array) for name, array in seen.arrays.items()},
        "undefined": {name: _packed(mask) for name, mask in seen.undefined.items()},
    }


def _packed(array: np.ndarray) -> dict[str, Any]:
    little = array.astype(array.dtype.newbyteorder("<"))
    return {
        "dtype": str(array.dtype), "shape": list(array.shape), "base64": base64.b64encode(little.tobytes()).decode()
    }  # fmt: skip
