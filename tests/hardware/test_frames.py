"""A frame comes back as it went, and anything else is refused without harm."""

import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tmalab.hardware.frames import MAGIC, FrameError, encode_frame, read_frame

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
ARRAYS = hnp.arrays(st.sampled_from(["u1", "i8", "f4", "?"]), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))


@given(
    st.dictionaries(st.text(max_size=4), PLAIN, max_size=3), st.dictionaries(st.text(max_size=4), ARRAYS, max_size=3)
)
def test_what_goes_in_comes_out(message, arrays):
    pipe = io.BytesIO(encode_frame(message, arrays))
    found, found_arrays = read_frame(pipe.read)
    assert found == message
    assert list(found_arrays) == list(arrays)
    for name, array in arrays.items():
        assert found_arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found_arrays[name], array)
    assert read_frame(pipe.read) is None


@given(st.binary(max_size=200))
def test_noise_is_a_frame_error_or_nothing(noise):
    try:
        assert read_frame(io.BytesIO(noise).read) is None or noise.startswith(MAGIC)
    except FrameError as error:
        assert str(error)  # noqa: PT017


@given(st.integers(0, 60))
def test_a_frame_cut_short_is_a_frame_error(kept):
    whole = encode_frame({"a": 1}, {"x": np.arange(4)})
    with pytest.raises(FrameError):
        read_frame(io.BytesIO(whole[: max(kept, 1)]).read)


@pytest.mark.parametrize("lengths", [(1 << 31, 0), (10, 1 << 50)])
def test_a_damaged_length_asks_for_no_memory(lengths):
    with pytest.raises(FrameError, match="longer than any"):
        read_frame(io.BytesIO(struct.pack("<4sIQ", MAGIC, *lengths)).read)


def test_a_header_that_lies_about_its_arrays():
    header = b'{"message": {}, "arrays": [["x", "|u1", [9]]]}'
    with pytest.raises(FrameError, match="cannot be read"):
        read_frame(io.BytesIO(struct.pack("<4sIQ", MAGIC, len(header), 4) + header + b"abcd").read)
