"""What each reduction makes of two elements, and where it does so."""

import operator

import numpy as np
import pytest

from tmalab import TensorMap, model
from tmalab.errors import InputError

WORDS = {
    "int32": "<i4", "uint32": "<u4", "int64": "<i8", "uint64": "<u8",
    "float16": "<u2", "bfloat16": "<u2", "float32": "<u4", "float64": "<u8",
    "float32_ftz": "<u4", "tfloat32": "<u4", "tfloat32_ftz": "<u4",
}  # fmt: skip


def reduced(dtype, op, memory, source):
    """`op` on two lists of elements (floats as bits), through a whole reduction of one row."""
    word = np.dtype(WORDS[dtype])
    there, comes = (np.zeros(16 // word.itemsize * 4, word) for _ in range(2))
    there[: len(memory)], comes[: len(source)] = memory, source
    tm = TensorMap.tiled(dtype, (len(there),), (), (len(there),))
    return (
        model.reduce(tm, comes.view(np.uint8), (0,), op, memory=there.view(np.uint8)).view(word)[: len(memory)].tolist()
    )


LIMITS = {
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}


@pytest.mark.parametrize("dtype", ["int32", "uint32", "uint64"])
def test_integer_sums_wrap(dtype):
    low, high = LIMITS[dtype]
    assert reduced(dtype, "add", [high, high, 5], [1, 2, 7]) == [low, low + 1, 12]


@pytest.mark.parametrize("dtype", LIMITS)
def test_integers_are_ordered_by_their_sign(dtype):
    low, high = LIMITS[dtype]
    assert reduced(dtype, "min", [low, high, 3], [high, low, 3]) == [low, low, 3]
    assert reduced(dtype, "max", [low, high, 3], [high, low, 3]) == [high, high, 3]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "uint64"])
@pytest.mark.parametrize("op", ["and", "or", "xor"])
def test_bitwise(dtype, op):
    function = getattr(operator, f"{op}_") if op != "xor" else operator.xor
    assert reduced(dtype, op, [12, 7], [10, 2**31 - 1]) == [function(12, 10), function(7, 2**31 - 1)]


def test_inc_wraps_to_zero_at_the_source():
    assert reduced("uint32", "inc", [0, 6, 7, 8, 2**32 - 1, 0], [7, 7, 7, 7, 2**32 - 1, 0]) == [1, 7, 0, 0, 0, 0]


def test_dec_wraps_to_the_source():
    assert reduced("uint32", "dec", [0, 1, 7, 8, 2**32 - 1], [7, 7, 7, 7, 2**32 - 1]) == [7, 0, 6, 7, 2**32 - 2]


ONE, HALF_ULP, NAN, INF, DENORMAL, ZERO = range(6)
BITS = {  # one, half of its last place, a signalling negative NaN, infinity, the smallest denormal, -0
    "float16": (0x3C00, 0x1000, 0xFC01, 0x7C00, 0x0001, 0x8000),
    "bfloat16": (0x3F80, 0x3B80, 0xFF81, 0x7F80, 0x0001, 0x8000),
    "float32": (0x3F800000, 0x33800000, 0xFF800001, 0x7F800000, 0x00000001, 0x80000000),
    "float64": (0x3FF0 << 48, 0x3CA0 << 48, (0xFFF0 << 48) + 1, 0x7FF0 << 48, 1, 1 << 63),
}


