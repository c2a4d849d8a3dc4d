"""Flags, array specifications, CuTe layouts, words and names; and which form a text is taken for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab.errors import InputError
from tmalab.inputs import array_spec, cute_layout, flags
from tmalab.inputs.detect import FORM_NAMES, read_text
from tmalab.inputs.field_names import canonical, close_to
from tmalab.inputs.numbers import integer_text, list_text
from tmalab.inputs.position import Position, UnreadableError, position_of
from tmalab.inputs.words import WORDS, enumerator, word
from tmalab.model.tensor_map import TensorMap

FLAGS = "tmalab check --dtype float16 --global-dim 128,16 --global-strides 256 --box-dim 64,8 --swizzle 128B"


@pytest.mark.parametrize("text", [
    FLAGS, FLAGS.removeprefix("tmalab check "), "$ " + FLAGS, FLAGS.replace("128,16", "128 16"),
    FLAGS.replace("--box-dim 64,8", "--box-dim=64,8"), FLAGS.replace("64,8", '"(64, 8)"'),
    FLAGS.replace(" --box", " \\\n  --box"), FLAGS.replace("box-dim", "boxDim"),
])  # fmt: skip
def test_flags_in_every_spelling(text):
    [reading] = read_text(text)
    assert reading.form == "flags"
    assert reading.tensor_map() == TensorMap.tiled("float16", (128, 16), (256,), (64, 8), swizzle="128B")


@pytest.mark.parametrize(("text", "words"), [
    (FLAGS + " --box-dim 32", "a second time"), (FLAGS + " --box 32", "a second time"),
    (FLAGS + " --array 64,64::float32", "--array says it already"),
    (FLAGS + " --layout (8,64):(64,1)", "--layout says it already"), (FLAGS + " --op add", "only a reduction has one"),
])  # fmt: skip
def test_flags_that_contradict_each_other_are_refused(text, words):
    [error] = read_text(text)
    assert isinstance(error, UnreadableError)
    assert words in str(error)


def test_a_partition_s_modes_are_a_list():
    assert flags.read("--mode cute_partition --group-modes 0,2").fields["group_modes"] == [0, 2]


def test_negative_values_are_values():
    fields = flags.read("--lower-corner -1,-1 --upper-corner=-2,-2 --coords -8 0").fields
    assert fields == {"lower_corner": [-1, -1], "upper_corner": [-2, -2], "coords": [-8, 0]}


@pytest.mark.parametrize(("text", "place", "words"), [
    (FLAGS + " --swizlle 64B", "--swizlle", "--swizzle"),
    ("--dtype float16 --global-dim 64 --box-dim 64,x.5", "--box-dim 64,x", "not an integer"),
    ("--dtype float16 --rank two", "--rank", "not an integer"), ("tmalab check", "tmalab", "without flags"),
    ("tmalab check --array 16:1", "--array", "2 parts"),
])  # fmt: skip
def test_a_wrong_flag_is_reported_where_it_stands(text, place, words):
    [error] = read_text(text)
    assert isinstance(error, UnreadableError)
    assert words in str(error)
    assert text[error.offset :].startswith(place)


@pytest.mark.parametrize(("text", "name", "strides"), [
    ("16,128:128,1:float16", "strides_elements", [128, 1]), ("(16,128):(128,1):float16", "strides_elements", [128, 1]),
    ("16,128:256B,2B:float16", "strides_bytes", [256, 2]), ("L,128:256 B, 2 B:float16", "strides_bytes", [256, 2]),
])  # fmt: skip
def test_an_array_s_strides_are_elements_unless_they_say_bytes(text, name, strides):
    assert array_spec.read(text).fields[name] == strides


@pytest.mark.parametrize(("text", "column", "words"), [
    ("16,128:256B,2:float16", 8, "some strides are in bytes"), ("16,1.5:1:float16", 1, "not an integer"),
    (":1:float16", 1, "at least one dimension"),
])  # fmt: skip
def test_a_wrong_array_is_reported_at_its_part(text, column, words):
    with pytest.raises(UnreadableError, match=words) as raised:
        array_spec.read(text)
    assert raised.value.column == column


@pytest.mark.parametrize("text", [
    "Sw<3,4,3> o 0 o (8,64):(64,1)", "S<3,4,3> o 0 o (8,64):(64,1)", "Swizzle<3,4,3> o _0 o (_8,_64):(_64,_1)",
    "  Sw<3, 4, 3>  o 0 o  ( 8 , 64 ):( 64 , 1 )", "Sw<3,4,3> o (8,64):(64,1)", "Sw<3,4,3> ∘ 0 ∘ (8,64):(64,1)",
    "composition(Swizzle<3,4,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{})",
    "ComposedLayout<Swizzle<3,4,3>,_0,Layout<Shape<Int<8>,Int<64>>,Stride<Int<64>,Int<1>>>>",
])  # fmt: skip
def test_a_layout_in_every_spelling(text):
    assert cute_layout.parse(text) == cute_layout.CuteLayout((3, 4, 3), 0, None, (((8, 64),), ((64, 1),)))
    assert [reading.form for reading in read_text(text)] == ["cute"]


@pytest.mark.parametrize("text", [
    "Sw<3,4,3> o smem_ptr[16b](unset) o ((8,16),64):((64,512),1)",
    "Sw<3,4,3>_smem_ptr[16b](unset) o ((8,16),64):((64,512),1)",
])  # fmt: skip
def test_a_pointer_says_the_element_s_bits(text):
    assert cute_layout.parse(text).element_bits == 16
    assert cute_layout.parse(text).modes == (((8, 64), (16, 512)), ((64, 1),))


@pytest.mark.parametrize(("text", "column", "words"), [
    ("Sw<3,4,3> o 0 (8,64):(64,1)", 15, "expected"), ("Sw<3,4,3> (8,64):(64,1)", 11, "expected ' o '"),
    ("(8,64):(64)", 8, "structure"), ("(8,64:(64,1)", 6, "expected"), ("(8,64):(1@0,1@1)", 10, "coordinates"),
    ("(8,64):(64,1) x", 14, "more after"), ("(8,x):(64,1)", 4, "expected an integer"), ("(" * 40 + "8", 18, "deeply"),
    ("(8," + "9" * 20 + "):(64,1)", 4, "an integer of 20 digits"),
])  # fmt: skip
def test_a_broken_layout_is_reported_at_its_column(text, column, words):
    with pytest.raises(UnreadableError, match=words) as raised:
        cute_layout.parse(text)
    assert raised.value.column == column


ARRAY, LAYOUT = "16,128:128,1:float16", "Sw<3,4,3> o 0 o (8,64):(64,1)"
BARE = FLAGS.removeprefix("tmalab check ")


@pytest.mark.parametrize(("text", "form", "lines"), [
    (f"{FLAGS}\n{FLAGS}\n", "flags", [1, 2]), (f"$ {FLAGS}\n\n$ {FLAGS}", "flags", [1, 3]),
    (f"{BARE}\n{BARE}\r\n{BARE}", "flags", [1, 2, 3]), (f"--array {ARRAY}\n--layout (8,64):(64,1)", "flags", [1, 2]),
    (f"{FLAGS.replace(' --box', chr(92) + chr(10) + '  --box')}\n{FLAGS}", "flags", [1, 3]),
    (f"{BARE}\n--box-dim 64,8 --dtype half --global-dim 128,16 --global-strides 256", "flags", [1, 2]),
    (f"{ARRAY}\n  8,64::half\n", "array", [1, 2]), (f"\n{ARRAY}\n\n{ARRAY}\n{ARRAY}", "array", [2, 4, 5]),
    (f"{LAYOUT}\n(8,64):(64,1)", "cute", [1, 2]), (f"{LAYOUT}\n{LAYOUT}\n", "cute", [1, 2]),
    ("Layout<Shape<_8,_64>,Stride<_64,_1>>\nLayout<Shape<_8,_32>,Stride<_32,_1>>", "cute", [1, 2]),
])  # fmt: skip
def test_each_line_is_a_question_of_its_own(text, form, lines):
    readings = list(read_text(text))
    assert {reading.form for reading in readings} == {form}
    assert [position_of(text, reading.offset).line for reading in readings] == lines
    assert list(read_text(text, form=form))[-1].fields == readings[-1].fields


@pytest.mark.parametrize("text", [
    BARE.replace(" --", "\n--"), BARE.replace(" --", "\n--").replace("tmalab", "tmalab check\n"),
    FLAGS.replace("check ", "check\n"), BARE.replace("64,8", "\n64,8"), "--array 16,128::half\n--box 8,64",
    LAYOUT.replace("o (8", "o\n(8"), "(8,64):\n(64,1)", "Sw<3,4,3> o 0 o\n(8,64):(64,1)\n",
    "ComposedLayout<Swizzle<3,4,3>,_0,\nLayout<Shape<Int<8>,Int<64>>,Stride<Int<64>,Int<1>>>>",
])  # fmt: skip
def test_one_question_may_be_broken_into_lines(text):
    [reading] = read_text(text)
    assert not isinstance(reading, UnreadableError)


@pytest.mark.parametrize(("text", "place", "words"), [
    (f"{BARE}\n{BARE} --swizlle 64B\n{BARE}", "--swizlle", "--swizzle"), (f"{ARRAY}\n16:1\n{ARRAY}", "\n16", "2 parts"),
    (f"{ARRAY}\n16,1.5::half\n{ARRAY}", "16,1.5", "not an integer"), (f"{LAYOUT}\n(8,64):(64)", "(64)", "structure"),
    (f"{ARRAY}\n8,64:1B,2:half", "1B,2", "some strides"),
    (f"{FLAGS}\n{FLAGS} --rank two", "--rank two", "not an integer"),
])  # fmt: skip
def test_a_broken_line_is_told_by_its_place_and_the_others_are_read(text, place, words):
    readings = list(read_text(text))
    [error] = [reading for reading in readings if isinstance(reading, UnreadableError)]
    assert len(readings) == text.count("\n") + 1
    assert words in str(error)
    assert (error.line, error.column) == position_of(text, error.offset)
    assert text[error.offset :].startswith(place)


def test_what_only_the_map_tells_is_placed_in_its_line():
    first, second = read_text(f"{BARE}\n{BARE.replace('128B', '96B')}")
    assert first.tensor_map().swizzle == "128B"
    with pytest.raises(UnreadableError, match="unknown swizzle") as raised:
        second.tensor_map()
    assert (raised.value.line, raised.value.column) == (2, BARE.index("--swizzle") + 1)


def test_lines_past_a_thousand_are_told():
    readings = list(read_text(f"{ARRAY}\n" * 1500))
    assert len(readings) == 1001
    assert "more than 1000 questions" in str(readings[-1])
    assert readings[-1].line == 1001


@pytest.mark.parametrize("text", ["12:30:45 begin\n12:30:46 end\n", "10:20:30\n10:20:31\n", f"{ARRAY}\nand\nmore\n"])
def test_lines_of_something_else_are_not_arrays(text):
    [error] = read_text(text)
    assert "in no form that is known" in str(error)


def test_a_text_of_no_form_is_told_what_each_form_looks_like():
    [error] = read_text("what is this?\n")
    for form in FORM_NAMES:
        assert f"\n  {form} (line 1, column" in error.message
    assert (error.line, error.column) == (1, 1)
    [shown] = read_text(error.fix.partition("JSON it is ")[2])
    assert shown.tensor_map().violations() == []
    [error] = read_text("  \n ")
    assert "empty" in str(error)


@pytest.mark.parametrize(("text", "form"), [
    ("{dtype: 1}", "json"), ("[rank0]: nothing", "json"), ('{"dtype": 1}', "json"), ("[]", "json"),
    ("{ x(); cuTensorMapEncodeTiled(a); }", "cpp"), ("--dtype x.5", "flags"), ("(8,64):(64,1)", "cute"),
])  # fmt: skip
def test_a_broken_text_is_reported_as_what_it_seems_to_be(text, form):
    [reading] = read_text(text)
    assert reading.form == form


def test_a_form_can_be_forced():
    [error] = read_text("(8,64):(64,1)", form="array")
    assert error.form == "array"


@pytest.mark.parametrize(("field", "value", "expected"), [
    ("swizzle", "CU_TENSOR_MAP_SWIZZLE_128B", "128B"), ("swizzle", "CUtensorMapSwizzle::SWIZZLE_NONE", "none"),
    ("swizzle", 3, "128B"), ("swizzle", 128, "128B"), ("swizzle", "128b_atom_32b", "128B_ATOM_32B"),
    ("swizzle", "64", "64B"), ("l2_promotion", "CU_TENSOR_MAP_L2_PROMOTION_L2_256B", "256B"),
    ("l2_promotion", 256, "256B"), ("interleave", 16, "16B"),
    ("oob_fill", "CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA", "nan"), ("oob_fill", "zeros", "none"),
    ("dtype", "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ", "tfloat32_ftz"), ("dtype", "__nv_bfloat16", "bfloat16"),
    ("dtype", "torch.float16", "float16"), ("dtype", "16U4_ALIGN8B", "16u4_align8b"), ("dtype", 9, "bfloat16"),
    ("swizzle", "96B", "96B"), ("swizzle", None, None), ("swizzle", [], []), ("swizzle", True, True),
])  # fmt: skip
def test_words_in_every_spelling(field, value, expected):
    assert word(field, value) == expected


@pytest.mark.parametrize("field", WORDS)
def test_every_enumerator_by_number_and_none_past_them(field):
    assert tuple(enumerator(field, number) for number in range(len(WORDS[field]))) == WORDS[field]
    for number in (-1, len(WORDS[field]), 2**63):
        with pytest.raises(InputError, match="no enumerator"):
            enumerator(field, number)


def test_names_and_what_looks_like_them():
    assert canonical("globalDim") == canonical("GLOBAL-DIM") == "global_dim"
    assert canonical("x" * 10**6) is None
    assert close_to("boxdmi")[0] == "box_dim"
    assert close_to("zzz") == []


@given(st.integers(-(2**70), 2**70))
def test_integers_are_read_as_they_are_written(value):
    assert integer_text("x", str(value)) == integer_text("x", f" {value:#x} ") == value
    assert list_text("x", f"({value}, {value})") == [value, value]


@pytest.mark.parametrize("text", ["", "1.5", "0x", "ten", "9" * 5000, "1,2"])
def test_what_is_no_integer_is_refused(text):
    with pytest.raises(InputError):
        integer_text("smem_base", text)


def test_positions_count_from_one():
    assert position_of("ab\ncd", 3) == Position(2, 1)
    assert position_of("ab\ncd", 99) == Position(2, 3)
    assert position_of("", 0) == Position(1, 1)
