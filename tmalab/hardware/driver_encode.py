"""Tensor maps through the driver, in the worker: the 128 bytes that `cuTensorMapEncode…` writes, or its refusal.

    TensorMap ──▶ C types, or "fits none" ──▶ cuTensorMapEncode… ──▶ 128 bytes | refused

>>> c_fields({"global_dim": (64,), "global_strides": (), "element_strides": (1,), "box_dim": (2**32,)})
Traceback (most recent call last):
    ...
tmalab.hardware.driver_encode.DoesNotFitError: box_dim[0]=4294967296 is no uint32
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tmalab.errors import HardwareError
from tmalab.model.element_types import ELEMENT_TYPES
from tmalab.model.tensor_map_fields import INTERLEAVES, L2_PROMOTIONS, OOB_FILLS, SWIZZLES, TensorMapFields

TENSOR_MAP_BYTES = 128
# Where a map has no address yet: `encode()` still needs one. No allocation is needed behind it (measured on H200,
# driver 580.159.04, 2026-11-30): the driver looks at its alignment only. It is the map's first 8 bytes.
PLACEHOLDER_ADDRESS = 0x7F00_0000_0000
_MOST_LISTED = 64  # the model builds maps of any rank; the driver is asked about none as long as this

_C_TYPES = {
    "global_dim": ("uint64", 0, 2**64), "global_strides": ("uint64", 0, 2**64), "box_dim": ("uint32", 0, 2**32),
    "element_strides": ("uint32", 0, 2**32), "lower_corner": ("int32", -(2**31), 2**31),
    "upper_corner": ("int32", -(2**31), 2**31), "channels_per_pixel": ("uint32", 0, 2**32),
    "pixels_per_column": ("uint32", 0, 2**32),
}  # fmt: skip


class DoesNotFitError(Exception):
    """A value has no place in the driver's C types, so that the driver cannot even be asked."""


