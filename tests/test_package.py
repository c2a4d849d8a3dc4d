"""The wheel, built from this tree and installed far from it, is whole: kernels, recordings, figures, command.

One wheel is built for the module. Its environment is a fresh venv that borrows the dependencies of this one through
a path file, so that nothing is downloaded.
"""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import tmalab

ROOT = Path(__file__).parent.parent
LARGEST_WHEEL_BYTES = 8_000_000  # the recordings may take 6 MB of it


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(ROOT)], check=True)
    return next(folder.glob("tmalab-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A function that runs a program with the installed package, in an empty folder; returns what it prints."""
    home = tmp_path_factory.mktemp("elsewhere")
    venv.create(home / "venv", with_pip=False)
    python = home / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True)
    site = next((home / "venv").glob("lib/python*/site-packages"))
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib"))

    def run(*command: str) -> str:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "TMALAB"))}
        done = subprocess.run(
            [str(python.parent / command[0]), *command[1:]],
            cwd=home, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_the_wheel_holds_the_package_and_its_notices_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"tmalab", f"tmalab-{tmalab.__version__}.dist-info"}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("licenses/THIRD_PARTY_NOTICES.md") for name in names)
    assert not [name for name in names if "__pycache__" in name or name.endswith((".cubin", ".so"))]
    assert wheel.stat().st_size <= LARGEST_WHEEL_BYTES


def test_the_wheel_holds_every_file_of_the_package(wheel):
    tracked = subprocess.run(["git", "ls-files", "tmalab"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode != 0 or not tracked.stdout:
        pytest.skip("not a git clone")
    with zipfile.ZipFile(wheel) as archive:
        assert set(tracked.stdout.splitlines()) <= set(archive.namelist())


def test_it_is_not_the_clone_that_is_imported(installed):
    where = installed("python", "-c", "import tmalab; print(tmalab.__file__)")
    assert not Path(where.strip()).is_relative_to(ROOT)


def test_the_command_runs(installed):
    assert installed("tmalab", "--version") == f"tmalab {tmalab.__version__}\n"


def test_it_finds_its_kernels(installed):
    program = (
        "from importlib.resources import files; kernels = files('tmalab.hardware') / 'kernels'\n"
        "print(*sorted(entry.name for entry in kernels.iterdir() if entry.is_file()))"
    )
    here = sorted(path.name for path in (ROOT / "tmalab" / "hardware" / "kernels").iterdir() if path.is_file())
    assert "ptx.cuh" in here
    assert installed("python", "-c", program).split() == here


def test_it_finds_its_recordings(installed):
    program = (
        "import json; from tmalab import observe\n"
        "seen = observe('tile/128B/r0/c0/b0', live=False)\n"
        "print(json.dumps([seen.source, seen.provenance.gpu, int(seen['smem'].size)]))"
    )
    source, gpu, size = json.loads(installed("python", "-c", program))
    assert source == "recorded"
    assert "H200" in gpu
    assert size > 0


def test_it_draws_its_figures(installed):
    program = (
        "from tmalab import observe; from tmalab.figures import TileFigure\n"
        "print(TileFigure(observe)._repr_mimebundle_()[0]['text/html'])"
    )
    assert 'data-tma-esm="tile"' in installed("python", "-c", program)
