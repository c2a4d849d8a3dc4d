"""What the page loads on a click: the zip holds exactly what the checker needs, and needs nothing but Python itself."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tmalab.checker.explain import rule_ids
from tmalab.checker.page import page_answer
from tmalab.checker.rule_examples import example_text
from tmalab.sphinxext import python_worker
from tmalab.sphinxext.check_examples import EXAMPLES

ROOT = Path(__file__).parents[2]
MOST_ZIP_BYTES = 300_000
MOST_TRANSFERRED_BYTES = 6_500_000
TEXTS = [example.text for example in EXAMPLES] + [example_text(rule_id) for rule_id in rule_ids()]

# In a Python that has the zip and nothing else: no site-packages (-S), no environment and no current folder (-I).
PROGRAM = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
for name in json.loads(sys.argv[2]):
    importlib.import_module(name)
from tmalab.checker.page import page_answer
answers = [page_answer(text) for text in json.load(sys.stdin)]
loaded = sorted(name for name in sys.modules if name.split(".")[0] == "tmalab")
others = sorted({name.split(".")[0] for name in sys.modules} - set(sys.stdlib_module_names) - {"tmalab", "__main__"})
print(json.dumps([answers, loaded, others]))
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """(answers, tmalab's modules that were loaded, other modules than Python's own)."""
    path = tmp_path_factory.mktemp("zip") / "tmalab.zip"
    path.write_bytes(python_worker.worker_zip())
    whole = [name for name in python_worker.worker_modules() if name.split(".")[1:2] in (["checker"], ["inputs"])]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PROGRAM, str(path), json.dumps(whole)],
        input=json.dumps(TEXTS), capture_output=True, text=True, check=False, cwd=path.parent, env={"PATH": os.defpath},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_zip_alone_answers_as_the_package_does(alone):
    assert alone[0] == [page_answer(text) for text in TEXTS]


def test_the_zip_holds_what_is_needed_and_nothing_else(alone):
    assert alone[1] == sorted(python_worker.worker_modules())
    assert alone[2] == []


def test_the_zip_is_the_modules_and_the_same_each_time():
    made = python_worker.worker_zip()
    python_worker.worker_zip.cache_clear()
    assert python_worker.worker_zip() == made
    assert len(made) <= MOST_ZIP_BYTES
    assert not any("numpy" in name or "hardware" in name for name in python_worker.worker_modules())


def test_pyodide_is_found_whole_or_not_at_all(tmp_path):
    assert python_worker.find_pyodide(tmp_path) is None
    folder = tmp_path / "node_modules" / "pyodide"
    folder.mkdir(parents=True)
    for name in python_worker.CORE:
        assert python_worker.find_pyodide(tmp_path) is None
        (folder / name).write_bytes(b"1234")
    assert python_worker.find_pyodide(tmp_path) == folder
    python_worker.write(folder, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out" / "pyodide").iterdir()) == sorted(python_worker.CORE)
    assert zipfile.is_zipfile(tmp_path / "out" / "tmalab.zip")


def test_the_pinned_pyodide_is_installed_and_small_enough():
    pinned = json.loads((ROOT / "package.json").read_text())["dependencies"]["pyodide"]
    folder = python_worker.find_pyodide(ROOT)
    assert folder is not None, "npm ci --ignore-scripts brings it"
    assert json.loads((folder / "package.json").read_text())["version"] == pinned
    assert python_worker.transferred_bytes(folder) <= MOST_TRANSFERRED_BYTES


def test_the_worker_s_address_changes_with_what_it_loads(monkeypatch):
    before = python_worker.address("chapters/check")
    assert before.startswith("../_static/tmalab/python/worker.mjs?")
    monkeypatch.setattr(python_worker, "worker_zip", lambda: b"another")
    assert python_worker.address("chapters/check") != before
    assert python_worker.address("check").startswith("_static/")
