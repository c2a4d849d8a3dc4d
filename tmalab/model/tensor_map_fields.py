"""The fields of a tensor map, validated as far as building needs: words are known, numbers are integers, lists fit.

    global_dim      (cols, rows, …)     elements, rank entries
    global_strides  (row pitch, …)      bytes, rank-1 entries: dimension 0 is contiguous and has none
    box_dim         what one copy spans, in elements of the tensor; element_strides thin it out

>>> TensorMapFields.tiled("float16", (128, 16), (256,), (64, 8), swizzle="128b").swizzle
'128B'

Rules and byte arithmetic read these fields; `tensor_map.TensorMap` adds the questions that one asks of them. No
numpy is imported here: a page of the book runs this file in the reader's browser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import index as as_index
from typing import Any, Self

from tmalab.errors import InputError, wrong_length
from tmalab.model.element_types import ElementType, element_type

INTERLEAVES = ("none", "16B", "32B")
SWIZZLES = ("none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B")
L2_PROMOTIONS = ("none", "64B", "128B", "256B")
OOB_FILLS = ("none", "nan")

# Past this many dimensions a list is not a tensor's: the checker says so without walking a million entries.
MAX_LISTED_RANK = 64


def _word(field: str, value: Any, allowed: tuple[str, ...]) -> str:
    if isinstance(value, str):
        if value in allowed:
            return value
        for word in allowed:
            if word.lower() == value.lower():
                return word
    raise InputError(f"unknown {field}", field=field, value=value, fix=f"use one of {', '.join(allowed)}")


def _integers(field: str, values: Any, length: int | None = None) -> tuple[int, ...]:
    listable = type(values) in (list, tuple)  # asked first: what a batch holds, 400,000 times
    if not listable and (isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable)):
        raise InputError("not a list of integers", field=field, value=values, fix="give a list of integers")
    listed = tuple(values)
    if length is not None and len(listed) != length:
        raise InputError(
            wrong_length(len(listed), length),
            field=field,
            value=list(listed),
            limit=length,
            fix=f"give {length} integers, innermost dimension first",
        )
    for value in listed:
        if type(value) is not int:
            return tuple(integer(f"{field}[{position}]", value) for position, value in enumerate(listed))
    return listed


def integer(field: str, value: Any) -> int:
    """`value` as a plain int, or InputError naming `field`; NumPy integers pass, True and 1.0 do not."""
    if isinstance(value, bool):
        raise InputError("not an integer", field=field, value=value, fix="give an integer")
    try:
        return as_index(value)
    except TypeError:
        raise InputError("not an integer", field=field, value=value, fix="give an integer") from None


def require_map(tm: Any) -> None:
    """Raises InputError where `tm` is no tensor map."""
    if not isinstance(tm, TensorMapFields):
        raise InputError("not a tensor map", field="tm", value=tm, fix="build one with TensorMap.tiled or from_array")


class TensorMapFields:
    """What a tensor map says, legal or not; it does not change after it is built.

    Sources: CUDA driver API, section Tensor Map Object Management; PTX ISA, Tensors.
    """

    __slots__ = (
        "kind", "element", "global_dim", "global_strides", "box_dim", "element_strides", "interleave", "swizzle",
        "l2_promotion", "oob_fill", "address", "lower_corner", "upper_corner", "channels_per_pixel",
        "pixels_per_column",
    )  # fmt: skip
    kind: str
    element: ElementType
    global_dim: tuple[int, ...]
    global_strides: tuple[int, ...]
    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...]
    interleave: str
    swizzle: str
    l2_promotion: str
    oob_fill: str
    address: int | None
    lower_corner: tuple[int, ...]
    upper_corner: tuple[int, ...]
    channels_per_pixel: int | None
    pixels_per_column: int | None

    def __init__(self, **fields: Any):
        for name in TensorMapFields.__slots__:  # a subclass adds none
            object.__setattr__(self, name, fields[name])

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a TensorMap does not change; build another one with {name}={value!r}")

    # --- building -------------------------------------------------------------------------------------------------

    @classmethod
    def tiled(
        cls, dtype: Any, global_dim: Iterable[int], global_strides: Iterable[int], box_dim: Iterable[int], *,
        element_strides: Iterable[int] | None = None, interleave: str = "none", swizzle: str = "none",
        l2_promotion: str = "none", oob_fill: str = "none", address: int | None = None,
    ) -> Self:  # fmt: skip
        """The map that `cuTensorMapEncodeTiled` would be asked for: dims in elements innermost first, strides in bytes.

        Raises InputError for an unknown word, a non-integer or lists whose lengths don't fit; anything else
        builds, and `violations()` says what the driver would refuse.
        """
        dims = _integers("global_dim", global_dim)
        rank = len(dims)
        return cls(
            kind="tiled",
            element=element_type(dtype),
            global_dim=dims,
            global_strides=_integers("global_strides", global_strides, max(rank - 1, 0)),
            box_dim=_integers("box_dim", box_dim, rank),
            **cls._shared_fields(rank, element_strides, interleave, swizzle, l2_promotion, oob_fill, address),
            lower_corner=(), upper_corner=(), channels_per_pixel=None, pixels_per_column=None,
        )  # fmt: skip

    @classmethod
    def im2col(
        cls, dtype: Any, global_dim: Iterable[int], global_strides: Iterable[int], lower_corner: Iterable[int],
        upper_corner: Iterable[int], channels_per_pixel: int, pixels_per_column: int, *,
        element_strides: Iterable[int] | None = None, interleave: str = "none", swizzle: str = "none",
        l2_promotion: str = "none", oob_fill: str = "none", address: int | None = None,
    ) -> Self:  # fmt: skip
        """The map that `cuTensorMapEncodeIm2col` would be asked for; the corners have rank-2 entries (W, H, D).

        Raises InputError as `tiled` does.
        """
        dims = _integers("global_dim", global_dim)
        rank = len(dims)
        return cls(
            kind="im2col",
            element=element_type(dtype),
            global_dim=dims,
            global_strides=_integers("global_strides", global_strides, max(rank - 1, 0)),
            box_dim=(),
            **cls._shared_fields(rank, element_strides, interleave, swizzle, l2_promotion, oob_fill, address),
            lower_corner=_integers("lower_corner", lower_corner, max(rank - 2, 0)),
            upper_corner=_integers("upper_corner", upper_corner, max(rank - 2, 0)),
            channels_per_pixel=integer("channels_per_pixel", channels_per_pixel),
            pixels_per_column=integer("pixels_per_column", pixels_per_column),
        )

    @staticmethod
    def _shared_fields(
        rank: int, element_strides: Any, interleave: Any, swizzle: Any, l2_promotion: Any, oob_fill: Any, address: Any
    ) -> dict[str, Any]:
        strides = (1,) * rank if element_strides is None else _integers("element_strides", element_strides, rank)
        return {
            "element_strides": strides,
            "interleave": _word("interleave", interleave, INTERLEAVES),
            "swizzle": _word("swizzle", swizzle, SWIZZLES),
            "l2_promotion": _word("l2_promotion", l2_promotion, L2_PROMOTIONS),
            "oob_fill": _word("oob_fill", oob_fill, OOB_FILLS),
            "address": None if address is None else integer("address", address),
        }

    # --- reading --------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> str:
        """The element type's name, the driver's in lower case."""
        return self.element.name

    @property
    def rank(self) -> int:
        """How many dimensions the tensor has."""
        return len(self.global_dim)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain JSON values; `TensorMap.from_dict` reads them back."""
        fields: dict[str, Any] = {"kind": self.kind, "dtype": self.dtype}
        names = ["global_dim", "global_strides"]
        names += ["box_dim"] if self.kind == "tiled" else [
            "lower_corner", "upper_corner", "channels_per_pixel", "pixels_per_column",
        ]  # fmt: skip
        names += ["element_strides", "interleave", "swizzle", "l2_promotion", "oob_fill", "address"]
        for name in names:
            value = getattr(self, name)
            fields[name] = list(value) if isinstance(value, tuple) else value
        return fields

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """The map that `to_dict` wrote. Raises InputError for a missing or unknown key."""
        known = dict(fields)
        kind = known.pop("kind", "tiled")
        builders: dict[str, Callable[..., Self]] = {"tiled": cls.tiled, "im2col": cls.im2col}
        build = builders.get(kind) if isinstance(kind, str) else None
        if build is None:
            raise InputError("unknown kind", field="kind", value=kind, fix="use tiled or im2col")
        try:
            return build(**known)
        except TypeError as error:  # Python's own words name the key that is missing or not known
            raise InputError(str(error).replace(f"{cls.__name__}.{kind}()", kind), field="kind", value=kind) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorMapFields) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self.to_dict().items() if k not in ("kind", "address"))
        return f"TensorMap.{self.kind}({shown}{'' if self.address is None else f', address={self.address:#x}'})"
