"""Whole waves of tiles: the share that a product can use, against counting every multiplication."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab.errors import InputError
from tmalab.experiment import gemm_plan as gemm_plan_module
from tmalab.experiment.gemm_plan import RUNGS, gemm_plan
from tmalab.hardware import gemm_runner
from tmalab.model.waves import (
    FLOPS_PER_CYCLE,
    PEAK_TFLOPS,
    SMS,
    roof_tflops,
    step_cycles,
    tile_count,
    usable_share,
    waves,
)


def counted(size, tile, sms, cluster):
    """Blocks take turns until all tiles are done; of all that could be done in that time, what was needed."""
    (m, n, k), (rows, columns, depth) = size, tile
    tiles = [(row, column) for row in range(0, m, rows) for column in range(0, n, columns)]
    while (len({row for row, _ in tiles}) * rows) % (rows * cluster):
        below = max(row for row, _ in tiles) + rows
        tiles += [(below, column) for column in range(0, n, columns)]
    turns = [0] * sms
    for at in range(len(tiles)):
        turns[at % sms] += 1
    steps = len(range(0, k, depth))
    return len(tiles), max(turns), m * n * k / (max(turns) * sms * rows * columns * steps * depth)


@pytest.mark.parametrize("cluster", [1, 2])
def test_it_is_what_counting_gives(cluster):
    for m, n, k in product((1, 8, 9, 64), (1, 16, 33), (1, 4, 5)):
        tiles, most, share = counted((m, n, k), (8, 16, 4), 5, cluster)
        assert tile_count((m, n, k), (8, 16, 4), cluster=cluster) == tiles
        assert waves(tiles, sms=5) == most
        assert usable_share((m, n, k), (8, 16, 4), sms=5, cluster=cluster) == pytest.approx(share)


@given(*(st.integers(1, 70) for _ in range(3)), st.integers(1, 9), st.integers(1, 3))
def test_it_is_what_counting_gives_for_any_size(m, n, k, sms, cluster):
    tiles, _, share = counted((m, n, k), (8, 16, 4), sms, cluster)
    assert tile_count((m, n, k), (8, 16, 4), cluster=cluster) == tiles
    assert usable_share((m, n, k), (8, 16, 4), sms=sms, cluster=cluster) == pytest.approx(share)


def test_the_tiles_are_those_that_the_plan_launches():
    for name, rung in RUNGS.items():
        for size in ((8192, 8192, 8192), (129, 257, 65), (4000, 4008, 136)):
            plan = gemm_plan(
                name, *size, lda=size[2] + -size[2] % 8, ldb=size[2] + -size[2] % 8, ldc=size[1] + -size[1] % 8
            )
            tiles = tile_count(size, rung.tile, cluster=rung.cluster)
            assert tiles == -(-plan.tiles_m // rung.cluster) * rung.cluster * plan.tiles_n
            assert plan.blocks == (min(tiles, SMS) if rung.persistent else tiles)


def test_the_card_is_the_one_that_is_measured():
    assert (PEAK_TFLOPS, FLOPS_PER_CYCLE) == (gemm_runner.DATASHEET_TFLOPS, gemm_runner.FLOPS_PER_CYCLE)
    assert SMS == gemm_plan_module.SMS


def test_a_step_of_the_wide_tile_takes_as_long_as_the_tensor_cores_need():
    assert step_cycles((128, 256, 64)) == 4 * 2 * 128  # four products of 16 of K, by two warpgroups, 128 cycles each
    assert roof_tflops((8192, 8192, 8192), (128, 256, 64)) < 989.4


@pytest.mark.parametrize("wrong", [0, -8, 1.5, True, "8", None])
def test_what_is_no_size_is_an_error_that_names_it(wrong):
    asked = {
        "size": lambda: usable_share((8192, wrong, 8192), (128, 256, 64)),
        "tile": lambda: step_cycles((128, 256, wrong)),
        "cluster": lambda: tile_count((8, 8, 8), (8, 8, 8), cluster=wrong),
        "sms": lambda: waves(5, sms=wrong),
        "tiles": lambda: waves(wrong),
    }
    for field, ask in asked.items():
        with pytest.raises(InputError) as raised:
            ask()
        assert raised.value.field == field


def test_a_size_is_three_numbers():
    for wrong in ((8192, 8192), 8192, "128"):
        with pytest.raises(InputError, match="size"):
            tile_count(wrong, (128, 256, 64))
