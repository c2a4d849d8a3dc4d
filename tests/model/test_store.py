"""What a store leaves in global memory: the box's part inside the tensor, its rows up to the next 16 bytes."""

import numpy as np
import pytest

from tmalab import TensorMap, model
from tmalab.errors import InputError

CLIPS = [("uint8", 466, 512, 14), ("uint16", 470, 1024, 4), ("int32", 466, 2048, 8), ("float64", 33, 512, 8)]


def stored(tm, coords, memory_bytes, smem=None, **where):
    smem = np.full(tm.footprint_bytes(), 0xEE, np.uint8) if smem is None else smem
    return model.store(tm, smem, coords, memory=np.zeros(memory_bytes, np.uint8), **where)


@pytest.mark.parametrize(("dtype", "columns", "pitch", "over"), CLIPS)
def test_a_row_is_clipped_at_16_bytes(dtype, columns, pitch, over):
    # triton#11583: a 32x128 block stored to a view of 466 int8 columns overwrites 14 bytes behind each row
    size = np.dtype(dtype).itemsize
    tm = TensorMap.tiled(dtype, (columns, 32), (pitch,), (128 // size, 32))
    start = columns * size // 128 * 128
    rows = stored(tm, (start // size, 0), 32 * pitch).reshape(32, pitch)
    end = columns * size
    assert (rows[:, start : end + over] == 0xEE).all()
    assert (rows[:, :start] == 0).all()
    assert (rows[:, end + over :] == 0).all()
    assert np.count_nonzero(rows[:, end:]) == 32 * over


def test_a_load_of_the_same_box_is_clipped_at_the_element():
    tm = TensorMap.tiled("uint8", (466, 2), (512,), (128, 2))
    box = model.load(tm, np.full(1024, 0xEE, np.uint8), (384, 0), smem_bytes=256).reshape(2, 128)
    assert (box[:, :82] == 0xEE).all()
    assert (box[:, 82:] == 0).all()


def test_rows_past_the_end_are_not_written():
    tm = TensorMap.tiled("uint16", (8, 5), (16,), (8, 4))
    memory = stored(tm, (0, 3), 16 * 8)
    assert np.flatnonzero(memory).tolist() == list(range(48, 80))
    assert not stored(tm, (8, 0), 128).any()
    assert not stored(tm, (0, 5), 128).any()


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
@pytest.mark.parametrize("base", [0, 128, 640])
def test_a_store_undoes_a_load(swizzle, base):
    tm = TensorMap.tiled("uint16", (64, 24), (128,), (16, 9), element_strides=(1, 2), swizzle=swizzle)
    memory = np.random.default_rng(1).integers(1, 256, 64 * 24 * 2, dtype=np.uint8)
    smem = model.load(tm, memory, (16, 4), smem_bytes=4096, smem_base=base)
    back = model.store(tm, smem, (16, 4), memory=np.zeros_like(memory), smem_base=base)
    rows = back.reshape(24, 128)
    assert (rows[4:13:2, 32:64] == memory.reshape(24, 128)[4:13:2, 32:64]).all()
    assert np.count_nonzero(rows) == 5 * 32


@pytest.mark.parametrize("dtype", ["tfloat32", "tfloat32_ftz", "float32_ftz", "float16"])
def test_a_store_changes_no_bits(dtype):
    size = 2 if dtype == "float16" else 4
    tm = TensorMap.tiled(dtype, (64 // size,), (), (64 // size,), oob_fill="none")
    smem = np.random.default_rng(2).integers(0, 256, 64, dtype=np.uint8)
    smem[:4] = [1, 0, 0, 0]  # a denormal
    assert (stored(tm, (0,), 64, smem) == smem).all()


def test_what_lies_outside_the_tensor_is_not_read_from_shared_memory_either():
    tm = TensorMap.tiled("uint16", (8, 4), (16,), (8, 256), swizzle="128B")
    memory = stored(tm, (0, 2), 64, np.full(256, 0xEE, np.uint8))  # two rows of 256 exist, and two are there
    assert np.count_nonzero(memory) == 32


def test_inputs_stay_and_the_result_is_new():
    tm = TensorMap.tiled("uint16", (8, 4), (16,), (8, 4))
    smem, memory = np.full(64, 1, np.uint8), np.zeros(64, np.uint8)
    for array in (smem, memory):
        array.setflags(write=False)
    assert model.store(tm, smem, (0, 0), memory=memory).all()
    assert not memory.any()


def test_memory_must_reach_as_far_as_the_store_writes():
    tm = TensorMap.tiled("uint8", (466,), (), (128,))
    with pytest.raises(InputError, match="bytes 384 to 479"):
        stored(tm, (384,), 466)
    assert np.count_nonzero(stored(tm, (384,), 480)) == 96


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"smem": np.zeros(63, np.uint8)}, "smem"), ({"smem": np.zeros(64, np.int8)}, "smem"), ({"smem": [0]}, "smem"),
        ({"memory": np.zeros(64, "<u2")}, "memory"), ({"coords": (0, 0, 0)}, "coords"), ({"smem_base": 16}, "smem"),
    ],
)  # fmt: skip
def test_an_operand_that_is_wrong_is_named(change, named):
    given = {"coords": (0, 0), "smem": np.zeros(64, np.uint8), "memory": np.zeros(64, np.uint8), **change}
    with pytest.raises(InputError, match=named):
        model.store(TensorMap.tiled("uint16", (8, 4), (16,), (8, 4)), **given)
