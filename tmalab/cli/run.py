"""`tmalab run FILE.cu --watch`: launch a kernel of your own, and be told what it waits for if it never ends.

    FILE.cu + its //@ lines ─▶ compile ─▶ launch in the worker ─▶ runs right, wrong, stopped at the deadline, refused

Exit codes: 0 all runs right, 1 not all, 2 it could not be compiled or run.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEMA = 1
_BROKEN = "BROKEN"
_EPILOG = """\
the kernel is built on ptx.cuh and says in lines of TOML how it is launched, for example:
  //@ launch = { grid = 64, block = 32, shared_bytes = 0 }
  //@ buffers.a = { pattern = "random", seed = 1, bytes = 262144 }
  //@ buffers.b = { pattern = "fill", value = 205, bytes = 262144 }
  //@ maps.a_map = { buffer = "a", dtype = "uint8", global_dim = [64, 4096], global_strides = [64], box_dim = [64, 64] }
  //@ arguments = ["a_map", "b"]
  //@ expect = { b = "a" }
a map goes in by value ("&a_map": its address in global memory), a buffer as an address, an integer as an int.
"""


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "run", help="launch a kernel of your own, and say what it waits for if it never ends",
        description="Launch a kernel file on this machine's Hopper GPU, in a process that a fault may cost.",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("file", type=Path, help="the CUDA source, with its //@ lines")
    parser.add_argument("--watch", action="store_true", help="end every wait at the deadline and say what was missing")
    parser.add_argument("--deadline", type=float, default=2.0, metavar="S", help="seconds until a wait ends (2)")
    parser.add_argument("-D", dest="defines", action="append", default=[], metavar="NAME", help="define a macro")
    parser.add_argument("-I", dest="folders", action="append", default=[], metavar="FOLDER", help="find headers there")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace) -> int:
    """Compile, launch, print; the exit code."""
    from tmalab.errors import InputError
    from tmalab.hardware.kernel_file import parse_kernel_file, version
    from tmalab.hardware.watch_probe import compile_watched
    from tmalab.hardware.worker_client import shared_worker

    if not 0 < args.deadline <= 60:
        raise InputError(
            "not a deadline", field="--deadline", value=args.deadline, limit=60, fix="use up to 60 seconds"
        )
    text = args.file.read_text(encoding="utf-8")
    if _BROKEN in args.defines:
        text = version(text, broken=True, keep_lines=True)
    file = parse_kernel_file(text)
    options = [*(f"-D{name}" for name in args.defines if name != _BROKEN), *(f"-I{folder}" for folder in args.folders)]
    headers = _headers_beside(args.file, text)
    # Here and not in the worker: an error of the source is said wherever NVRTC is, GPU or none.
    compile_watched(text, args.file.name, watch=args.watch, options=tuple(options), folder_headers=headers)
    worker = shared_worker()
    gpu = worker.gpu()
    asked = {
        "text": text, "name": args.file.name, "deadline_ns": int(args.deadline * 1e9), "watch": args.watch,
        "options": options, "headers": headers,
    }  # fmt: skip
    (reply,) = worker.ask("watch", [asked], deadline_s=args.deadline + 2)
    values = reply.or_raise().values
    right = not values["error"] and values["right"] == values["runs"]
    if args.json:
        print(json.dumps({"schema": SCHEMA, "file": args.file.name, "gpu": str(gpu), **values}))
    else:
        print("\n".join([f"{args.file.name}: {file.kernel} on {gpu}", *_said(values, args)]))
    return 0 if right else 1


def _said(values: Mapping[str, Any], args: argparse.Namespace) -> list[str]:
    """The outcome, a line each."""
    from tmalab.experiment.stopped import stop_sentence

    if error := values["error"]:
        return [_refusal(error, values, args.watch)]
    lines = [
        f"{values['runs']} runs: {values['right']} right, {values['wrong']} wrong, "
        f"{values['stopped']} stopped at the deadline of {args.deadline:g} s"
    ]
    if values["wrong_bytes"]:
        least, most = values["wrong_bytes"]
        lines.append(f"a wrong run has {least if least == most else f'{least} to {most}'} wrong bytes")
    if values["stops"]:
        lines.append(f"stopped like the first: {values['alike']} of {values['stopped']}")
        lines += [stop_sentence(stop) for stop in values["stops"]]
    return lines


def _refusal(error: str, values: Mapping[str, Any], watched: bool) -> str:
    if values.get("refused"):
        return f"the driver refuses to encode {values['refused']} ({error}): `tmalab check` says why"
    if error == "TIMEOUT":
        what = "no wait of a barrier passed its deadline" if watched else "--watch would say what it waits for"
        return f"the kernel did not return, and its process was stopped; {what}"
    return f"the launch raised {error}; the process that owned it is gone, yours is not"


def _headers_beside(path: Path, text: str) -> dict[str, str]:
    """The headers that the source includes and that lie in its folder, however deep: file name → text."""
    import re

    found: dict[str, str] = {}
    pending: Sequence[str] = re.findall(r'^\s*#include\s+"([^"]+)"', text, re.MULTILINE)
    while pending:
        file, *pending = pending
        if file not in found and (path.parent / file).is_file():
            found[file] = (path.parent / file).read_text(encoding="utf-8")
            pending += re.findall(r'^\s*#include\s+"([^"]+)"', found[file], re.MULTILINE)
    return found
