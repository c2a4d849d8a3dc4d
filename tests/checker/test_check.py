"""The one function that the command line and the page share: verdicts, batches, options, and its JSON."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmalab.checker import Answer, Options, answers, check_json, check_text
from tmalab.checker.check import MOST_UNREADABLE
from tmalab.cli import report
from tmalab.errors import InputError
from tmalab.inputs.field_names import CANONICAL
from tmalab.inputs.words import WORDS

ROOT = Path(__file__).parents[2]
MAP = {"dtype": "float16", "global_dim": [128, 16], "global_strides": [256], "box_dim": [64, 8], "swizzle": "128B"}
BAD = MAP | {"box_dim": [96, 8]}


def check(said, **options) -> Answer:
    return check_text(said if isinstance(said, str) else json.dumps(said), options)


def test_legal_illegal_unreadable():
    assert (check(MAP).verdict, check(MAP).exit_code) == ("accept", 0)
    assert (check(BAD).verdict, check(BAD).exit_code) == ("reject", 1)
    assert (check("nonsense").verdict, check("nonsense").exit_code) == ("unreadable", 2)


def test_every_rule_is_reported_and_not_only_the_first():
    broken = check(BAD | {"global_strides": [250], "address": 8, "element_strides": [1, 9], "oob_fill": "nan"})
    assert [violation.rule for violation in broken.violations] == [
        "base_address_align_16", "global_stride_multiple_16", "element_stride_range_1_8", "box_inner_le_swizzle_span",
    ]  # fmt: skip


def test_warnings_change_no_verdict():
    answer = check(
        MAP | {"storage_bytes": 100, "smem_base": 128, "expect_tx_bytes": 2048, "address": 0, "coords": [0, 0]}
    )
    assert {warning.rule for warning in answer.warnings} >= {
        "descriptor_extent_exceeds_allocation", "smem_pattern_alignment", "expect_tx_equals_delivered",
        "null_global_address",
    }  # fmt: skip
    without = check(MAP | {"storage_bytes": 100, "smem_base": 128, "expect_tx_bytes": 2048})
    assert (without.verdict, without.exit_code) == ("accept", 0)


@pytest.mark.parametrize(("said", "rule", "error"), [
    ({"coords": [3, 0]}, "inner_coordinate_16B", "ILLEGAL_INSTRUCTION"),
    ({"coords": [0, -1], "direction": "store"}, "store_coordinate_not_negative", "ILLEGAL_INSTRUCTION"),
    ({"op": "xor"}, "reduction_op_and_type", "ILLEGAL_INSTRUCTION"),
    ({"smem_base": 64}, "smem_dst_align_128", "MISALIGNED_ADDRESS"),
    ({"smem_base": 128, "smem_bytes": 1024}, "box_past_shared_memory", "ILLEGAL_ADDRESS"),
    ({"descriptor_space": "local"}, "descriptor_must_be_param_const_or_global", "ILLEGAL_ADDRESS"),
    ({"descriptor_align": 32}, "tensormap_address_align_64", "MISALIGNED_ADDRESS"),
])  # fmt: skip
def test_faults_of_the_engine_are_foretold_where_the_copy_is_known(said, rule, error):
    answer = check(MAP | said)
    assert (answer.verdict, answer.rule, answer.exit_code) == ("fault", rule, 1)
    assert answer.faults[0].cuda_error == error
    as_option = check(MAP, **said)
    assert as_option.faults == answer.faults


def test_a_descriptor_s_own_fields_win_over_options():
    assert check(MAP | {"coords": [0, 0]}, coords=[3, 0]).verdict == "accept"


@pytest.mark.parametrize("said", [
    MAP, {"mode": "dlpack", "dtype": "float16", "shape": [16, 128], "box_shape": [8, 64]},
    {"mode": "layout_query", "dtype": "float16", "layout": "(8,64):(64,1)"},
])  # fmt: skip
def test_two_architectures_are_a_contradiction(said):
    text = json.dumps(said | {"arch": "sm_100"}, indent=0)
    error = check(text, arch="sm_90").error
    assert (error.field, error.value, error.limit) == ("arch", "sm_100", "sm_90")
    assert text[error.offset :].startswith('"sm_100"')
    assert error.fix == "leave out --arch, or the arch in the text"
    assert check(text, arch="sm100a").error is None
    assert check(text).error is None


def test_a_variant_s_architecture_may_not_contradict_either():
    variants = {"mode": "tiled_set", "variants": [MAP, MAP | {"arch": "sm_100"}]}
    assert check(variants, arch="sm_90").error.field == "arch"
    assert check(variants).verdict == "accept"


def test_without_smem_bytes_the_most_that_a_block_can_have_is_the_limit():
    most = 227 * 1024
    assert check(MAP | {"smem_base": most - 1024}).verdict == "accept"
    for said in ({"smem_base": most - 896}, {"smem_base": 1 << 20, "smem_bytes": 1 << 21}):
        answer = check(MAP | said)
        [fault] = answer.faults
        assert (answer.verdict, fault.rule, fault.field) == ("fault", "box_past_shared_memory", "smem_base")
        assert (fault.value, fault.limit) == (said["smem_base"] + 1024, most)
        assert fault.fix == "Use at most 231424, or a smaller box."
        assert "the block has at most 232448 bytes" in fault.message
    assert check({"mode": "launch_operand", "smem_offset": most}).rule == "box_past_shared_memory"


def test_a_box_that_no_block_can_hold_has_no_better_place():
    large = {"dtype": "uint8", "global_dim": [256] * 3, "global_strides": [256, 65536], "box_dim": [256, 228, 4]}
    [fault] = check(large | {"coords": [0, 0, 0]}).faults
    assert (fault.value, fault.fix) == (228 * 1024, "Use a smaller box.")


@pytest.mark.parametrize("expected", [2048, 1 << 64, 10**4000], ids=["more", "65 bits", "4001 digits"])
def test_a_barrier_that_is_armed_for_far_too_much_is_told_too(expected):
    [warning] = check(MAP | {"expect_tx_bytes": expected}).warnings
    assert (warning.rule, warning.value, warning.limit) == ("expect_tx_equals_delivered", expected, 1024)
    assert "is never completed" in warning.message
    assert len(warning.message) < 200


@pytest.mark.parametrize("said", [
    {"rank": "2"}, {"rank": True}, {"rank": 3}, {"mode": "tiled_set", "variants": 5},
    {"mode": "dlpack", "dtype": "float16", "shape": [16, 128], "strides_elements": [128]},
    {"mode": "dlpack", "dtype": "float16", "shape": [16, 128], "box_shape": [8]},
])  # fmt: skip
def test_what_does_not_fit_is_told_with_a_fix(said):
    error = check({**(MAP if "rank" in said else {}), **said}).error
    assert error.field in said
    assert error.fix
    assert not isinstance(said.get("rank"), str) or error.message == "not an integer"


@pytest.mark.parametrize("field", ["storage_bytes", "smem_bytes"])
def test_a_number_of_bytes_is_not_negative(field):
    error = check(MAP | {field: -1}).error
    assert (error.field, error.value, error.limit, error.fix) == (field, -1, 0, "give 0 or more")
    assert check(MAP | {field: 0}).error is None


@pytest.mark.parametrize("kind", ["tiled", "im2col"])
def test_an_element_stride_that_the_engine_ignores_changes_no_size(kind):
    image = {
        "dtype": "float16", "global_dim": [64, 8, 8], "global_strides": [128, 1024], "lower_corner": [0],
        "upper_corner": [0], "channels_per_pixel": 64, "pixels_per_column": 8,
    }  # fmt: skip
    fields = (MAP if kind == "tiled" else image) | {"arch": "sm_100", "expect_tx_bytes": 1024}
    first, rest = [0], [1] * (len(fields["global_dim"]) - 1)
    answer = check(fields | {"element_strides": first + rest})
    assert (answer.verdict, answer.warnings[-1].rule) == ("accept", "inner_element_stride_ignored")
    assert answer.numbers == check(fields).numbers
    refused = check(fields | {"element_strides": first + rest, "arch": "sm_90"})
    assert (refused.rule, refused.numbers) == ("element_stride_range_1_8", answer.numbers)
    used = check(fields | {"element_strides": [1, 0, 1][: len(rest) + 1], "arch": "sm_90"})
    assert (used.rule, used.numbers) == ("element_stride_range_1_8", {})


def test_a_batch_keeps_its_order_and_counts():
    answer = check("\n".join(map(json.dumps, (MAP, BAD, {"box": 1}, MAP))))
    assert [part.verdict for part in answer.parts] == ["accept", "reject", "unreadable", "accept"]
    assert [part.line for part in answer.parts] == [1, 2, 3, 4]
    assert answer.facts == {"count": 4, "legal": 2, "illegal": 1, "unreadable": 1}
    assert answer.exit_code == 2


def test_a_batch_of_garbage_is_given_up():
    assert len(check('{"x": 1}\n' * 1000).parts) == MOST_UNREADABLE


@pytest.mark.parametrize("other", [
    {"mode": "dlpack", "dtype": "float16", "shape": [16, 128], "strides_elements": [128, 1], "box_shape": [8, 64]},
    {"mode": "dlpack", "dtype": "float16", "shape": [16, 128], "strides_bytes": [256, 2], "box_shape": [8, 64]},
    {"mode": "dlpack", "dtype": "float16", "shape": [16, 128], "box_shape": [8, 64]},
])  # fmt: skip
def test_an_array_is_its_map_with_the_dimensions_turned_around(other):
    answer = check(other | {"swizzle": "128B"})
    assert answer.verdict == "accept"
    assert answer.tensor_map == check(MAP).tensor_map


@pytest.mark.parametrize(("shape", "strides", "rules"), [
    ([64], [2], ["inner_stride_must_be_1"]), (["L", 128], [128, 2], ["inner_stride_must_be_1"]),
    ([16, 1], [8, 5], []), ([16, 100], [100, 1], ["global_stride_multiple_16"]), (["L", 128], ["S", 1], []),
    ([128, 16], [1, 128], ["inner_stride_must_be_1"]), ([4, 128], [-128, 1], ["global_stride_range_0_2pow40"]),
    ([2] * 6, [32, 16, 8, 8, 8, 1], ["rank_range_1_5"]), ([], [], ["rank_range_1_5"]),
])  # fmt: skip
def test_a_view_without_a_box_is_asked_no_rule_about_boxes(shape, strides, rules):
    answer = check({"mode": "dlpack", "dtype": "float16", "shape": shape, "strides_elements": strides})
    assert [violation.rule for violation in answer.violations] == rules
    assert answer.tensor_map is None


def test_byte_offsets_move_the_base():
    view = {"mode": "dlpack", "dtype": "float32", "shape": [1024]}
    assert check(view | {"byte_offset": 4}).rule == "base_address_align_16"
    assert check(view | {"byte_offset": 32}).rule is None


def test_a_transposed_view_is_told_which_dimension_is_contiguous():
    answer = check({"mode": "dlpack", "dtype": "float16", "shape": [128, 16], "strides_elements": [1, 128]})
    assert "Dimension 0 is the contiguous one" in answer.violations[0].fix


@pytest.mark.parametrize(
    ("name", "value"), [("arch", "sm_75"), ("arch", 90), ("form", "yaml"), ("swizle", "128B"), ("form", [])]
)
def test_an_unknown_option_is_an_error_of_the_caller(name, value):
    with pytest.raises(InputError, match="unknown"):
        check(MAP, **{name: value})


@pytest.mark.parametrize("arch", ["sm_100", "sm100", "sm_100a", "SM_100F"])
def test_other_architectures_have_other_rules_and_say_that_they_were_read(arch):
    packed = {"dtype": "16u4_align8b", "global_dim": [256, 128], "global_strides": [128], "box_dim": [128, 64]}
    assert check(packed).rule == "packed_type_needs_sm100"
    assert check(packed, arch=arch).verdict == "accept"
    [violation] = check(packed | {"global_strides": [100]}, arch=arch).violations
    assert "not measured on sm_100" in violation.source


def test_a_load_mode_of_blackwell():
    assert check(MAP, arch="sm_100", load_mode="tile::gather4").rule == "gather4_box_is_one_row"
    assert "unknown load mode" in str(check(MAP | {"load_mode": ["x"]}).error)


def test_a_wrong_load_mode_is_told_by_its_own_name_and_place():
    # `mode` is the kind of the question; an error that named it would send the reader to the wrong key.
    text = json.dumps({"mode": "tiled", **MAP, "arch": "sm_100", "load_mode": "tile::gather5"})
    other = text.replace("tile::gather5", "im2col::w")
    for said, message in ((text, "unknown load mode"), (other, "has no load mode")):
        error = check_text(said).error
        assert str(error.field) == "load_mode"
        assert message in error.message
        assert said[error.offset :].startswith('"tile::gather5"' if said == text else '"im2col::w"')
    error = check(MAP, arch="sm_100", load_mode="tile::gather5").error
    assert error.reason.startswith("load_mode='tile::gather5': unknown load mode")


# --- what leaves the package ------------------------------------------------------------------------------------------


def test_the_json_says_everything_and_its_schema():
    made = json.loads(check_json(json.dumps(BAD)))
    assert (made["schema"], made["verdict"], made["legal"], made["rule"]) == (
        1,
        "reject",
        False,
        "box_inner_le_swizzle_span",
    )
    assert set(made["violations"][0]) == {"rule", "field", "value", "limit", "message", "fix", "source"}
    assert made["tensor_map"]["box_dim"] == [96, 8]
    assert made["facts"]["transaction_bytes"] == 96 * 8 * 2
    assert made["line"] == 1


def test_the_page_s_function_raises_nothing():
    for options in ("[]", "{", '{"arch": "sm_1"}', '{"coords": [1]}', "{" * 10**5):
        assert json.loads(check_json(json.dumps(MAP), options))["verdict"] == "unreadable"
    assert json.loads(check_json(json.dumps(MAP), '{"coords": [3, 0]}'))["verdict"] == "fault"


def test_numbers_that_json_cannot_hold_are_told_by_their_size():
    made = json.loads(check_json('{"dtype": "uint8", "global_dim": [' + "9" * 4000 + '], "box_dim": [16]}'))
    assert made["violations"][0]["value"] == "<integer of 13288 bits>"


def test_a_million_dimensions_are_one_broken_rule():
    ones = json.dumps([1] * 10**6)
    strides = json.dumps([16] * (10**6 - 1))
    text = f'{{"dtype": "float16", "global_dim": {ones}, "global_strides": {strides}, "box_dim": {ones}}}'
    answer = check_text(text)
    assert answer.rule == "rank_range_1_5"
    assert len(json.dumps(answer.to_dict())) < 50_000


# A worker of the book loads these and nothing else of the package.
BUNDLED = ("tmalab.checker", "tmalab.inputs", "tmalab.model", "tmalab.errors", "tmalab")


def test_the_checker_needs_no_numpy_and_little_of_the_standard_library():
    program = """
