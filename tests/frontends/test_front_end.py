"""The table of front ends, their programs and hashes; what a missing front end says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tmalab import observe
from tmalab.errors import HardwareError, InputError
from tmalab.experiment import catalogue
from tmalab.frontends import front_end as table
from tmalab.frontends import program as programs
from tmalab.frontends.backend import fault_name
from tmalab.frontends.cute_calls import CALLS, ISSUED, calls, issued
from tmalab.frontends.front_end import FRONT_ENDS, FrontEnd, front_end, require
from tmalab.frontends.program import PROGRAMS, load_program, program_names, program_sha256, program_sources
from tmalab.frontends.runner import is_front_end
from tmalab.frontends.tirx_lines import LineTable, doing, unnumbered


@pytest.fixture
def nothing_installed(monkeypatch):
    monkeypatch.setattr(table, "find_spec", lambda module: None)


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_a_missing_front_end_names_the_extra_that_brings_it(name, nothing_installed):
    with pytest.raises(HardwareError, match=rf"pip install 'tmalab\[{FRONT_ENDS[name].extra}\]'"):
        require(name)


def test_a_missing_front_end_of_one_version_or_of_a_newer_python_says_so(nothing_installed, monkeypatch):
    with pytest.raises(
        HardwareError, match=r"'tmalab\[cccl\]' \(Linux\) and then nvidia-cuda-cccl==13\.3\.4\.3\.1, in"
    ):
        require("cccl", "13.3.4.3.1")
    for here, words in (((3, 11, 7), r"\(Linux\) with Python 3\.12 or later"), ((3, 12, 1), r"\(Linux\), or read")):
        monkeypatch.setattr(table.sys, "version_info", here)
        with pytest.raises(HardwareError, match=words):
            require("pallas")


ROOT = Path(__file__).parent.parent.parent
# The second of two versions that are held against each other; what is without == is a header's or a compiler's.
OTHER_VERSIONS = {"nvidia-cutlass-dsl==4.2.1", "nvidia-cuda-cccl==13.3.4.3.1"}


def plain(requirement: str) -> str:
    """A requirement without its extras and its marker."""
    return re.sub(r"\[.*?\]", "", requirement.split(";", maxsplit=1)[0])


def test_every_front_end_is_an_extra_that_pins_it_and_brings_what_a_gpu_needs():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for each in FRONT_ENDS.values():
        assert [one for one in extras[each.extra] if plain(one).startswith(f"{each.distribution}==")], each.name
        assert {"tmalab[gpu]", "tmalab[cuda-core]"} & set(extras[each.extra]), each.name
    assert "tmalab[gpu]" in extras["cuda-core"]


def test_the_environments_that_programs_are_compiled_in_have_the_extras_versions():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    pinned = {plain(one) for extra in extras.values() for one in extra}
    makefile = (ROOT / "Makefile").read_text()
    line = makefile[makefile.index("FRONT_ENDS :=") : makefile.index("test-frontends:")]
    used = {plain(one) for one in re.findall(r"[\w-]+(?:\[\w+\])?==[\w.]+(?![\w.*])", line)}
    assert OTHER_VERSIONS < used
    assert used - OTHER_VERSIONS <= pinned
    assert {name.split("==")[0] for name in used} >= {each.distribution for each in FRONT_ENDS.values()}


def test_a_module_without_its_metadata_is_there_all_the_same():
    assert FrontEnd("x", "X", "no-such-distribution", "json", "x").version() == "unknown"


def test_an_unknown_front_end_names_those_that_are_known():
    with pytest.raises(InputError, match="use one of cute, tirx"):
        front_end("basic")


def test_every_program_belongs_to_a_front_end_and_can_be_read():
    assert program_names()
    for name in program_names():
        assert name.split("/")[0] in FRONT_ENDS
        sources = program_sources(name)
        assert f"{name.replace('/', '_')}.py" in sources
        assert "def run(params" in sources[f"{name.replace('/', '_')}.py"]


def test_what_programs_share_is_hashed_with_them_and_is_no_program(monkeypatch, tmp_path):
    assert "cute_common.py" in program_sources("cute/strips")
    assert {"cute_anatomy.py", "cute_common.py", "cute_strips.py", "cute_stages.py"} <= set(
        program_sources("cute/anatomy")
    )
    assert "cute_common.py" not in program_sources("cute/versions")  # that one runs on its own, in either version
    assert "cute/common" not in program_names()
    before = program_sha256("cute/strips")
    for path in PROGRAMS.glob("cute_*.py"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    with (tmp_path / "cute_common.py").open("a") as shared:
        shared.write("\n")
    monkeypatch.setattr(programs, "PROGRAMS", tmp_path)
    assert programs.program_sha256.__wrapped__("cute/strips") != before
    assert programs.program_sha256.__wrapped__("cute/versions") == program_sha256("cute/versions")


def test_an_unknown_program_is_refused_before_its_front_end_is_asked_for(nothing_installed):
    with pytest.raises(InputError, match="no such program"):
        load_program("cute/zebra")
    with pytest.raises(HardwareError, match=r"tmalab\[cute\]"):
        load_program("cute/strips")


def test_every_case_of_a_front_end_names_a_program():
    cases = [case for case in catalogue.cases().values() if is_front_end(case)]
    assert {f"{case.probe}/{case.params['program']}" for case in cases} <= set(program_names())


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (RuntimeError("cudaErrorIllegalInstruction: an illegal instruction was encountered"), "ILLEGAL_INSTRUCTION"),
        (RuntimeError("CUDA_ERROR_LAUNCH_FAILED"), "LAUNCH_FAILED"),
        (RuntimeError("cudaErrorMisalignedAddress"), "MISALIGNED_ADDRESS"),
        (ValueError("expects a pointer to an mbarrier"), None),
    ],
)
def test_a_fault_is_known_by_what_the_package_says(error, name):
    assert fault_name(error) == name


def test_every_call_that_the_chapter_may_show_was_recorded():
    seen = observe("cute/anatomy", live=False)["seen"]
    assert set(CALLS) <= set(seen)
    lines = list(calls(seen, *CALLS))
    assert len(lines) == 2 * len(CALLS)
    with pytest.raises(InputError, match="not looked at"):
        list(calls(seen, "zebra"))


def test_each_call_of_the_device_s_side_is_found_in_the_ptx_in_its_place():
    ptx = observe("cute/anatomy", live=False)["ptx"]
    table = issued(ptx)
    assert [row[0] for row in table.rows] == [call for call, _, _ in ISSUED]
    assert [row[2].split()[0].split(".")[0] for row in table.rows] == [
        "elect", "mbarrier", "fence", "bar", "elect", "mbarrier", "elect", "mbarrier", "bar",
    ]  # fmt: skip
    assert "cp.async.bulk.tensor.2d.shared::cta" in table.rows[6][2]
    for missing in ("fence.mbarrier_init", "cp.async.bulk.tensor", "mbarrier.try_wait"):
        with pytest.raises(InputError, match=re.escape(missing)):
            issued([line for line in ptx if not line.startswith(missing)])
    with pytest.raises(InputError, match=r"bar\.sync"):  # the last one stands at the end of the loop
        issued(ptx[: max(at for at, line in enumerate(ptx) if line.startswith("bar.sync"))])


def test_a_case_for_one_version_is_run_with_no_other(monkeypatch):
    monkeypatch.setattr(FrontEnd, "version", lambda self: "13.3.5.0.6")
    assert require("cccl", "13.3.5.0.6") == require("cccl") == "13.3.5.0.6"
    with pytest.raises(
        HardwareError, match=r"CCCL 13\.3\.4\.3\.1 is asked for.*pip install nvidia-cuda-cccl==13\.3\.4\.3\.1"
    ):
        require("cccl", "13.3.4.3.1")
    monkeypatch.setattr(FrontEnd, "version", lambda self: "unknown")  # unpacked by hand: it may be the right one
    assert require("cccl", "13.3.4.3.1") == "unknown"


def test_each_line_of_tirx_stands_beside_what_it_became():
    rows = observe("tirx/add_one/llvm/nvrtc", live=False)["lines"]
    table = LineTable(rows)
    cells = list(table.cells())
    assert [line for _, _, ptx in cells for line in ptx if line.startswith("cp.async.bulk.tensor")] == [
        "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%], [%, {%, %}], [%];",
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%, {%, %}], [%];",
    ]
    assert "T.cuda.cta_sync()\n    tvm_builtin_cuda_cta_sync();\n        bar.sync 0;" in repr(table)
    html = table._repr_html_()
    assert html.count('<th scope="row">') == len(rows) == 20
    assert html.count('<th scope="col">') == 3
    assert "&amp;(mbar_ptr[0])" in html  # nothing of a program is taken for markup
    assert not re.search(r"<(?!/?(?:div|table|thead|tbody|tr|th|td|code)\b)", html)


def test_what_is_done_again_is_counted_and_addresses_are_left_out():
    ptx = ["mov.u32 %r1, 4;", "ld.shared.f32 %f1, [%rd1];", "ld.shared.f32 %f2, [%rd1+128];", "@%p1 bra $L__BB0_2;"]
    assert doing(ptx) == ["ld.shared.f32 %, [%]; (2 times)", "@% bra $L;"]
    assert unnumbered("mov.u32 %r1, %tid.x;") == "mov.u32 %, %tid.x;"
