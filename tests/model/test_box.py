"""What a box takes and how large it is: element strides, edges, interleave, padded rows, and numbers no box has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import TensorMap, TensorMapError
from tmalab.errors import TmaLabError
from tmalab.model.box import Axis, axes
from tmalab.model.box_bytes import copied_dim, footprint_bytes, row_bytes, row_pitch_bytes, transaction_bytes

MEASURED = [  # what an H200 counted and the last byte it wrote at base 0 (facts.txt)
    (TensorMap.tiled("float32", (64, 64), (256,), (16, 16)), 1024, 1024),
    (TensorMap.tiled("float16", (64, 64), (256,), (16, 16)), 512, 512),
    (TensorMap.tiled("float32", (64, 64), (256,), (4, 16), swizzle="128B"), 256, 2048),
    (TensorMap.tiled("float32", (64, 64), (256,), (4, 16), swizzle="64B"), 256, 1024),
    (TensorMap.tiled("float32", (64, 64), (256,), (4, 16)), 256, 256),
    (TensorMap.tiled("float32", (64, 8), (256,), (16, 256)), 16384, 16384),
    (TensorMap.tiled("float32", (8, 8, 8), (64, 512), (8, 2, 2), interleave="16B"), 256, 256),
    (TensorMap.tiled("float32", (12, 8, 8), (64, 512), (12, 2, 2), interleave="32B", swizzle="32B"), 768, 768),
]


@pytest.mark.parametrize(("tm", "counted", "spanned"), MEASURED, ids=str)
def test_measured_sizes(tm, counted, spanned):
    assert (tm.transaction_bytes(), tm.footprint_bytes()) == (counted, spanned)


def test_element_strides_leave_the_ceiling_and_read_every_nth():
    # nvFuser's notes (NVIDIA/Fuser#2075): a (6, 4) box with strides (1, 3) at (9, 1) of a (12, 16) tensor
    tm = TensorMap.tiled("float32", (12, 16), (56,), (6, 4), element_strides=(1, 3))
    assert copied_dim(tm) == (6, 2)
    columns, rows = axes(tm, (9, 1))
    assert list(rows.indices) == [1, 4]
    assert [place for place in range(6) if place not in columns.inside] == [3, 4, 5]


def test_a_strided_box_counts_what_it_copies():
    # FlashGPU-Sim#19
    tm = TensorMap.tiled("float16", (64, 64), (128,), (64, 16), element_strides=(1, 2))
    assert list(axes(tm, (0, 0))[1].indices) == [0, 2, 4, 6, 8, 10, 12, 14]
    assert transaction_bytes(tm) == 1024


def test_the_inner_element_stride_counts_in_an_interleaved_layout_only():
    plain = TensorMap.tiled("float16", (64, 8), (128,), (32, 4), element_strides=(4, 1))
    assert copied_dim(plain) == (32, 4)
    sliced = TensorMap.tiled(
        "float16", (64, 8, 8), (2048, 4096), (32, 4, 2), element_strides=(4, 1, 1), interleave="16B"
    )
    assert copied_dim(sliced) == (8, 1, 2)


@pytest.mark.parametrize("rank", [3, 4, 5])
@pytest.mark.parametrize("interleave", ["16B", "32B"])
def test_an_interleaved_box_is_one_slice_of_channels(rank, interleave):
    box = (8, 3, 5, 7, 2)[:rank]
    tm = TensorMap.tiled("float16", (64,) * rank, (1024,) * (rank - 1), box, interleave=interleave)
    assert copied_dim(tm) == box[: rank - 2] + (1,) + box[rank - 1 :]
    assert row_bytes(tm) == 8 * int(interleave[:2])
    assert row_pitch_bytes(tm) == row_bytes(tm)


def test_an_interleaved_row_is_not_padded_but_the_whole_box_is():
    tm = TensorMap.tiled(
        "float16", (8, 4, 4), (128, 512), (8, 1, 1), element_strides=(3, 1, 1), interleave="16B", swizzle="128B"
    )
    assert (transaction_bytes(tm), footprint_bytes(tm)) == (48, 128)


def test_an_im2col_box_is_channels_by_pixels():
    tm = TensorMap.im2col("float16", (64, 8, 8, 1), (128, 1024, 8192), (0, 0), (-2, -2), 32, 36, swizzle="128B")
    assert (copied_dim(tm), transaction_bytes(tm), footprint_bytes(tm)) == ((32, 36), 32 * 36 * 2, 36 * 128)


@pytest.mark.parametrize(
    ("dtype", "counted", "row"), [("16u4_align8b", 64, 64), ("16u4_align16b", 64, 128), ("16u6_align16b", 96, 128)]
)
def test_packed_types_count_what_is_packed_and_span_the_gaps(dtype, counted, row):
    tm = TensorMap.tiled(dtype, (128, 8), (128,), (128, 1), swizzle="128B")
    assert (transaction_bytes(tm), row_bytes(tm), footprint_bytes(tm)) == (counted, row, 128)


@given(st.integers(-40, 40), st.integers(1, 8), st.integers(0, 20), st.integers(1, 20))
def test_inside_is_every_position_that_exists(start, step, length, size):
    axis = Axis(start, step, length, size)
    assert list(axis.indices) == [start + step * place for place in range(length)]
    assert list(axis.inside) == [place for place in range(length) if 0 <= start + step * place < size]


HUGE = st.one_of(st.integers(-3, 300), st.sampled_from([2**31, 2**63, -(2**63), 10**60]))


@given(st.integers(0, 7).flatmap(lambda rank: st.lists(HUGE, min_size=3 * rank, max_size=3 * rank)), st.booleans())
def test_any_numbers_give_an_int_or_the_violations(numbers, interleaved):
    rank = len(numbers) // 3
    dims, box, steps = numbers[:rank], numbers[rank : 2 * rank], numbers[2 * rank :]
    tm = TensorMap.tiled(
        "float16", dims, dims[1:], box, element_strides=steps, interleave="16B" if interleaved else "none"
    )
    for question in (transaction_bytes, footprint_bytes):
        try:
            answer = question(tm)
        except TensorMapError as error:
            answer = len(error.violations) - 1
        assert type(answer) is int
        assert answer >= 0


def test_a_rank_of_a_million_is_refused_at_once():
    many = [2**63] * 10**6
    tm = TensorMap.tiled("uint8", many, many[1:], many)
    with pytest.raises(TmaLabError):
        tm.transaction_bytes()
