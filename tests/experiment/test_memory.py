"""`make_bytes` gives what its one-line descriptions say, and refuses what has none."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab.errors import InputError
from tmalab.experiment.memory import make_bytes


def test_random_is_numpys_default_generator():
    expected = np.random.default_rng(12015).integers(0, 256, 1000, dtype=np.uint8)
    assert np.array_equal(make_bytes({"pattern": "random", "seed": 12015, "bytes": 1000}), expected)


def test_iota16_counts_elements_and_wraps():
    memory = make_bytes({"pattern": "iota16", "bytes": 2 * 65540}).view("<u2")
    assert memory[[0, 1, 65535, 65536, 65539]].tolist() == [0, 1, 65535, 0, 3]


def test_arange_float32_counts_elements():
    assert make_bytes({"pattern": "arange_float32", "bytes": 16}).view("<f4").tolist() == [0.0, 1.0, 2.0, 3.0]


def test_fill_is_one_value():
    assert set(make_bytes({"pattern": "fill", "value": 0xCD, "bytes": 9}).tolist()) == {0xCD}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "tfloat32_ftz"])
def test_float_edges_hold_every_special_kind(dtype):
    numpy_dtype = dtype if dtype in ("float16", "float64") else "float32"
    values = make_bytes({"pattern": "float_edges", "dtype": dtype, "seed": 1, "bytes": 8000}).view(numpy_dtype)
    tiny = np.finfo(numpy_dtype).tiny
    assert np.isnan(values).any()
    assert np.isinf(values).any()
    assert ((values == 0) & np.signbit(values)).any()
    assert ((values != 0) & (np.abs(values) < tiny)).any()
    assert np.array_equal(
        values.view(np.uint8), make_bytes({"pattern": "float_edges", "dtype": dtype, "seed": 1, "bytes": 8000})
    )


def test_float_edges_know_bfloat16():
    bits = make_bytes({"pattern": "float_edges", "dtype": "bfloat16", "seed": 1, "bytes": 4000}).view("<u2")
    exponents = (bits >> 7) & 0xFF
    assert {0, 1, 126, 127, 128, 254, 255} <= set(exponents.tolist())


@pytest.mark.parametrize("spec", [{"pattern": "iota16", "bytes": 0}, {"pattern": "arange_float32", "bytes": 7}])
def test_a_size_need_not_be_whole_elements(spec):
    assert make_bytes(spec).shape == (spec["bytes"],)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"pattern": "zebra", "bytes": 4}, "pattern"),
        ({"pattern": ["iota16"], "bytes": 4}, "pattern"),
        ("iota16", "memory"),
        ({"pattern": "random", "seed": 3}, "memory"),
        ({"pattern": "fill", "bytes": 4}, "memory"),
        ({"pattern": "iota16", "bytes": 4, "seed": 1}, "memory"),
        ({"pattern": "fill", "value": 256, "bytes": 4}, "value"),
        ({"pattern": "fill", "value": True, "bytes": 4}, "value"),
        ({"pattern": "iota16", "bytes": -1}, "bytes"),
        ({"pattern": "iota16", "bytes": 1 << 60}, "bytes"),
        ({"pattern": "iota16", "bytes": 4.0}, "bytes"),
        ({"pattern": "random", "seed": -1, "bytes": 4}, "seed"),
        ({"pattern": "float_edges", "dtype": "int32", "seed": 1, "bytes": 4}, "dtype"),
    ],
)
def test_a_wrong_spec_names_the_field(spec, field):
    with pytest.raises(InputError) as caught:
        make_bytes(spec)
    assert caught.value.field == field
    assert "Fix:" in str(caught.value)


def test_each_call_gives_fresh_bytes():
    spec = {"pattern": "iota16", "bytes": 8}
    make_bytes(spec)[:] = 9
    assert make_bytes(spec)[0] == 0
