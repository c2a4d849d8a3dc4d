"""What Triton makes of a block: the maps that an H200 recorded, and what it refuses before a driver is asked."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import observe
from tmalab.checker.check import check_text
from tmalab.checker.triton import RECORDED, choose
from tmalab.model.encoded_map import decode

CASES = [f"refusals/{name}/triton" for name in ("low", "past", "edge", "narrow", "wide")]
CASES += ["frontends/triton/host", "frontends/triton/device"]
TENSOR = 'a = torch.empty((4096, 512), dtype=torch.float16, device="cuda")\n'


def program(params):
    """The lines of this package's Triton program for a case, its parameters written in."""
    (rows, cols), (high, wide) = params["shape"], params["box"]
    if params["way"] == "host":
        return f"""
source = torch.empty(({rows}, {cols}), dtype=torch.float16, device="cuda")
rows, cols = {high}, {wide}
descriptor = TensorDescriptor(source, source.shape, [source.shape[1], 1], [rows, cols])
"""
    return f"""
@triton.jit
def device_tile(base, words, rows, cols, row, col, box_rows: tl.constexpr, box_cols: tl.constexpr):
    descriptor = tl.make_tensor_descriptor(base, [rows, cols], [cols, 1], [box_rows, box_cols])
    tile = descriptor.load([row, col])

source = torch.empty(({rows}, {cols}), dtype=torch.float16, device="cuda")
device_tile[(1,)](source, words, {rows}, {cols}, 96, 128, box_rows={high}, box_cols={wide}, num_warps=1)
"""


@pytest.mark.parametrize("case", CASES)
def test_the_program_s_map_is_the_one_that_was_recorded(case):
    seen = observe(case, live=False)
    answer = check_text(program(seen.case.params))
    assert (answer.form, answer.kind, answer.verdict) == ("triton", "triton_descriptor", "accept")
    made = decode(seen.arrays["descriptor"].tobytes())
    for name in ("dtype", "global_dim", "global_strides", "box_dim", "element_strides", "interleave", "swizzle",
                 "l2_promotion", "oob_fill"):  # fmt: skip
        assert getattr(answer.tensor_map, name) == getattr(made, name), name
    assert "recorded on an H200" in answer.notes[0].message


def test_what_is_said_to_be_recorded_is():
    seen = [observe(name, live=False) for name in CASES]
    assert RECORDED == {
        tuple(one.case.params["box"]): decode(one.arrays["descriptor"].tobytes()).swizzle for one in seen
    }


@pytest.mark.parametrize("case", ["refusals/odd/triton", "refusals/tall/triton"])
def test_a_block_that_triton_refused_is_refused(case):
    seen = observe(case, live=False)
    assert seen["raised"]["message"] == "Shape element 0 must be a power of 2"
    answer = check_text(program(seen.case.params))
    assert (answer.verdict, answer.rule, answer.exit_code) == ("reject", "triton_block_shape", 1)
    assert answer.violations[0].field == "block_shape[0]"
    assert not answer.notes


def test_a_stride_that_triton_refused_is_refused_by_the_driver_s_own_rule():
    seen = observe("refusals/stride/triton", live=False)
    assert seen["raised"]["message"] == "strides must be 16-byte aligned"
    answer = check_text(program(seen.case.params))
    assert [found.rule for found in answer.violations] == ["global_stride_multiple_16"]


@pytest.mark.parametrize(("made", "rules"), [
    ("TensorDescriptor(a, [64] * 6, [8] * 5 + [1], [1] * 5 + [64])", {"rank_range_1_5"}),
    ("TensorDescriptor(a, [4096, 512], [512, 2], [128, 64])", {"inner_stride_must_be_1"}),
    ("TensorDescriptor(a, [0, 512], [512, 1], [128, 64])", {"global_dim_range_1_2pow32"}),
    ("tl.make_tensor_descriptor(a, [64, 64], [64, 1], [8, 4])", {"box_inner_bytes_multiple_16"}),
    ("TensorDescriptor(a, [64, 64], [64, 1], [2048, 1024])", {"triton_block_shape"}),
    ("TensorDescriptor(a.to(torch.int32), [64, 64], [64, 1], [8, 8], 'nan')", {"nan_fill_needs_float_dtype"}),
    ("TensorDescriptor(a, [64, 64], [64, 1], [8, 8], padding='nan')", set()),
    ("TensorDescriptor(a, [4096, 512], [512, 1], [24, 48])", {"triton_block_shape"}),
])  # fmt: skip
def test_what_triton_checks_are_rules(made, rules):
    answer = check_text(f"{TENSOR}descriptor = {made}")
    assert {found.rule for found in answer.violations} == rules


def test_what_a_kernel_builds_is_checked_by_nobody():
    answer = check_text(f"{TENSOR}tl.make_tensor_descriptor(a, [64, 60], [60, 1], [8, 8])")
    assert answer.verdict == "reject"
    assert any("built on the device" in note.message for note in answer.notes)


def test_the_type_may_be_said_beside_the_text():
    text = "TensorDescriptor(weights, [4096, 512], [512, 1], [128, 64])"
    answer = check_text(text)
    assert "the text does not say the element type of weights" in str(answer.error)
    assert "weights = torch.empty((4096, 512), dtype=torch.float16)" in answer.error.fix
    assert (answer.error.line, answer.error.column) == (1, 18)
    assert check_text(text, {"dtype": "bfloat16"}).tensor_map.dtype == "bfloat16"
    said = TENSOR + text.replace("weights", "a")
    assert check_text(said, {"dtype": "half"}).tensor_map.dtype == "float16"
    assert "the text says 'float16'" in str(check_text(said, {"dtype": "bfloat16"}).error)
    kernel = text.replace("TensorDescriptor", "tl.make_tensor_descriptor")
    assert "the kernel's one launch" in check_text(kernel).error.fix


def test_a_block_of_several_boxes_says_how_many():
    answer = check_text(f"{TENSOR}TensorDescriptor.from_tensor(a, [512, 128])")
    assert answer.tensor_map.box_dim == (64, 256)
    assert answer.notes[1].message == "Triton copies the block of 512 x 128 as 4 boxes of 256 x 64"


@pytest.mark.parametrize("fields", [
    {"box_shape": []}, {"box_shape": [0, 64]}, {"box_shape": [-8, 64]}, {"box_shape": [10**400, 64]},
    {"box_shape": None}, {"box_shape": "8"}, {"dtype": "16u4_align8b"},
    {"dtype": "float99"}, {"dtype": 6}, {"box_shape": [8]}, {"shape": 1},
])  # fmt: skip
def test_it_can_be_asked_as_json_and_anything_is_an_answer(fields):
    said = {"mode": "triton_descriptor", "dtype": "float16", "shape": [192, 320], "strides_elements": [320, 1],
            "box_shape": [32, 64]}  # fmt: skip
    assert check_text(json.dumps(said)).verdict == "accept"
    check_text(json.dumps(said | fields)).to_dict()


@given(st.lists(st.sampled_from([2**at for at in range(12)]), min_size=1, max_size=5), st.sampled_from([1, 2, 4, 8]))
def test_a_box_divides_its_block_and_fits_its_swizzle(block, size):
    span, box = choose(block, size)
    assert all(one % part == 0 and part <= 256 for one, part in zip(block, box, strict=True))
    assert span == 0 or box[-1] * size == span
