"""`tmalab doctor`: what this machine can run and, where it cannot, why not and what to do about it.

    yes  recordings            324 cases, from NVIDIA H200
    no   live experiments      no NVIDIA driver library (…)
                               Fix: install NVIDIA's driver, or read the recorded observations

>>> [ability.able for ability in abilities() if ability.name == "check and predict"]
[True]

Each line asks the layer that would do the work, in its own words; nothing is run and no GPU memory is taken.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import tempfile
import textwrap
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tmalab import __version__
from tmalab.errors import NoHopperGpuError, TmaLabError
from tmalab.frontends.front_end import FRONT_ENDS

SCHEMA = 1
# What is installed from packages alone: the ability, the distributions that it takes, the extra that brings them.
PACKAGES = (
    ("tables in colour", ("rich",), "cli"),
    ("figures in notebooks", ("anywidget", "ipywidgets", "matplotlib"), "figures"),
    ("build the book", ("jupyter-book", "sphinx-book-theme", "nbclient"), "book"),
    ("tests", ("pytest", "hypothesis", "nbval"), "test"),
    *((f"kernels in {each.title}", (each.distribution,), each.extra) for each in FRONT_ENDS.values()),
)
PROGRAMS = (("tests in a browser", ("chromium", "node", "npm"), "apt-get install chromium nodejs npm (Debian)"),)


@dataclass(frozen=True)
class Ability:
    """One thing that a person may want to do here; `detail` says with what, or why not, and `fix` what to do."""

    name: str
    able: bool
    detail: str
    fix: str | None = None


def abilities() -> list[Ability]:
    """Everything that TMA Lab can do, and whether this machine can; what needs least stands first."""
    listed = [_model(), _recordings(), _compiler(), _live()]
    listed += [_installed(*entry) for entry in PACKAGES]
    listed += [_programs(*entry) for entry in PROGRAMS]
    return listed


def _model() -> Ability:
    import numpy as np

    return Ability("check and predict", True, f"numpy {np.__version__}")


def _recordings() -> Ability:
    from tmalab.recordings.store import default_store

    try:
        recorded = default_store().provenances()
    except TmaLabError as error:
        return Ability("recordings", False, *_reason(error))
    if not recorded:
        return Ability("recordings", False, "none came with this package", "make record, on a Hopper GPU")
    gpus = ", ".join(sorted({provenance.gpu for provenance in recorded}))
    return Ability("recordings", True, f"{len(recorded)} cases, from {gpus}")


def _compiler() -> Ability:
    from tmalab.hardware.compile import cache_folder, nvrtc_version

    try:
        version = nvrtc_version()
    except TmaLabError as error:
        return Ability("compile kernels", False, *_reason(error))
    folder = cache_folder()
    if not _can_write(folder):
        return Ability("compile kernels", False, f"{folder} cannot be written", "set TMALAB_CACHE to a folder that can")
    return Ability("compile kernels", True, f"NVRTC {version}, kept in {folder}")


def _can_write(folder: Path) -> bool:
    """Whether a file can be made in `folder` or, where that is not there yet, in the nearest one above it.

    It makes one: to the permissions alone, root may write everywhere, and a file that stands in the way is no folder.
    """
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            return True
    except OSError:
        return False


def _live() -> Ability:
    from tmalab.hardware import find_gpu

    try:
        return Ability("live experiments", True, str(find_gpu()))
    except NoHopperGpuError as error:
        return Ability("live experiments", False, error.reason, error.fix)


def _installed(name: str, distributions: tuple[str, ...], extra: str) -> Ability:
    from importlib.metadata import PackageNotFoundError, version

    found, missing = [], []
    for distribution in distributions:
        try:
            found.append(f"{distribution} {version(distribution)}")
        except PackageNotFoundError:
            missing.append(distribution)
    if missing:
        return Ability(name, False, f"not installed: {', '.join(missing)}", f"pip install 'tmalab[{extra}]'")
    return Ability(name, True, ", ".join(found))


def _programs(name: str, programs: tuple[str, ...], fix: str) -> Ability:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        return Ability(name, False, f"not on the PATH: {', '.join(missing)}", fix)
    return Ability(name, True, ", ".join(programs))


def _reason(error: TmaLabError) -> tuple[str, str | None]:
    return (error.message if error.field is None else f"{error.message} ({error.value})"), error.fix


# --- the command ------------------------------------------------------------------------------------------------------


def add_parser(subparsers: Any) -> None:
    """Add `doctor` and its options."""
    parser = subparsers.add_parser(
        "doctor",
        help="say what this machine can run and, if not, why",
        description="Say what this machine can run and, if not, why and what to do about it.",
    )
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the answer. The exit code is 0: a machine without a GPU is no fault."""
    about = {"tmalab": __version__, "python": platform.python_version(), "platform": platform.platform(terse=True)}
    found = abilities()
    if arguments.json:
        import json

        print(json.dumps({"schema": SCHEMA, **about, "abilities": [asdict(ability) for ability in found]}, indent=1))
        return 0
    print(f"tmalab {about['tmalab']}, Python {about['python']}, {about['platform']}\n")
    width = max(len(ability.name) for ability in found)
    columns = max(60, shutil.get_terminal_size((100, 24)).columns)
    for ability in found:
        head = f"{'yes' if ability.able else 'no':4} {ability.name:{width}}  "
        _print_wrapped(head, ability.detail, columns)
        if ability.fix:
            _print_wrapped(" " * len(head), f"Fix: {ability.fix}", columns)
    return 0


def _print_wrapped(head: str, text: str, columns: int) -> None:
    print(textwrap.fill(text, columns, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False))
