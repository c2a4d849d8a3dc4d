"""TIRx's recorded bytes against the model's, its states against Figure 1's; no package and no GPU is asked for them."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab import observe
from tmalab.experiment.catalogue import group, tile_cases
from tmalab.experiment.tirx_cases import BOXES, OWN_MAPS, STORES, as_figure_1, foretold
from tmalab.model.encoded_map import decode


def seen(name: str):
    return observe(f"tirx/{name}", live=False)


@pytest.mark.parametrize("name", [name for name in BOXES if name not in ("packed", "interleave-narrow")])
def test_each_box_lies_where_the_model_says(name):
    one = seen(f"boxes/{name}")
    assert not one["late"]
    assert np.array_equal(one["smem"], foretold(one))


@pytest.mark.parametrize("name", [name for name in STORES if name != "max-float32"])
def test_each_store_leaves_what_the_model_says(name):
    one = seen(f"stores/{name}")
    assert np.array_equal(one["memory"], foretold(one))


def test_a_foretold_byte_would_be_missed():
    one = seen("boxes/two-by-four")
    wrong = one["smem"].copy()
    wrong[100] ^= 1
    assert (wrong != foretold(one)).sum() == 1


def test_multicast_gives_both_the_same():
    one = seen("multicast")
    assert np.array_equal(one["smem"], foretold(one))
    assert np.array_equal(one["smem"][0], one["smem"][1])


def test_all_states_of_figure_1_are_what_the_plain_probe_left():
    by_tirx, asked = as_figure_1(seen_from := lambda name: observe(name, live=False)), list(tile_cases())
    assert len(asked) == 324
    assert all(np.array_equal(by_tirx(case)["smem"], seen_from(case)["smem"]) for case in asked)


def test_a_figure_asks_once_for_each_swizzle():
    names = []
    by_tirx = as_figure_1(lambda name: names.append(name) or observe(name, live=False))
    for case in tile_cases():
        by_tirx(case)
    assert len(names) == 4


def test_box_and_shape_are_turned_round_in_the_descriptor():
    for name, params in BOXES.items():
        one = seen(f"boxes/{name}")
        if "descriptor" in one.arrays:
            made = decode(one["descriptor"].tobytes())
            inner = 1 if "interleave" in params.get("fields", {}) else 0  # the channels' axis is no dimension
            assert made.box_dim == tuple(params["box"][::-1])
            assert made.global_dim == tuple(params["shape"][::-1][inner:])


def test_a_map_that_is_not_as_told_leaves_one_row_of_eight():
    for name, ways in OWN_MAPS.items():
        one = seen(f"own_map/{name}")
        assert one["differ"] == (0 if ways["encoded"] == ways["told"] else 448)
        assert np.array_equal(one["descriptor"], one["encoded"])


def test_every_case_was_recorded_with_the_pinned_version():
    cases = group("tirx")
    assert {seen(case.name.removeprefix("tirx/"))["package"]["version"] for case in cases} == {"0.1.0a4"}


def test_no_run_left_other_bytes_than_the_first():
    counted = [seen(case.name.removeprefix("tirx/")).values.get("runs_differing") for case in group("tirx")]
    assert sum(count is not None for count in counted) == 4 + len(OWN_MAPS) + len(STORES) - 1  # one ended in a fault
    assert not any(counted)
