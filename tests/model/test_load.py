"""What a load leaves in shared memory: the tensor's bytes, fill, TF32, and errors that say what is wrong."""

import numpy as np
import pytest

from tmalab import TensorMap, TmaLabError, model
from tmalab.errors import InputError

ROWS = np.arange(4096, dtype=np.uint16).view(np.uint8)  # 16 rows of 256 uint16, element = its number


def loaded(tm, coords, memory=ROWS, dtype="<u2", **where):
    where = {"smem_bytes": tm.footprint_bytes(), **where}
    return model.load(tm, memory, coords, **where).view(dtype)


def test_a_box_wider_than_the_tensor_is_filled_on_every_side():
    tm = TensorMap.tiled("uint16", (10, 3), (512,), (16, 5))
    box = loaded(tm, (-8, -1)).reshape(5, 16)
    expected = np.zeros((5, 16), np.uint16)
    expected[1:4, 8:] = np.arange(3)[:, None] * 256 + np.arange(8)
    assert (box == expected).all()


def test_bytes_that_the_box_does_not_cover_keep_the_background():
    tm = TensorMap.tiled("uint16", (256, 16), (512,), (8, 2), swizzle="64B")
    smem = model.load(tm, ROWS, (0, 0), smem_bytes=300, smem_base=128, background=0x5A)
    written = np.zeros(300, bool)
    for offset in model.shared_offsets(tm, 128).reshape(-1):
        written[offset : offset + 2] = True
    assert (smem[~written] == 0x5A).all()
    assert written.sum() == 32


def test_only_rows_past_global_dim_are_filled():
    # FlashMLA#61: rows 1000 to 1023 of the live sequence are in bounds, whatever they hold
    tm = TensorMap.tiled("bfloat16", (64, 4096), (128,), (64, 64), swizzle="128B")
    memory = np.zeros(4096 * 128, np.uint8)
    memory[1000 * 128 :] = 0xFF  # NaN
    rows = model.load(tm, memory, (0, 960), smem_bytes=8192).view("<u2").reshape(64, 64)
    assert (rows[:40] == 0).all()
    assert (rows[40:] == 0xFFFF).all()


def test_element_strides_and_a_pitch_that_no_driver_takes():
    # nvFuser's notes: the abstract model, 56-byte rows
    memory = np.arange(14 * 16, dtype=np.uint32)
    tm = TensorMap.tiled("float32", (12, 16), (56,), (6, 4), element_strides=(1, 3))
    box = loaded(tm, (9, 1), memory.view(np.uint8), "<u4", smem_bytes=48).reshape(2, 6)
    assert box.tolist() == [[14 + 9, 14 + 10, 14 + 11, 0, 0, 0], [4 * 14 + 9, 4 * 14 + 10, 4 * 14 + 11, 0, 0, 0]]


