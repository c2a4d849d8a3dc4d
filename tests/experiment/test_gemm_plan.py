"""A product is planned whole or refused with its field; the tiles' order leaves none out and takes none twice."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tmalab.errors import InputError
from tmalab.experiment.gemm_cases import LADDER, LADDER_SIZE, gemm_cases
from tmalab.experiment.gemm_plan import MOST, RUNGS, gemm_plan, plan_of, tile_order
from tmalab.hardware.cuda_device import MOST_SHARED_BYTES

names = st.sampled_from(sorted(RUNGS))
sizes = st.integers(1, 40_000)


def refusal(*arguments, **named):
    with pytest.raises(InputError) as raised:
        gemm_plan(*arguments, **named)
    return raised.value


@pytest.mark.parametrize("name", RUNGS)
def test_a_square_is_planned(name):
    plan = gemm_plan(name, 8192, 8192, 8192)
    rows, columns, _ = plan.rung.tile
    assert (plan.tiles_m, plan.tiles_n) == (8192 // rows, -(-8192 // columns))
    assert plan.blocks == (132 if plan.rung.persistent else plan.tiles_m * plan.tiles_n)
    assert plan.flops == 2 * 8192**3
    assert plan.rung.shared_bytes <= MOST_SHARED_BYTES


@pytest.mark.parametrize("name", [name for name in RUNGS if name != "plain-loads"])
def test_the_boxes_bring_the_tile(name):
    plan = gemm_plan(name, 8192, 8192, 8192)
    rows, columns, depth = plan.rung.tile
    bytes_of_b = plan.map_b.transaction_bytes() * plan.rung.cluster  # each block of a cluster brings a part of B
    assert plan.map_a.transaction_bytes() == rows * depth * 2
    assert bytes_of_b == columns * depth * 2
    assert plan.map_a.violations() == plan.map_b.violations() == []


def test_rows_that_tma_cannot_describe_are_refused_with_the_remedy():
    error = refusal("store", 512, 512, 4095)
    assert (error.field, error.value, error.limit) == ("lda", 4095, 8)
    assert "8190 bytes" in str(error)
    assert "store them lda=4096 apart" in error.fix
    plan = gemm_plan("store", 512, 512, 4095, lda=4096, ldb=4096)
    assert plan.map_a.global_dim == (4095, 512)
    assert plan.map_a.global_strides == (8192,)


@pytest.mark.parametrize(
    ("named", "field"),
    [
        ({"m": 0}, "m"), ({"n": -8}, "n"), ({"k": MOST + 1}, "k"), ({"m": 1.5}, "m"), ({"n": True}, "n"),
        ({"k": "64"}, "k"), ({"lda": 56}, "lda"), ({"ldb": 68}, "ldb"), ({"ldc": 12}, "ldc"), ({"n": 12}, "ldc"),
        ({"dtype": "float16"}, "dtype"), ({"dtype": None}, "dtype"), ({"m": MOST, "n": MOST - MOST % 8}, "m, n"),
        ({"lda": 2**32}, "lda"), ({"ldb": 2**40}, "ldb"), ({"ldc": 2**64}, "ldc"), ({"sms": 0}, "sms"),
        ({"sms": 1.5}, "sms"), ({"sms": None}, "sms"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["plain-loads", "store"])
def test_what_cannot_be_multiplied_is_refused(name, named, field):
    asked = {"m": 64, "n": 64, "k": 64, **named}
    error = refusal(name, asked.pop("m"), asked.pop("n"), asked.pop("k"), **asked)
    assert error.field == field
    assert error.fix


def test_the_longest_row_that_a_kernel_can_be_told_of_is_planned():
    assert gemm_plan("store", 1, 8, 8, lda=2**32 - 8).lda == 2**32 - 8


def test_a_pair_of_blocks_needs_a_pair_of_multiprocessors():
    assert refusal("store", 64, 64, 64, sms=1).field == "sms"
    assert gemm_plan("store", 64, 64, 64, sms=2).blocks == 2
    assert gemm_plan("persistent", 64, 64, 64, sms=1).blocks == 1


@pytest.mark.parametrize("name", ["warp", "", None, ["store"]])
def test_an_unknown_rung_names_those_that_exist(name):
    error = refusal(name, 64, 64, 64)
    assert error.field == "rung"
    assert "plain-loads" in error.fix


def test_a_case_without_a_size_says_which():
    with pytest.raises(InputError, match="k=None: missing"):
        plan_of({"rung": "store", "m": 64, "n": 64})


@given(names, sizes, sizes, sizes, st.integers(0, 64), st.integers(0, 64), st.integers(0, 64))
@example("store", 1, 1, 1, 7, 7, 7)
def test_any_size_is_planned_or_refused_for_its_pitch(name, m, n, k, more_a, more_b, more_c):
    lda, ldb, ldc = k + more_a, k + more_b, n + more_c
    wrong = [field for field, pitch in (("lda", lda), ("ldb", ldb), ("ldc", ldc)) if pitch % 8]
    if wrong:
        error = refusal(name, m, n, k, lda=lda, ldb=ldb, ldc=ldc)
        assert error.field == wrong[0]
        remedy = int(error.fix.split("=")[1].split()[0])
        assert remedy % 8 == 0
        assert 0 < remedy - error.value < 8
        return
    plan = gemm_plan(name, m, n, k, lda=lda, ldb=ldb, ldc=ldc)
    rows, columns, _ = plan.rung.tile
    assert 0 <= plan.tiles_m * rows - m < rows
    assert 0 <= plan.tiles_n * columns - n < columns
    assert plan.blocks % plan.rung.cluster == 0
    assert 1 <= plan.blocks
    assert all(tm is None or not tm.violations() for tm in (plan.map_a, plan.map_b, plan.map_c))


@given(names, st.integers(1, 70), st.integers(1, 40))
@example("cluster", 3, 1)
def test_the_order_takes_every_tile_once(name, tiles_m, tiles_n):
    order, cluster = tile_order(name, tiles_m, tiles_n), RUNGS[name].cluster
    inside = [tile for tile in order if tile[0] < tiles_m]
    assert sorted(inside) == [(row, column) for row in range(tiles_m) for column in range(tiles_n)]
    assert len(order) - len(inside) == (tiles_n if tiles_m % cluster else 0), "the last row of tiles has no partner"
    pairs = [order[at : at + cluster] for at in range(0, len(order), cluster)]
    assert all(pair == [(pair[0][0] + rank, pair[0][1]) for rank in range(cluster)] for pair in pairs)


def test_a_good_order_reads_less():
    """Rows of A and of B that the 132 blocks running together need, in tiles."""

    def needed(name):
        together = tile_order(name, 64, 32)[:132]
        return len({row for row, _ in together}) + len({column for _, column in together})

    assert needed("consumers") == 5 + 32
    assert needed("persistent") == 16 + 9


def test_the_cases_name_each_experiment_once():
    cases = list(gemm_cases())
    assert len({case.key for case in cases}) == len({case.name for case in cases}) == len(cases)
    assert {f"gemm/rung/{name}/{LADDER_SIZE}" for name in LADDER} < {case.name for case in cases}
    for case in cases:
        assert plan_of(case.params).flops > 0
