"""`tmalab`: one command a question, and only the module that answers it is imported.

    tmalab check …  ──▶  tmalab/cli/check.py   add_parser(subparsers), then run(args) -> exit code

>>> main([])  # doctest: +ELLIPSIS
usage: tmalab [-h] [--version] COMMAND ...
0

Exit codes: 0 done, 1 the answer is no (an illegal descriptor), 2 the question could not be read or run.
"""

from __future__ import annotations

import argparse
import io
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
    "banks": "say what an access to shared memory costs a warp, bank by bank, and what would free it",
    "observe": "show what a Hopper GPU did with a named case",
    "run": "launch a kernel of your own, and say what it waits for if it never ends",
    "record": "rewrite the recordings, or run a campaign, on a Hopper GPU",
    "doctor": "say what this machine can run and, if not, why",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. `argv` is without the program's name (default: `sys.argv[1:]`).

    What a command raises on purpose becomes one message on standard error.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if sys.stdout is None:  # closed by whoever started us: the exit code is still an answer
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # an ASCII terminal gets the answer too
    command = words[0] if words and words[0] in COMMANDS else None
    name = f"tmalab {command or ''}".rstrip()
    try:
        code = _answer(words, command)
        sys.stdout.flush()  # a closed pipe shows here, and not when Python exits
    except TmaLabError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `tmalab … | head`: the reader has seen enough
        _forget_output()
        return 141
    except OSError as error:  # a full disk, say; an error without a file's name is the output's
        if error.filename is None:
            _forget_output()
        print(f"{name}: {error.filename or 'the answer'} cannot be used: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\n{name}: interrupted", file=sys.stderr)
        return 130
    return code


def _forget_output() -> None:
    """What is still to be written goes nowhere, so that Python does not try it again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _answer(words: list[str], command: str | None) -> int:
    """Parse and run, or print the help where there is no command; the exit code."""
    parser = argparse.ArgumentParser(prog="tmalab", description="What Hopper's Tensor Memory Accelerator does.")
    parser.add_argument("--version", action="version", version=f"tmalab {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", title="commands")
    for name, summary in COMMANDS.items():
        if name != command:
            subparsers.add_parser(name, help=summary)
    module = import_module(f"tmalab.cli.{command}") if command else None
    if module:
        module.add_parser(subparsers)
    arguments = parser.parse_args(words)
    if module is None:
        parser.print_help()
        return 0
    code: int = module.run(arguments)
    return code
