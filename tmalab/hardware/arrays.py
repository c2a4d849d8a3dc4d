"""Arrays in, arrays out: one box of a NumPy, CuPy, torch or JAX array through the TMA engine of this machine's GPU.

    tile = load_tile(array, box_shape, index)        what shared memory then holds, in the array's own kind
    store_tile(array, tile, index)                   writes into `array`; reduce_tile(array, tile, index, op) adds …

Shapes and `index` are in NumPy order, outermost first. The engine works in the worker process, on a copy of the bytes
that the array spans: a fault costs neither the array nor this process's CUDA context.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from tmalab.errors import HardwareError, InputError, TensorMapError
from tmalab.hardware.transfers import MOST_SMEM_BYTES, complete_params
from tmalab.hardware.worker_client import shared_worker
from tmalab.model.array_view import ArrayView, array_view
from tmalab.model.box_bytes import copied_dim, row_pitch_bytes
from tmalab.model.tensor_map import TensorMap

_ALL = ("element_strides", "swizzle", "l2_promotion", "oob_fill")
_CUDA_DEVICES = (2, 13)  # DLPack: kDLCUDA, kDLCUDAManaged


def load_tile(array: Any, box_shape: Sequence[int], index: Sequence[int], *, smem_base: int = 0, **fields: Any) -> Any:
    """The bytes that a TMA load of the box at `index` leaves in shared memory, as an array of `array`'s kind and type.

    Its shape is `box_shape`, thinned by `element_strides`; where a swizzle pads rows to its span, the last axis is as
    long as the span. A swizzled tile comes as it lies, chunks exchanged. `fields` are `TensorMap.from_array`'s.
    Raises TensorMapError, InputError before any launch; NoHopperGpuError; HardwareError for a launch that failed.
    """
    tm = _map(array, box_shape, fields)
    shape = _tile_shape(tm)
    box_bytes = int(np.prod(shape)) * tm.element.bytes
    params = _params(tm, "load", index, smem_base, box_bytes)
    smem = _run(params, {"memory": _span(array, array_view(array))})["smem"]
    return _like(array, smem[smem_base : smem_base + box_bytes], shape)


def store_tile(array: Any, tile: Any, index: Sequence[int], *, smem_base: int = 0, **fields: Any) -> None:
    """Write `tile`, whose shape is the box's, into `array` at `index` by a TMA store; what lies outside is dropped."""
    _write_tile(array, tile, index, None, smem_base, fields)


def reduce_tile(array: Any, tile: Any, index: Sequence[int], op: str, *, smem_base: int = 0, **fields: Any) -> None:
    """`array` becomes op(array, tile) there: add min max inc dec and or xor, for the types that the engine knows."""
    _write_tile(array, tile, index, op, smem_base, fields)


def _write_tile(
    array: Any, tile: Any, index: Sequence[int], op: str | None, smem_base: int, fields: Mapping[str, Any]
) -> None:
    tm = _map(array, tuple(tile.shape), fields)
    if _tile_shape(tm) != tuple(tile.shape):
        raise InputError(
            "the swizzle pads its rows", field="tile.shape", value=tuple(tile.shape), limit=_tile_shape(tm),
            fix="give whole rows of the swizzle's span",
        )  # fmt: skip
    view, content = array_view(array), _contiguous_bytes(tile)
    smem = np.zeros(smem_base + content.nbytes, np.uint8)
    smem[smem_base:] = content
    params = _params(tm, "reduce" if op else "store", index, smem_base, content.nbytes)
    changed = _run({**params, "op": op}, {"memory": _span(array, view), "smem": smem})["memory"]
    _write_span(array, view, changed)


def _map(array: Any, box_shape: Sequence[int], fields: Mapping[str, Any]) -> TensorMap:
    unknown = [name for name in fields if name not in _ALL]
    if unknown:
        raise InputError("not a field", field=unknown[0], value=fields[unknown[0]], fix=f"use {', '.join(_ALL)}")
    mapped = TensorMap.from_array(array, box_shape, **fields)
    # The worker holds a copy, 1024-byte aligned: the array's own address means nothing there.
    tm = TensorMap.from_dict({**mapped.to_dict(), "address": None})
    if broken := tm.violations():
        raise TensorMapError(broken)
    return tm


