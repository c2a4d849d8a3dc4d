"""Every CuTe DSL program compiles without a GPU, to the instructions that the chapter says; where the package is."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, files

import pytest

from tmalab.frontends.front_end import front_end
from tmalab.frontends.program import load_program, program_names

VERSION = front_end("cute").version() or ""
pytestmark = pytest.mark.skipif(
    not VERSION.startswith("4.8."), reason="needs CuTe DSL 4.8: pip install 'tmalab[cute]', or make test-frontends"
)
# The tile of the chapter on many front ends has a test of its own, beside the others.
COMPILED = [name for name in program_names() if name.startswith("cute/") and name not in ("cute/versions", "cute/tile")]


@pytest.fixture(scope="module")
def told():
    return load_program("cute/anatomy").told()


def ptx_of(program: str, folder) -> list[str]:
    load_program(program).compile_all(options=f"--keep-ptx --dump-dir {folder}")
    return [path.read_text() for path in sorted(folder.glob("*.ptx"))]


@pytest.mark.parametrize("program", COMPILED)
def test_it_compiles(program, tmp_path):
    texts = ptx_of(program, tmp_path)
    assert texts
    assert all(".target sm_90a" in text for text in texts)
    if program != "cute/anatomy":
        assert all("cp.async.bulk.tensor.2d.shared::c" in text for text in texts)
        # No wait is without a bound: the library's own wait would be a loop of try_wait with a time of its own.
        assert not any("10000000;" in text for text in texts)


def test_a_copy_elects_its_lane_once_more(tmp_path):
    (text,) = ptx_of("cute/strips", tmp_path)
    lines = [line.strip() for line in text.splitlines()]
    copies = [number for number, line in enumerate(lines) if line.startswith("cp.async.bulk.tensor")]
    assert len(copies) == 1
    before = [line.split()[0] for line in lines[: copies[0]] if line.startswith(("elect.sync", "mbarrier", "bar.sync"))]
    assert before == ["elect.sync", "mbarrier.init.shared.b64", "bar.sync", "elect.sync",
                      "mbarrier.arrive.expect_tx.shared.b64", "elect.sync"]  # fmt: skip


def test_loads_elect_and_stores_and_prefetches_do_not(told):
    assert told["elects"] == {"load": True, "multicast": True, "store": False, "prefetch": False}


def test_multicast_and_prefetch_are_instructions_of_their_own(tmp_path):
    for program, sign in (("cute/cluster", ".multicast::cluster"), ("cute/prefetch", "cp.async.bulk.prefetch.tensor")):
        folder = tmp_path / program.replace("/", "-")
        folder.mkdir()
        assert any(sign in text for text in ptx_of(program, folder))


def test_a_coordinate_tensor_is_a_start_and_strides(told):
    seen = told["seen"]
    assert seen["coordinate tensor"] == "tensor<(0,0) o (8448,1792):(1@1,1@0)>"
    assert seen["coordinate tensor[64, 512]"] == "(512, 64)"
    assert seen["local_tile"] == "tensor<(512,64) o (64,256):(1@1,1@0)>"
    assert (seen["make_tiled_tma_atom"], seen["results"]) == ("TmaInfo", "2")


def test_grouping_changes_the_rank_and_nothing_else(told):
    seen = told["seen"]
    assert seen["size before and after"] == "(16384, 16384)"
    assert seen["rank before and after"] == "(2, 1)"
    assert seen["offsets that the swizzle moves"] == "0 of 2048"


def test_the_swaps_are_refused_when_they_are_compiled(told):
    refused = told["refusals"]
    assert {how for how, error in refused.items() if not error} == {"as it is", "seven tiles in a mode of their own"}
    assert "invalid input types" in refused["tma_partition given global first"]
    assert "src and dst need be CoordTensorType and CuteMemRefType" in refused["copy given shared first"]
    assert "same size in the first rank" in refused["seven tiles in the first mode"]


def sass_of(build, folder) -> list[str]:
    """The machine code's opcodes in order, predicates left out; skips where no disassembler is."""
    tool = shutil.which("nvdisasm")
    try:
        tool = tool or next(str(path.locate()) for path in files("nvidia-cuda-nvdisasm") if path.name == "nvdisasm")
    except PackageNotFoundError:
        pytest.skip("needs nvdisasm: pip install nvidia-cuda-nvdisasm, or make test-frontends")
    build(f"--keep-cubin --dump-dir {folder}")
    (cubin,) = folder.glob("*.cubin")
    text = subprocess.run([tool, "-c", str(cubin)], capture_output=True, text=True, check=True).stdout
    lines = (re.sub(r"/\*.*?\*/|@!?U?P\w+", "", line).strip() for line in text.splitlines())
    return [line.split()[0] for line in lines if line and line[0].isupper()]


def test_an_election_inside_an_election_waits_for_the_whole_warp(tmp_path):
    hang = load_program("cute/hang")
    params = {"armed_bytes": 32768, "barrier_first": False, "tile_alignment": 128}
    for copy_elected in (False, True):
        folder = tmp_path / str(copy_elected)
        folder.mkdir()
        words = sass_of(
            lambda told, is_it=copy_elected: hang.compile_one({**params, "copy_elected": is_it}, told), folder
        )
        load = words.index("UTMALDG.2D")
        assert ("WARPSYNC.ALL" in words[:load]) is copy_elected
        if copy_elected:
            assert words.index("WARPSYNC.ALL") < len(words[:load]) - words[:load][::-1].index("ELECT")


def test_a_store_by_32_lanes_is_one_instruction_of_the_warp(tmp_path):
    stages, common = load_program("cute/stages"), load_program("cute/stages").common
    words = sass_of(
        lambda told: stages.compile_one(common.STRIPS, common.STRIPS, 1, "tma by 32 lanes", options=told), tmp_path
    )
    assert words.count("UTMASTG.2D") == 1
    store = words.index("UTMASTG.2D")
    assert "ELECT" not in words[words.index("UTMALDG.2D") : store]
