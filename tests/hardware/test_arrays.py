"""Arrays through the engine and back: what a reader would write in NumPy, and nothing of the array's gaps touched."""

import numpy as np
import pytest

from tmalab.errors import InputError, TensorMapError
from tmalab.hardware import load_tile, reduce_tile, store_tile

pytestmark = pytest.mark.usefixtures("fake_gpu")


def ramp(rows=32, columns=64, dtype=np.float32):
    return np.arange(rows * columns).reshape(rows, columns).astype(dtype)


def test_a_tile_is_a_slice():
    array = ramp()
    tile = load_tile(array, (8, 16), (4, 20))
    assert tile.dtype == array.dtype
    np.testing.assert_array_equal(tile, array[4:12, 20:36])


def test_what_lies_outside_is_zero():
    tile = load_tile(ramp(), (8, 16), (28, 56))
    np.testing.assert_array_equal(tile[:4, :8], ramp()[28:, 56:])
    assert (tile[4:] == 0).all()
    assert (tile[:, 8:] == 0).all()


def test_a_swizzled_tile_comes_as_it_lies():
    array = ramp(16, 64, np.float16)
    tile = load_tile(array, (8, 64), (0, 0), swizzle="128B")
    chunks, source = tile.reshape(8, 8, 8), array[:8].reshape(8, 8, 8)
    for row in range(8):
        for chunk in range(8):
            np.testing.assert_array_equal(chunks[row, chunk ^ row], source[row, chunk])


def test_rows_narrower_than_the_span_are_padded_to_it():
    assert load_tile(ramp(), (8, 4), (0, 0), swizzle="64B").shape == (8, 16)


def test_element_strides_thin_the_rows():
    np.testing.assert_array_equal(load_tile(ramp(), (8, 16), (0, 0), element_strides=(2, 1)), ramp()[0:8:2, :16])


def test_a_view_with_gaps_is_read_and_written_in_place():
    whole = ramp(32, 128)
    view = whole[::2, :64]
    np.testing.assert_array_equal(load_tile(view, (4, 16), (2, 8)), view[2:6, 8:24])
    expected = whole.copy()
    expected[::2, :64][2:6, 8:24] = -1
    store_tile(view, np.full((4, 16), -1, np.float32), (2, 8))
    np.testing.assert_array_equal(whole, expected)


def test_a_store_drops_what_lies_outside():
    array, expected = ramp(), ramp()
    expected[28:, 48:] = 7
    store_tile(array, np.full((8, 32), 7, np.float32), (28, 48))
    np.testing.assert_array_equal(array, expected)


def test_a_reduction_adds():
    array = ramp()
    reduce_tile(array, np.full((8, 16), 0.5, np.float32), (0, 0), "add")
    np.testing.assert_array_equal(array[:8, :16], ramp()[:8, :16] + 0.5)
    np.testing.assert_array_equal(array[8:], ramp()[8:])


def test_a_tile_that_is_a_slice_may_be_stored():
    array, tile = ramp(), np.arange(8 * 64, dtype=np.float32).reshape(8, 64)[:, ::4]
    store_tile(array, tile, (0, 0))
    np.testing.assert_array_equal(array[:8, :16], tile)


def test_a_box_that_the_driver_refuses():
    with pytest.raises(TensorMapError):
        load_tile(ramp(), (8, 512), (0, 0))


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: load_tile([1, 2], (1,), (0,)), "array"),
        (lambda: load_tile(ramp(), (8,), (0, 0)), "box_shape"),
        (lambda: load_tile(ramp(), (8, 16), (0, 0), colour="red"), "colour"),
        (lambda: load_tile(ramp(), (8, 16), (0,)), "coords"),
        (lambda: load_tile(np.zeros((1024, 256), np.float32), (227, 256), (0, 0)), "box_shape"),
        (lambda: store_tile(ramp(), ramp(8, 4), (0, 0), swizzle="64B"), "tile.shape"),
        (lambda: reduce_tile(ramp(), ramp(8, 16), (0, 0), "mul"), "op"),
    ],
)
def test_bad_arguments_are_named(call, field):
    with pytest.raises(InputError, match=f"^{field}="):
        call()
