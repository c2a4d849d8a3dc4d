"""`tmalab`: one command a question, and only the module that answers it is imported.

    tmalab check …  ──▶  tmalab/cli/check.py   add_parser(subparsers), then run(args) -> exit code

>>> main([])  # doctest: +ELLIPSIS
usage: tmalab [-h] [--version] COMMAND ...
0

Exit codes: 0 done, 1 the answer is no (an illegal descriptor), 2 the question could not be read or run.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from tmalab import __version__
from tmalab.errors import TmaLabError

# One line a command, its module of the same name. The help stands here so that `tmalab --help` imports none of them.
COMMANDS = {
    "check": "say which rules a tensor map, a copy or a layout breaks, and how to mend it",
    "predict": "print or draw where one load puts each 16 bytes of its box",
    "observe": "show what a Hopper GPU did with a named case",
    "record": "rewrite the recordings, or run a campaign, on a Hopper GPU",
    "doctor": "say what this machine can run and, if not, why",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. `argv` is without the program's name (default: `sys.argv[1:]`)."""
    words = list(sys.argv[1:] if argv is None else argv)
    chosen = words[0] if words and words[0] in COMMANDS else None
    parser = argparse.ArgumentParser(prog="tmalab", description="What Hopper's Tensor Memory Accelerator does.")
    parser.add_argument("--version", action="version", version=f"tmalab {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", title="commands")
    for name, summary in COMMANDS.items():
        if name == chosen:
            import_module(f"tmalab.cli.{name}").add_parser(subparsers)
        else:
            subparsers.add_parser(name, help=summary)
    arguments = parser.parse_args(words)
    if chosen is None:
        parser.print_help()
        return 0
    return _run(chosen, arguments)


def _run(command: str, arguments: argparse.Namespace) -> int:
    """The command's exit code; what it raises on purpose becomes one message on standard error."""
    try:
        code: int = import_module(f"tmalab.cli.{command}").run(arguments)
        sys.stdout.flush()  # a closed pipe shows here, and not when Python exits
    except TmaLabError as error:
        print(f"tmalab {command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `tmalab … | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        print(f"\ntmalab {command}: interrupted", file=sys.stderr)
        return 130
    return code
