"""The probe "wgmma": its records fit the kernel's structs, an element names itself, and on a GPU all is as recorded."""

import re

import numpy as np
import pytest

from tmalab import observe
from tmalab.errors import InputError, TensorMapError
from tmalab.experiment.case import Case
from tmalab.experiment.wgmma_cases import (
    FIRST_BITS,
    element_numbers,
    product_operand,
    tile_values,
    wgmma_case,
    wgmma_cases,
)
from tmalab.hardware import run_case
from tmalab.hardware.compile import KERNELS
from tmalab.hardware.wgmma_probe import _EXPERIMENT, _READING, _REPORT
from tmalab.model.wgmma_tile import SWIZZLE_BITS

KERNEL = (KERNELS / "wgmma_tile.cu").read_text(encoding="utf-8")
BYTES = {"u32": 4, "MatrixSwizzle": 4, "u64": 8}


@pytest.mark.parametrize(("name", "packed"), [("Reading", _READING), ("Experiment", _EXPERIMENT), ("Report", _REPORT)])
def test_a_struct_of_the_kernel_has_the_size_that_is_packed(name, packed):
    body = re.sub(r"//.*", "", re.search(rf"struct {name} \{{(.*?)\}};", KERNEL, re.DOTALL)[1])
    size = 0
    for type_name, fields in re.findall(r"^\s*(?:const )?([\w ]+?\*?) ([\w, \[\]]+);", body, re.MULTILINE):
        for field in fields.split(","):
            size += (8 if type_name.endswith("*") else BYTES[type_name]) * (4 if "[STEPS]" in field else 1)
    assert size == packed.size


def test_the_kernel_names_the_swizzles_as_the_model_does():
    text = (KERNELS / "ptx_matrix.cuh").read_text(encoding="utf-8")
    named = dict(re.findall(r"(\w+) = (\d)", re.search(r"enum class MatrixSwizzle.*", text)[0]))
    assert {f"{name[1:]}B" if name != "none" else name: int(mode) for name, mode in named.items()} == SWIZZLE_BITS


def test_an_element_names_itself_and_nothing_else_does():
    values = tile_values()
    assert len(np.unique(values.view(np.uint16))) == 4096
    assert (values > 1).all()  # 1 is the identity's
    assert (element_numbers(values.astype(np.float32)) == np.arange(4096).reshape(64, 64)).all()
    odd = np.array([0.0, 1.0, 1.0 + 2**-20, np.nan, np.inf, -2.0, float(values.max()) + 1], np.float32)
    assert element_numbers(odd).tolist() == [-1, -2, -2, -2, -2, -2, -2]
    assert values.view(np.uint16)[0, 0] == FIRST_BITS


def test_a_product_is_exact_in_float32():
    rows = tile_values().astype(np.float64) @ product_operand().astype(np.float64).T
    assert (rows == rows.astype(np.float32)).all()
    most = (tile_values().astype(np.float64) @ abs(product_operand().astype(np.float64)).T).max()
    assert most * 2**10 < 2**24  # every sum on the way has 10 bits after the point and fits into 24


@pytest.mark.parametrize("missing", ["readings", "operand", "tensor_map"])
def test_a_case_that_is_not_whole_is_refused_before_a_gpu_is_asked(missing):
    params = {name: value for name, value in wgmma_case("128B").params.items() if name != missing}
    with pytest.raises(InputError, match=missing):
        run_case(Case("cut", "wgmma", params))


def test_what_neither_driver_nor_descriptor_can_hold_is_refused_too():
    params = wgmma_case("128B").params
    with pytest.raises(TensorMapError):
        run_case(Case("wide", "wgmma", {**params, "tensor_map": {**params["tensor_map"], "box_dim": [64, 300]}}))
    odd = [{**params["readings"][0], "stride_bytes": 100}]
    with pytest.raises(InputError, match="stride_bytes"):
        run_case(Case("odd", "wgmma", {**params, "readings": odd}))


@pytest.mark.gpu
@pytest.mark.parametrize("case", list(wgmma_cases()), ids=lambda case: case.name)
def test_on_the_gpu_all_is_as_it_was_recorded(case):
    seen, recorded = run_case(case, repeats=2), observe(case, live=False)
    assert not seen.undefined
    for name in ("read", "smem", "product"):
        if name in recorded.arrays:
            np.testing.assert_array_equal(seen[name], recorded[name])


@pytest.mark.gpu
def test_a_descriptor_that_leaves_shared_memory_costs_nothing_but_its_answer():
    params = wgmma_case("128B").params
    far = [{**params["readings"][0], "stride_bytes": 245_760 // 7 // 16 * 16}]
    seen = run_case(Case("far", "wgmma", {**params, "readings": far}))
    assert seen["error"] or (seen["read"][0][:8] == np.arange(512).reshape(8, 64)).all()
    assert run_case(wgmma_case("128B"))["completed"]
