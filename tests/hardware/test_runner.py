"""`run_case`: checks before anything is launched, an observation with its provenance after; on a fake worker."""

import numpy as np
import pytest

from tmalab import TensorMap
from tmalab.errors import InputError, TensorMapError
from tmalab.experiment.case import Case
from tmalab.experiment.catalogue import case as named_case
from tmalab.experiment.catalogue import cases, tile_figure_case
from tmalab.experiment.memory import make_bytes
from tmalab.frontends.front_end import FRONT_ENDS
from tmalab.hardware import close_worker, run_case
from tmalab.hardware.compile import kernel_sha256
from tmalab.hardware.runner import PROBES, differing
from tmalab.model.transfer import load


def test_every_case_of_the_catalogue_has_its_runner():
    assert {found.probe for found in cases().values()} <= set(PROBES) | set(FRONT_ENDS)


@pytest.mark.usefixtures("fake_gpu")
class TestOnAFakeWorker:
    def test_a_load_comes_back_with_its_provenance(self):
        case = tile_figure_case("128B", 3, 64, 256)
        seen = run_case(case, repeats=3)
        tm = TensorMap.from_dict(case.params["tensor_map"])
        memory = make_bytes(case.params["memory"])
        np.testing.assert_array_equal(seen["smem"], load(tm, memory, (64, 3), smem_bytes=3072, smem_base=256))
        assert (seen.source, seen.undefined) == ("live", {})
        assert seen.values["completed"] is True
        assert seen.values["error"] is seen.values["diagnosis"] is None
        stamp = seen.provenance
        assert (stamp.gpu, stamp.driver, stamp.repeats, stamp.kernel) == ("FAKE H200", "580.0", 3, "transfer.cu")
        assert stamp.kernel_sha256 == kernel_sha256("transfer")
        assert stamp.date.endswith("+00:00")

    def test_a_wrong_count_is_diagnosed(self):
        seen = run_case(named_case("barrier/armed-16-bytes-over"))
        assert seen["completed"] is False
        assert seen["diagnosis"].startswith("armed for 528 bytes, 512 arrived; 16 are missing")

    def test_a_fault_is_foretold_by_the_model_and_the_next_case_works(self):
        seen = run_case(named_case("fault/smem-base-64"))
        assert (seen["error"], seen["completed"], dict(seen.arrays)) == ("MISALIGNED_ADDRESS", False, {})
        assert "128" in seen["diagnosis"]
        assert run_case(named_case("barrier/armed-right"))["completed"]

    def test_bytes_that_differ_between_runs_are_masked(self):
        case = named_case("barrier/armed-right")
        noisy = Case("noisy", "transfer", {**case.params, "wait_ns": 1})
        masks = run_case(noisy, repeats=8).undefined
        assert masks["smem"].nonzero()[0].tolist() == [1023]

    def test_a_store_gives_the_memory(self):
        seen = run_case(named_case("edges/store-clip"))
        assert seen["memory"].shape == (4096,)

    def test_add_one(self):
        seen = run_case(named_case("add_one/plain"), repeats=5)
        np.testing.assert_array_equal(seen["b"], seen["a"] + 1)
        assert seen["cycles"].shape == (5,)
        assert seen.provenance.kernel == "add_one_plain.cu"

    def test_a_map_is_encoded_and_no_kernel_is_named(self):
        seen = run_case(named_case("encode/base"), repeats=2)
        assert seen["accepted"] is True
        assert seen["encoded"].shape == (128,)
        assert seen["encoded"][:8].tolist() == [0, 0, 0, 0, 0, 0x7F, 0, 0]
        assert (seen.provenance.kernel, seen.provenance.kernel_sha256) == ("cuTensorMapEncodeTiled", "")
        assert " · cuTensorMapEncodeTiled · " in seen.provenance.line()

    def test_a_map_that_the_driver_refuses_to_encode_is_an_answer(self):
        seen = run_case(named_case("box/refused/row-of-24-bytes"))
        assert (seen["accepted"], seen["error"]) == (False, None)
        assert not seen["encoded"].any()

    def test_without_a_context_the_driver_s_own_word_is_the_answer(self):
        seen = run_case(named_case("facts/encoding-needs-a-context/without"))
        assert (seen["accepted"], seen["answer"], seen["error"]) == (False, "INVALID_CONTEXT", None)

    def test_a_timed_probe_runs_once_for_all_of_its_repeats(self):
        seen = run_case(named_case("parity/free/right"), repeats=3)
        assert seen["answers"].shape == (3, 7, 12)
        assert (seen.provenance.kernel, seen.provenance.repeats) == ("parity.cu", 3)

    def test_an_arrival_too_many_is_diagnosed_and_the_next_case_works(self):
        seen = run_case(named_case("facts/arrive-too-often/bytes-pending"))
        assert (seen["error"], seen["completed"]) == ("LAUNCH_FAILED", False)
        assert "an arrival more than the phase awaits" in seen["diagnosis"]
        assert run_case(named_case("parity/free/right"))["completed"]

    def test_closing_the_worker_is_harmless(self):
        close_worker()
        assert run_case(named_case("barrier/armed-right"))["completed"]
        close_worker()


def test_a_map_that_the_driver_refuses_is_refused_before_any_launch():
    case = named_case("barrier/armed-right")
    broken = {**case.params["tensor_map"], "box_dim": [300, -1]}
    with pytest.raises(TensorMapError) as raised:
        run_case(Case("broken", "transfer", {**case.params, "tensor_map": broken}))
    assert len(raised.value.violations) >= 2


@pytest.mark.parametrize(
    ("probe", "params", "field"),
    [
        ("nope", {}, "probe"),
        ("transfer", {}, "tensor_map"),
        ("transfer", {"smem_bytes": 500}, "smem_bytes"),
        ("transfer", {"coords": [0, "x"]}, r"coords\[1\]"),
        ("add_one", {"variant": "wgmma"}, "variant"),
        ("encode", {}, "tensor_map"),
        ("two_loads", {"watch": "lines", "warmth": "tepid"}, "warmth"),
        ("two_loads", {"watch": "lines", "warmth": "warm", "steps": [["LOAD", 0], ["STORE", 1]]}, r"steps\[1\]"),
        ("two_loads", {"watch": "lines", "warmth": "warm", "steps": []}, "steps"),
        ("landing", {"warmth": "warm", "piece_bytes": 4}, "piece_bytes"),
        ("parity", {"rule": "odd", "pace": "free"}, "rule"),
        ("reuse", {"stores": 5}, "stores"),
        ("ordering", {"experiment": "store", "blocks": 0, "rounds": 1}, "blocks"),
        ("barrier_ops", {"launches": [[["INIT", 1], ["DEPART"]]]}, r"steps\[1\]"),
        ("barrier_ops", {"launches": []}, "launches"),
    ],
)
def test_bad_cases_are_named_before_any_launch(probe, params, field):
    whole = {**named_case("barrier/armed-right").params, **params} if params and probe == "transfer" else params
    with pytest.raises(InputError, match=f"^{field}="):
        run_case(Case("bad", probe, whole))


@pytest.mark.parametrize("repeats", [0, 1.5, True])
def test_repeats_are_counted_from_one(repeats):
    with pytest.raises(InputError, match="repeats"):
        run_case(named_case("barrier/armed-right"), repeats=repeats)


def test_differing_leaves_equal_arrays_out():
    same, one, two = np.zeros(4), np.array([1, 2, 3]), np.array([1, 9, 3])
    masks = differing([{"same": same, "x": one}, {"same": same, "x": two}])
    assert list(masks) == ["x"]
    assert masks["x"].tolist() == [False, True, False]
