"""Execute the chapters in place, from recordings, and keep nothing in them that a second run would change.

    python chapters/execute.py                all chapters
    python chapters/execute.py 02-swizzle     the ones named
    TMALAB_SOURCE=live python chapters/execute.py --to FOLDER     on a Hopper GPU, written elsewhere

A chapter's outputs are committed: the book shows them, and nbval compares them with a fresh run. So they hold no
widget view (a widget needs its kernel; the figure's HTML stays), no times, no version of the Python that ran them.
An error in a cell, and anything written to standard error, ends the run with that cell's number, and the chapter
stays as it was.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

CHAPTERS = Path(__file__).parent
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"file_extension": ".py", "mimetype": "text/x-python", "name": "python", "pygments_lexer": "ipython3"}


def execute(source: Path, target: Path) -> None:
    """Run every cell of `source` in a kernel of its own and write the cleaned notebook to `target`."""
    notebook = nbformat.read(source, as_version=4)
    resources = {"metadata": {"path": str(source.parent)}}
    quiet = ["--IPKernelApp.log_level=40"]  # a kernel on this machine need not warn of the network
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources=resources, extra_arguments=quiet,
        coalesce_streams=True,  # in how many pieces a cell's prints come differs from run to run
    ).execute()  # fmt: skip
    clean(notebook)
    nbformat.write(notebook, target)


def clean(notebook: nbformat.NotebookNode) -> None:
    """Drop what differs from run to run, and what only a live kernel could use. Raises ValueError on stderr output."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC, "language_info": LANGUAGE})
    for number, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise ValueError(f"cell {number} wrote to standard error:\n{output.text}")
            if "text/html" in output.get("data", {}):
                output.data.pop(WIDGET_VIEW, None)
            if "metadata" in output:
                output.metadata = nbformat.from_dict({})


def main() -> int:
    """Run the command line; 1 if a chapter failed."""
    parser = argparse.ArgumentParser(description="Execute the chapters in place, from recordings.")
    parser.add_argument("names", nargs="*", help="chapters, without folder and .ipynb; all by default")
    parser.add_argument("--to", type=Path, default=CHAPTERS, metavar="FOLDER", help="write there instead of in place")
    given = parser.parse_args()
    os.environ.setdefault("TMALAB_SOURCE", "recorded")
    # The kernel starts in chapters/; it must find the package of this clone, installed or not.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(CHAPTERS.parent), os.environ.get("PYTHONPATH")]))
    given.to.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in given.names or sorted(path.stem for path in CHAPTERS.glob("*.ipynb")):
        began = time.perf_counter()
        try:
            execute(CHAPTERS / f"{name}.ipynb", given.to / f"{name}.ipynb")
        except (CellExecutionError, ValueError, FileNotFoundError) as error:
            failed = True
            print(f"{name}: failed\n{error}", file=sys.stderr)
        else:
            print(f"{name}: {time.perf_counter() - began:.1f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
