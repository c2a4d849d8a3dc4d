"""A tensor map's view of an array: dimensions turned around, strides in bytes, and no element touched."""

import ctypes
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmalab import InputError, TensorMap
from tmalab.model.array_view import array_view, fields_of_array


class OnlyDlpack:
    """What torch, CuPy and JAX have in common: an array that says where it lies through DLPack alone."""

    def __init__(self, array):
        self.array, self.exports = array, 0

    def __dlpack__(self, **_):
        self.exports += 1
        return self.array.__dlpack__()


class OnDevice:
    """An array in device memory that has the CUDA array interface only, as Numba's do; nothing can read its bytes."""

    def __init__(self, **interface):
        self.__cuda_array_interface__ = {"version": 3, "data": (0x7F0000000000, False), **interface}


def test_dimensions_are_turned_around():
    array = np.zeros((3, 5, 128), np.float16)[:, :, :96]
    fields = fields_of_array(array, (1, 4, 64), (1, 2, 1))
    assert fields == {
        "dtype": "float16",
        "global_dim": (96, 5, 3),
        "global_strides": (256, 1280),
        "box_dim": (64, 4, 1),
        "element_strides": (1, 2, 1),
        "address": array.ctypes.data,
    }


def test_from_array_builds_that_map():
    array = np.zeros((16, 128), np.float16)
    tensor_map = TensorMap.from_array(array, (8, 64), swizzle="128B", oob_fill="nan")
    assert tensor_map == TensorMap.tiled(
        "float16", (128, 16), (256,), (64, 8), swizzle="128B", oob_fill="nan", address=array.ctypes.data
    )


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("bool", "uint8"), ("int8", "uint8"), ("uint8", "uint8"), ("int16", "uint16"), ("uint16", "uint16"),
        ("int32", "int32"), ("uint32", "uint32"), ("int64", "int64"), ("uint64", "uint64"), ("float16", "float16"),
        ("float32", "float32"), ("float64", "float64"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("wrap", [lambda array: array, OnlyDlpack], ids=["NumPy", "DLPack"])
def test_element_types(dtype, name, wrap):
    assert fields_of_array(wrap(np.zeros((4, 64), dtype)), (4, 16), None)["dtype"] == name


@pytest.mark.parametrize("dtype", ["complex128", "datetime64[s]", "S4", "O", "longdouble"])
def test_element_types_that_no_map_has(dtype):
    with pytest.raises(InputError, match="unknown element type"):
        fields_of_array(np.zeros((4, 64), dtype), (4, 16), None)


def test_big_endian_elements_are_not_taken_for_others():
    with pytest.raises(InputError, match="big-endian"):
        fields_of_array(np.zeros((4, 64), ">f4"), (4, 16), None)


def test_a_read_only_array_is_only_described():
    array = np.zeros((4, 64), np.float32)
    array.flags.writeable = False
    assert fields_of_array(array, (4, 16), None)["address"] == array.ctypes.data


# --- Strides ---------------------------------------------------------------------------------------------------------


def test_case_d14_a_vector_with_stride_2():
    with pytest.raises(InputError, match="inner_stride_must_be_1") as caught:
        TensorMap.from_array(np.zeros(128, np.float32)[::2], (16,))
    assert (caught.value.field, caught.value.value, caught.value.limit) == ("strides[0]", 8, 4)


def test_case_d15_a_last_dimension_with_stride_2():
    bits = np.zeros((256, 256), np.uint16)[:, ::2]
    with pytest.raises(InputError, match="inner_stride_must_be_1"):
        TensorMap.from_array(OnlyDlpack(bits), (8, 64))


@pytest.mark.parametrize("view", [lambda a: a.T, lambda a: a[:, ::-1], lambda a: np.broadcast_to(a[:, :1], a.shape)])
def test_other_inner_strides_are_refused_too(view):
    with pytest.raises(InputError, match="inner_stride_must_be_1"):
        TensorMap.from_array(view(np.zeros((64, 32), np.float32)), (8, 16))


def test_the_inner_stride_of_one_element_is_never_used():
    column = np.zeros((64, 32), np.float32)[:, :1]
    assert TensorMap.from_array(column, (8, 4)).global_strides == (128,)
    assert TensorMap.from_array(column[:, ::-1], (8, 4)).global_strides == (128,)


def test_a_negative_outer_stride_is_a_violation():
    [found] = TensorMap.from_array(np.zeros((64, 32), np.float32)[::-1], (8, 16)).violations()
    assert (found.rule, found.value) == ("global_stride_range_0_2pow40", -128)
    assert (
        found.fix == "Copy the view so that its rows go upwards, or describe it unreversed and reverse the coordinates."
    )


def test_a_repeated_row_has_stride_0():
    row = np.broadcast_to(np.zeros(64, np.float32), (8, 64))
    assert TensorMap.from_array(row, (4, 16)).global_strides == (0,)


def test_case_d25_a_shifted_view_keeps_its_own_address():
    array = np.zeros(1025, np.float32)
    shift = -array.ctypes.data % 16 // 4
    tensor_map = TensorMap.from_array(array[shift + 1 :][:512], (256,))
    assert [found.rule for found in tensor_map.violations()] == ["base_address_align_16"]


@pytest.mark.parametrize("shape", [(0, 64), (8, 0), (0, 0), (0,)])
@pytest.mark.parametrize("wrap", [lambda array: array, OnlyDlpack], ids=["NumPy", "DLPack"])
def test_an_empty_array_is_a_violation_of_its_size(shape, wrap):
    tensor_map = TensorMap.from_array(wrap(np.zeros(shape, np.float32)), (16,) * len(shape))
    sizes = [found for found in tensor_map.violations() if found.rule == "global_dim_range_1_2pow32"]
    assert [found.value for found in sizes] == [0] * shape.count(0)


def test_a_scalar_has_no_dimension():
    assert [found.rule for found in TensorMap.from_array(np.float32(1), ()).violations()] == ["rank_range_1_5"]


@pytest.mark.parametrize(
    ("box_shape", "element_strides", "field"),
    [
        ((16,), None, "box_shape"), ((4, 4, 4), None, "box_shape"), ((4, 16.0), None, "box_shape[1]"),
        (16, None, "box_shape"), ("ab", None, "box_shape"), ((4, 16), (1,), "element_strides"),
        ((4, 16), (1, None), "element_strides[1]"),
    ],
)  # fmt: skip
def test_lists_that_do_not_fit(box_shape, element_strides, field):
    with pytest.raises(InputError) as caught:
        fields_of_array(np.zeros((8, 64), np.float32), box_shape, element_strides)
    assert caught.value.field == field


# --- The arrays of other libraries -----------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(
    shape=st.lists(st.integers(0, 7), min_size=1, max_size=5),
    dtype=st.sampled_from(["uint8", "int16", "float16", "float32", "float64"]),
    start=st.integers(0, 2),
    step=st.integers(1, 3),
)
def test_dlpack_says_what_numpy_says(shape, dtype, start, step):
    array = np.zeros(shape, dtype)[start::step]
    by_dlpack, by_numpy = array_view(OnlyDlpack(array)), array_view(array)
    assert by_dlpack.element == by_numpy.element
    assert by_dlpack.shape == by_numpy.shape == array.shape
    if array.size:  # where the strides and the address of an empty array lead is left to its library
        assert by_dlpack.address == by_numpy.address == array.ctypes.data
        used = [axis for axis, size in enumerate(array.shape) if size > 1]
        for view in (by_dlpack, by_numpy):
            assert [view.strides[axis] for axis in used] == [array.strides[axis] for axis in used]


