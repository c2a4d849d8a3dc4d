"""`explore` against the model: what it says of a copy is what a load does, element by element; and it never raises."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import TensorMap, model
from tmalab.checker.explore import MOST_ELEMENTS, OF_THE_MAP, explore, explore_json
from tmalab.errors import InputError
from tmalab.experiment.box_cases import BOX_COORDS, BOX_MAPS, REFUSED_MAP
from tmalab.model.element_bits import filled


def ask(tm, coords, base=0):
    return explore({"tensor_map": tm.to_dict(), "coords": list(coords), "smem_base": base})


def loaded(tm, coords, base=0):
    """For each element of the box, innermost fastest: the byte of the tensor that landed there, by the real model."""
    size = tm.element.bytes
    count = (
        1
        + sum((dim - 1) * stride for dim, stride in zip(tm.global_dim, (size, *tm.global_strides), strict=True)) // size
    )
    memory = (np.arange(count, dtype=np.uint32) + 1).view(np.uint8)  # no element is 0
    smem = model.load(tm, memory, coords, smem_bytes=base + tm.footprint_bytes(), smem_base=base)
    return smem.view(np.uint32)


def told(answer, element):
    """The byte of the tensor that `explore` says of an element of the box; None for one that does not exist."""
    position, rest = [], element
    for size in answer["copied"]:
        rest, at = divmod(rest, size)
        position.append(at)
    inside = all(first <= at < stop for at, (first, stop) in zip(position, answer["inside"], strict=True))
    row = answer["row_bytes"][element // answer["copied"][0]]
    assert inside <= (row is not None)
    return row + answer["column_bytes"][position[0]] if inside else None


def check(tm, coords, base=0):
    answer, smem = ask(tm, coords, base), loaded(tm, coords, base)
    assert answer["verdict"] == "runs"
    for element, byte in enumerate(answer["shared"]):
        source = told(answer, element)
        assert smem[byte // 4] == (0 if source is None else source // 4 + 1)
    assert answer["transaction_bytes"] == 4 * len(answer["shared"])


@pytest.mark.parametrize("name", BOX_MAPS)
def test_it_says_what_a_load_does_at_every_place_of_the_figure(name):
    tm = TensorMap.from_dict({**BOX_MAPS[name].to_dict(), "oob_fill": "none"})
    for coords in BOX_COORDS[name]:
        check(tm, coords)


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(1, 3), st.integers(-3, 6)), max_size=3),
    st.integers(1, 4), st.integers(-3, 4), st.sampled_from(["none", "32B", "64B", "128B"]), st.integers(0, 3),
)  # fmt: skip
def test_it_says_what_a_load_does_anywhere(outer, wide, column, swizzle, base):
    span = {"32B": 2, "64B": 4}.get(swizzle, 4)
    dims, strides = [12], []
    for size, *_ in outer:
        strides.append(strides[-1] * dims[-1] if strides else 48)
        dims.append(size)
    tm = TensorMap.tiled(
        "float32", dims, strides, (4 * min(wide, span), *(box for _, box, _, _ in outer)),
        element_strides=(1, *(step for *_, step, _ in outer)), swizzle=swizzle,
    )  # fmt: skip
    check(tm, (4 * column, *(at for *_, at in outer)), 128 * base)


def test_a_map_that_the_driver_refuses_and_a_copy_that_the_engine_does():
    refused, fault = ask(REFUSED_MAP, (0, 0)), ask(BOX_MAPS["plane"], (2, 0), 64)
    assert (refused["verdict"], fault["verdict"]) == ("refused", "fault")
    assert [one["rule"] for one in refused["violations"]] == ["box_inner_bytes_multiple_16"]
    assert {one["field"] for one in fault["faults"]} == {"coords[0]", "smem_base"}
    assert ask(BOX_MAPS["wide"], (0, 0))["warnings"][0]["rule"] == "box_wider_than_tensor"


def test_what_belongs_to_the_map_is_the_same_everywhere():
    for name, places in BOX_COORDS.items():
        answers = [ask(BOX_MAPS[name], coords) for coords in places]
        assert all(
            {key: answer[key] for key in OF_THE_MAP} == {key: answers[0][key] for key in OF_THE_MAP}
            for answer in answers
        )


def test_a_large_box_is_told_without_its_elements():
    answer = ask(TensorMap.tiled("float32", (4096, 4096), (16384,), (256, 64)), (0, 0))
    assert 256 * 64 > MOST_ELEMENTS
    assert (answer["copied"], answer["shared"], answer["transaction_bytes"]) == ([256, 64], None, 65536)


def test_the_fill_s_word_is_the_model_s_bits():
    for dtype, oob_fill in (("float32", "none"), ("float32", "nan"), ("uint8", "nan"), ("bfloat16", "nan")):
        tm = TensorMap.tiled(dtype, (64, 8), (256,), (16, 2), oob_fill=oob_fill)
        assert (ask(tm, (0, 0))["fill"] == "NaN") == filled(tm, 16).any()


@pytest.mark.parametrize(
    "fields",
    [
        {"global_dim": [0, 8]}, {"box_dim": [8, 0]}, {"box_dim": [8, -4]}, {"element_strides": [1, 0]},
        {"global_dim": [2**80, 8]}, {"box_dim": [2**80, 4]}, {"global_strides": [-64]}, {"dtype": "16u4_align8b"},
        {"global_dim": [16] * 6, "global_strides": [64] * 5, "box_dim": [4] * 6, "element_strides": [1] * 6},
        {"global_dim": [], "global_strides": [], "box_dim": [], "element_strides": []}, {"interleave": "16B"},
    ],
)  # fmt: skip
def test_numbers_that_no_tensor_has_are_a_verdict_and_no_error(fields):
    asked = {**BOX_MAPS["plane"].to_dict(), **fields}
    answer = json.loads(explore_json(json.dumps({"tensor_map": asked, "coords": [0] * len(asked["global_dim"])})))
    assert answer["verdict"] in ("refused", "fault", "runs")
    assert "error" not in answer


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", "7", '{"tensor_map": 3}', '{"tensor_map": {"dtype": "float33"}}']
)
def test_what_cannot_be_read_is_an_answer(text):
    assert set(json.loads(explore_json(text))) == {"schema", "error"}


@pytest.mark.parametrize("coords", [None, [0], [0, 0, 0], [0, "x"], [0, 0.5], [True, 0]])
def test_coordinates_that_do_not_fit_are_named(coords):
    with pytest.raises(InputError, match="coords"):
        explore({"tensor_map": BOX_MAPS["plane"].to_dict(), "coords": coords})


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_it_raises_nothing(value):
    json.loads(explore_json(json.dumps(value)))
    json.loads(explore_json(json.dumps({"tensor_map": value, "coords": value})))


def test_it_loads_no_numpy():
    code = (
        "import sys; from tmalab.checker import explore; explore.explore_json('{}'); sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
