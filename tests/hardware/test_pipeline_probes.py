"""The pipeline's probes without a GPU: their records are the kernels' structs, and what cannot run is refused first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab.errors import InputError
from tmalab.experiment.case import Case
from tmalab.experiment.pipeline_cases import pipeline_case, pipeline_cases
from tmalab.hardware import compile as compiling
from tmalab.hardware import pipeline_costs_probe, pipeline_probe, run_case
from tmalab.hardware.pipeline_params import check_pipeline
from tmalab.hardware.pipeline_tiles import PATTERN_BYTES, TENSOR_BYTES, Tiles
from tmalab.hardware.timed_params import check_timed


@pytest.mark.parametrize(
    ("kernel", "record", "request_struct"),
    [
        ("pipeline", pipeline_probe.OUT, pipeline_probe._REQUEST),
        ("pipeline_costs", pipeline_costs_probe.OUT, pipeline_costs_probe._REQUEST),
    ],
)
def test_records_and_requests_have_the_kernels_sizes(kernel, record, request_struct):
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC's bindings are not installed")
    sources = compiling.kernel_sources(kernel)
    held = "\n".join([
        f"static_assert(sizeof(Out) == {record.itemsize}, \"out\");",
        f"static_assert(sizeof(Request) == {request_struct.size}, \"request\");",
        f"static_assert(sizeof(Control) <= {pipeline_probe.CONTROL_BYTES}, \"control\");",
        f"static_assert(KEPT_TILES == {pipeline_probe.KEPT_TILES}, \"kept\");",
        f"static_assert(MOST_STAGES == {pipeline_probe.MOST_STAGES}, \"stages\");",
    ])  # fmt: skip
    compiling.compile_source(sources[f"{kernel}.cu"] + held, sources, kernel, compiling.OPTIONS)


def test_the_moments_are_named_in_the_structs_order():
    text = (compiling.KERNELS / "pipeline.cuh").read_text(encoding="utf-8").split("struct Moments {")[1].split("};")[0]
    assert [word.split("[")[0] for word in text.replace(",", " ").split() if "[KEPT_TILES]" in word] == list(
        pipeline_probe.MOMENTS
    )


def test_no_kernel_is_longer_than_200_lines():
    for name in ("pipeline.cu", "pipeline.cuh", "pipeline_costs.cu", "tma_copy.cu"):
        assert len((compiling.KERNELS / name).read_text(encoding="utf-8").splitlines()) < 200, name


@given(st.sampled_from([4096, 8192, 16384, 32768]), st.integers(0, 3 * PATTERN_BYTES // 4096), st.integers(1, 64))
def test_the_sum_of_tiles_is_the_sum_of_their_words(tile_bytes, first, tiles):
    words = np.arange(first * tile_bytes // 4, (first + tiles) * tile_bytes // 4) % (PATTERN_BYTES // 4)
    assert Tiles.sum_of(tile_bytes, first, tiles) == int(words.sum(dtype=np.uint64)) % (1 << 32)


def test_tiles_are_handed_out_apart_and_inside_the_tensor():
    tiles = object.__new__(Tiles)
    tiles._at = 0
    ends = 0
    for _ in range(100):
        first = tiles.next_tile(32768, 132 * 80)
        assert first == 0 or first * 32768 >= ends
        ends = (first + 132 * 80) * 32768
        assert ends <= TENSOR_BYTES


def test_every_case_may_run():
    for case in pipeline_cases():
        check_timed(case.probe, case.params)


@pytest.mark.parametrize(
    ("field", "value"),
    [("tile_bytes", 6000), ("tile_bytes", 65536), ("place", "moon"), ("consumers", 3), ("stages", [0]), ("stages", [9]),
     ("fma", [33]), ("fma", [True]), ("kept", 40), ("tiles", 8)],
)  # fmt: skip
def test_a_ring_that_the_kernel_does_not_have_is_refused_before_any_launch(field, value):
    case = pipeline_case("hbm", 16384)
    with pytest.raises(InputError, match=field):
        run_case(Case("x", case.probe, {**case.params, field: value}))


def test_a_consumer_reads_4_kib_at_least():
    params = {**pipeline_case("hbm", 4096).params, "consumers": 2}
    with pytest.raises(InputError, match="tile_bytes"):
        check_pipeline("pipeline", params)


@pytest.mark.parametrize(
    "version",
    [["counter", 1, 16384, 6, 3, 1, True, 0], ["sideways", 1, 16384, 6, 3, 1, True, 0, 0],
     ["counter", 1, 16380, 6, 3, 1, True, 0, 0], ["counter", 1, 16384, 40, 3, 1, True, 0, 0],
     ["counter", 1, 16384, 3, 3, 1, True, 0, 0], ["counter", 1, 16384, 6, 3, 0, True, 0, 0],
     ["counter", 1, 16384, 6, 3, 1, True, 512, 0], ["counter", 1, 48 * 1024, 4, 3, 1, True, 0, 0],
     ["counter", 0, 16384, 6, 3, 1, True, 0, 0], ["chunks", -1, 16384, 6, 3, 1, True, 0, 0],
     ["counter", 1, 16384, 6, 3, 1, True, 0, 200_000], ["counter", 1, 65536, 4, 3, 1, True, 0, 0],
     ["counter", 1, 4096, 6, 3, 1, True, 96, 0]],
)  # fmt: skip
def test_a_copy_that_the_kernel_does_not_have_is_refused(version):
    with pytest.raises(InputError):
        check_pipeline("tma_copy", {"bytes": 1 << 30, "versions": [version]})


@pytest.mark.parametrize("case", [next(pipeline_cases()), pipeline_case("hbm", 4096), [*pipeline_cases()][-1]])
def test_what_a_case_leaves_out_is_named(case):
    for name in set(case.params) - {"bursts"}:
        params = {field: value for field, value in case.params.items() if field != name}
        with pytest.raises(InputError, match=f"{name}=None: missing"):
            check_pipeline(case.probe, params)
