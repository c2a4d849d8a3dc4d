"""What the programs of "one tile, many front ends" share: the task, the driver's own answer, what is looked at.

192 x 320 fp16, row-major          element (row, col) holds 320 * row + col, as 16 bits
box 32 x 64 at (96, 128), 128B swizzle: 4096 bytes of shared memory, copied out as they lie
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tmalab.errors import HardwareError
from tmalab.model.encoded_map import decode
from tmalab.model.tensor_map import TensorMap

BACKGROUND = 0xA5
FEATURES = ("swizzle", "element_strides", "fill", "l2_promotion", "im2col", "multicast", "reductions", "prefetch")
_TRANSFER = re.compile(r"cp\.async\.bulk|cp\.reduce|mbarrier|tensormap|fence|prefetch|elect\.sync")


# --- the task ---------------------------------------------------------------------------------------------------------


def memory(params: Mapping[str, Any]) -> np.ndarray:
    """The tensor: uint16 of the task's shape, each element its own number."""
    rows, cols = params["shape"]
    return np.arange(rows * cols, dtype=np.int64).astype(np.uint16).reshape(rows, cols)


def cupy_memory(params: Mapping[str, Any]) -> Any:
    """The tensor on the GPU, as fp16."""
    import cupy

    return cupy.asarray(memory(params)).view(cupy.float16)


def cupy_output(size: int) -> Any:
    """`size` bytes on the GPU that no tile holds."""
    import cupy

    return cupy.full(size, BACKGROUND, cupy.uint8)


def tile_bytes(params: Mapping[str, Any]) -> int:
    """What the box takes in shared memory."""
    rows, cols = params["box"]
    return int(rows * cols * 2)


def task_map(params: Mapping[str, Any]) -> TensorMap:
    """The map that every front end is asked for, as the driver counts: innermost first, strides in bytes."""
    rows, cols = params["shape"]
    stride = params.get("strides", [cols, 1])[0]  # of a row, in elements; a case about strides gives its own
    return TensorMap.tiled("float16", (cols, rows), (2 * stride,), params["box"][::-1], swizzle=params["swizzle"])


# --- the driver's own -------------------------------------------------------------------------------------------------


def encoded(tm: TensorMap) -> bytes:
    """The driver's 128 bytes of a map that it takes."""
    answer, content = _encode(tm)
    if content is None:
        raise HardwareError(f"the driver answered {answer}", field="tensor_map", value=tm)
    return content


def driver_answer(params: Mapping[str, Any]) -> str:
    """What the driver says of the task's own map: SUCCESS or INVALID_VALUE."""
    return _encode(task_map(params))[0]


def reference(descriptor: bytes) -> tuple[str, bytes | None]:
    """The driver's answer, and its own 128 bytes, for the map that `descriptor` holds, at the same address."""
    return _encode(decode(descriptor))


def descriptor_arrays(descriptor: bytes) -> dict[str, np.ndarray]:
    """A captured descriptor and the driver's own, as a program's arrays."""
    own = reference(descriptor)[1]
    found = {"descriptor": np.frombuffer(descriptor, np.uint8)}
    return found if own is None else {**found, "driver_descriptor": np.frombuffer(own, np.uint8)}


def _encode(tm: TensorMap) -> tuple[str, bytes | None]:
    import cupy
    from cuda.bindings import driver

    from tmalab.hardware.driver_encode import Encoder

    cupy.cuda.Device().synchronize()  # the driver encodes only where a context is current
    return Encoder(driver).answer(tm)


def encode_calls(seen: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A watch's encode calls as plain values."""
    return [{name: value for name, value in call.items() if name != "bytes"} for call in seen]


# --- what is looked at ------------------------------------------------------------------------------------------------


def transfer_lines(ptx: str) -> list[str]:
    """The lines of a PTX text that move the tile or wait for it."""
    lines = (line.split("//")[0].strip() for line in ptx.splitlines())
    return [line for line in lines if _TRANSFER.search(line) and not line.startswith((".file", ".loc", "//"))]


def exposed(places: Mapping[str, Iterable[tuple[str, Any, str]]]) -> dict[str, dict[str, list[str]]]:
    """For each feature what names matched, `label: a, b`, and in what was looked: (label, object, pattern) each.

    An object's names are a function's parameters, a class's parameters and public attributes, a module's public
    attributes, a text's own words.
    """
    table: dict[str, dict[str, list[str]]] = {}
    for feature in FEATURES:
        looked, found = [], []
        for label, thing, pattern in places[feature]:
            matching = [name for name in names_of(thing) if re.search(pattern, name, re.IGNORECASE)]
            looked.append(label)
            found += [f"{label}: {', '.join(matching)}"] if matching else []
        table[feature] = {"found": found, "looked": looked}
    return table


def names_of(thing: Any) -> list[str]:
    """The public names that a thing offers, in its own order where it has one."""
    if isinstance(thing, str):
        return list(dict.fromkeys(re.findall(r"[\w.:]+", thing)))
    if inspect.isclass(thing) and issubclass(thing, Enum):
        return [member.name for member in thing]
    public = [name for name in dir(thing) if not name.startswith("_")]
    if isinstance(thing, ModuleType):
        return public
    try:
        parameters = list(inspect.signature(thing).parameters)
    except (TypeError, ValueError):  # built in, without a signature: its text tells
        parameters = [] if inspect.isclass(thing) else names_of(thing.__doc__ or "")
    return list(dict.fromkeys([*parameters, *(public if inspect.isclass(thing) else ())]))


def installed(*distributions: str, folders: Iterable[Any] = ()) -> dict[str, Any]:
    """`packages`, each distribution's version, and `package_mb`, what all of them take on disk.

    `folders` are modules whose folder is counted instead where the distribution left no list of its files.
    """
    packages, size = {}, 0
    for name in distributions:
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        packages[name] = found.version
        size += sum(path.stat().st_size for each in found.files or () if (path := Path(str(each.locate()))).is_file())
    for module in () if size else folders:
        root = Path(module.__file__).parent
        size += sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    return {"packages": packages, "package_mb": round(size / 1e6, 1)}


def refused(params: Mapping[str, Any], error: BaseException, where: str) -> dict[str, Any]:
    """The values of a program whose front end refused: what it raised (a page at most) and where, and the driver."""
    said = {"type": type(error).__name__, "message": str(error)[:1500], "where": where}
    return {"raised": said, "driver_answer": driver_answer(params)}
