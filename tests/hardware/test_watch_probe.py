"""What a watched launch left in memory, counted: right, wrong, stopped, and what the first block waited for."""

import numpy as np

from tmalab.hardware.kernel_file import Expectation, KernelFile
from tmalab.hardware.watch_probe import _BLOCK, _values, expected_bytes

CONTENT = {"a": np.arange(64, dtype=np.uint8), "b": np.full(64, 205, np.uint8)}
WHOLE = Expectation("b", "a", 0, 64, 64)


def file(**changes):
    return KernelFile("", "k", **{"grid": (4, 1, 1), "runs": 4, "expect": (WHOLE,), **changes})


def blocks(**stopped):
    made = np.zeros(4, _BLOCK)
    for index, surplus in stopped.items():
        block = made[int(index[1:])]
        block["stopped"] = 1
        block["barriers"][3] = (64 | 1, 1, 0, 1, 4096, 21, int(index[1:]), 0, 0, 0, surplus, b"&full_barrier")
    return made


def test_the_record_is_as_long_as_the_kernel_s():
    assert _BLOCK["barriers"].base.itemsize == 10 * 4 + 8 + 40
    assert _BLOCK.itemsize == 16 + 16 * 88


def test_all_right():
    values = _values(file(), blocks(), CONTENT, {"b": CONTENT["a"]})
    assert (values["right"], values["wrong"], values["stopped"], values["stops"]) == (4, 0, 0, [])
    assert values["completed"] is True


def test_wrong_bytes_are_counted_by_run():
    got = CONTENT["a"].copy()
    got[3:5] += 1
    got[40:49] += 1
    values = _values(file(), blocks(), CONTENT, {"b": got})
    # bytes 3, 4 lie in run 0; 40 to 47 in run 2, 48 in run 3
    assert (values["right"], values["wrong"], values["wrong_bytes"]) == (1, 3, [1, 8])


def test_a_stopped_run_is_neither_right_nor_wrong():
    values = _values(file(), blocks(b1=-4096, b2=-4096, b3=-16), CONTENT, {"b": CONTENT["b"]})
    assert (values["right"], values["wrong"], values["stopped"], values["alike"]) == (0, 1, 3, 2)
    (stop,) = values["stops"]
    assert (stop["barrier"], stop["line"], stop["armed_bytes"], stop["surplus_bytes"]) == (
        "full_barrier", 21, 4096, -4096,
    )  # fmt: skip


def test_two_blocks_may_be_one_run():
    values = _values(file(runs=2), blocks(b1=16), CONTENT, {"b": CONTENT["a"]})
    assert (values["runs"], values["right"], values["stopped"]) == (2, 1, 1)


def test_only_a_part_of_every_period_is_expected_to_change():
    expected = expected_bytes(Expectation("b", "a", 4, 8, 16), CONTENT)
    inside = (np.arange(64) % 16 >= 4) & (np.arange(64) % 16 < 12)
    assert (expected[inside] == CONTENT["a"][inside]).all()
    assert (expected[~inside] == 205).all()