def test_a_dlpack_array_is_described_once_and_given_back():
    array = np.zeros((8, 64), np.float32)
    wrapped, references = OnlyDlpack(array), sys.getrefcount(array)
    fields = fields_of_array(wrapped, (4, 16), None)
    assert fields["address"] == array.ctypes.data
    assert wrapped.exports == 1
    assert sys.getrefcount(array) == references


def test_device_memory_is_described_and_not_read():
    tensor_map = TensorMap.from_array(OnDevice(shape=(16, 128), typestr="<f2", strides=(512, 2)), (8, 64))
    assert tensor_map == TensorMap.tiled("float16", (128, 16), (512,), (64, 8), address=0x7F0000000000)


def test_a_dense_device_array_may_leave_its_strides_out():
    tensor_map = TensorMap.from_array(OnDevice(shape=(3, 16, 128), typestr="|u1", strides=None), (1, 8, 64))
    assert tensor_map.global_strides == (128, 2048)


class Struct(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    )  # fmt: skip


class HandMade:
    """A DLPack array of any description, for types and devices that NumPy does not have."""

    def __init__(self, shape=(8, 64), strides=None, *, code=2, bits=32, lanes=1, device_type=2, byte_offset=0):
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        self.struct = Struct(
            0x1000, device_type, 0, len(shape), code, bits, lanes, self.shape, strides, byte_offset, 0, 0
        )

    def __dlpack__(self):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.struct), b"dltensor", None)


@pytest.mark.parametrize(
    ("code", "bits", "name"),
    [(4, 16, "bfloat16"), (6, 8, "uint8"), (10, 8, "uint8"), (12, 8, "uint8"), (5, 64, "uint64")],
)
def test_types_that_numpy_does_not_have(code, bits, name):
    assert fields_of_array(HandMade(code=code, bits=bits), (4, 16), None)["dtype"] == name


@pytest.mark.parametrize(("code", "bits", "lanes"), [(17, 4, 1), (2, 32, 4), (3, 64, 1), (5, 128, 1)])
def test_dlpack_types_that_no_map_has(code, bits, lanes):
    with pytest.raises(InputError, match="unknown element type"):
        fields_of_array(HandMade(code=code, bits=bits, lanes=lanes), (4, 16), None)


def test_strides_count_elements_and_the_offset_bytes():
    fields = fields_of_array(HandMade(strides=(100, 1), code=4, bits=16, byte_offset=256), (4, 16), None)
    assert (fields["global_strides"], fields["address"]) == ((200,), 0x1100)


def test_memory_that_no_cuda_gpu_reaches():
    with pytest.raises(InputError, match="not in memory that a CUDA GPU reaches"):
        fields_of_array(HandMade(device_type=10), (4, 16), None)


class Refusing:
    def __dlpack__(self):
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")


def test_an_array_that_refuses_is_quoted():
    with pytest.raises(InputError, match=r"require gradient, use tensor.detach\(\)") as caught:
        fields_of_array(Refusing(), (4, 16), None)
    assert isinstance(caught.value.__cause__, BufferError)


@pytest.mark.parametrize("value", [[[1, 2]], None, "array", 3, b"\0" * 64, object()])
def test_what_is_no_array(value):
    with pytest.raises(InputError, match="not an array") as caught:
        TensorMap.from_array(value, (4, 16))
    assert len(str(caught.value)) < 400
