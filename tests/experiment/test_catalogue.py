"""The catalogue is whole: names are unique and readable, no two are the same experiment, every builder is listed."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tmalab.errors import InputError
from tmalab.experiment import catalogue
from tmalab.experiment.transfer_case import transfer_case
from tmalab.model.launch_rules import launch_violations
from tmalab.model.tensor_map import TensorMap

BUILT = [case for build in catalogue.GROUPS.values() for case in build()]
TRANSFERS = [case for case in BUILT if case.probe == "transfer"]


def test_no_name_and_no_experiment_stands_twice():
    assert [name for name, count in Counter(case.name for case in BUILT).items() if count > 1] == []
    names_by_key: dict[str, list[str]] = {}
    for case in BUILT:
        names_by_key.setdefault(case.key, []).append(case.name)
    assert [names for names in names_by_key.values() if len(names) > 1] == []


def test_cases_gives_every_built_one_and_a_dict_of_ones_own():
    assert list(catalogue.cases().values()) == BUILT
    catalogue.cases().clear()
    assert len(catalogue.cases()) == len(BUILT)


@pytest.mark.parametrize("group", catalogue.GROUPS)
def test_names_begin_with_their_group(group):
    assert catalogue.group(group)
    assert all(re.fullmatch(rf"{group}(/[A-Za-z0-9_.-]+)+", case.name) for case in catalogue.group(group))


def test_figure_1_has_324_states():
    assert len(catalogue.group("tile")) == 324
    case = catalogue.case("tile/128B/r3/c8/b896")
    assert case == catalogue.tile_figure_case("128B", 3, 8, 896)
    assert case.params["coords"] == [8, 3]
    assert case.params["tensor_map"]["box_dim"] == [64, 8]


@pytest.mark.parametrize("case", TRANSFERS, ids=lambda case: case.name)
def test_a_transfer_is_legal_and_fits_unless_it_is_there_to_fault(case):
    params = case.params
    tensor_map = TensorMap.from_dict(params["tensor_map"])
    assert tensor_map.violations() == []
    assert params["smem_base"] + tensor_map.footprint_bytes() <= params["smem_bytes"]
    foretold = launch_violations(
        tensor_map, params["coords"], direction=params["direction"], op=params["op"], smem_base=params["smem_base"],
        offsets=params["offsets"], smem_bytes=params["smem_bytes"],
    )  # fmt: skip
    if not case.name.startswith("facts/"):  # of whose faults tests/experiment/test_facts.py knows the names
        assert bool(foretold) == case.name.startswith("fault/")


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(InputError, match=r"use .*tile/128B/r0/c64/b256"):
        catalogue.case("tile/128b/r0/c64/b256")


@pytest.mark.parametrize("name", ["zebra", "", None, 7, "x" * 10_000_000])
def test_a_name_like_none_points_at_the_list(name):
    with pytest.raises(InputError, match="--list"):
        catalogue.case(name)


def test_an_unknown_group_is_answered_with_all():
    with pytest.raises(InputError, match="tile, add_one"):
        catalogue.group("tiles")


def test_figure_1_has_no_other_swizzle():
    with pytest.raises(InputError, match="swizzle='128B_ATOM_32B'"):
        catalogue.tile_figure_case("128B_ATOM_32B", 0, 0, 0)


@pytest.mark.parametrize(("direction", "op"), [("fetch", None), ("load", "add"), ("reduce", None)])
def test_a_transfer_of_no_kind_is_refused(direction, op):
    with pytest.raises(InputError):
        transfer_case(
            "demo", catalogue.tile_figure_map("none"), direction, (0, 0), memory=catalogue.TILE_MEMORY,
            smem_bytes=1024, op=op,
        )  # fmt: skip