@pytest.mark.parametrize(
    ("dtype", "word", "expected"),
    [
        ("float16", "<u2", 0x7FF7), ("bfloat16", "<u2", 0x7FF7), ("float32", "<u4", 0x7FF77FF7),
        ("float32_ftz", "<u4", 0x7FF77FF7), ("tfloat32", "<u4", 0x7FF77FF7), ("tfloat32_ftz", "<u4", 0x7FF77FF7),
        ("float64", "<u8", 0x7FF77FF77FF77FF7),
    ],
)  # fmt: skip
def test_the_nan_that_fills(dtype, word, expected):
    size = np.dtype(word).itemsize
    tm = TensorMap.tiled(dtype, (64 // size, 4), (64,), (64 // size, 4), oob_fill="nan")
    box = loaded(tm, (0, 2), ROWS, word).reshape(4, -1)
    assert (box[2:] == expected).all()
    assert (box[:2].view(np.uint8) == ROWS[128:256].reshape(2, 64)).all() or dtype.startswith("tf")


TF32 = [  # float32 bits in, TF32 bits out
    (0x3F800000, 0x3F800000), (0x3F800FFF, 0x3F800000), (0x3F801000, 0x3F800000), (0x3F801001, 0x3F802000),
    (0x3F803000, 0x3F804000), (0xBF803000, 0xBF804000), (0x00000001, 0x00000000), (0x80001001, 0x80002000),
    (0x007FF000, 0x00800000), (0x7F7FEFFF, 0x7F7FE000), (0x7F7FF000, 0x7F800000), (0x7F800000, 0x7F800000),
    (0xFF800000, 0xFF800000), (0x7F800001, 0x7FFFE000), (0xFFFFFFFF, 0x7FFFE000), (0xFFC00000, 0x7FFFE000),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["tfloat32", "tfloat32_ftz"])
def test_tf32_rounds_to_nearest_even(dtype):
    given, expected = np.array(TF32, "<u4").T
    tm = TensorMap.tiled(dtype, (16,), (), (16,))
    assert loaded(tm, (0,), np.ascontiguousarray(given).view(np.uint8), "<u4").tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", ["float32_ftz", "tfloat32_ftz"])
def test_ftz_flushes_nothing_on_a_load(dtype):
    denormals = np.array([0x00002000, 0x80002000, 0x007FE000, 0x00004000], "<u4")
    tm = TensorMap.tiled(dtype, (4,), (), (4,))
    assert loaded(tm, (0,), denormals.view(np.uint8), "<u4").tolist() == denormals.tolist()


def test_an_interleaved_load_counts_its_inner_dimension_in_slices():
    # NC/8HWC8: W=6 slices of 16 bytes, H=5 rows of them, C/8=3 planes
    planes = np.arange(3 * 5 * 6 * 8, dtype=np.uint16).reshape(3, 5, 6, 8)
    tm = TensorMap.tiled("uint16", (6, 5, 3, 1), (96, 480, 1440), (8, 2, 1, 1), interleave="16B")
    box = loaded(tm, (2, 1, 2, 0), planes.view(np.uint8).reshape(-1)).reshape(2, 8, 8)
    assert (box[:, :4] == planes[2, 1:3, 2:]).all()
    assert (box[:, 4:] == 0).all()  # the tensor is 6 slices wide


def test_coordinates_at_the_ends_of_32_bits():
    tm = TensorMap.tiled("uint16", (256, 8), (512,), (8, 4), element_strides=(1, 8))
    for coords in ((2**31 - 8, 0), (-(2**31), 0), (0, 2**31 - 1), (0, -(2**31))):
        assert (loaded(tm, coords) == 0).all()


SMALL = TensorMap.tiled("uint16", (256, 8), (512,), (8, 4))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"coords": (0,)}, "coords"), ({"coords": (0, 1.0)}, r"coords\[1\]"), ({"coords": (0, True)}, r"coords\[1\]"),
        ({"coords": "00"}, "coords"), ({"coords": 5}, "coords"), ({"coords": (0, 2**31)}, r"coords\[1\]"),
        ({"coords": (0, "1")}, r"coords\[1\]"), ({"offsets": (1,)}, "offsets"), ({"smem_bytes": 63}, "smem_bytes"),
        ({"smem_bytes": -1}, "smem_bytes"), ({"smem_bytes": 1e3}, "smem_bytes"), ({"smem_bytes": 10**30}, "smem_bytes"),
        ({"smem_base": 64}, "smem_bytes"), ({"smem_base": -128}, "smem_base"), ({"background": 256}, "background"),
        ({"background": "CD"}, "background"), ({"memory": ROWS.view("<u2")}, "memory"), ({"memory": b"123"}, "memory"),
        ({"memory": ROWS.reshape(2, -1)}, "memory"), ({"memory": ROWS[:1551]}, "memory"), ({"memory": None}, "memory"),
    ],
)  # fmt: skip
def test_an_operand_that_is_wrong_is_named(change, named):
    given = {"tm": SMALL, "memory": ROWS, "coords": (0, 0), "smem_bytes": 64, **change}
    with pytest.raises(InputError, match=named):
        model.load(**given)


def test_the_smallest_memory_and_shared_memory_that_do():
    assert model.load(SMALL, ROWS[: 3 * 512 + 16], (0, 0), smem_bytes=64).size == 64
    assert model.load(SMALL, ROWS[:0], (0, 8), smem_bytes=64).size == 64  # nothing exists there


def test_memory_may_be_a_view_and_is_not_changed():
    backwards = ROWS[::-1]
    before = backwards.copy()
    assert (model.load(SMALL, backwards, (0, 0), smem_bytes=64)[:16] == before[:16]).all()
    assert (backwards == before).all()


@pytest.mark.parametrize(
    "tm",
    [
        TensorMap.tiled("uint8", (), (), ()),
        TensorMap.tiled("uint8", (8,) * 6, (16,) * 5, (1,) * 6),
        TensorMap.tiled("uint8", (8, 8), (16,), (16, 8), element_strides=(1, 0)),
        TensorMap.tiled("uint8", (8, 8), (2**70,), (16, 8)),
        TensorMap.tiled("uint8", (2**80, 8), (16,), (16, 8)),
        TensorMap.tiled("uint8", (8, 8), (-16,), (16, 8)),
        TensorMap.im2col("uint8", (8, 8), (16,), (), (), 16, 4),
        TensorMap.im2col("uint8", (16, 8, 8), (16, 128), (-(2**40),), (0,), 16, 4),
        TensorMap.im2col("uint8", (16, 8, 8), (16, 128), (0,), (0,), -1, 4),
        TensorMap.im2col("uint8", (16, 8, 8), (16, 2**70), (0,), (0,), 16, 90),
        TensorMap.tiled("16u6_align16b", (128, 8), (96,), (128, 8)),
    ],
    ids=str,
)
def test_a_map_that_no_copy_can_have_raises_our_own_error(tm):
    with pytest.raises(TmaLabError):
        model.load(tm, ROWS, (0,) * tm.rank, smem_bytes=1 << 16)
