"""The coordinate tensor: what CuTe DSL 4.8.1 printed of it, and that its coordinates are those of the elements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab.errors import InputError
from tmalab.model.coordinate_tensor import Basis, CoordinateTensor

MATRIX = CoordinateTensor.of((8448, 1792))
# Printed by CuTe DSL 4.8.1 (programs/cute_anatomy.py), compiled without a GPU.
PRINTED = {
    "coordinate tensor": "(0,0) o (8448,1792):(1@1,1@0)",
    "local_tile": "(512,64) o (64,256):(1@1,1@0)",
    "group_modes": "(512,64) o ((64,256)):((1@1,1@0))",
    "tma_partition": "(512,64) o (((256,64),1)):(((1@0,1@1),0))",
    "tma_partition of tile (0, 0)": "(0,0) o (((256,64),1)):(((1@0,1@1),0))",
}


def test_each_call_gives_what_cute_prints():
    tile = MATRIX.local_tile((64, 256), (1, 2))
    made = {
        "coordinate tensor": MATRIX,
        "local_tile": tile,
        "group_modes": tile.group_modes(0, 2),
        "tma_partition": tile.group_modes(0, 2).partition(),
        "tma_partition of tile (0, 0)": MATRIX.local_tile((64, 256), (0, 0)).group_modes(0, 2).partition(),
    }
    assert {name: str(tensor) for name, tensor in made.items()} == PRINTED


shapes = st.lists(st.integers(1, 300), min_size=1, max_size=5).map(tuple)


@given(st.data(), shapes)
def test_a_tile_s_coordinates_are_its_elements_innermost_first(data, tile):
    index = tuple(data.draw(st.integers(0, 40)) for _ in tile)
    inside = tuple(data.draw(st.integers(0, size - 1)) for size in tile)
    whole = CoordinateTensor.of(tuple(size * 41 for size in tile))
    element = tuple(number * size + place for number, size, place in zip(index, tile, inside, strict=True))
    found = whole.local_tile(tile, index).coordinate(inside)
    assert found == whole.coordinate(element) == tuple(reversed(element))


@given(st.data(), shapes)
def test_grouping_moves_no_start_and_loses_no_mode(data, shape):
    tensor = CoordinateTensor.of(shape)
    end = data.draw(st.integers(1, len(shape)))
    begin = data.draw(st.integers(0, end - 1))
    grouped = tensor.group_modes(begin, end)
    assert grouped.start == tensor.start
    assert grouped.shape[begin] == shape[begin:end]
    assert len(grouped.shape) == len(shape) - (end - begin) + 1
    walked = tensor.group_modes(0, len(shape)).partition()
    assert walked.shape == ((tuple(reversed(shape)), 1),)
    assert walked.stride[0][0] == tuple(Basis(1, number) for number in range(len(shape)))


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (lambda: MATRIX.local_tile((64,), (1, 2)), "tile"),
        (lambda: MATRIX.group_modes(0, 2).local_tile((64,), (1,)), "stride"),
        (lambda: MATRIX.group_modes(1, 4), "end"),
        (MATRIX.partition, "shape"),
        (lambda: MATRIX.group_modes(0, 2).group_modes(0, 1).partition(), "stride"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, field):
    with pytest.raises(InputError) as error:
        wrong()
    assert error.value.field == field


@pytest.mark.parametrize(
    ("ask", "field"),
    [
        (lambda: CoordinateTensor.of(()), "shape"),
        (lambda: CoordinateTensor.of(5), "shape"),
        (lambda: CoordinateTensor.of("ab"), "shape"),
        (lambda: CoordinateTensor.of((8448, 0)), r"shape\[1\]"),
        (lambda: CoordinateTensor.of((1.5, 3)), r"shape\[0\]"),
        (lambda: MATRIX.local_tile((0, 256), (0, 0)), r"tile\[0\]"),
        (lambda: MATRIX.local_tile((64, 256), (0.5, 0)), r"index\[0\]"),
        (lambda: MATRIX.local_tile((64, 256), (1, 2, 3)), "tile"),
        (lambda: MATRIX.coordinate((1,)), "index"),
        (lambda: MATRIX.coordinate((1, True)), r"index\[1\]"),
    ],
)
def test_what_is_no_shape_or_no_index_is_refused_by_its_name(ask, field):
    with pytest.raises(InputError, match=f"^{field}="):
        ask()
