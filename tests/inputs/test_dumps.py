"""The descriptor dumps of CUTLASS and TileLang, as they stand in public reports: whole, repeated, cut, prefixed."""

import pytest

from tmalab.inputs.detect import read_text
from tmalab.inputs.position import UnreadableError
from tmalab.model.tensor_map import TensorMap

CUTLASS = """\
TMA Desc Addr:   0x7ffd7d2800c0
format         6
dim            3
gmem_address   0x7f1400000000
globalDim      (1024,512,2,1,1)
globalStrides  (2,2048,1048576,0,0)
boxDim         (64,128,1,1,1)
elementStrides (1,1,1,1,1)
interleave     0
swizzle        3
l2Promotion    2
oobFill        0
Error: Failed to initialize the TMA descriptor 1
"""
CUTLASS_MAP = TensorMap.tiled(
    "float16",
    (1024, 512, 2),
    (2048, 1048576),
    (64, 128, 1),
    swizzle="128B",
    l2_promotion="128B",
    address=0x7F1400000000,
)
TILELANG = """\
Failed to initialize the TMA descriptor 1 (CUDA_ERROR_INVALID_VALUE: invalid argument)
No local tiled-TMA constraint violation was detected before calling cuTensorMapEncodeTiled.
TMA Desc Addr:   0x55d0c0 (mod64=0)
format         9 (CU_TENSOR_MAP_DATA_TYPE_BFLOAT16)
dim            2
gmem_address   0x7f2a00000000 (mod16=0, mod32=0)
globalDim      [4096, 1024]
globalStridesRaw [2, 8192]
cudaGlobalStrides [8192]
boxDim         [64, 128]
elementStrides [1, 1]
interleave     0 (CU_TENSOR_MAP_INTERLEAVE_NONE)
swizzle        3 (CU_TENSOR_MAP_SWIZZLE_128B)
l2Promotion    2 (CU_TENSOR_MAP_L2_PROMOTION_L2_128B)
oobFill        1 (CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
"""
TILELANG_MAP = TensorMap.tiled(
    "bfloat16", (4096, 1024), (8192,), (64, 128), swizzle="128B", l2_promotion="128B", oob_fill="nan",
    address=0x7F2A00000000,
)  # fmt: skip
OLD_TILELANG = """\
TMA Desc Addr:   0x55d0c0
format         7
dim            1
gmem_address   0x7f2a00000000
globalDim      [4096]
globalStrides  [4]
boxDim         [64]
elementStrides [1]
interleave     0
swizzle        0
l2Promotion    0
oobFill        0
"""
IM2COL = """\
TMA Desc Addr:   0x55d0c0 (mod64=0)
format         6 (CU_TENSOR_MAP_DATA_TYPE_FLOAT16)
dim            4
gmem_address   0x7f2a00000000 (mod16=0, mod32=0)
globalDim      [128, 8, 8, 1]
globalStridesRaw [2, 256, 2048, 16384]
cudaGlobalStrides [256, 2048, 16384]
smem_box_pixel 16
smem_box_channel 64
pixelBoxLowerCorner  [-1, 0]
pixelBoxUpperCorner  [0, -1]
elementStrides [1, 1, 1, 1]
interleave     0 (CU_TENSOR_MAP_INTERLEAVE_NONE)
swizzle        3 (CU_TENSOR_MAP_SWIZZLE_128B)
l2Promotion    0 (CU_TENSOR_MAP_L2_PROMOTION_NONE)
oobFill        0 (CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
"""


def maps(text):
    return [reading.tensor_map() for reading in read_text(text)]


def the_error(text) -> UnreadableError:
    [error] = [reading for reading in read_text(text) if isinstance(reading, UnreadableError)]
    return error


def test_cutlass_prints_five_entries_and_the_element_s_stride_first():
    assert maps(CUTLASS) == [CUTLASS_MAP]
    assert next(iter(read_text(CUTLASS))).form == "cutlass"


def test_tilelang_prints_the_rank_s_entries():
    assert maps(TILELANG) == [TILELANG_MAP]
    assert next(iter(read_text(TILELANG))).form == "tilelang"


def test_older_tilelang_and_rank_1():
    assert maps(OLD_TILELANG) == [TensorMap.tiled("float32", (4096,), (), (64,), address=0x7F2A00000000)]


def test_tilelang_im2col():
    [tm] = maps(IM2COL)
    assert (tm.kind, tm.channels_per_pixel, tm.pixels_per_column) == ("im2col", 64, 16)
    assert (tm.lower_corner, tm.upper_corner) == ((-1, 0), (0, -1))
    assert tm.global_strides == (256, 2048, 16384)


def test_a_log_with_several_dumps_gives_each():
    assert maps(CUTLASS * 3) == [CUTLASS_MAP] * 3


@pytest.mark.parametrize("wrap", [
    lambda text: "\n".join(f"[rank0]: {line}" for line in text.splitlines()),
    lambda text: "\n".join(f"(EngineCore_0 pid=7) {line}" for line in text.splitlines()),
    lambda text: "\n".join(f"> > {line}" for line in text.splitlines()),
    lambda text: "{'runtime_error': 'Kernel call failed: " + text.replace("\n", "\\n") + "'}",
    lambda text: text.replace("\n", "\r\n"),
    lambda text: "terminate called\n   " + text.replace("\n", "\n   "),
    lambda text: text[text.index("format") :],
])  # fmt: skip
@pytest.mark.parametrize(("text", "tm"), [(CUTLASS, CUTLASS_MAP), (TILELANG, TILELANG_MAP)])
def test_what_stands_around_it_does_not_matter(wrap, text, tm):
    assert maps(wrap(text)) == [tm]


@pytest.mark.parametrize(("old", "new", "line", "words"), [
    ("(1024,512,2,1,1)", "0x7fc24e6b5e40", 5, "where the array lies"),
    ("(1024,512,2,1,1)", "(1024,512", 5, "expected an array"),
    ("(1024,512,2,1,1)", "(1024,x,2,1,1)", 5, "not an integer"),
    ("(64,128,1,1,1)", "(64,128)", 7, "2 entries, and dim is 3"),
    ("swizzle        3", "swizzle        9", 10, "no enumerator"),
    ("format         6", "format         half", 2, "not an integer"),
    ("format         6", "format         99", 2, "no enumerator"),
    ("boxDim         (64,128,1,1,1)\n", "", 1, "no such line"),
    ("dim            3", "dim            " + "9" * 5000, 3, "digits"),
])  # fmt: skip
def test_a_damaged_dump_is_reported_at_its_line(old, new, line, words):
    assert old in CUTLASS
    error = the_error(CUTLASS.replace(old, new))
    assert words in str(error)
    assert error.line == line


def test_a_first_stride_that_is_not_one_element_is_told():
    [reading] = read_text(CUTLASS.replace("(2,2048", "(1,2048"))
    assert "printed in elements" in reading.notes[0]
    [reading] = read_text(TILELANG.replace("[2, 8192]", "[4, 8192]"))
    assert "first stride is 4" in reading.notes[0]


def test_two_programs_that_print_at_once_are_not_guessed_at():
    mixed = CUTLASS.replace("globalDim      (1024,512,2,1,1)", "globalDim      (10241024,,0256,")
    assert the_error(mixed).line == 5
