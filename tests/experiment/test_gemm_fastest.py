"""A rung is chosen by the waves of its tiles: no other width takes fewer columns; a short K takes another rung."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import observe
from tmalab.errors import InputError
from tmalab.experiment.gemm_fastest import FASTEST, SHORT_STEPS, fastest_rung, wave_columns
from tmalab.experiment.gemm_plan import RUNGS, gemm_plan

sizes = st.integers(1, 40_000)


@given(sizes, sizes, st.integers(449, 40_000), st.integers(2, 200))
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


@pytest.mark.parametrize(
    ("named", "field"),
    [({"n": None}, "n"), ({"k": "64"}, "k"), ({"m": 0}, "m"), ({"sms": 1}, "sms"), ({"sms": "8"}, "sms")],
)
def test_a_wrong_shape_is_refused_as_a_plan_refuses_it(named, field):
    with pytest.raises(InputError) as raised:
        fastest_rung(**{"m": 64, "n": 64, "k": 64, **named})
    assert raised.value.field == field


def test_a_short_k_goes_to_the_rung_that_shares_a_tile():
    assert [fastest_rung(16384, 16384, k) for k in (1, 256, 448, 449, 512)] == ["store"] * 3 + ["fastest"] * 2
    with pytest.raises(InputError):
        fastest_rung(8192, 8192, 0)


def test_the_recorded_way_out_is_as_long_as_the_steps_that_hide_it():
    epilogues = observe("gemm/rung/fastest/8192", live=False).arrays["epilogues"]
    longest = max(end - begin for begin, end in epilogues.reshape(-1, 2) if begin >= 0)
    step = RUNGS["fastest"].tile[1] * 4  # cycles: 128 x BN x 64 products at 4,096 operations a cycle
    assert (SHORT_STEPS - 1) * step < longest <= SHORT_STEPS * step
