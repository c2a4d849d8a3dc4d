"""Where an array lies and how, read from its DLPack capsule: for NumPy, CuPy, torch and JAX, bfloat16 included.

    array.__dlpack__() ─▶ capsule ─▶ DLTensor { data, device, ndim, dtype, shape, strides, byte_offset }

>>> import numpy as np
>>> layout = layout_of(np.zeros((4, 8), np.float16)[:, ::2])
>>> layout.dtype, layout.shape, layout.strides, layout.on_gpu
('float16', (4, 4), (16, 4), False)

No array library is imported, and no byte is copied: a tensor map needs to know only this. Source: DLPack, dlpack.h 1.1.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from tmalab.errors import InputError

_CUDA_DEVICES = (2, 13)  # kDLCUDA, kDLCUDAManaged
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex"}
_OTHERS = {6: "bool", 10: "float8_e4m3fn", 12: "float8_e5m2"}


class ArrayLayout(NamedTuple):
    """An array in NumPy order: `shape` in elements, `strides` in bytes, `address` of its first element."""

    dtype: str
    item_bytes: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    on_gpu: bool

    @property
    def span_bytes(self) -> int:
        """Bytes from the first element to behind the last, gaps between rows included."""
        if 0 in self.shape:
            return 0
        return self.item_bytes + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True))


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


def layout_of(array: Any) -> ArrayLayout:
    """The layout of any array that speaks DLPack. Raises InputError for any other object or type."""
    if type(array).__module__.split(".")[0] == "numpy":  # NumPy exports no read-only array through DLPack
        address = array.__array_interface__["data"][0]
        return ArrayLayout(array.dtype.name, array.itemsize, array.shape, array.strides, address, on_gpu=False)
    capsule = _capsule(array)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _DLTensor.from_address(pointer(capsule, b"dltensor"))
    dtype = _OTHERS.get(tensor.code) or f"{_KINDS.get(tensor.code, 'type')}{tensor.bits}"
    if (tensor.code not in _KINDS and tensor.code not in _OTHERS) or tensor.lanes != 1 or tensor.bits % 8:
        raise InputError(
            f"DLPack type {tensor.code} of {tensor.bits} bits", field="dtype", value=str(getattr(array, "dtype", "?")),
            fix="view it as an unsigned type of the same size",
        )  # fmt: skip
    item_bytes = tensor.bits // 8
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if tensor.strides:  # in elements
        strides = tuple(tensor.strides[i] * item_bytes for i in range(tensor.ndim))
    else:  # null says row-major and compact
        strides, stride = (), item_bytes
        for extent in reversed(shape):
            strides, stride = (stride, *strides), stride * extent
    address = (tensor.data or 0) + tensor.byte_offset
    return ArrayLayout(dtype, item_bytes, shape, strides, address, tensor.device_type in _CUDA_DEVICES)


def _capsule(array: Any) -> Any:
    """The unconsumed capsule, which frees itself when it is dropped."""
    export = getattr(array, "__dlpack__", None)
    if export is None:
        raise InputError("not an array that speaks DLPack", field="array", value=type(array).__name__, fix="use one")
    try:
        return export(stream=-1)  # only the layout is read, so nothing need be waited for
    except (TypeError, ValueError, BufferError, AssertionError):
        pass  # a CPU array takes no stream
    try:
        return export()
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise InputError(
            f"it does not export itself ({error})", field="array", value=type(array).__name__, fix="detach or copy it"
        ) from None
