"""The 128 bytes of an encoded map against every encoding that the driver gave: read back, and bit by bit."""

import subprocess
import sys

import pytest

from tmalab import TensorMap, observe
from tmalab.errors import InputError, RecordingError, TensorMapError, TmaLabError
from tmalab.experiment import catalogue
from tmalab.model.encoded_map import (
    ENCODED_BYTES,
    FIELDS,
    bits_of,
    box_bytes,
    decode,
    differing,
    expected,
    is_im2col,
    read_bits,
    unknown_bits,
)
from tmalab.model.swizzle import pattern


def recorded():
    """Name, map and bytes of each recorded encoding."""
    for case in catalogue.group("encode"):
        try:
            seen = observe(case, live=False)
        except RecordingError:
            continue
        if seen["accepted"]:
            yield case.name, TensorMap.from_dict(case.params["tensor_map"]), seen["encoded"].tobytes()


ENCODED = list(recorded())
BASE = ENCODED[0][2]


def test_the_driver_s_verdict_is_the_model_s():
    for case in catalogue.group("encode"):
        broken = TensorMap.from_dict(case.params["tensor_map"]).violations()
        assert observe(case, live=False)["accepted"] == (not broken), case.name


@pytest.mark.parametrize(("tm", "encoded"), [pair[1:] for pair in ENCODED], ids=[name for name, *_ in ENCODED])
def test_every_encoding_reads_back_as_the_map_that_was_asked_for(tm, encoded):
    assert decode(encoded) == tm
    assert read_bits(encoded, "box_bytes") == box_bytes(tm)
    assert read_bits(encoded, "pattern_bytes") == pattern(tm.swizzle).repeat_bytes
    assert expected(tm) == encoded
    assert (unknown_bits(encoded), is_im2col(encoded)) == ([], False)


def test_no_two_fields_share_a_bit_and_every_bit_that_is_ever_set_is_a_field_s():
    taken = [bit for field in FIELDS for first, count in bits_of(field) for bit in range(first, first + count)]
    assert len(taken) == len(set(taken))
    assert max(taken) < 8 * ENCODED_BYTES
    ever = 0
    for _, _, encoded in ENCODED:
        ever |= int.from_bytes(encoded, "little")
    assert [bit for bit in range(8 * ENCODED_BYTES) if ever >> bit & 1 and bit not in taken] == []


def test_every_bit_of_a_number_was_seen_set_and_clear():
    """So a field is neither longer nor shorter than the table says; low bits that a rule fixes apart."""
    seen = dict.fromkeys(FIELDS, (0, 0))
    for _, _, encoded in ENCODED:
        for field in FIELDS:
            value, width = read_bits(encoded, field), sum(count for _, count in bits_of(field))
            ones, zeros = seen[field]
            seen[field] = (ones | value, zeros | ~value & (1 << width) - 1)
    for field, (ones, zeros) in seen.items():
        width = sum(count for _, count in bits_of(field))
        low = {"address": 4, "box_dim[0]": 3}.get(field, 0)  # multiples of 16 bytes, whatever the type
        if field.startswith(("global_", "element_strides", "box_dim", "address")):
            assert (ones >> low, zeros >> low) == ((1 << width - low) - 1,) * 2, field


def test_one_changed_field_is_named():
    found = {name.removeprefix("encode/"): differing(BASE, encoded) for name, _, encoded in ENCODED}
    assert found["base"] == []
    assert found["oob_fill/nan"] == ["oob_fill"]
    assert found["global_strides-3/1099511627760"] == ["global_strides[3]"]
    assert found["dtype/tfloat32"] == ["dtype", "tf32", "box_bytes"]
    assert found["swizzle/64B"] == ["swizzle", "pattern_bytes"]
    assert differing(BASE, BASE[:127] + b"\x01") == ["other"]


@pytest.mark.parametrize("encoded", [b"", b"\0" * 127, "0" * 128, None, [0] * 128])
def test_what_is_no_encoded_map_is_refused(encoded):
    with pytest.raises(InputError, match="encoded"):
        decode(encoded)


def test_the_bytes_of_an_im2col_map_are_not_read_as_a_tiled_one_s():
    read = 0
    for case in catalogue.group("facts"):
        if case.params.get("tensor_map", {}).get("kind") != "im2col" or case.probe != "encode":
            continue
        seen = observe(case, live=False)
        if seen["accepted"]:
            read += 1
            with pytest.raises(InputError, match="im2col map"):
                decode(seen["encoded"].tobytes())
            assert is_im2col(seen["encoded"].tobytes())
            assert unknown_bits(seen["encoded"].tobytes()) == [64]
    assert read == 4


@pytest.mark.parametrize("tm", [
    TensorMap.im2col("float16", (64, 8, 8, 4), (128, 1024, 8192), (-1, -1), (-1, -1), 64, 64),
    TensorMap.tiled("16u4_align8b", (256, 128), (128,), (128, 64)),
])  # fmt: skip
def test_what_was_never_recorded_is_not_foretold(tm):
    with pytest.raises(TmaLabError):
        expected(tm)


@pytest.mark.parametrize("step", [0, 9])
def test_of_a_refused_map_the_driver_writes_nothing(step):
    with pytest.raises(TensorMapError, match=f"element_strides\\[0\\]={step}"):
        box_bytes(TensorMap.tiled("float16", (64, 64), (128,), (64, 8), element_strides=(step, 1)))


def test_numbers_that_stand_for_nothing_are_refused():
    whole = int.from_bytes(BASE, "little")
    for field, number in {"dtype": 15, "interleave": 3}.items():
        (first, count) = bits_of(field)[0]
        other = whole & ~((1 << count) - 1 << first) | number << first
        with pytest.raises(InputError, match=f"{field}={number}"):
            decode(other.to_bytes(ENCODED_BYTES, "little"))
    with pytest.raises(InputError, match=r"box_dim\[5\]"):
        bits_of("box_dim[5]")


def test_it_loads_no_numpy():
    code = "import sys, tmalab.model.encoded_map; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
