"""Python in the page: Pyodide's core, the worker that runs it, and the part of tmalab that needs no numpy, as a zip.

    tmalab.checker, tmalab.inputs ──and what they import──▶ tmalab.zip ─────┐
    node_modules/pyodide ──the five files of its core──▶ pyodide/ ──────────┴▶ _static/tmalab/python/

>>> "tmalab.checker.page" in worker_modules(), "tmalab.model.transfer" in worker_modules()
(True, False)

A module that needs numpy, or anything else that is not Python's own, is not followed: the worker has neither. How a
page speaks with the worker stands at the head of python/worker.mjs.
"""

from __future__ import annotations

import ast
import filecmp
import gzip
import hashlib
import io
import shutil
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
WORKER = Path(__file__).parent / "python" / "worker.mjs"
FOLDER = "tmalab/python"  # below _static
CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
_LAYERS = ("errors", "model", "inputs", "checker")
_ANY_DAY = (1980, 1, 1, 0, 0, 0)  # a zip's bytes depend on its modules alone


@cache
def worker_modules() -> dict[str, Path]:
    """Name and file of each module of the zip: the checker and its inputs whole, and all that these may import."""
    found: dict[str, Path] = {}
    pending = [
        f"tmalab.{layer}.{path.stem}".removesuffix(".__init__")
        for layer in ("checker", "inputs")
        for path in (PACKAGE / layer).glob("*.py")
    ]
    while pending:
        name = pending.pop()
        path = _path(name)
        if path is None or name in found:
            continue
        tree = ast.parse(path.read_text(encoding="utf8"))
        if not all(module.split(".")[0] in ("tmalab", *sys.stdlib_module_names) for module in _imported(tree.body)):
            continue
        found[name] = path
        pending += [name.rpartition(".")[0], *_imported(ast.walk(tree))]
    return dict(sorted(found.items()))


def _path(name: str) -> Path | None:
    """The file of a module of the layers that the worker has, or None."""
    parts = name.split(".")
    if parts[0] != "tmalab" or (len(parts) > 1 and parts[1] not in _LAYERS):
        return None
    base = PACKAGE.joinpath(*parts[1:])
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def _imported(nodes: Iterator[ast.AST] | list[ast.stmt]) -> Iterator[str]:
    """The modules that these statements import; of `from x import y` both x and x.y, which may be one."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def worker_zip() -> bytes:
    """The modules as a zip; the same bytes for the same sources."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in worker_modules().values():
            entry = zipfile.ZipInfo(path.relative_to(PACKAGE.parent).as_posix(), _ANY_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    return made.getvalue()


def address(docname: str) -> str:
    """Where a page finds the worker. It changes when the worker's own files do, so that a browser asks anew."""
    mark = hashlib.sha256(worker_zip() + WORKER.read_bytes()).hexdigest()[:8]
    return f"{'../' * docname.count('/')}_static/{FOLDER}/worker.mjs?{mark}"


def pyodide_folder(srcdir: Path) -> Path:
    """Where `npm ci` puts Pyodide, beside the book's sources."""
    return srcdir / "node_modules" / "pyodide"


def find_pyodide(srcdir: Path) -> Path | None:
    """Pyodide's folder, or None where a file of its core is missing."""
    folder = pyodide_folder(srcdir)
    return folder if all((folder / name).is_file() for name in CORE) else None


def transferred_bytes(folder: Path) -> int:
    """What a click brings from a server that compresses."""
    files = [(folder / name).read_bytes() for name in CORE] + [worker_zip()]
    return sum(len(gzip.compress(content, 6)) for content in files)


def write(folder: Path, target: Path) -> None:
    """Write everything the click loads into `target`; a file that lies there already is left alone."""
    (target / "pyodide").mkdir(parents=True, exist_ok=True)
    for name in CORE:
        source, copy = folder / name, target / "pyodide" / name
        if not copy.is_file() or not filecmp.cmp(source, copy, shallow=False):
            shutil.copyfile(source, copy)
    shutil.copyfile(WORKER, target / "worker.mjs")
    (target / "tmalab.zip").write_bytes(worker_zip())
