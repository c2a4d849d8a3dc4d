"""Tiles and the usual ways to read one: who reads what, and where that stands."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab.errors import InputError
from tmalab.model import shared_offsets
from tmalab.model.swizzle import swizzled
from tmalab.model.tensor_map import TensorMap
from tmalab.model.tile_access import ACCESSES, Tile, access_addresses


def places(access, rows=32, row_bytes=128, width=4, at=0):
    """(row, vector) of each lane, read back from the addresses of a linear tile."""
    return [
        (address // row_bytes, address % row_bytes // width)
        for address in access_addresses(Tile(rows, row_bytes), access, width, at)
    ]


def test_each_access_reads_what_its_name_says():
    assert places("row") == [(0, lane) for lane in range(32)]
    assert places("row", row_bytes=32, at=2) == [(2 + lane // 8, lane % 8) for lane in range(32)]
    assert places("column", at=3) == [(lane, 3) for lane in range(32)]
    assert places("diagonal", at=1) == [(lane, (1 + lane) % 32) for lane in range(32)]
    assert places("transposed", width=16) == [(lane % 8, lane // 8) for lane in range(32)]
    assert places("ldmatrix", width=16, at=2) == [(lane % 16, 2 + lane // 16) for lane in range(32)]


def test_rows_and_vectors_wrap_around():
    assert places("column", rows=8)[8] == (0, 0)
    assert places("transposed", row_bytes=32, width=16)[16] == (0, 0)
    assert places("row", rows=2, row_bytes=32)[16] == (0, 0)


@pytest.mark.parametrize(("swizzle", "row_bytes"), [("none", 128), ("32B", 32), ("64B", 32), ("64B", 64), ("128B", 48)])
def test_a_tile_is_as_the_engine_writes_it(swizzle, row_bytes):
    tile = Tile(16, row_bytes, swizzle, base=1024)
    box = TensorMap.tiled("uint8", (256, 64), (256,), (row_bytes, 16), swizzle=swizzle)
    assert not box.violations()
    written = shared_offsets(box, 1024)
    assert [[tile.address(row, byte) for row in range(16)] for byte in range(row_bytes)] == written.tolist()


def test_padding_lengthens_the_pitch_and_nothing_else():
    assert Tile(4, 128, padding_bytes=4).pitch_bytes == 132
    assert access_addresses(Tile(4, 128, padding_bytes=4), "column", 4)[:4] == [0, 132, 264, 396]
    assert Tile(4, 32, "128B").pitch_bytes == 128


@given(
    st.integers(1, 64), st.sampled_from([16, 32, 48, 128, 256]), st.sampled_from(["none", "32B", "64B", "128B"]),
    st.sampled_from([0, 4, 16]), st.sampled_from([0, 128, 1024]), st.sampled_from(ACCESSES),
    st.sampled_from([1, 2, 4, 8, 16]), st.integers(0, 40),
)  # fmt: skip
def test_every_address_is_a_byte_of_the_tile(rows, row_bytes, swizzle, padding, base, access, width, at):
    tile = Tile(rows, row_bytes, swizzle, padding, base)
    addresses = access_addresses(tile, access, width, at)
    assert len(addresses) == 32
    assert all(type(address) is int for address in addresses)
    for address in addresses:
        row, byte = divmod(swizzled(address, swizzle) - base, tile.pitch_bytes)
        assert 0 <= row < rows
        assert byte + width <= row_bytes


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"rows": 0, "row_bytes": 128}, "rows"),
        ({"rows": 8, "row_bytes": 0}, "row_bytes"),
        ({"rows": 8, "row_bytes": 128, "padding_bytes": -4}, "padding_bytes"),
        ({"rows": 8, "row_bytes": 128, "base": -1}, "base"),
        ({"rows": 8.5, "row_bytes": 128}, "rows"),
        ({"rows": 8, "row_bytes": 128, "swizzle": "96B"}, "swizzle"),
        ({"rows": 1 << 40, "row_bytes": 128}, "rows"),
    ],
)
def test_what_is_no_tile_is_refused(fields, field):
    with pytest.raises(InputError) as caught:
        Tile(**fields)
    assert caught.value.field == field
    assert caught.value.fix


@pytest.mark.parametrize(
    ("access", "width", "field"), [("zigzag", 4, "access"), ("row", 0, "width_bytes"), ("row", 256, "width_bytes")]
)
def test_what_is_no_access_is_refused(access, width, field):
    with pytest.raises(InputError) as caught:
        access_addresses(Tile(8, 128), access, width)
    assert caught.value.field == field


def test_it_loads_no_numpy():
    code = "import sys; import tmalab.model.tile_access; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
