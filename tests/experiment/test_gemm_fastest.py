"""The width of the last rung's tiles is chosen by the waves that they take: none of the others takes fewer columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab.experiment.gemm_fastest import FASTEST, fastest_rung, wave_columns
from tmalab.experiment.gemm_plan import RUNGS, gemm_plan

sizes = st.integers(1, 40_000)


@given(sizes, sizes, sizes, st.integers(2, 200))
def test_no_other_width_takes_fewer_columns(m, n, k, sms):
    chosen = wave_columns(fastest_rung(m, n, k, sms=sms), m, n, k, sms=sms)
    assert chosen == min(wave_columns(name, m, n, k, sms=sms) for name in FASTEST)


@pytest.mark.parametrize("name", FASTEST)
def test_columns_of_waves_cover_the_product(name):
    plan = gemm_plan(name, 8192, 8192, 8192)
    rows, columns, _ = plan.rung.tile
    waves = wave_columns(name, 8192, 8192, 8192) // columns
    assert waves * plan.blocks >= plan.tiles_m * plan.tiles_n > (waves - 1) * plan.blocks
    assert waves * plan.blocks * rows * columns >= 8192 * 8192


def test_of_two_alike_the_wider_tile_loads_less():
    alike = {name: wave_columns(name, 16384, 16384, 16384) for name in FASTEST}
    assert alike["fastest"] == alike["fastest-128"] == min(alike.values())
    assert fastest_rung(16384, 16384, 16384) == "fastest"
    assert RUNGS["fastest"].tile[1] == max(RUNGS[name].tile[1] for name in FASTEST)
