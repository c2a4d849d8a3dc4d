"""A front end's programs: found by name, hashed with what they share, loaded only where the front end is installed.

    "cute", "strips"  ─▶  programs/cute_strips.py  (+ the programs that it imports, as a kernel has headers)

>>> "cute/strips" in program_names(), len(program_sha256("cute/strips"))
(True, 64)
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import ModuleType

from tmalab.errors import InputError
from tmalab.frontends.front_end import require

PROGRAMS = Path(__file__).parent / "programs"
# from …programs.x import y, or from …programs import x, z as w: the house's two ways, each on one line.
_IMPORT = re.compile(r"^from tmalab\.frontends\.programs(?:\.(\w+) import|\s+import ([\w, ]+)$)", re.MULTILINE)


def program_names() -> list[str]:
    """All programs, `front end/name`; a file whose name ends in `_common` is what several share and is none."""
    stems = sorted(path.stem for path in PROGRAMS.glob("*_*.py") if path.stem != "__init__")
    return [stem.replace("_", "/", 1) for stem in stems if not stem.endswith("_common")]


def program_sources(name: str) -> dict[str, str]:
    """The program's source and those that it imports from beside it: file name → text. Raises InputError."""
    if name not in program_names():
        raise InputError("no such program", field="program", value=name, fix=f"use one of {', '.join(program_names())}")
    sources: dict[str, str] = {}
    pending = [name.replace("/", "_")]
    while pending:
        stem = pending.pop()
        if f"{stem}.py" not in sources:
            sources[f"{stem}.py"] = (PROGRAMS / f"{stem}.py").read_text(encoding="utf-8")
            for one, several in _IMPORT.findall(sources[f"{stem}.py"]):
                pending += [one] if one else [name.split()[0] for name in several.split(",")]
    return sources


@lru_cache(maxsize=64)
def program_sha256(name: str) -> str:
    """SHA-256 of a program and what it shares, as a recording's provenance gives it; the package is not in it."""
    digest = sha256()
    for text in (text for item in sorted(program_sources(name).items()) for text in item):
        digest.update(f"{len(text)}:".encode() + text.encode())
    return digest.hexdigest()


def load_program(name: str) -> ModuleType:
    """The program's module. Raises InputError for an unknown one, HardwareError where its front end is missing."""
    program_sources(name)
    require(name.split("/", maxsplit=1)[0])
    return import_module(f"tmalab.frontends.programs.{name.replace('/', '_')}")
