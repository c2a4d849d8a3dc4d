"""Watched kernels on a Hopper GPU: the deadline's diagnosis, a fault's name, and nothing left behind. Needs the GPU."""

import pytest

from tmalab.cli import main
from tmalab.experiment.gallery_cases import gallery_case
from tmalab.hardware import run_case
from tmalab.hardware.compile import GALLERY

pytestmark = pytest.mark.gpu


def test_a_hang_says_what_is_missing():
    seen = run_case(gallery_case("expect-too-many"))
    (stop,) = seen["broken"]["stops"]
    assert (stop["barrier"], stop["armed_bytes"], stop["surplus_bytes"]) == ("full_barrier", 8192, -4096)
    assert seen["broken"]["stopped"] == seen["broken"]["runs"] == seen["fixed"]["right"]


def test_a_fault_is_named_and_the_next_launch_works():
    seen = run_case(gallery_case("inner-coordinate-off"), repeats=2)
    assert seen["broken"]["errors"] == {"ILLEGAL_INSTRUCTION": 2}
    assert seen["fixed"]["right"] == seen["fixed"]["runs"] == 128


def test_a_reader_s_own_kernel(capsys, tmp_path):
    text = (GALLERY / "count_too_high.cu").read_text(encoding="utf-8").replace("gallery.cuh", "own.cuh")
    (tmp_path / "own.cu").write_text(text, encoding="utf-8")
    headers = GALLERY.parent / "kernels" / "gallery.cuh"
    own = headers.read_text(encoding="utf-8").replace('#include "watch.cuh"', '#include "bounded_wait.cuh"')
    (tmp_path / "own.cuh").write_text(own, encoding="utf-8")
    assert main(["run", str(tmp_path / "own.cu"), "--watch", "--deadline", "0.01", "-D", "BROKEN"]) == 1
    said = capsys.readouterr().out
    assert "1024 stopped at the deadline of 0.01 s" in said
    assert "full_barrier, phase of parity 0: 1 of 32 arrivals came, 31 are missing; armed for 4096 bytes" in said
    assert main(["run", str(tmp_path / "own.cu"), "--watch"]) == 0
    assert main(["run", str(tmp_path / "own.cu")]) == 0  # the kernel's own bound is enough for one that is right
