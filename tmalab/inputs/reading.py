"""What every input form turns its text into: fields under the contract's names, and where each one stands.

    text ──read──▶ Reading(form, fields, offset) ──request──▶ TensorMap + facts   or   UnreadableError(line, column)

>>> reading = Reading("json", {"dtype": "half", "global_dim": [64], "box_dim": [64]})
>>> reading.tensor_map().dtype
'float16'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tmalab.errors import InputError
from tmalab.inputs.numbers import integer_text
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.words import WORDS, word
from tmalab.model.tensor_map import TensorMap

_TILED = ("dtype", "global_dim", "global_strides", "box_dim")
_IM2COL = (
    "dtype", "global_dim", "global_strides", "lower_corner", "upper_corner", "channels_per_pixel", "pixels_per_column",
)  # fmt: skip
_OPTIONAL = ("element_strides", "interleave", "swizzle", "l2_promotion", "oob_fill")


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
    needed = _TILED if kind == "tiled" else _IM2COL
    known: dict[str, Any] = {}
    for name in needed:
        value = fields.get(name)
        if value is None:
            value = _absent(name, fields, kind)
        known[name] = value
    for name in _OPTIONAL:
        value = fields.get(name)
        if value is not None:
            known[name] = word(name, value) if name in WORDS else value
    known["dtype"] = word("dtype", known["dtype"])
    known["address"] = base_address(fields)
    _check_lengths(fields, known)
    return TensorMap.tiled(**known) if kind == "tiled" else TensorMap.im2col(**known)


def _absent(name: str, fields: Mapping[str, Any], kind: str) -> Any:
    """The value of a field that was not given: rank 1 has no strides; anything else has to be said."""
    dims = fields.get("global_dim")
    if name == "global_strides" and isinstance(dims, (list, tuple)) and len(dims) <= 1:
        return ()
    fix = {
        "global_strides": "give the bytes from one row to the next, one entry for each dimension after the first",
        "global_dim": "give the tensor's extents in elements, innermost first",
        "box_dim": "give the elements that one copy moves, innermost first",
        "dtype": "give the element type, such as float16",
    }.get(name, f"{kind} needs it")
    raise InputError("missing", field=name, value=None, fix=fix)


def _check_lengths(fields: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    dims, strides, rank = known["global_dim"], known["global_strides"], fields.get("rank")
    if not isinstance(dims, (list, tuple)):
        return
    if rank is not None and rank != len(dims):
        raise InputError(
            f"the rank is {len(dims)} by global_dim", field="rank", value=rank, limit=len(dims), fix="make them agree"
        )
    if isinstance(strides, (list, tuple)) and len(strides) == len(dims) > 1:
        raise InputError(
            f"{len(strides)} entries where {len(dims) - 1} are needed", field="global_strides", value=list(strides),
            limit=len(dims) - 1, fix="leave out the first: dimension 0 has no stride, and the others are in bytes",
        )  # fmt: skip


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
