"""A tensor map's view of an array: the fields that say where its elements lie, with its dimensions turned around.

    array.shape    (rows, cols)                  global_dim      (cols, rows)      innermost first
    its strides    (512, 2) bytes       ──▶      global_strides  (512,)            dimension 0 has none
    box_shape      (8, 64)                       box_dim         (64, 8)

>>> import numpy as np
>>> fields = fields_of_array(np.zeros((16, 256), np.float16), (8, 64), None)
>>> fields["dtype"], fields["global_dim"], fields["global_strides"], fields["box_dim"]
('float16', (256, 16), (512,), (64, 8))

NumPy is asked through its array interface, CuPy, torch and JAX through DLPack, on whichever device the array is:
only its description is read, nothing is copied or moved, and none of these libraries is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tmalab.errors import InputError
from tmalab.model.element_types import ElementType, element_type
from tmalab.model.tensor_map_fields import integer


class ArrayView(NamedTuple):
    """Where an array's elements lie: shape and byte strides outermost first, and the address of element (0, …, 0)."""

    element: ElementType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int


def fields_of_array(array: Any, box_shape: Sequence[int], element_strides: Sequence[int] | None) -> dict[str, Any]:
    """The fields of the tiled map of `array`, for `TensorMap.tiled(**fields)`; this alone turns dimensions around.

    `box_shape` and `element_strides` are outermost first, with one entry a dimension of the array. Strides are in
    bytes and the address is the array's own. Raises InputError where the innermost stride is not one element, for an
    element type that no tensor map has, and for lists that don't fit. An outer stride that the driver refuses (a
    negative one, say) and a dimension of size 0 are violations of the map.
    """
    view = array_view(array)
    rank = len(view.shape)
    box = _outermost_first("box_shape", box_shape, rank)
    steps = None if element_strides is None else _outermost_first("element_strides", element_strides, rank)
    if rank and view.shape[-1] > 1 and 0 not in view.shape and view.strides[-1] != view.element.bytes:
        raise InputError(
            f"inner_stride_must_be_1: the innermost stride is {view.strides[-1]} bytes, where one {view.element.name} "
            f"element is {view.element.bytes}; a tensor map has no stride for dimension 0",
            field=f"strides[{rank - 1}]", value=view.strides[-1], limit=view.element.bytes,
            fix="make the innermost dimension contiguous with a copy, or move it outwards if another one is contiguous",
        )  # fmt: skip
    return {
        "dtype": view.element.name,
        "global_dim": view.shape[::-1],
        "global_strides": view.strides[-2::-1] if rank > 1 else (),
        "box_dim": box[::-1],
        "element_strides": None if steps is None else steps[::-1],
        "address": view.address,
    }


def array_view(array: Any) -> ArrayView:
    """Shape, strides and address of a NumPy array, or of whatever speaks DLPack or the CUDA array interface.

    Raises InputError for anything else, and in the library's own words where an array refuses (it is being traced,
    it needs a gradient) or lies where no CUDA GPU reaches.
    """
    try:
        if isinstance(interface := getattr(array, "__array_interface__", None), Mapping):
            return _from_interface(array, interface)
        if callable(getattr(array, "__dlpack__", None)):
            return _from_dlpack(array.__dlpack__())
        if isinstance(interface := getattr(array, "__cuda_array_interface__", None), Mapping):
            return _from_interface(array, interface)
    except InputError:
        raise
    except Exception as error:  # the array's library, and any of them may raise anything
        said = " ".join(str(error).split())[:200]
        raise InputError(
            f"the array does not say where it lies: {said}", field="array", value=type(array),
            fix="pass a plain array, detached from gradients and not being traced",
        ) from error  # fmt: skip
    raise InputError(
        "not an array: it has no __array_interface__, no __dlpack__ and no __cuda_array_interface__",
        field="array", value=type(array), fix="pass a NumPy, CuPy, torch or JAX array",
    )  # fmt: skip


