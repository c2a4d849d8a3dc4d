"""Situations in which a front end's own check and the driver may part: the cases, the judge, and each package's checks.

What a front end refuses while it compiles is seen here, where it is installed; what it refuses later, on a GPU.
"""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

from tmalab import model, observe
from tmalab.experiment import catalogue
from tmalab.experiment.memory import make_bytes
from tmalab.experiment.refusal_cases import CCCL, SITUATIONS, refusal_cases
from tmalab.experiment.refusals import Answer, answers, asked_tile
from tmalab.frontends.front_end import FRONT_ENDS, front_end
from tmalab.frontends.runner import run_case
from tmalab.model.tensor_map import TensorMap

LOADS = [name for name, situation in SITUATIONS.items() if situation.loads]


def task(situation: str, **changes) -> dict:
    plain = {
        key: list(value) if isinstance(value, tuple) else value for key, value in SITUATIONS[situation].task.items()
    }
    return {**plain, **changes}


# --- the cases and the judge: no front end ---------------------------------------------------------------------------


def test_the_model_says_which_situations_the_driver_takes():
    for situation in SITUATIONS.values():
        assert (situation.tensor_map().violations() == []) is situation.loads


def test_no_two_cases_ask_the_same():
    keys = [case.key for case in refusal_cases()]
    assert len(set(keys)) == len(keys)


def test_what_was_asked_for_has_zeros_past_the_tensor_and_repeats_where_rows_do():
    assert not asked_tile(SITUATIONS["past"])[24:].any()
    assert asked_tile(SITUATIONS["past"])[23].all()
    repeated = asked_tile(SITUATIONS["repeat"])
    assert (repeated == repeated[0]).all()
    assert asked_tile(SITUATIONS["step"]).shape == (1, 64)


@pytest.mark.parametrize("name", LOADS)
def test_the_judge_finds_the_tile_and_a_byte_that_is_wrong(name):
    case = catalogue.case(f"refusals/{name}/driver")
    params = case.params
    smem = model.load(
        TensorMap.from_dict(params["tensor_map"]), make_bytes(params["memory"]), params["coords"],
        smem_bytes=params["smem_bytes"],
    )  # fmt: skip
    seen = SimpleNamespace(arrays={"smem": smem}, values={})
    assert Answer(SITUATIONS[name], "driver", seen).bytes_differing == 0
    smem[0] ^= 1
    assert Answer(SITUATIONS[name], "driver", seen).bytes_differing == 1


# --- what was recorded ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded():
    found = {}
    for answer in answers(lambda name: observe(name, live=False)):
        found.setdefault(answer.name, {})[next(n for n, s in SITUATIONS.items() if s is answer.situation)] = answer
    return found


def test_the_driver_answered_as_the_model_says(recorded):
    for name, answer in recorded["driver"].items():
        assert (answer.refused is None) is SITUATIONS[name].loads
        assert answer.bytes_differing == (0 if SITUATIONS[name].loads else None)


def test_what_a_front_end_loaded_is_what_was_asked_for_or_the_driver_refuses_the_map(recorded):
    for answer in (one for who, all_of in recorded.items() if who != "driver" for one in all_of.values()):
        if answer.refused is None and answer.situation.loads:
            assert answer.bytes_differing == 0, (answer.name, answer.situation.words)


def test_one_version_of_cccl_measured_the_outer_dimension_and_the_next_the_inner(recorded):
    old, new = (recorded[name] for name in CCCL)
    assert "128" in old["tall"].refused
    assert "multiple of 16" in old["low"].refused
    assert not old["tall"].by_the_driver
    assert new["tall"].refused is new["low"].refused is None
    # What its own check let through, the driver did not.
    assert old["wide"].by_the_driver
    assert not new["wide"].by_the_driver
    for version in (old, new):
        assert "between 1 and min" in version["past"].refused
        assert "Stride must be 0 or" in version["overlap"].refused
        assert version["repeat"].refused is None


# --- the packages' own checks, as they compile ------------------------------------------------------------------------


def test_pallas_wants_a_row_of_exactly_the_swizzle_s_span_and_no_slice_past_the_tensor(program):
    lower = program("pallas").lower_only
    with pytest.raises(ValueError, match="requires the trailing dimension to be of size 64"):
        lower(task("narrow"))
    with pytest.raises(ValueError, match="Out of bound slice: start=176, size=32"):
        lower(task("edge"))
    with pytest.raises(ValueError, match="multiple of 16 bytes"):
        lower(task("stride"))
    text = lower(task("past"))
    assert "mosaic_gpu_init_tma_desc" in text
    assert "cp.async.bulk.tensor" in text


def test_tilelang_wants_rows_of_whole_spans_and_splits_what_is_wider(program):
    tile = program("tilelang")
    with pytest.raises(Exception, match="continuous=32"):
        tile.compile_only({**task("narrow"), "way": "tma_copy"})
    if shutil.which("nvcc") is None:
        pytest.skip("needs nvcc, of the CUDA toolkit")
    assert "cp.async.bulk.tensor.2d" in tile.compile_only({**task("repeat"), "way": "tma_copy"})


def test_a_stride_that_no_map_has_room_for_is_refused_by_all_but_one(recorded):
    answers_to_it = {name: all_of["stride"] for name, all_of in recorded.items() if "stride" in all_of}
    assert [name for name, answer in answers_to_it.items() if answer.refused is None] == ["cute"]
    cute = answers_to_it["cute"]
    assert cute.map.global_strides == (640,)  # of 648
    assert cute.bytes_differing == 4096


def test_cute_compiles_rows_that_no_map_can_have(program):
    tile = program("cute")
    assert "cp.async.bulk.tensor.2d" in tile.compile_only(task("stride"))
    with pytest.raises(Exception, match="top-level shape equivalence"):
        tile.compile_only(task("narrow"))
    assert tile.compile_only(task("wide")).count("cp.async.bulk.tensor.2d") == 2


def test_cccl_s_header_has_the_check_that_its_version_has(program):
    tile = program("cccl")
    text = (tile.headers() / "cuda/__tma/make_tma_descriptor.h").read_text()
    outermost = "__box_sizes_output[__rank - 1], __data_type" in text
    assert outermost is (tile.cccl_version() < "3.5.0")


@pytest.mark.gpu
@pytest.mark.parametrize(
    "case", [case for case in refusal_cases() if case.probe in FRONT_ENDS], ids=lambda case: case.name
)
def test_a_front_end_that_is_here_answers_again_as_it_was_recorded(case):
    installed = front_end(case.probe).version()
    if installed is None or installed != case.params.get("version", installed):
        pytest.skip(f"needs {FRONT_ENDS[case.probe].title} {case.params.get('version', '')}")
    again, kept = run_case(case), observe(case.name, live=False)
    situation = SITUATIONS[case.name.split("/")[1]]
    answered, recorded = (Answer(situation, case.name.split("/")[2], seen) for seen in (again, kept))
    assert (answered.refused is None) is (recorded.refused is None)
    assert answered.bytes_differing == recorded.bytes_differing