@pytest.mark.parametrize("dtype", BITS)
def test_float_sums_round_to_nearest_even(dtype):
    one, half = BITS[dtype][ONE], BITS[dtype][HALF_ULP]
    # 1 + half a last place is a tie and goes down to the even 1; the odd next number goes up
    assert reduced(dtype, "add", [one, one + 1, one], [half, half, half + 1]) == [one, one + 2, one + 1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sixteen_bit_sums_keep_denormals_and_have_one_nan(dtype):
    one, _, nan, infinity, denormal, _ = BITS[dtype]
    assert reduced(dtype, "add", [denormal, 0, denormal], [denormal, denormal, denormal + 1]) == [2, 1, 3]
    memory, source = [nan, one, nan, infinity], [one, nan, nan, infinity | 0x8000]
    assert reduced(dtype, "add", memory, source) == [0x7FFF] * 4


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sixteen_bit_order_prefers_numbers_and_puts_minus_zero_below(dtype):
    one, _, nan, infinity, _, zero = BITS[dtype]
    memory, source = [nan, one, nan, 0, zero, infinity], [one, nan, nan, zero, 0, one]
    assert reduced(dtype, "min", memory, source) == [one, one, 0x7FFF, zero, zero, one]
    assert reduced(dtype, "max", memory, source) == [one, one, 0x7FFF, 0, 0, infinity]


@pytest.mark.parametrize("dtype", ["float32", "tfloat32"])
def test_float32_sums_keep_denormals(dtype):
    # PTX ISA says that cp.reduce.async.bulk.add.f32 flushes them; through a tensor map the H200 does not
    one, _, nan, infinity, denormal, zero = BITS["float32"]
    assert reduced(dtype, "add", [denormal, zero, 0x00800001], [denormal, denormal, 0x80800000]) == [2, 1, 1]
    assert reduced(dtype, "add", [nan, one, infinity], [one, nan, infinity | 1 << 31]) == [0x7FFFFFFF] * 3


@pytest.mark.parametrize("dtype", ["float32_ftz", "tfloat32_ftz"])
def test_ftz_is_about_sums(dtype):
    one, _, nan, _, denormal, zero = BITS["float32"]
    assert reduced(dtype, "add", [denormal, 1 << 31 | 5, 0x00800001], [denormal, zero, 0x80800000]) == [0, zero, 0]
    assert reduced(dtype, "add", [nan, one], [one, denormal]) == [0x7FFFFFFF, one]


def test_tf32_sums_are_not_rounded():
    assert reduced("tfloat32", "add", [0x3F800001], [0x3F800001]) == [0x40000001]


def test_a_double_nan_goes_through_as_it_is_and_the_one_that_comes_wins():
    one, _, nan, *_ = BITS["float64"]
    assert reduced("float64", "add", [nan, one, nan], [one, nan, nan + 1]) == [nan, nan, nan + 1]


@pytest.mark.parametrize(
    ("dtype", "op"),
    [
        ("int64", "add"), ("int64", "xor"), ("float32", "min"), ("float64", "max"), ("uint8", "add"), ("uint16", "or"),
        ("int32", "inc"), ("float16", "and"),
    ],
)  # fmt: skip
def test_a_pair_that_no_engine_has(dtype, op):
    tm = TensorMap.tiled(dtype, (16,), (), (16,))
    nothing = np.zeros(128, np.uint8)
    with pytest.raises(InputError, match=f"no such reduction of {dtype}"):
        model.reduce(tm, nothing, (0,), op, memory=nothing)


@pytest.mark.parametrize("op", ["mul", "ADD", "", None, 3, ["add"]])
def test_an_unknown_op(op):
    nothing = np.zeros(128, np.uint8)
    with pytest.raises(InputError, match="unknown reduction"):
        model.reduce(TensorMap.tiled("int32", (16,), (), (16,)), nothing, (0,), op, memory=nothing)


def test_it_clips_at_16_bytes_as_a_store_does():
    tm = TensorMap.tiled("uint32", (5, 2), (48,), (12, 2))
    memory = np.full(96, 1, np.uint8)
    changed = model.reduce(tm, np.full(96, 1, np.uint8), (0, 0), "add", memory=memory).reshape(2, 48)
    assert (changed[:, :32] == 2).all()  # 20 bytes exist, 32 are reduced
    assert (changed[:, 32:] == 1).all()
    assert (memory == 1).all()


@pytest.mark.parametrize(("stride", "counts"), [(0, [3, 3, 0, 0]), (16, [1, 2, 2, 1])])
def test_rows_that_share_bytes_are_all_counted(stride, counts):
    tm = TensorMap.tiled("uint32", (8, 3), (stride,), (8, 3))
    changed = model.reduce(tm, np.ones(24, "<u4").view(np.uint8), (0, 0), "add", memory=np.zeros(64, np.uint8))
    assert changed.view("<u4").reshape(4, 4).tolist() == [[count] * 4 for count in counts]
