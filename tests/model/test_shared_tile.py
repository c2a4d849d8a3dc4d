"""Where the elements of a box stand in shared memory: public cases, single measurements, and what always holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import TensorMap, TmaLabError, model
from tmalab.errors import InputError
from tmalab.model import shared_offsets
from tmalab.model.shared_tile import SharedTile

SPANS = {"none": 16, "32B": 32, "64B": 64, "128B": 128}


def square(swizzle, rows=128):
    return TensorMap.tiled("float16", (64, rows), (128,), (64, rows), swizzle=swizzle)


def test_axes_are_in_box_order_innermost_first():
    offsets = shared_offsets(TensorMap.tiled("float32", (8, 4, 3), (32, 128), (8, 4, 3)))
    assert (offsets.shape, offsets.dtype) == ((8, 4, 3), np.int64)
    assert [int(offsets[1, 0, 0]), int(offsets[0, 1, 0]), int(offsets[0, 0, 1])] == [4, 32, 128]


def test_values_in_rows_116_to_118_of_a_swizzled_tile():
    # llvm-project#65953: a 128x64 fp16 tile filled with (row * 64 + col) / 8, loaded with 128B, read linearly
    values = np.empty(128 * 64, np.int64)
    columns, rows = np.meshgrid(np.arange(64), np.arange(128), indexing="ij")
    values[shared_offsets(square("128B")) // 2] = (rows * 64 + columns) // 8
    seen = values.reshape(128, 8, 8)[:, :, 0]
    assert seen[116].tolist() == [932, 933, 934, 935, 928, 929, 930, 931]
    assert seen[117].tolist() == [941, 940, 943, 942, 937, 936, 939, 938]
    assert seen[118].tolist() == [950, 951, 948, 949, 946, 947, 944, 945]


def test_a_slice_at_row_3_cannot_be_read_as_if_it_began_there():
    # jax#34102: the phase follows the absolute row
    offsets = shared_offsets(square("128B"))
    from_row_3 = offsets[:, 3:] - 3 * 128
    assert (from_row_3 != offsets[:, : 128 - 3]).any()
    assert (offsets[:, 8:] - 8 * 128 == offsets[:, : 128 - 8]).all()


def test_a_swizzled_row_is_not_64_elements_from_its_first_one():
    # tilelang#2714: element (1, 0) is at byte 144; 128 bytes from there leave the row, whose bytes are 128 to 255
    row = shared_offsets(square("128B", 16))[:, 1]
    assert int(row[0]) == 144
    assert (int(row.min()), int(row.max()) + 2) == (128, 256)


@pytest.mark.parametrize(
    ("box", "swizzle", "base", "last"),
    [
        ((16, 16), "none", 128, 1151), ((16, 16), "128B", 128, 2111), ((4, 16), "128B", 0, 2047),
        ((4, 16), "64B", 0, 1023), ((4, 16), "none", 0, 255), ((16, 256), "none", 0, 16383),
    ],
)  # fmt: skip
def test_the_last_byte_that_an_h200_wrote(box, swizzle, base, last):
    tm = TensorMap.tiled("float32", (64, 64), (256,), box, swizzle=swizzle)
    assert int(shared_offsets(tm, base).max()) + 3 == last
    assert SharedTile(tm, base).end == last + 1


def test_an_interleaved_box_is_dense_and_counts_slices():
    tm = TensorMap.tiled("float16", (16, 9, 9), (256, 4096), (8, 4, 3), interleave="32B", swizzle="32B")
    offsets = shared_offsets(tm)
    assert offsets.shape == (8, 1, 3)
    slices = [32 * number for number in range(24)]  # no gap after the 8 slices of a row …
    assert sorted(offsets.reshape(-1).tolist()) == sorted(
        place + place // 128 % 2 * 16 for place in slices
    )  # … and the XOR


def test_im2col_axes_are_channel_and_pixel():
    tm = TensorMap.im2col("float16", (64, 8, 8, 1), (128, 1024, 8192), (0, 0), (0, 0), 16, 5, swizzle="64B")
    offsets = shared_offsets(tm, 512)
    assert offsets.shape == (16, 5)
    assert [int(offsets[0, pixel]) for pixel in range(5)] == [512, 576, 656, 720, 800]


@st.composite
def legal_tiles(draw):
    size = draw(st.sampled_from([1, 2, 4, 8]))
    dtype = {1: "uint8", 2: "bfloat16", 4: "int32", 8: "float64"}[size]
    swizzle = draw(st.sampled_from(list(SPANS)))
    chunks = draw(st.integers(1, 8 if swizzle == "none" else SPANS[swizzle] // 16))
    rows = draw(st.lists(st.integers(1, 6), max_size=4))
    dims = [chunks * 16 // size, *rows]
    return TensorMap.tiled(dtype, dims, [1024] * len(rows), dims, swizzle=swizzle), 128 * draw(st.integers(0, 16))


@given(legal_tiles())
def test_each_element_has_a_place_of_its_own_within_the_footprint(tile):
    tm, base = tile
    offsets = shared_offsets(tm, base).reshape(-1)
    assert len(set(offsets.tolist())) == offsets.size == tm.transaction_bytes() // tm.element.bytes
    assert base <= offsets.min()
    assert offsets.max() + tm.element.bytes == SharedTile(tm, base).end <= base + tm.footprint_bytes()


@given(legal_tiles())
def test_a_base_that_is_a_multiple_of_the_pattern_shifts_every_place(tile):
    tm, base = tile
    assert (shared_offsets(tm, base + 1024) == shared_offsets(tm, base) + 1024).all()


@pytest.mark.parametrize("base", [-1, 1.5, True, "0", None, 1 << 40])
def test_a_base_that_is_none(base):
    with pytest.raises(InputError, match="smem_base"):
        shared_offsets(square("128B"), base)


def test_boxes_without_places():
    with pytest.raises(InputError, match="no byte addresses"):
        shared_offsets(TensorMap.tiled("16u4_align8b", (128, 8), (64,), (128, 8)))
    with pytest.raises(InputError, match="than any shared memory"):
        shared_offsets(TensorMap.tiled("uint8", (256,) * 5, (256,) * 4, (256,) * 5))
    with pytest.raises(InputError, match="than any shared memory"):
        shared_offsets(TensorMap.tiled("uint8", (2**63,), (), (2**63,)))
    with pytest.raises(TmaLabError):
        shared_offsets(TensorMap.tiled("uint8", (8,), (), (-8,)))
    assert shared_offsets(TensorMap.tiled("uint8", (8, 8), (16,), (16, 0))).shape == (16, 0)


@pytest.mark.parametrize("no_map", ["x", None, {"dtype": "float16"}])
def test_what_is_no_map_is_refused_in_words(no_map):
    memory = np.zeros(64, np.uint8)
    for ask in (
        lambda: model.shared_offsets(no_map),
        lambda: model.load(no_map, memory, [0], smem_bytes=64),
        lambda: model.store(no_map, memory, [0], memory=memory),
        lambda: model.launch_violations(no_map, [0], direction="load"),
    ):
        with pytest.raises(InputError, match=r"^tm=.*: not a tensor map"):
            ask()