def c_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers as the driver takes them, every list 5 entries long. Raises DoesNotFitError.

    A rank of 6 is refused by the driver before it reads a list, and cuda-bindings passes no list of more than 5.
    """
    ready: dict[str, Any] = {}
    for name, (kind, least, past) in _C_TYPES.items():
        value = fields.get(name)
        if value is None:
            continue
        listed = value if isinstance(value, Sequence) else (value,)
        if len(listed) > _MOST_LISTED:
            raise DoesNotFitError(f"{name} has {len(listed)} entries")
        for position, entry in enumerate(listed):
            if not least <= entry < past:
                place = f"{name}[{position}]" if isinstance(value, Sequence) else name
                raise DoesNotFitError(f"{place}={entry if abs(entry) < 2**128 else 'huge'} is no {kind}")
        ready[name] = [*listed[:5], *[0] * (5 - len(listed))] if isinstance(value, Sequence) else value
    return ready


def fields_of(tm: TensorMapFields) -> dict[str, Any]:
    """The numbers of a map that `c_fields` looks at."""
    return {name: getattr(tm, name) for name in _C_TYPES}


class Encoder:
    """Encodes with one initialised `cuda.bindings.driver`. The driver encodes only where a context is current."""

    def __init__(self, driver: Any):
        self._driver = driver
        self._words = {
            "dtype": _enumerators(
                driver.CUtensorMapDataType, {name: kind.code for name, kind in ELEMENT_TYPES.items()}
            ),
            "interleave": _enumerators(driver.CUtensorMapInterleave, _numbered(INTERLEAVES)),
            "swizzle": _enumerators(driver.CUtensorMapSwizzle, _numbered(SWIZZLES)),
            "l2_promotion": _enumerators(driver.CUtensorMapL2promotion, _numbered(L2_PROMOTIONS)),
            "oob_fill": _enumerators(driver.CUtensorMapFloatOOBfill, _numbered(OOB_FILLS)),
        }

    def encode(self, tm: TensorMapFields, address: int | None = None) -> bytes | None:
        """The 128 bytes, or None where the driver refuses. Without an `address`: the map's, else PLACEHOLDER_ADDRESS.

        Raises HardwareError where the driver fails for a reason that is not the map's.
        """
        answer, encoded = self.answer(tm, address)
        if answer not in ("SUCCESS", "INVALID_VALUE"):
            raise HardwareError(f"encoding answered {answer}", fix="restart the worker")
        return encoded

    def answer_without_context(self, tm: TensorMapFields, address: int | None) -> str:
        """The driver's answer while no context is current."""
        (_, context) = self._driver.cuCtxGetCurrent()
        self._driver.cuCtxSetCurrent(0)
        try:
            return self.answer(tm, address)[0]
        finally:
            self._driver.cuCtxSetCurrent(context)

    def answer(self, tm: TensorMapFields, address: int | None = None) -> tuple[str, bytes | None]:
        """The driver's answer in its own word, without CUDA_ and CUDA_ERROR_, and the 128 bytes of a success.

        What fits none of its types, so that it cannot be asked, is an INVALID_VALUE too.
        """
        if address is None:
            address = PLACEHOLDER_ADDRESS if tm.address is None else tm.address
        try:
            numbers = c_fields(fields_of(tm))
        except DoesNotFitError:
            return "INVALID_VALUE", None
        chosen = [known.get(getattr(tm, field)) for field, known in self._words.items()]
        if None in chosen or not 0 <= address < 2**64 or tm.rank > _MOST_LISTED:
            return "INVALID_VALUE", None
        dtype, *words = chosen
        u32, u64 = self._driver.cuuint32_t, self._driver.cuuint64_t
        global_dim, global_strides = ([u64(n) for n in numbers[name]] for name in ("global_dim", "global_strides"))
        tensor = (dtype, tm.rank, address, global_dim, global_strides)
        element_strides = [u32(n) for n in numbers["element_strides"]]
        if tm.kind == "im2col":
            result, encoded = self._driver.cuTensorMapEncodeIm2col(
                *tensor, numbers["lower_corner"], numbers["upper_corner"], numbers["channels_per_pixel"],
                numbers["pixels_per_column"], element_strides, *words,
            )  # fmt: skip
        else:
            box_dim = [u32(n) for n in numbers["box_dim"]]
            result, encoded = self._driver.cuTensorMapEncodeTiled(*tensor, box_dim, element_strides, *words)
        if int(result) != 0:
            name = getattr(result, "name", f"CUDA_ERROR_{int(result)}")
            return name.removeprefix("CUDA_ERROR_"), None
        return "SUCCESS", ctypes.string_at(encoded.getPtr(), TENSOR_MAP_BYTES)


def _numbered(words: Sequence[str]) -> dict[str, int]:
    return {word: code for code, word in enumerate(words)}  # the model lists them in the enumerators' order


def _enumerators(enum: Any, codes: Mapping[str, int]) -> dict[str, Any]:
    """word → enumerator; one that older bindings lack is left out."""
    known = {int(member): member for member in enum}
    return {word: known[code] for word, code in codes.items() if code in known}


class EncodeProbe:
    """The probe "encode": many maps in one question. `maps` holds their dicts, `addresses` an address or None each.

    With `context` False each is asked of the driver while no context is current; `answers` holds its words.
    """

    def __init__(self, encoder: Encoder):
        self._encoder = encoder

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Arrays `accepted` bool[n] and `encoded` uint8[n, 128], zero where refused."""
        accepted = np.zeros(len(params["maps"]), bool)
        encoded = np.zeros((len(accepted), TENSOR_MAP_BYTES), np.uint8)
        asked = list(zip(params["maps"], params["addresses"], strict=True))
        if not params.get("context", True):
            answers = [self._encoder.answer_without_context(TensorMapFields.from_dict(tm), at) for tm, at in asked]
            return {"error": None, "answers": answers}, {"accepted": accepted, "encoded": encoded}
        for position, (fields, address) in enumerate(asked):
            content = self._encoder.encode(TensorMapFields.from_dict(fields), address)
            if content is not None:
                accepted[position], encoded[position] = True, np.frombuffer(content, np.uint8)
        return {"error": None}, {"accepted": accepted, "encoded": encoded}
