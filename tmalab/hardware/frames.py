"""Framed messages between the notebook's process and its worker: JSON for what is plain, raw bytes for arrays.

    "TMAL" | header length u32 | body length u64 | header, UTF-8 JSON | body: every array's bytes, one after another

>>> import io, numpy as np
>>> pipe = io.BytesIO(encode_frame({"ask": "hello"}, {"smem": np.arange(3, dtype=np.uint8)}))
>>> read_frame(lambda count: pipe.read(count))
({'ask': 'hello'}, {'smem': array([0, 1, 2], dtype=uint8)})

No pickle: a worker that a fault has damaged may send anything, and reading it must do no more than fail.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

MAGIC = b"TMAL"
_LENGTHS = struct.Struct("<4sIQ")
# Neither is reached by what this package sends; a damaged length is refused before memory is asked for.
_LONGEST_HEADER = 64 << 20
_LONGEST_BODY = 4 << 30


class FrameError(Exception):
    """The bytes that came are no frame, or the pipe ended inside one. Never leaves this package's hardware layer."""


def encode_frame(message: Mapping[str, Any], arrays: Mapping[str, np.ndarray] | None = None) -> bytes:
    """One frame as bytes; `arrays` come back by the same names, C-contiguous, with their dtypes and shapes."""
    whole = {name: np.ascontiguousarray(array) for name, array in (arrays or {}).items()}
    layout = [[name, array.dtype.str, list(array.shape)] for name, array in whole.items()]
    header = json.dumps({"message": dict(message), "arrays": layout}, allow_nan=False).encode()
    body = [array.tobytes() for array in whole.values()]
    return b"".join([_LENGTHS.pack(MAGIC, len(header), sum(map(len, body))), header, *body])


def read_frame(read: Callable[[int], bytes]) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
    """The next frame, or None where the pipe ends between two frames.

    `read(count)` returns `count` bytes, fewer only at the pipe's end. Raises FrameError for anything else.
    """
    lengths = read(_LENGTHS.size)
    if not lengths:
        return None
    if len(lengths) < _LENGTHS.size:
        raise FrameError("the pipe ended inside a frame")
    magic, header_bytes, body_bytes = _LENGTHS.unpack(lengths)
    if magic != MAGIC:
        raise FrameError(f"not a frame: it starts with {bytes(magic)!r}")
    if header_bytes > _LONGEST_HEADER or body_bytes > _LONGEST_BODY:
        raise FrameError(f"a frame of {header_bytes} + {body_bytes} bytes is longer than any that is sent")
    header, body = read(header_bytes), read(body_bytes)
    if len(header) < header_bytes or len(body) < body_bytes:
        raise FrameError("the pipe ended inside a frame")
    try:
        fields = json.loads(header)
        return fields["message"], _split(body, fields["arrays"])
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise FrameError(f"a frame that cannot be read: {error}") from None


def _split(body: bytes, layout: list[tuple[str, str, list[int]]]) -> dict[str, np.ndarray]:
    arrays, at = {}, 0
    for name, dtype, shape in layout:
        kind = np.dtype(dtype)
        count = 1
        for extent in shape:
            count *= extent
        arrays[name] = np.frombuffer(body, kind, count, at).reshape(shape)
        at += count * kind.itemsize
    if at != len(body):
        raise ValueError(f"{len(body)} bytes for arrays of {at}")
    return arrays
