"""Parameters of a transfer: completed where they may be left out, refused by name where nothing can be launched."""

import pytest

from tmalab import TensorMap
from tmalab.errors import InputError
from tmalab.hardware.transfers import MOST_SMEM_BYTES, complete_params, run_transfers, stream_transfers

TM = TensorMap.tiled("float32", (32, 32), (128,), (16, 8))
LOAD = {
    "tensor_map": TM.to_dict(), "direction": "load", "coords": [0, 0], "smem_bytes": 1024,
    "memory": {"pattern": "arange_float32", "bytes": 4096},
}  # fmt: skip


def test_what_is_left_out_is_filled_in():
    whole = complete_params(LOAD)
    assert whole["expect_tx_bytes"] == 512
    assert whole["smem"] == {"pattern": "fill", "value": 0xCD, "bytes": 1024}
    assert (whole["op"], whole["smem_base"], whole["offsets"]) == (None, 0, [])
    assert (whole["descriptor_space"], whole["descriptor_align"], whole["address_offset"]) == ("param", 64, 0)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"smem_bytes": MOST_SMEM_BYTES + 1}, "smem_bytes"),
        ({"smem_bytes": 0}, "smem_bytes"),
        ({"coords": [0]}, "coords"),
        ({"coords": [0, 1.5]}, r"coords\[1\]"),
        ({"coords": [0, True]}, r"coords\[1\]"),
        ({"coords": [0, 2**31]}, r"coords\[1\]"),
        ({"coords": "ab"}, r"coords\[0\]"),
        ({"offsets": [-1]}, r"offsets\[0\]"),
        ({"smem_base": -128}, "smem_base"),
        ({"expect_tx_bytes": 1 << 20}, "expect_tx_bytes"),
        ({"direction": "sideways"}, "direction"),
        ({"direction": "reduce"}, "op"),
        ({"op": "mul"}, "op"),
        ({"descriptor_space": "texture"}, "descriptor_space"),
        ({"descriptor_align": 7}, "descriptor_align"),
        ({"wait_ns": 10**9}, "wait_ns"),
        ({"memory": None, "tensor_map": {**TM.to_dict(), "global_dim": [1] * 6, "global_strides": [16] * 5,
                                         "box_dim": [1] * 6, "element_strides": [1] * 6}}, "rank"),
    ],
)  # fmt: skip
def test_what_cannot_be_launched_is_named(change, field):
    with pytest.raises(InputError, match=f"^{field}=") as raised:
        complete_params({**LOAD, **change})
    assert raised.value.fix


@pytest.mark.parametrize("missing", LOAD)
def test_what_must_be_there(missing):
    with pytest.raises(InputError, match=missing):
        complete_params({name: value for name, value in LOAD.items() if name != missing})


MISALIGNED = {**LOAD, "smem_base": 64}


@pytest.mark.usefixtures("fake_gpu")
class TestMany:
    def test_results_are_in_order_and_a_fault_is_one_of_them(self):
        results = run_transfers([LOAD, MISALIGNED, {**LOAD, "expect_tx_bytes": 528}, LOAD])
        assert [result.error for result in results] == [None, "MISALIGNED_ADDRESS", None, None]
        assert [result.values["completed"] for result in results] == [True, False, False, True]
        assert results[1].arrays == {}
        assert results[3].arrays["smem"].shape == (1024,)

    def test_several_workers_give_the_same(self):
        listed = [{**LOAD, "coords": [4 * i, i]} for i in range(7)] * 12
        one, three = run_transfers(listed), run_transfers(listed, workers=3)
        assert [result.values for result in one] == [result.values for result in three]
        assert all((a.arrays["smem"] == b.arrays["smem"]).all() for a, b in zip(one, three, strict=True))

    def test_faults_on_several_workers_cost_one_transfer_each(self):
        listed = [MISALIGNED if i % 40 == 7 else LOAD for i in range(120)]
        errors = [result.error for result in run_transfers(listed, workers=2)]
        assert [i for i, error in enumerate(errors) if error] == [7, 47, 87]

    def test_a_stream_may_be_left(self):
        stream = stream_transfers([LOAD] * 500, workers=2)
        assert next(stream)[1].error is None
        stream.close()
        assert run_transfers([LOAD])[0].error is None

    def test_a_case_may_be_run_between_two_results(self):
        from tmalab.experiment.case import Case
        from tmalab.hardware import run_case

        seen = 0
        for _ in stream_transfers([LOAD] * 300, workers=1):
            if seen % 100 == 0:
                assert run_case(Case("demo", "transfer", LOAD)).values["completed"]
            seen += 1
        assert seen == 300

    def test_bad_parameters_raise_when_their_turn_comes(self):
        with pytest.raises(InputError, match="coords"):
            list(stream_transfers([LOAD] * 40 + [{**LOAD, "coords": [0]}], workers=1))
