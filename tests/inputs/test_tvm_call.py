"""Tensor maps in TVM's scripts: each function's order of arguments, the calls that an H200 saw, what is refused."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import observe
from tmalab.inputs import tvm_call
from tmalab.inputs.detect import read_text
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.tvm_arguments import ENCODERS
from tmalab.model.encoded_map import decode

CALL = 'T.call_packed("runtime.cuTensorMapEncodeTiled", A_map, "float16", 2, A.data, {})'
PLAIN = "512, 4096, 1024, 64, 128, 1, 1, 0, 3, 2, 0"
# TIRx's own program of this package, `frontends/tirx/own-map`, its sizes as the task gives them.
OWN_MAP = """
        shape, box, swizzle = (192, 320), (32, 64), 3
        (rows, cols), (box_rows, box_cols) = shape, box
            own_map: T.let = T.stack_alloca("tensormap", 1)
            T.cuda.tensormap_encode_tiled(
                own_map, A.ptr_to([0, 0]), cols, rows, 2 * cols, box_cols, box_rows, 1, 1,
                descriptor_dtype="float16", rank=2, swizzle=swizzle,
            )  # fmt: skip
        T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32))
"""
RECORDED = [
    *(f"tirx/boxes/{name}" for name in (
        "plain", "two-in-a-row", "three-dimensions", "every-second-row", "fill-nan", "fill-nan-bfloat16", "tf32",
        "l2-promotion", "five-dimensions", "interleave-16", "interleave-32",
    )),
    "tirx/own_map/as-told", "tirx/multicast", "tirx/stores/store-swizzled",
]  # fmt: skip


def one(text):
    [reading] = read_text(text)
    assert reading.form == "tvm"
    if isinstance(reading, UnreadableError):
        raise reading
    return reading


@pytest.mark.parametrize("case", RECORDED)
def test_the_call_that_a_launcher_made_gives_the_map_that_the_driver_encoded(case):
    """What the packed function was handed on an H200, written as a call, is the map that came out."""
    seen = observe(case, live=False)
    handed = seen["given"][0]
    written = ", ".join("A.data" if each == "address" else f'"{each}"' if isinstance(each, str) else str(each)
                        for each in handed)  # fmt: skip
    tm = one(f'T.call_packed("runtime.cuTensorMapEncodeTiled", A_map, {written})').tensor_map()
    name = next(name for name in ("descriptor", "descriptors", "encoded") if name in seen.arrays)
    made = decode(seen.arrays[name].ravel()[:128].tobytes())
    assert f"{tm}".removesuffix(")") == f"{made}".partition(", address")[0]


def test_the_program_that_encodes_its_own_map_gives_the_map_that_was_recorded():
    made = decode(observe("frontends/tirx/own-map", live=False).arrays["descriptor"].tobytes())
    tm = one(OWN_MAP).tensor_map()
    for name in ("dtype", "global_dim", "global_strides", "box_dim", "element_strides", "swizzle", "l2_promotion"):
        assert getattr(tm, name) == getattr(made, name)


def test_the_calls_that_tirx_printed_are_the_calls_that_it_made():
    seen = observe("tirx/add_one/llvm/nvrtc", live=False)
    maps = [found.tensor_map() for found in read_text("\n".join(seen["dispatched"]))]
    assert len(maps) == 2
    for tm, asked in zip(maps, seen["asked"], strict=True):
        assert [tm.global_dim, tm.global_strides, tm.box_dim] == [
            tuple(asked[name]) for name in ("global_dim", "global_strides", "box_dim")
        ]
        assert (tm.dtype, tm.swizzle, tm.l2_promotion, tm.oob_fill) == ("float32", "none", "none", "none")


@pytest.mark.parametrize("called", [
    "T.call_packed", "T.tvm_call_packed", "tvm.tir.call_packed", "Tx.call_packed", "call_packed", "K.call_packed",
])  # fmt: skip
def test_the_packed_call_under_each_name(called):
    tm = one(CALL.format(PLAIN).replace("T.call_packed", called)).tensor_map()
    assert (tm.dtype, tm.global_dim, tm.global_strides, tm.box_dim) == ("float16", (512, 4096), (1024,), (64, 128))
    assert (tm.element_strides, tm.interleave, tm.swizzle, tm.l2_promotion, tm.oob_fill) == (
        (1, 1), "none", "128B", "128B", "none",
    )  # fmt: skip


@pytest.mark.parametrize("text", [
    "M, K, BLK = 4096, 512, 64\n" + CALL.format("K, M, K * 2, BLK, 2 * BLK, 1, 1, 0, 3, 2, 0"),
    "    SWIZZLE = 3\n    F16_BYTES = 2\n    "
    + CALL.format("512, 4096, 512 * F16_BYTES, 64, 128, 1, 1, 0, SWIZZLE, 2, 0"),
    CALL.format("T.int64(512), T.int64(4096), T.int64(1024), 64, 128, 1, 1, 0, 3, 2, 0"),
    CALL.format("*(512, 4096), *(1024,), *reversed((128, 64)), *((1,) * 2), 0, 3, 2, 0"),
    'def encode(data, dims, strides, box):\n    T.call_packed(\n        "runtime.cuTensorMapEncodeTiled", A_map, '
    '"float16", len(dims), data,\n        *dims, *strides, *box, *((1,) * len(dims)), 0, 3, 2, 0,\n    )\n'
    "encode(q.data, (512, 4096), (1024,), (64, 128))",
    'encode = tvm.get_global_func("runtime.cuTensorMapEncodeTiled")\n'
    'encode(A_map, "float16", 2, A.data, ' + PLAIN + ")",
    'tvm.get_global_func("runtime.cuTensorMapEncodeTiled")(A_map, "float16", 2, A.data, ' + PLAIN + ")",
    'a_type = tvm.DataType("float16")\n' + CALL.format(PLAIN).replace('"float16"', "a_type"),
    "what follows: (\n" + CALL.format(PLAIN) + "\n  and no more",
    CALL.format(PLAIN).replace("runtime.cuTensorMapEncodeTiled", "__tvm_tensormap_create_tiled")
    .replace('"float16"', "6").replace("1024", "2, 1024"),
    f"T.create_tma_descriptor(6, 2, A.data, {PLAIN.replace('1024', '2, 1024')})",
    'T.cuda.tensormap_encode_tiled(A_map, T.address_of(A[0, 0]), 512, 4096, 1024, 64, 128, 1, 1, '
    'descriptor_dtype="float16", rank=2, swizzle=3, l2_promotion=2)',
])  # fmt: skip
def test_every_way_to_write_it_is_the_same_map(text):
    assert str(one(text).tensor_map()) == str(one(CALL.format(PLAIN)).tensor_map())


@pytest.mark.parametrize(("dtype", "known"), [
    ('"bfloat16"', "bfloat16"), ('"float8_e4m3fn"', "uint8"), ('"int8"', "uint8"), ('"uint8"', "uint8"),
    ('"float4_e2m1fn"', "16u4_align16b"), ("9", "bfloat16"), ('"e4m3_float8"', "uint8"),
])  # fmt: skip
def test_the_element_type_is_a_name_of_tvm_or_a_number(dtype, known):
    assert one(CALL.format(PLAIN).replace('"float16"', dtype)).tensor_map().dtype == known


def test_a_type_may_be_forced_behind_all_else():
    text = CALL.format(PLAIN).replace("float16", "float32")
    assert one(text[:-1] + ", 11)").tensor_map().dtype == "tfloat32"
    assert one(text[:-1] + ", -1)").tensor_map().dtype == "float32"


def test_tilelang_s_im2col():
    """rank 4: dims, rank strides, element strides, two corners of rank-2, pixels, channels, four modes."""
    rest = "6, 4, A.data, 64, 28, 28, 8, 2, 128, 3584, 100352, 1, 1, 1, 1, -1, -1, -1, -1, 128, 64, 0, 3, 2, 0)"
    for start in ('T.call_packed("__tvm_tensormap_create_im2col", d, ', "T.create_tma_im2col_descriptor("):
        tm = one(start + rest).tensor_map()
        assert (tm.kind, tm.global_dim, tm.global_strides) == ("im2col", (64, 28, 28, 8), (128, 3584, 100352))
        assert (tm.lower_corner, tm.upper_corner, tm.channels_per_pixel, tm.pixels_per_column) == (
            (-1, -1), (-1, -1), 64, 128,
        )  # fmt: skip


def test_a_first_stride_of_tilelang_s_that_is_no_element_is_told():
    rest = "6, 2, A.data, 512, 64, 1, 1024, 64, 64, 1, 1, 0, 3, 2, 0)"
    assert "printed in elements" in one(f"T.create_tma_descriptor({rest}").notes[0]


@pytest.mark.parametrize(("text", "place", "words"), [
    (CALL.format("K, 4096, 1024, 64, 128, 1, 1, 0, 3, 2, 0"), (1, 78), "K is not set in this text"),
    (CALL.format("512, 4096, 64, 128, 1, 1, 0, 3, 2, 0"), (1, 1), "14 arguments, and rank 2 asks for 15"),
    (CALL.format(PLAIN + ", 1, 2"), (1, 1), "17 arguments, and rank 2 asks for 15"),
    (CALL.format("512, 4096, 1024, 64, 128, 1, 1, 0, 9, 2, 0"), (1, 113), "no enumerator"),
    (CALL.format(PLAIN).replace("2, A.data", "rank, A.data"), (1, 67), "rank is not set"),
    (CALL.format(PLAIN).replace("2, A.data", "77, A.data"), (1, 67), "no map has rank 77"),
    (CALL.format(PLAIN).replace('"float16"', "A.dtype"), (1, 56), "what A.dtype is"),
    (CALL.format(PLAIN)[:-1], (1, 1), "the call has no end"),
    ('T.call_packed("runtime.cuTensorMapEncodeTiled")', (1, 1), "0 arguments"),
    ("T.cuda.tensormap_encode_tiled(m, p, 1, 2)", (1, 1), "descriptor_dtype=, rank="),
    ("T.cuda.tensormap_encode_tiled(m, p, 1, rank=1, descriptor_dtype='int8', fill=3)", (1, 78), "did not expect fill"),
    (CALL.format("*dims, 0, 3, 2, 0"), (1, 79), "dims is not set"),
    ("def create_tma_descriptor(*args):\n    pass", (1, 5), "named here and nowhere called"),
])  # fmt: skip
def test_what_is_not_known_is_said_at_its_place(text, place, words):
    with pytest.raises(UnreadableError, match=words) as raised:
        one(text)
    assert (raised.value.line, raised.value.column) == place


def test_the_driver_s_own_function_stays_with_the_other_form():
    python = ("err, tm = driver.cuTensorMapEncodeTiled(driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, "
              "ptr, [512, 64], [1024], [64, 64], [1, 1], 0, 3, 2, 0)")  # fmt: skip
    assert [found.form for found in read_text(python)] == ["cpp"]
    registered = 'refl::GlobalDef().def_packed("runtime.cuTensorMapEncodeTiled", [](ffi::PackedArgs args) {'
    assert [found.form for found in read_text(registered)] == ["cpp"]


PARTS = ["T.call_packed(", '"runtime.cuTensorMapEncodeTiled"', '"__tvm_tensormap_create_tiled"', ", ", "2", "64", "(",
         ")", "*", "K", " = ", "\n", '"float16"', "A.data", "[", "]", "T.create_tma_descriptor(",
         "tensormap_encode_tiled(",         "rank=", "get_global_func(", "-", "'", "#", ":", "def f"]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=40).map("".join))
def test_whatever_is_pasted_is_an_answer(text):
    for found in tvm_call.read(text):
        assert found.form == "tvm"


@given(st.data())
def test_a_call_with_a_part_cut_out_or_put_in_is_an_answer(data):
    text = data.draw(st.sampled_from([OWN_MAP, "K = 512\n" + CALL.format(PLAIN)]))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    changed = text[:start] + data.draw(st.sampled_from(["", *PARTS])) + text[end:]
    for found in tvm_call.read(changed):
        assert found.form == "tvm"
        if not isinstance(found, UnreadableError):
            with contextlib.suppress(UnreadableError):
                found.tensor_map()


def test_every_encoder_is_in_the_list_of_what_is_looked_for():
    for name, encoder in ENCODERS.items():
        assert tvm_call.looks_like(f'T.call_packed("{name}", x)' if encoder.packed else f"T.{name}(x)")
