"""What wgmma reads: told again in plain loops, its descriptor bit by bit, and tiles that no descriptor describes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import TensorMap, model
from tmalab.errors import InputError
from tmalab.experiment.wgmma_cases import DESCRIPTORS, FIELD_READINGS, TILES, reading, wgmma_tile_map
from tmalab.model.wgmma_tile import MOST_BYTES, NOTHING, SWIZZLE_BITS, MatrixDescriptor, elements_read

EVERY = np.arange(64 * 64).reshape(64, 64)
units = st.integers(0, MOST_BYTES // 16).map(lambda count: 16 * count)
descriptors = st.builds(MatrixDescriptor, units, units, units, st.sampled_from([*SWIZZLE_BITS]), st.integers(0, 7))


def chunk_address(descriptor, row, chunk):
    """Where a chunk of 16 bytes is read from, one step after the other as the manual has it."""
    start, leading, stride, swizzle, base_offset = descriptor
    group, inner = divmod(row, 8)
    if swizzle == "none":
        return start + group * stride + inner * 16 + chunk * leading
    span = int(swizzle.removesuffix("B"))
    address = start + group * stride + inner * span + chunk * 16
    line = address // 128 - base_offset
    phase = {32: line // 1 % 2, 64: line % 4, 128: line % 8}[span]
    return address // 128 * 128 + ((address % 128 // 16) ^ phase) * 16 + address % 16


@given(descriptors)
def test_the_address_of_every_element_is_what_the_loops_say(descriptor):
    found = descriptor.offsets()
    for row in range(64):
        for k in range(16):
            assert found[row, k] == chunk_address(descriptor, row, k // 8) + 2 * (k % 8)


@given(descriptors)
def test_encode_and_decode_are_inverse_and_bits_stand_where_the_manual_has_them(descriptor):
    bits = descriptor.encode()
    assert MatrixDescriptor.decode(bits) == descriptor
    start, leading, stride, swizzle, base_offset = descriptor
    modes = {"none": 0, "128B": 1, "64B": 2, "32B": 3}
    assert (
        bits
        == start // 16 + leading // 16 * 2**16 + stride // 16 * 2**32 + base_offset * 2**49 + modes[swizzle] * 2**62
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"start_bytes": 8}, "start_bytes"), ({"leading_bytes": -16}, "leading_bytes"),
        ({"stride_bytes": MOST_BYTES + 16}, "stride_bytes"), ({"base_offset": 8}, "base_offset"),
        ({"base_offset": -1}, "base_offset"), ({"swizzle": "128B_ATOM_32B"}, "swizzle"),
        ({"swizzle": "96B"}, "swizzle"), ({"start_bytes": 16.0}, "start_bytes"),
    ],
)  # fmt: skip
def test_what_the_bits_cannot_hold_is_an_error(change, field):
    with pytest.raises(InputError) as raised:
        MatrixDescriptor(0, 16, 1024)._replace(**change).encode()
    assert raised.value.field == field


@pytest.mark.parametrize("bits", [-1, 1 << 64, 1.0, "1"])
def test_only_64_bits_are_decoded(bits):
    with pytest.raises(InputError, match="bits"):
        MatrixDescriptor.decode(bits)


@pytest.mark.parametrize("tile", DESCRIPTORS)
@pytest.mark.parametrize("base", [0, 384, 1024])
def test_the_matching_descriptors_read_every_element_where_it_is(tile, base):
    assert (elements_read(wgmma_tile_map(tile), reading(tile, base), base) == EVERY).all()


def test_the_canonical_fields():
    assert [tuple(one)[:3] for one in reading("128B")] == [(32 * step, 16, 1024) for step in range(4)]
    assert [one.start_bytes for one in reading("64B")] == [0, 32, 4096, 4128]
    assert [one.start_bytes for one in reading("32B")] == [0, 2048, 4096, 6144]
    assert [tuple(one)[:3] for one in reading("none")] == [(2048 * step, 1024, 128) for step in range(4)]
    assert [one.stride_bytes for one in (reading("64B")[0], reading("32B")[0])] == [512, 256]


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("descriptor", DESCRIPTORS)
def test_a_wrong_descriptor_reads_whole_chunks_and_each_byte_of_the_tile_once(tile, descriptor):
    found = elements_read(wgmma_tile_map(tile), reading(descriptor))
    assert sorted(found.ravel()) == [*range(4096)]
    chunks = found.reshape(64, 8, 8)
    assert (chunks - chunks[:, :, :1] == np.arange(8)).all()
    assert (chunks[:, :, 0] % 8 == 0).all()
    assert (found == EVERY).all() == (tile == descriptor)


def test_how_many_are_right_by_chance():
    right = {
        (tile, descriptor): int((elements_read(wgmma_tile_map(tile), reading(descriptor)) == EVERY).sum())
        for tile in TILES for descriptor in DESCRIPTORS if tile != descriptor
    }  # fmt: skip
    assert right["128B", "none"] == 8  # the first chunk of the first row
    assert right["rows", "128B"] == 512  # the first row of every eight
    assert right["rows", "none"] == 64
    assert set(right.values()) == {8, 16, 32, 64, 512}


def test_rows_of_128_bytes_without_swizzle_have_no_descriptor():
    with pytest.raises(InputError, match="finds the next row of none 16 bytes further on") as raised:
        model.matrix_descriptors(wgmma_tile_map("rows"))
    assert (raised.value.field, raised.value.value, raised.value.limit) == ("box_dim[0]", 64, 8)
    assert raised.value.fix == "use 8 columns and a dimension of groups, or another swizzle"


@pytest.mark.parametrize(
    ("dtype", "dims", "swizzle", "field"),
    [
        ("float32", (32, 64), "128B", "dtype"), ("float16", (64,), "128B", "dtype"),
        ("float16", (32, 64), "128B", "box_dim[0]"), ("float16", (64, 12), "128B", "box_dim"),
        ("float16", (8, 64), "none", "box_dim"), ("float16", (64, 64), "128B_ATOM_32B", "swizzle"),
    ],
)  # fmt: skip
def test_a_box_that_wgmma_cannot_read(dtype, dims, swizzle, field):
    strides = [2 * dims[0] * (2 if dtype == "float32" else 1)] * (len(dims) - 1)
    tm = TensorMap.tiled(dtype, dims, strides, dims, swizzle=swizzle)
    with pytest.raises(InputError) as raised:
        model.matrix_descriptors(tm)
    assert raised.value.field == field


def test_other_heights_and_a_row_of_many_groups():
    tall = TensorMap.tiled("bfloat16", (32, 256, 4), (256, 64), (32, 256, 4), swizzle="64B")
    found = model.elements_read(tall, model.matrix_descriptors(tall), rows=256)
    assert (found == np.arange(256 * 128).reshape(256, 128)).all()
    narrow = TensorMap.tiled("float16", (64, 8), (128,), (64, 8), swizzle="128B")
    assert (
        model.elements_read(narrow, model.matrix_descriptors(narrow), rows=8) == np.arange(512).reshape(8, 64)
    ).all()


def test_what_is_no_element_of_the_tile_is_nothing():
    down = elements_read(wgmma_tile_map("128B"), FIELD_READINGS["128B"]["8 rows down"])
    assert (down[56:] == NOTHING).all()
    assert (down[:56] == EVERY[8:]).all()


def test_what_the_fields_do():
    tile = wgmma_tile_map("128B")
    changed = {name: elements_read(tile, found) for name, found in FIELD_READINGS["128B"].items()}
    assert (changed["leading 0"] == EVERY).all()  # not read
    assert (
        changed["3 rows down"][:61] == EVERY[3:]
    ).all()  # the XOR is of the address: a start inside an atom is right
    assert (changed["16 bytes on"][:, :56] == EVERY[:, 8:]).all()
    assert (changed["stride 0"] == EVERY[np.arange(64) % 8]).all()
    assert (changed["base offset 1"] != EVERY).all()
