"""The model against what an H200's wgmma read: every element of every recorded reading, its product, its descriptor."""

import numpy as np
import pytest

from tmalab import TensorMap, observe
from tmalab.experiment.wgmma_cases import (
    FIELD_READINGS,
    base_case,
    descriptors_of,
    fields_case,
    product_operand,
    reading,
    tile_values,
    wgmma_cases,
    wgmma_tile_map,
)
from tmalab.model.shared_tile import shared_offsets
from tmalab.model.wgmma_tile import NOTHING, MatrixDescriptor, elements_read

CASES = list(wgmma_cases())
EVERY = np.arange(64 * 64).reshape(64, 64)
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def foretold(case):
    tm, base = TensorMap.from_dict(case.params["tensor_map"]), case.params["smem_base"]
    return np.stack([elements_read(tm, descriptors_of(packed), base) for packed in case.params["readings"]])


@each_case
def test_every_element_that_was_read_is_the_one_foretold(case):
    seen = observe(case, live=False)
    assert not seen.undefined
    np.testing.assert_array_equal(seen["read"], foretold(case))


@each_case
def test_the_product_is_the_float64_product_of_what_was_read(case):
    if case.params["operand"] == "B":
        return
    values = np.append(tile_values().astype(np.float64).ravel(), 0.0)  # NOTHING is -1: the zero behind the tile
    assert NOTHING == -1
    exact = values[foretold(case)] @ product_operand().astype(np.float64).T
    np.testing.assert_array_equal(observe(case, live=False)["product"], exact)


@each_case
def test_the_kernel_encodes_a_descriptor_as_the_model_does(case):
    seen = observe(case, live=False)
    for packed, bits in zip(case.params["readings"], seen["descriptors"].tolist(), strict=True):
        for one, found in zip(descriptors_of(packed), bits, strict=True):
            there = one._replace(start_bytes=one.start_bytes + seen["region_bytes"])
            assert (MatrixDescriptor.decode(found), found) == (there, there.encode())


@each_case
def test_the_tile_stands_where_the_copy_was_to_put_it(case):
    seen, tm = observe(case, live=False), TensorMap.from_dict(case.params["tensor_map"])
    places = shared_offsets(tm, case.params["smem_base"])
    words = np.zeros(case.params["smem_bytes"] // 2, np.uint16)
    columns = np.moveaxis(tile_values().view(np.uint16).reshape(64, -1, places.shape[0]), 2, 0)
    words[places.reshape(columns.shape) // 2] = columns
    np.testing.assert_array_equal(seen["smem"].view(np.uint16), words)


def test_the_pattern_of_a_tile_that_tma_brought_needs_no_base_offset():
    """It begins at a multiple of 1024, wherever the tile does: the swizzle is a function of the address."""
    for base in range(128, 1024, 128):
        plain, named = observe(base_case(base), live=False)["read"]
        assert (plain == EVERY).all()
        assert (named != EVERY).all()


def test_what_the_manual_leaves_open():
    read = dict(zip(FIELD_READINGS["128B"], observe(fields_case("128B"), live=False)["read"], strict=True))
    assert (read["leading 0"] == EVERY).all()  # not read where there is a swizzle
    assert (read["leading 2048"] == EVERY).all()
    assert (read["3 rows down"][:61] == EVERY[3:]).all()
    none = dict(zip(FIELD_READINGS["none"], observe(fields_case("none"), live=False)["read"], strict=True))
    assert (none["base offset 1"] == EVERY).all()  # nor a base offset where there is none
    assert reading("none")[0].leading_bytes == wgmma_tile_map("none").box_dim[1] * 16
