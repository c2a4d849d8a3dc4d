"""What every input form turns its text into: fields under the contract's names, and where each one stands.

    text ──read──▶ Reading(form, fields, offset) ──request──▶ TensorMap + facts   or   UnreadableError(line, column)

>>> reading = Reading("json", {"dtype": "half", "global_dim": [64], "box_dim": [64]})
>>> reading.tensor_map().dtype
'float16'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tmalab.errors import InputError, wrong_length
from tmalab.inputs.numbers import integer_text
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.words import WORDS, word
from tmalab.model.element_types import ELEMENT_TYPES
from tmalab.model.tensor_map import TensorMap
from tmalab.model.tensor_map_fields import integer

MOST_CALLS = 32  # that one text is asked about, in C++ or Python

_IM2COL = ("lower_corner", "upper_corner", "channels_per_pixel", "pixels_per_column")
_WORDS = ("interleave", "swizzle", "l2_promotion", "oob_fill")
_NEEDED_FOR = {
    "global_strides": "give the bytes from one row to the next, one entry for each dimension after the first",
    "global_dim": "give the tensor's extents in elements, innermost first",
    "box_dim": "give the elements that one copy moves, innermost first",
    "dtype": "give the element type, such as float16",
}


class Reading(NamedTuple):
    """One thing that was asked about, as it was read. `fields` bear the canonical names of `field_names`.

    `offset` is where it begins in `text`; `locate(field)` gives the offset of one field (`box_dim[1]`), and is None
    where the form knows no better than `offset`. `notes` say what the reader should know about the reading itself.
    """

    form: str
    fields: Mapping[str, Any]
    text: str = ""
    offset: int = 0
    locate: Callable[[str], int] | None = None
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """What is asked about: tiled, im2col, or the case file's other modes (dlpack, layout_query …)."""
        kind = self.fields.get("kind")
        if kind is not None:
            return kind if isinstance(kind, str) else "unknown"
        if "events" in self.fields:
            return "barrier_program"
        return "im2col" if "channels_per_pixel" in self.fields else "tiled"

    def tensor_map(self) -> TensorMap:
        """The tensor map that the fields say. Raises UnreadableError, with the field's place in the text."""
        try:
            return _tensor_map(self.fields, self.kind)
        except InputError as error:
            raise self.unreadable(error) from None

    def unreadable(self, error: InputError) -> UnreadableError:
        """`error`, with the place in the text of the field that it names."""
        if isinstance(error, UnreadableError):
            return error
        offset = self.locate(error.field) if self.locate and error.field else self.offset
        return UnreadableError.from_error(error, text=self.text, offset=offset, form=self.form)


def _tensor_map(fields: Mapping[str, Any], kind: str) -> TensorMap:
    """The map of the fields. A batch asks 100,000 times, so what is seldom wrong is looked into only when it is."""
    get = fields.get
    known = {}
    for name in _WORDS:
        value = get(name)
        known[name] = "none" if value is None else value if value in WORDS[name] else word(name, value)
    dtype = get("dtype")
    if not isinstance(dtype, str) or dtype not in ELEMENT_TYPES:
        dtype = word("dtype", _needed("dtype", fields, kind))
    dims, strides = _needed("global_dim", fields, kind), get("global_strides")
    if strides is None:
        strides = _needed("global_strides", fields, kind)
    try:
        common: dict[str, Any] = {"element_strides": get("element_strides"), "address": base_address(fields), **known}
        if kind == "tiled":
            tm = TensorMap.tiled(dtype, dims, strides, _needed("box_dim", fields, kind), **common)
        else:
            pixels = (_needed(name, fields, kind) for name in _IM2COL)
            tm = TensorMap.im2col(dtype, dims, strides, *pixels, **common)
    except InputError:
        _explain_lengths(dims, strides)
        raise
    rank = get("rank")
    if rank is not None and integer("rank", rank) != tm.rank:
        message = f"the rank is {tm.rank} by global_dim"
        raise InputError(message, field="rank", value=rank, limit=tm.rank, fix="make them agree")
    return tm


def _needed(name: str, fields: Mapping[str, Any], kind: str) -> Any:
    """A field that has to be said; only of rank 1 there are no strides. Raises InputError where it is not."""
    value = fields.get(name)
    if value is not None:
        return value
    dims = fields.get("global_dim")
    if name == "global_strides" and isinstance(dims, (list, tuple)) and len(dims) <= 1:
        return ()
    raise InputError("missing", field=name, value=None, fix=_NEEDED_FOR.get(name, f"{kind} needs it"))


def _explain_lengths(dims: Any, strides: Any) -> None:
    """Raise a better InputError where the strides count dimension 0 too, as many front ends print them."""
    if isinstance(dims, (list, tuple)) and isinstance(strides, (list, tuple)) and len(strides) == len(dims) > 1:
        raise InputError(
            wrong_length(len(strides), len(dims) - 1), field="global_strides", value=list(strides),
            limit=len(dims) - 1, fix="leave out the first: dimension 0 has no stride, and the others are in bytes",
        ) from None  # fmt: skip


def base_address(fields: Mapping[str, Any]) -> int | None:
    """The base address: given, or one with the alignment that was promised (`base_align`, `address_offset`).

    An offset counts from a 1024-byte boundary, as in the recorded verdicts; zero is that boundary and not null.
    """
    address = fields.get("address")
    if isinstance(address, str):
        return integer_text("address", address)
    if address is not None:
        return address  # type: ignore[no-any-return]  # TensorMap refuses what is no integer, under this name
    if (offset := fields.get("address_offset")) is not None:
        return 1024 if offset == 0 and not isinstance(offset, bool) else offset
    return fields.get("base_align")
