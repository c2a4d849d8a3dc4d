"""Every TIRx program compiles without a GPU, to the instructions that the chapter says; where the package is."""

from __future__ import annotations

import shutil
from importlib import import_module

import pytest

from tmalab.experiment.tirx_cases import BOXES, OWN_MAPS
from tmalab.frontends.front_end import front_end
from tmalab.frontends.program import load_program, program_names
from tmalab.frontends.tirx_lines import LineTable, unnumbered
from tmalab.recordings.store import default_store

VERSION = front_end("tirx").version()
pytestmark = pytest.mark.skipif(
    VERSION is None, reason="needs TIRx 0.1.0a4: pip install 'tmalab[tirx]', or make test-frontends"
)
PROGRAMS = [name for name in program_names() if name.startswith("tirx/") and name != "tirx/refused"]


def recorded(name: str):
    store = default_store()
    return store.get(store.cases()[name])


def told(executable) -> list[str]:
    common = import_module("tmalab.frontends.programs.tirx_common")
    return [unnumbered(line) for line in common.told(executable)]


def loads(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("cp.async.bulk.tensor")]


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_compiles(program):
    common = import_module("tmalab.frontends.programs.tirx_common")
    found = load_program(program).compile_all()
    assert found
    for executable in found.values():
        ptx = common.ptx_of(common.cuda_source(executable))
        assert ".target sm_90a" in ptx
        assert ".bulk.tensor." in ptx
        # No wait is without a bound but the guide's own: the library's loop begins at this label.
        assert ("LAB_WAIT" in ptx) is (program == "tirx/add_one")


def test_each_line_became_what_was_recorded():
    now = load_program("tirx/add_one")
    assert str(LineTable(now.line_table())) == str(LineTable(recorded("tirx/add_one/llvm/nvrtc")["lines"]))
    assert now.dispatched() == recorded("tirx/add_one/llvm/nvrtc")["dispatched"]


def test_both_launchers_ask_for_the_map_innermost_first():
    program = load_program("tirx/add_one")
    made = program.compile_all()
    assert program.launcher_text(made["llvm"]) == recorded("tirx/add_one/llvm/nvrtc")["launcher"]
    assert program.launcher_text(made["cuda_host"]) == recorded("tirx/add_one/cuda_host/nvcc")["launcher"]
    numbers = [line.split(" = ")[1] for line in program.launcher_text(made["cuda_host"])[2:9]]
    assert numbers == ["32;", "8;", "128;", "32;", "8;", "1;", "1;"]


@pytest.mark.parametrize("name", BOXES)
def test_an_instruction_is_issued_for_each_repeat(name):
    program = load_program("tirx/boxes")
    common = import_module("tmalab.frontends.programs.tirx_common")
    lines = loads(told(common.build(program.kernel_of(BOXES[name]))))
    assert len(lines) == len(program.coordinates(BOXES[name]))
    assert all(f".{len(BOXES[name]['box'])}d.shared::cta.global.tile.mbarrier" in line for line in lines)


@pytest.mark.parametrize("name", OWN_MAPS)
def test_a_map_of_ones_own_is_taken_as_it_is(name):
    ways = OWN_MAPS[name]
    common = import_module("tmalab.frontends.programs.tirx_common")
    kernel = load_program("tirx/own_map").kernel_of(ways["encoded"], ways["told"], ways.get("prefetch", False))
    lines = told(common.build(kernel))
    assert any("prefetch.tensor" in line for line in lines) is ("prefetch" in ways)
    assert any(line.startswith("cp.async.bulk.tensor.2d.shared::cta") for line in lines)


def test_multicast_and_reductions_are_instructions_of_their_own():
    (multicast,) = load_program("tirx/multicast").compile_all().values()
    assert all("multicast::cluster" in line for line in loads(told(multicast)))
    stores = load_program("tirx/stores").compile_all()
    assert any("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add" in line for line in told(stores["add"]))
    assert any(line.startswith("cp.async.bulk.tensor.2d.global.shared::cta") for line in told(stores["store"]))


def test_it_refuses_what_it_refused_and_says_the_same():
    def text(said: dict) -> str:  # ptxas numbers the lines of a text that NVRTC made
        return said["type"] + said["message"].split("error   : ")[-1].splitlines()[0]

    then, now = dict(recorded("tirx/refused")["said"]), load_program("tirx/refused").run({})[0]["said"]
    if shutil.which("g++") is None:  # it says so, and not what g++ says of the file
        for one in (then, now):
            one.pop("executable(…) of a CUDA C++ launcher")
    assert {what: text(said) for what, said in now.items()} == {what: text(said) for what, said in then.items()}