def _tile_shape(tm: TensorMap) -> tuple[int, ...]:
    """What the box is in shared memory, outermost first, its rows as long as they lie there."""
    return (*reversed(copied_dim(tm)[1:]), row_pitch_bytes(tm) // tm.element.bytes)


def _params(tm: TensorMap, direction: str, index: Sequence[int], smem_base: int, box_bytes: int) -> dict[str, Any]:
    smem_bytes = smem_base + box_bytes
    if smem_bytes > MOST_SMEM_BYTES:
        raise InputError(
            "more than shared memory holds", field="box_shape", value=tuple(reversed(tm.box_dim)),
            limit=MOST_SMEM_BYTES, fix="use a smaller box",
        )  # fmt: skip
    given = {"pattern": "given"}
    return {
        "tensor_map": tm.to_dict(), "direction": direction, "coords": [int(i) for i in reversed(index)],
        "smem_base": smem_base, "smem_bytes": smem_bytes, "memory": given,
        "smem": None if direction == "load" else given,
    }  # fmt: skip


def _run(params: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    whole = complete_params(params)
    (reply,) = shared_worker().ask("transfer", [whole], deadline_s=2.0, arrays=arrays)
    reply.or_raise()
    if reply.values["error"] or not reply.values["completed"]:
        raise HardwareError(
            f"the transfer failed: {reply.values['error'] or 'its phase did not complete'}", field="index",
            value=list(reversed(params["coords"])), fix="ask model.launch_violations, or observe() it as a case",
        )  # fmt: skip
    return reply.arrays


# --- bytes of an array, on the host or through CuPy on the GPU --------------------------------------------------------


def _span_bytes(view: ArrayView) -> int:
    """Bytes from the first element to behind the last, gaps between rows included."""
    if 0 in view.shape:
        return 0
    return view.element.bytes + sum((n - 1) * stride for n, stride in zip(view.shape, view.strides, strict=True))


def _on_gpu(array: Any) -> bool:
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in _CUDA_DEVICES


def _span(array: Any, view: ArrayView) -> np.ndarray:
    """A copy of all bytes that the array spans."""
    if not _on_gpu(array):
        return np.frombuffer(ctypes.string_at(view.address, _span_bytes(view)), np.uint8)
    content: np.ndarray = _gpu_bytes(array, view).get()
    return content


def _write_span(array: Any, view: ArrayView, content: np.ndarray) -> None:
    if _on_gpu(array):
        _gpu_bytes(array, view).set(content)
    else:
        ctypes.memmove(view.address, content.tobytes(), _span_bytes(view))


def _gpu_bytes(array: Any, view: ArrayView) -> Any:
    """The same memory as a CuPy array of bytes, once everything that was launched on it is done."""
    import cupy

    cupy.cuda.Device().synchronize()
    memory = cupy.cuda.UnownedMemory(view.address, _span_bytes(view), array)
    return cupy.ndarray((_span_bytes(view),), cupy.uint8, cupy.cuda.MemoryPointer(memory, 0))


def _contiguous_bytes(tile: Any) -> np.ndarray:
    view = array_view(tile)
    span = _span(tile, view)
    elements = np.lib.stride_tricks.as_strided(span, (*view.shape, view.element.bytes), (*view.strides, 1))
    return np.ascontiguousarray(elements).reshape(-1)


def _like(array: Any, content: np.ndarray, shape: tuple[int, ...]) -> Any:
    """`content` as an array of the same library, device and type as `array`."""
    library = type(array).__module__.split(".")[0]
    if library == "numpy":
        return content.copy().view(array.dtype).reshape(shape)
    raw: Any = content.copy()  # DLPack hands out no read-only array
    if _on_gpu(array):
        import cupy

        raw = cupy.asarray(raw)
    if library != "cupy":
        raw = import_module({"jax": "jax.numpy", "jaxlib": "jax.numpy"}.get(library, library)).from_dlpack(raw)
    return raw.view(array.dtype).reshape(shape)