import sys
before = set(sys.modules)
from tmalab.checker import check_json
for text in open(0).read().split("\\0"):
    check_json(text)
print(*sorted(set(sys.modules) - before))
"""
    texts = [
        json.dumps(MAP), "--dtype half", "Sw<3,4,3> o 0 o (8,64):(64,1)", "16,128:128,1:float16",
        "cuTensorMapEncodeTiled(",
        "TMA Desc Addr: 0x10\nformat  6\ndim  2\n", "TMA Desc Addr: 0x10\nglobalDim      [1]\n", "?",
        '{"mode": "launch_operand"}', '{"mode": "tile_partition"}', '{"mode": "layout_query"}', '{"boxdmi": 1}',
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, input="\0".join(texts), capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    ours = [name for name in loaded if name.split(".")[0] == "tmalab"]
    assert all(name.startswith(BUNDLED) for name in ours), ours
    assert not any(
        name.startswith(("tmalab.cli", "tmalab.figures", "tmalab.experiment", "tmalab.hardware")) for name in ours
    )
    heavy = {
        "numpy",
        "rich",
        "argparse",
        "dataclasses",
        "inspect",
        "subprocess",
        "asyncio",
        "ctypes",
        "socket",
        "pathlib",
    }
    assert not heavy & {name.split(".")[0] for name in loaded}


# --- nothing breaks it ------------------------------------------------------------------------------------------------

NUMBERS = st.integers(-(2**65), 2**65) | st.sampled_from([0, 1, 16, 64, 128, 256, 2**32, 2**63, 10**3000])
LISTS = st.lists(NUMBERS, max_size=7)
VALUES = NUMBERS | LISTS | st.none() | st.booleans() | st.floats() | st.text(max_size=8)
VALUES |= st.sampled_from([word for words in WORDS.values() for word in words] + ["store", "reduce", "add", "L"])
OBJECTS = st.dictionaries(
    st.sampled_from(sorted(CANONICAL)), VALUES | st.dictionaries(st.text(), VALUES, max_size=3), max_size=12
)
MODES = st.sampled_from(
    [
        "tiled",
        "im2col",
        "dlpack",
        "launch_operand",
        "layout_query",
        "descriptor_location",
        "tile_partition",
        "tiled_set",
    ]
)


@settings(deadline=None, max_examples=400)
@given(OBJECTS, MODES | st.none())
def test_any_fields_get_an_answer(fields, mode):
    fields = {name: value for name, value in fields.items() if CANONICAL[name] != "kind"}
    answer = check_text(json.dumps(fields | ({"mode": mode} if mode else {})))
    assert answer.verdict
    assert report.plain(answer)
    assert report.line(answer)
    json.loads(json.dumps(answer.to_dict(), allow_nan=True))
    json.loads(json.dumps(answer.to_line(), allow_nan=True))


@settings(deadline=None)
@given(st.text() | st.text(alphabet='Sw<3,4>o 0(8:64)_={}[]"-\n;,cuTensorMapEncodeTiled', max_size=200))
def test_any_text_gets_an_answer(text):
    for answer in answers(text, Options()):
        assert report.plain(answer)
        assert (answer.exit_code == 2) == (answer.error is not None)


@settings(deadline=None, max_examples=300)
@given(LISTS, LISTS, LISTS, LISTS, st.sampled_from(WORDS["dtype"]), st.sampled_from(WORDS["swizzle"]))
def test_any_integers_get_a_verdict(dims, strides, box, coords, dtype, swizzle):
    rank = len(dims)
    fit = [(given_list + [16] * rank)[:rank] for given_list in (strides, box, coords)]
    made = {
        "dtype": dtype, "global_dim": dims, "global_strides": fit[0][1:], "box_dim": fit[1], "swizzle": swizzle,
        "coords": fit[2], "storage_bytes": 100, "expect_tx_bytes": 5, "live_rows": 3, "direction": "store",
    }  # fmt: skip
    answer = check_text(json.dumps(made))
    assert answer.verdict in ("accept", "reject", "fault")
    assert report.plain(answer)
