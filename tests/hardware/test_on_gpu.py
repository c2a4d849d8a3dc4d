"""On a Hopper GPU: the engine's bytes, every failure answered in time, and the very next experiment works."""

import time
from statistics import median

import numpy as np
import pytest

from tmalab import TensorMap
from tmalab.experiment.case import Case
from tmalab.experiment.catalogue import case as named_case
from tmalab.experiment.catalogue import tile_figure_case
from tmalab.experiment.transfer_case import transfer_case
from tmalab.hardware import close_worker, load_tile, reduce_tile, run_case, run_transfers, store_tile

pytestmark = pytest.mark.gpu

FLOATS = TensorMap.tiled("float32", (64, 64), (256,), (16, 16))
MEMORY = {"pattern": "random", "seed": 7, "bytes": 16384}


def load_case(tm=FLOATS, coords=(0, 0), **changes):
    return transfer_case("gpu", tm, "load", coords, **{"memory": MEMORY, "smem_bytes": 4096, **changes})


def with_params(case, **changes):
    return Case(case.name, case.probe, {**case.params, **changes})


def test_a_tile_lands_where_the_swizzle_says():
    seen = run_case(tile_figure_case("128B", 3, 64, 256), repeats=3)
    assert seen["completed"]
    assert not seen.undefined
    words = seen["smem"].view(np.uint16)
    row, chunk, base = 2, 5, 256
    place = (base + row * 128) // 128 % 8 ^ chunk
    assert words[(base + row * 128 + place * 16) // 2] == 128 * (3 + row) + 64 + chunk * 8
    assert (seen["smem"][:base] == 0xCD).all()
    assert (seen["smem"][base + 1024 :] == 0xCD).all()


@pytest.mark.parametrize("armed", [1, 512, 1008, 1023, 1025, 1040, 2048, 65536, 1048575])
def test_a_wrong_count_comes_back_within_two_seconds_with_what_arrived(armed):
    run_case(load_case())
    start = time.monotonic()
    seen = run_case(load_case(expect_tx_bytes=armed))
    assert time.monotonic() - start < 2
    assert seen["delivered_bytes"] == 1024
    assert f"armed for {armed} bytes, 1024 arrived" in seen["diagnosis"]
    np.testing.assert_array_equal(seen["smem"], run_case(load_case())["smem"])  # the bytes land all the same


def test_more_than_the_engine_brings_is_never_complete():
    assert not run_case(load_case(expect_tx_bytes=1040))["completed"]


FAULTS = {
    "inner coordinate": (load_case(coords=(1, 0)), "ILLEGAL_INSTRUCTION"),
    "shared base": (load_case(smem_base=64), "MISALIGNED_ADDRESS"),
    "store before the start": (named_case("fault/store-negative-row"), "ILLEGAL_INSTRUCTION"),
    "no such reduction": (named_case("fault/reduce-add-uint8"), "ILLEGAL_INSTRUCTION"),
    "null base": (with_params(load_case(), tensor_map={**FLOATS.to_dict(), "address": 0}), "ILLEGAL_ADDRESS"),
    "descriptor misaligned": (
        with_params(load_case(), descriptor_space="global", descriptor_align=32), "MISALIGNED_ADDRESS",
    ),
    "descriptor in shared memory": (with_params(load_case(), descriptor_space="shared"), "ILLEGAL_ADDRESS"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_its_name_and_the_next_experiment_works(name):
    case, error = FAULTS[name]
    seen = run_case(case)
    assert (seen["error"], seen["completed"]) == (error, False)
    assert "no launch rule of the model foretells" not in seen["diagnosis"]
    assert run_case(load_case())["completed"]


def test_faults_among_many_transfers_cost_one_each():
    good, bad = load_case().params, load_case(coords=(1, 0)).params
    errors = [result.error for result in run_transfers([bad if i % 50 == 20 else good for i in range(200)], workers=2)]
    assert [i for i, error in enumerate(errors) if error] == [20, 70, 120, 170]


@pytest.mark.parametrize("space", ["param", "global", "const"])
def test_the_descriptor_may_lie_in_three_places(space):
    seen = run_case(with_params(load_case(), descriptor_space=space))
    np.testing.assert_array_equal(seen["smem"], run_case(load_case())["smem"])


def test_as_much_shared_memory_as_there_is():
    tm = TensorMap.tiled("float32", (256, 256), (1024,), (256, 200))
    seen = run_case(load_case(tm, memory={**MEMORY, "bytes": 1 << 18}, smem_bytes=231_424))
    assert seen["delivered_bytes"] == 204_800


@pytest.mark.parametrize("variant", ["tma", "plain", "cp_async"])
def test_one_is_added_to_every_element(variant):
    seen = run_case(named_case(f"add_one/{variant}"), repeats=5)
    np.testing.assert_array_equal(seen["b"], seen["a"] + 1)
    assert (seen["stage_cycles"] > 0).all()
    assert seen["registers"] > 0
    assert seen.values["local_bytes"] == 0


def arrays_of(library):
    if library == "numpy":
        return np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    if library == "cupy":
        return pytest.importorskip("cupy").arange(64 * 64, dtype="float32").reshape(64, 64)
    torch = pytest.importorskip("torch")
    return torch.arange(64 * 64, dtype=torch.bfloat16 if library == "torch bfloat16" else torch.float32,
                        device="cuda").reshape(64, 64)  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # torch's and CuPy's own
@pytest.mark.parametrize("library", ["numpy", "cupy", "torch", "torch bfloat16"])
def test_arrays_go_in_and_come_out_in_their_own_kind(library):
    array = arrays_of(library)
    tile = load_tile(array, (8, 16), (4, 24))
    assert type(tile) is type(array)
    assert tile.dtype == array.dtype
    assert bool((tile == array[4:12, 24:40]).all())
    store_tile(array, tile + 1, (0, 0))
    assert bool((array[:8, :16] == tile + 1).all())
    reduce_tile(array, tile, (0, 0), "add")
    assert bool((array[:8, :16] == tile + 1 + tile).all())


def test_a_warm_worker_answers_within_ten_milliseconds():
    case, took = load_case(), []
    for _ in range(23):
        start = time.perf_counter()
        run_case(case)
        took.append(time.perf_counter() - start)
    assert median(took[3:]) < 0.010


def test_the_first_call_with_an_empty_cache_takes_at_most_four_seconds(tmp_path, monkeypatch):
    close_worker()
    monkeypatch.setenv("TMALAB_CACHE", str(tmp_path))
    start = time.perf_counter()
    assert run_case(load_case())["completed"]
    assert time.perf_counter() - start < 4
    close_worker()