def _outermost_first(field: str, values: Any, rank: int) -> tuple[int, ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError("not a list of integers", field=field, value=values, fix=f"give {rank} integers")
    listed = tuple(integer(f"{field}[{position}]", value) for position, value in enumerate(values))
    if len(listed) != rank:
        raise InputError(
            f"{len(listed)} entries where the array has {rank} dimensions", field=field, value=list(listed), limit=rank,
            fix=f"give {rank} integers, outermost dimension first as in array.shape",
        )  # fmt: skip
    return listed


def _dense_strides(shape: tuple[int, ...], elem_bytes: int) -> tuple[int, ...]:
    strides = [elem_bytes]
    for size in shape[:0:-1]:
        strides.append(strides[-1] * max(size, 1))
    return tuple(reversed(strides[: len(shape)]))


# --- The array interface: NumPy's, and CUDA's, which is the same dict with a device address -------------------------


def _from_interface(array: Any, interface: Mapping[str, Any]) -> ArrayView:
    typestr = interface["typestr"]
    if typestr[0] == ">":
        raise InputError(
            "big-endian elements", field="dtype", value=typestr, fix="convert the array to the machine's byte order"
        )
    element = element_type(getattr(array, "dtype", None) or _typestr_name(typestr))
    shape = tuple(int(size) for size in interface["shape"])
    strides = interface.get("strides")
    strides = _dense_strides(shape, element.bytes) if strides is None else tuple(int(stride) for stride in strides)
    return ArrayView(element, shape, strides, int((interface.get("data") or (0, False))[0]))


def _typestr_name(typestr: str) -> str:
    kinds = {"b": "uint", "i": "int", "u": "uint", "f": "float", "c": "complex"}
    return f"{kinds.get(typestr[1], typestr)}{8 * int(typestr[2:])}"


# --- DLPack: a C struct behind a capsule, whose owner frees it when the capsule goes --------------------------------

# DLDataTypeCode; the codes from 7 on are the 8-bit and narrower floats, whose bits the engine moves unchanged.
_DLPACK_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex"}
_DLPACK_BOOL, _DLPACK_FIRST_FLOAT8 = 6, 7

# DLDeviceType: CPU, CUDA, CUDA's pinned and managed memory.
_DLPACK_DEVICES = (1, 2, 3, 13)


def _from_dlpack(capsule: Any) -> ArrayView:
    import ctypes  # late: the page in the reader's browser has no arrays of other libraries to ask

    class DLTensor(ctypes.Structure):
        _fields_ = (
            ("data", ctypes.c_uint64), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
            ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
            ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
            ("byte_offset", ctypes.c_uint64),
        )  # fmt: skip

    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = DLTensor.from_address(get_pointer(capsule, b"dltensor"))
    if tensor.device_type not in _DLPACK_DEVICES:
        raise InputError(
            "not in memory that a CUDA GPU reaches", field="array device", value=int(tensor.device_type),
            fix="move the array to a CUDA device",
        )  # fmt: skip
    element = element_type(_dlpack_name(tensor.code, tensor.bits, tensor.lanes))
    shape = tuple(tensor.shape[: tensor.ndim])
    if tensor.strides:  # in elements, where NumPy has bytes; none for a dense array
        strides = tuple(stride * element.bytes for stride in tensor.strides[: tensor.ndim])
    else:
        strides = _dense_strides(shape, element.bytes)
    return ArrayView(element, shape, strides, tensor.data + tensor.byte_offset)


def _dlpack_name(code: int, bits: int, lanes: int) -> str:
    if lanes != 1:
        return f"vector of {lanes}"
    if code == _DLPACK_BOOL or (code >= _DLPACK_FIRST_FLOAT8 and bits == 8):
        return "uint8"
    return f"{_DLPACK_KINDS.get(code, f'DLPack type {code} of ')}{bits}"
