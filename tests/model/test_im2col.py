"""The walk of an im2col copy: bounding box, corners, traversal strides, offsets."""

import numpy as np
import pytest

from tmalab import TensorMap, model
from tmalab.errors import InputError
from tmalab.model.im2col import held_offsets, pixel_coords


def image(height=8, width=8, images=1, channels=8):
    """Pixels whose channels all hold the pixel's number."""
    pixels = np.arange(images * height * width, dtype=np.uint16)
    return np.repeat(pixels, channels).view(np.uint8)


def convolution(size, kernel, padding, pixels, *, upper=None, stride=1, dilation=1, images=1):
    """The map of a convolution over a square image of 8 uint16 channels; `upper` other than the right corner."""
    right = padding - dilation * (kernel - 1) if upper is None else upper
    return TensorMap.im2col(
        "uint16", (8, size, size, images), (16, 16 * size, 16 * size * size), (-padding, -padding), (right, right), 8,
        pixels, element_strides=(1, stride, stride, 1),
    )  # fmt: skip


def first_channels(tm, memory, coords, offsets):
    return model.load(tm, memory, coords, smem_bytes=tm.footprint_bytes(), offsets=offsets).view("<u2")[::8].tolist()


def windows(size, kernel, padding, stride, tap, images=1):
    """What a convolution's filter tap reads, window after window; 0 for padding."""
    found = []
    for number in range(images):
        for top in range(-padding, size + padding - kernel + 1, stride):
            for left in range(-padding, size + padding - kernel + 1, stride):
                x, y = left + tap[0], top + tap[1]
                inside = 0 <= x < size and 0 <= y < size
                found.append((number * size + y) * size + x if inside else 0)
    return found


@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("tap", [(0, 0), (2, 1), (1, 2)])
def test_the_right_corners_walk_the_windows_of_a_convolution(padding, stride, tap):
    expected = windows(8, 3, padding, stride, tap, images=2)
    tm = convolution(8, 3, padding, len(expected), stride=stride, images=2)
    assert first_channels(tm, image(images=2), (0, -padding, -padding, 0), tap) == expected


def test_both_corners_set_to_minus_padding_run_past_the_output_row():
    # tilelang#2426: K=3, P=0: the right upper corner is -2, which gives 6 origins a row and not 8
    right, wrong = convolution(8, 3, 0, 36), convolution(8, 3, 0, 36, upper=0)
    origins = [pixel_coords(tm, (0, 0, 0, 0), (0, 0)) for tm in (right, wrong)]
    assert [len(set(walk[:8, 1].tolist())) for walk in origins] == [6, 8]
    assert first_channels(right, image(), (0, 0, 0, 0), (2, 2)) == windows(8, 3, 0, 1, (2, 2))
    assert first_channels(wrong, image(), (0, 0, 0, 0), (2, 2)) != windows(8, 3, 0, 1, (2, 2))


def test_a_copy_may_start_in_the_middle_and_go_on_into_the_next_image():
    tm = TensorMap.im2col("uint16", (8, 3, 2, 2), (16, 48, 96), (0, 0), (0, 0), 8, 8)
    assert pixel_coords(tm, (0, 2, 1, 0), (0, 0)).tolist()[:3] == [[0, 2, 1, 0], [0, 0, 0, 1], [0, 1, 0, 1]]
    assert first_channels(tm, image(2, 3, 2), (0, 2, 1, 0), (0, 0)) == [5, 6, 7, 8, 9, 10, 11, 0]  # image 2: fill


def test_rank_5_walks_w_then_h_then_d():
    tm = TensorMap.im2col("uint8", (16, 2, 2, 2, 1), (16, 32, 64, 128), (0, 0, 0), (0, 0, 0), 16, 9)
    walk = pixel_coords(tm, (0, 0, 0, 0, 0), (0, 0, 0))[:, 1:].tolist()
    assert walk == [[n % 2, n // 2 % 2, n // 4 % 2, n // 8] for n in range(9)]


def test_channels_that_do_not_exist_are_filled():
    tm = TensorMap.im2col("uint16", (12, 4, 4), (32, 128), (0,), (0,), 16, 4)
    box = model.load(tm, np.ones(512, np.uint8), (8, 0, 0), smem_bytes=128).view("<u2").reshape(4, 16)
    assert (box[:, :4] == 0x0101).all()
    assert (box[:, 4:] == 0).all()


def test_the_next_image_is_an_element_stride_away():
    tm = TensorMap.im2col("uint8", (16, 2, 6), (16, 32), (0,), (0,), 16, 5, element_strides=(1, 1, 2))
    assert pixel_coords(tm, (0, 1, 0), (0,))[:, 1:].tolist() == [[1, 0], [0, 2], [1, 2], [0, 4], [1, 4]]


def test_the_channels_element_stride_is_ignored():
    maps = [
        TensorMap.im2col("uint16", (32, 4, 4), (64, 256), (0,), (0,), 16, 4, element_strides=(step, 1, 1))
        for step in (1, 4)
    ]
    memory = np.random.default_rng(3).integers(0, 256, 1024, dtype=np.uint8)
    first, second = (model.load(tm, memory, (8, 0, 0), smem_bytes=128) for tm in maps)
    assert (first == second).all()


def test_an_interleaved_pixel_is_one_slice_and_its_coordinates_are_w_h_c_n():
    # W=4 slices, H=3, C/8=2, N=1; two pixels a row of the bounding box
    planes = np.arange(2 * 3 * 4 * 8, dtype=np.uint16).reshape(2, 3, 4, 8)
    tm = TensorMap.im2col(
        "uint16", (4, 3, 2, 1), (64, 192, 384), (0, 0), (-2, -1), 64, 4, interleave="16B", swizzle="none"
    )
    box = model.load(tm, planes.view(np.uint8).reshape(-1), (0, 0, 1, 0), smem_bytes=64, offsets=(2, 1)).view("<u2")
    assert (box.reshape(4, 8) == planes[1, [1, 1, 2, 2], [2, 3, 2, 3]]).all()


@pytest.mark.parametrize(
    ("offsets", "held"),
    [
        ((65535,), (65535,)), ((255, 255), (255, 255)), ((257, 512), (1, 0)), ((31, 31, 31), (31, 31, 31)),
        ((33, 1, 0), (1, 2, 0)), ((0, 32, 0), (0, 0, 1)), ((0, 0, 32), (0, 0, 0)),
    ],
)  # fmt: skip
def test_offsets_share_16_bits(offsets, held):
    assert held_offsets(offsets) == held


def test_left_out_offsets_are_zero():
    tm = convolution(8, 3, 1, 10)
    assert first_channels(tm, image(), (0, 0, 0, 0), ()) == first_channels(tm, image(), (0, 0, 0, 0), (0, 0))


@pytest.mark.parametrize("offsets", [(1,), (1, 2, 3), (-1, 0), (1 << 16, 0), (1.5, 0), "11", 7])
def test_offsets_that_are_none(offsets):
    with pytest.raises(InputError, match="offsets"):
        first_channels(convolution(8, 3, 1, 10), image(), (0, 0, 0, 0), offsets)
