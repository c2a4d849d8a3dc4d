"""The order of the arguments of TVM's functions that encode a tensor map, and their values as a map's fields.

    "runtime.cuTensorMapEncodeTiled"   map dtype rank pointer  dims strides(rank-1) box steps           4 enumerators
    "__tvm_tensormap_create_tiled"     map dtype rank pointer  dims strides(rank)   box steps           4 enumerators
    "__tvm_tensormap_create_im2col"    map dtype rank pointer  dims strides(rank)   steps corners sizes 4 enumerators

>>> ENCODERS["runtime.cuTensorMapEncodeTiled"].count(2)
15

Sources: the first is TVM's src/runtime/cuda/cuda_device_api.cc, and what an H200's launcher handed to it is recorded in
the group `tirx`; `tensormap_encode_tiled` is apache-tvm-tirx 0.1.0a4, backend/cuda/op.py, and recorded there too. Of
TileLang, src/cuda/runtime.cc and src/cuda/op/builtin.h were read, at commit a35008a.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from tmalab.inputs.cutlass_dump import leading_stride_note
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.python_scope import Scope
from tmalab.inputs.python_values import Node, Values
from tmalab.inputs.words import WORDS, enumerator, word

FORM = "tvm"
_ENUMERATORS = ("interleave", "swizzle", "l2_promotion", "oob_fill")
_TILED = ("global_dim", "global_strides", "box_dim", "element_strides")
_IM2COL = (
    "global_dim", "global_strides", "element_strides", "lower_corner", "upper_corner", "pixels_per_column",
    "channels_per_pixel",
)  # fmt: skip
_SINGLE = ("pixels_per_column", "channels_per_pixel")
# TVM's float4 goes to the driver as a packed type; the others are known under their own names.
_DTYPES = {"float4_e2m1fn": "16u4_align16b", "e4m3_float8": "uint8", "e5m2_float8": "uint8"}
_MOST_DIMENSIONS = 32


class Encoder(NamedTuple):
    """One function: `head` before the lists, `lists`, whether strides count dimension 0 too, what may stand behind.

    `packed` is one that is called by its name as a text.
    """

    head: tuple[str, ...]
    lists: tuple[str, ...] = _TILED
    all_strides: bool = True
    packed: bool = True
    tail: tuple[str, ...] = _ENUMERATORS
    more: tuple[str, ...] = ()

    def length(self, name: str, rank: int) -> int:
        """How many arguments the list has."""
        if name in _SINGLE:
            return 1
        if name in ("lower_corner", "upper_corner"):
            return max(rank - 2, 0)
        return rank - 1 if name == "global_strides" and not self.all_strides else rank

    def count(self, rank: int) -> int:
        """How many arguments there are, without those that may be left out."""
        return len(self.head) + sum(self.length(name, rank) for name in self.lists) + len(self.tail)


_HEAD = ("map", "dtype", "rank", "address")
ENCODERS = {
    "runtime.cuTensorMapEncodeTiled": Encoder(_HEAD, all_strides=False, more=("force_cu_dtype",)),
    "__tvm_tensormap_create_tiled": Encoder(_HEAD),
    "__tvm_tensormap_create_im2col": Encoder(_HEAD, _IM2COL),
    "create_tma_descriptor": Encoder(_HEAD[1:], packed=False),
    "create_tma_im2col_descriptor": Encoder(_HEAD[1:], _IM2COL, packed=False),
    "tensormap_encode_tiled": Encoder(("map", "address"), all_strides=False, packed=False, tail=()),
}
# What tensormap_encode_tiled is given by name.
_NAMED = ("descriptor_dtype", "rank", *_ENUMERATORS, "force_cu_dtype")


class Arguments:
    """One call's arguments, and where each was written."""

    def __init__(self, values: Values, call: ast.Call, scope: Scope):
        self.values, self.call, self.scope = values, call, scope
        self.places: dict[str, int] = {}
        self.notes: list[str] = []

    def place(self, field: str) -> int:
        """The offset of `field`, or of the call."""
        known = self.places.get(field, self.places.get(field.partition("[")[0]))
        return self.values.source.place(self.call) if known is None else known

    def fields(self, encoder: Encoder, given: list[Node]) -> dict[str, Any]:
        """The map's fields. Raises UnreadableError or InputError."""
        named = self._named(encoder)
        alone = dict(zip(encoder.head, given, strict=False)) | named
        if "rank" not in alone or "dtype" not in alone:
            raise self._wrong(encoder, given, None)
        rank = self._integer("rank", alone["rank"])
        if not 0 <= rank <= _MOST_DIMENSIONS:
            raise self.values.error(f"no map has rank {rank}", alone["rank"][0], "the driver takes 1 to 5 dimensions")
        least = encoder.count(rank)
        if not least <= len(given) <= least + len(encoder.more):
            raise self._wrong(encoder, given, rank)
        fields: dict[str, Any] = {"kind": "tiled" if encoder.lists is _TILED else "im2col", "rank": rank}
        at = len(encoder.head)
        for name in encoder.lists:
            part = given[at : at + encoder.length(name, rank)]
            at += len(part)
            fields[name] = [self._integer(f"{name}[{index}]", one) for index, one in enumerate(part)]
        fields |= {name: fields[name][0] for name in _SINGLE if name in fields}
        alone |= dict(zip((*encoder.tail, *encoder.more), given[at:], strict=False))
        for name in _ENUMERATORS:
            fields[name] = enumerator(name, self._integer(name, alone[name])) if name in alone else WORDS[name][0]
        fields["dtype"] = self._dtype(alone)
        fields["address"] = self._address(alone.get("address"))
        if encoder.all_strides and rank > 0:
            self._drop_first(fields)
        return fields

    def _named(self, encoder: Encoder) -> dict[str, Node]:
        """The keywords of the one function that has some."""
        named: dict[str, Node] = {}
        for keyword in self.call.keywords:
            if encoder.tail or keyword.arg not in _NAMED:
                message = f"did not expect {keyword.arg or 'what stands behind **'} here"
                raise self.values.error(message[:80], keyword.value)
            named["dtype" if keyword.arg == "descriptor_dtype" else keyword.arg] = keyword.value, self.scope
        return named

    def _wrong(self, encoder: Encoder, given: list[Node], rank: int | None) -> UnreadableError:
        """The error for a number of arguments that no rank, or not this one, asks for."""
        in_order = [f"{name}…" if name not in _SINGLE else name for name in encoder.lists]
        names = ", ".join([*encoder.head, *in_order, *encoder.tail])
        asks = "" if rank is None else f", and rank {rank} asks for {encoder.count(rank)}"
        given_by_name = "" if encoder.tail else "; descriptor_dtype=, rank= and the modes by name"
        return self.values.error(f"{len(given)} arguments{asks}", self.call, f"in order: {names}{given_by_name}")

    def _integer(self, name: str, one: Node) -> int:
        self.places[name] = self.values.source.place(one[0])
        self.places.setdefault(name.partition("[")[0], self.places[name])
        return self.values.integer(*one)

    def _dtype(self, alone: dict[str, Node]) -> Any:
        """The element type: its name, or the driver's number, which may be forced behind all else."""
        if "force_cu_dtype" in alone and (forced := self._integer("force_cu_dtype", alone["force_cu_dtype"])) >= 0:
            self.places["dtype"] = self.places["force_cu_dtype"]
            return enumerator("dtype", forced)
        node, scope = alone["dtype"]
        self.places["dtype"] = self.values.source.place(node)
        said, inside = self.values.follow(node, scope)
        if isinstance(said, ast.Call) and len(said.args) == 1:  # tvm.DataType("float16")
            said, inside = self.values.follow(said.args[0], inside)
        if isinstance(said, ast.Constant) and isinstance(said.value, str):
            return _DTYPES.get(said.value) or word("dtype", said.value)
        return enumerator("dtype", self.values.integer(said, inside))

    def _address(self, one: Node | None) -> int | None:
        """A literal address; a pointer's value is the program's own affair."""
        if one is None:
            return None
        self.places["address"] = self.values.source.place(one[0])
        value = one[0].value if isinstance(one[0], ast.Constant) else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def _drop_first(self, fields: dict[str, Any]) -> None:
        strides = fields["global_strides"]
        if fields["dtype"] in WORDS["dtype"]:
            self.notes += leading_stride_note(strides, fields["rank"], fields["dtype"])
        fields["global_strides"] = strides[1:]
        places = self.places
        for index in range(1, len(strides)):
            places[f"global_strides[{index - 1}]"] = places[f"global_strides[{index}]"]
