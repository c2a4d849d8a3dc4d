"""Numbers that fit the driver's C types are passed on, and those that fit none are refused without asking it."""

import pytest

from tmalab import TensorMap
from tmalab.hardware.driver_encode import DoesNotFitError, c_fields, fields_of
from tmalab.hardware.encode import PLACEHOLDER_ADDRESS, driver_verdict, driver_verdicts, encode_tensor_map

TM = TensorMap.tiled("float16", (128, 16), (256,), (64, 8), swizzle="128B")


def test_lists_are_five_entries_long():
    ready = c_fields(fields_of(TM))
    assert ready["global_dim"] == [128, 16, 0, 0, 0]
    assert ready["global_strides"] == [256, 0, 0, 0, 0]
    six = TensorMap.tiled("uint8", (16,) * 6, (16,) * 5, (1,) * 6)
    assert ready["box_dim"] == [64, 8, 0, 0, 0]
    assert len(c_fields(fields_of(six))["global_dim"]) == 5


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"global_dim": (1 << 64,)}, r"global_dim\[0\]=18446744073709551616 is no uint64"),
        ({"global_strides": (0, -16)}, r"global_strides\[1\]=-16 is no uint64"),
        ({"box_dim": (-1,)}, r"box_dim\[0\]=-1 is no uint32"),
        ({"lower_corner": (1 << 31,)}, r"lower_corner\[0\]=2147483648 is no int32"),
        ({"channels_per_pixel": -1}, "channels_per_pixel=-1 is no uint32"),
        ({"global_dim": (10**5000,)}, r"global_dim\[0\]=huge is no uint64"),
        ({"global_dim": (1,) * 100}, "global_dim has 100 entries"),
    ],
)
def test_what_fits_no_c_type(fields, place):
    with pytest.raises(DoesNotFitError, match=place):
        c_fields(fields)


def test_the_placeholder_is_aligned_for_every_map():
    assert PLACEHOLDER_ADDRESS % 1024 == 0


@pytest.mark.gpu
class TestTheDriver:
    def test_its_bytes_hold_the_address(self):
        assert encode_tensor_map(TM)[:8] == PLACEHOLDER_ADDRESS.to_bytes(8, "little")
        assert TM.encode() == encode_tensor_map(TM)
        assert len(TM.encode()) == 128

    def test_its_verdicts(self):
        refused = TensorMap.tiled("float16", (128, 16), (250,), (64, 8))
        impossible = TensorMap.tiled("float16", (128, 16), (10**5000,), (64, 8))
        assert driver_verdicts([TM, refused, impossible, TM] * 400) == [True, False, False, True] * 400

    def test_it_looks_at_the_address(self):
        verdicts = [driver_verdict(TM, PLACEHOLDER_ADDRESS + offset) for offset in (0, 8, 16, 1)]
        assert verdicts == [True, False, True, False]
