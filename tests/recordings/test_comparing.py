"""The judge: silent where hardware and model agree, and exact about where they do not."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab.errors import NoHopperGpuError
from tmalab.experiment import catalogue, generator
from tmalab.experiment.transfer_case import transfer_case
from tmalab.hardware.transfers import TransferResult
from tmalab.model.tensor_map import TensorMap
from tmalab.recordings import comparing

LOAD = catalogue.case("tile/128B/r3/c8/b896")
STORE = catalogue.case("edges/store-clip")
REDUCE = catalogue.case("edges/reduce-add")
FAULT = catalogue.case("fault/inner-coordinate-1")


def agreeing(case, **values) -> TransferResult:
    """What a GPU would answer if the model were right."""
    foretold = comparing.foretold_faults(case)
    if foretold:
        return TransferResult({"completed": False, "error": foretold[0].cuda_error})
    name = "smem" if case.params["direction"] == "load" else "memory"
    given = {"completed": True, "error": None, "waited_ns": 900}
    if name == "smem":
        given["delivered_bytes"] = TensorMap.from_dict(case.params["tensor_map"]).transaction_bytes()
    return TransferResult({**given, **values}, {name: comparing.expected_bytes(case).copy()})


@pytest.mark.parametrize("case", [LOAD, STORE, REDUCE, FAULT], ids=lambda case: case.name)
def test_agreement_is_silent(case):
    assert comparing.judge_transfer(case, agreeing(case)) == []


@pytest.mark.parametrize("case", [LOAD, STORE, REDUCE], ids=lambda case: case.name)
def test_one_flipped_byte_is_found_and_named(case):
    result = agreeing(case)
    ((name, array),) = result.arrays.items()
    was = int(array[1234])
    array[1234] ^= 1
    assert comparing.judge_transfer(case, result) == [
        {"what": name, "differing": 1, "at": [1234], "hardware": [was ^ 1], "model": [was]}
    ]


def test_a_dump_of_another_size_is_found():
    result = agreeing(LOAD)
    result.arrays["smem"] = result.arrays["smem"][:-1]
    assert comparing.judge_transfer(LOAD, result)[0]["hardware"] == [3071]


@pytest.mark.parametrize(
    ("case", "error"), [(FAULT, None), (FAULT, "MISALIGNED_ADDRESS"), (LOAD, "ILLEGAL_INSTRUCTION"), (LOAD, "TIMEOUT")]
)
def test_another_fault_than_foretold_is_found(case, error):
    result = TransferResult({"completed": error is None, "error": error}, {"smem": np.zeros(3072, np.uint8)})
    (wrong,) = comparing.judge_transfer(case, result)
    assert wrong["what"] == "fault"
    assert wrong["hardware"] == error


@pytest.mark.parametrize(
    ("values", "what"), [({"completed": False}, ["completed"]), ({"delivered_bytes": 1023}, ["delivered_bytes"])]
)
def test_another_count_on_the_barrier_is_found(values, what):
    assert [wrong["what"] for wrong in comparing.judge_transfer(LOAD, agreeing(LOAD, **values))] == what


def armed(expect_tx_bytes: int):
    tensor_map = TensorMap.from_dict(LOAD.params["tensor_map"])
    return transfer_case(
        "demo", tensor_map, "load", (0, 0), memory=catalogue.TILE_MEMORY, smem_bytes=3072,
        expect_tx_bytes=expect_tx_bytes,
    )  # fmt: skip


def test_too_many_armed_bytes_must_not_complete():
    assert comparing.judge_transfer(armed(1040), agreeing(armed(1040), completed=False)) == []
    assert comparing.judge_transfer(armed(1040), agreeing(armed(1040)))[0]["what"] == "completed"


@pytest.mark.parametrize("completed", [True, False])
def test_too_few_armed_bytes_may_do_either(completed):
    assert comparing.judge_transfer(armed(1008), agreeing(armed(1008), completed=completed)) == []


def test_what_could_not_be_run_is_a_disagreement():
    (wrong,) = comparing.judge_transfer(LOAD, TransferResult({"error": None}, raised="the driver answered no"))
    assert wrong == {"what": "not run", "hardware": "the driver answered no"}


def test_a_model_that_raises_is_a_disagreement(monkeypatch):
    monkeypatch.setattr("tmalab.model.transfer.load", lambda *args, **options: 1 / 0)
    (wrong,) = comparing.judge_transfer(LOAD, TransferResult({"error": None}, {"smem": np.zeros(3072, np.uint8)}))
    assert wrong == {"what": "the model raised", "model": "ZeroDivisionError: division by zero"}


def test_a_tensor_may_start_within_its_memory():
    tensor_map = TensorMap.from_dict(STORE.params["tensor_map"])
    options = {"memory": {"pattern": "random", "seed": 1, "bytes": 8192}, "smem_bytes": 1024}
    options["smem"] = {"pattern": "random", "seed": 2, "bytes": 1024}
    at_start = transfer_case("a", tensor_map, "store", (16, 0), **options)
    later = transfer_case("b", tensor_map, "store", (16, 0), address_offset=256, **options)
    changed = np.flatnonzero(comparing.expected_bytes(at_start) != comparing._bytes_of(options["memory"]))
    changed_later = np.flatnonzero(comparing.expected_bytes(later) != comparing._bytes_of(options["memory"]))
    assert set((changed + 256).tolist()) ^ set(changed_later.tolist()) < set(range(8192))  # equal but for luck
    assert changed_later.min() >= 256


# --- chunks ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def hardware(monkeypatch):
    """Hardware that is the model: it agrees, but for the transfers and descriptors that a test spoils."""
    spoiled: set[int] = set()

    def run_transfers(listed, *, deadline_s):
        results = [agreeing(case_of(params)) for params in listed]
        for position in spoiled & set(range(len(results))):
            results[position] = TransferResult({"completed": False, "error": "INVALID_VALUE"})
        return results

    def case_of(params):
        return comparing.Case("", "transfer", params)

    monkeypatch.setattr("tmalab.hardware.transfers.run_transfers", run_transfers)
    monkeypatch.setattr("tmalab.hardware.encode.driver_verdict", lambda tensor_map: not tensor_map.violations())
    return spoiled


def test_a_chunk_of_transfers_counts_and_keeps_golden_records(hardware):
    found = comparing.compare_chunk("transfers", seed=1, chunk=0, count=40, golden_every=10)
    assert found["disagreements"] == []
    assert [found[name] for name in ("kind", "chunk", "count", "golden_every")] == ["transfers", 0, 40, 10]
    names = [record["case"]["name"] for record in found["golden"]]
    assert {f"random/1/0/{position}" for position in (0, 10, 20, 30)} <= set(names)
    assert all(len(record["sha256"]) == 64 for record in found["golden"] if record["error"] is None)
    assert sum(found["counts"][name] for name in found["counts"] if name.endswith((" load", " store"))) > 0


def test_a_disagreement_is_kept_whole(hardware):
    hardware.add(3)
    found = comparing.compare_chunk("transfers", seed=1, chunk=0, count=8, golden_every=100)
    (record,) = found["disagreements"]
    assert record["case"] == generator.transfers(1, 0, 4)[3].to_dict()
    assert record["wrong"] == [{"what": "fault", "hardware": "INVALID_VALUE", "model": []}]


@pytest.mark.parametrize("dies", [1, 2])
def test_a_worker_that_died_is_asked_once_more(hardware, monkeypatch, dies):
    asked: list[int] = []

    def run_transfers(listed, *, deadline_s):
        asked.append(len(listed))
        results = [agreeing(comparing.Case("", "transfer", params)) for params in listed]
        if len(asked) <= dies:
            results[0] = TransferResult({"completed": False, "error": "WORKER_DIED"})
        return results

    monkeypatch.setattr("tmalab.hardware.transfers.run_transfers", run_transfers)
    found = comparing.compare_chunk("transfers", seed=1, chunk=0, count=4, golden_every=100)
    assert asked == [4, 1]
    assert len(found["disagreements"]) == dies - 1


def test_a_chunk_of_descriptors_counts_rules_and_those_broken_alone(hardware):
    found = comparing.compare_chunk("descriptors", seed=1, chunk=0, count=400, golden_every=100)
    counts = found["counts"]
    assert found["disagreements"] == []
    assert counts["accepted"] + counts["refused"] == 400
    assert len(found["golden"]) == 4
    alone = [name for name in counts if name.startswith("alone ")]
    assert alone
    assert all(counts[name] <= counts[f"rule {name.removeprefix('alone ')}"] for name in alone)


def test_a_verdict_that_differs_is_kept_with_its_rules(hardware, monkeypatch):
    monkeypatch.setattr("tmalab.hardware.encode.driver_verdict", lambda tensor_map: True)
    found = comparing.compare_chunk("descriptors", seed=1, chunk=0, count=100, golden_every=100)
    assert 20 < len(found["disagreements"]) < 80
    assert all(record["accepted"] and record["rules"] for record in found["disagreements"])


def test_hardware_that_cannot_be_asked_is_an_error_that_travels(monkeypatch):
    def none_here(tensor_map):
        raise NoHopperGpuError("no NVIDIA driver library")

    monkeypatch.setattr("tmalab.hardware.encode.driver_verdict", none_here)
    with pytest.raises(comparing.HardwareError, match="no NVIDIA driver library"):
        comparing.compare_chunk("descriptors", seed=1, chunk=0, count=1, golden_every=1)
