"""A CuTe layout as CuTe prints it, with its swizzle: `Sw<3,4,3> o 0 o (8,64):(64,1)`.

    Sw<B,M,S>   XOR of bits [M, M+B) with bits [M+S, M+S+B)      also S<…>, Swizzle<…>
    o 0         an offset, or smem_ptr[16b](unset), which also says the element's bits
    o (shape):(stride), nested as CuTe nests them; static integers _8 are 8

>>> parse("Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_16),_64):((_64,_512),_1)")
CuteLayout(swizzle=(3, 4, 3), offset=0, element_bits=16, modes=(((8, 64), (16, 512)), ((64, 1),)))
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tmalab.inputs.lines import lines_of
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading

FORM = "cute"
_SWIZZLE = re.compile(
    r"(?:cute::)?(?:Swizzle|Sw|S)\s*<\s*_?(\d{1,3})\s*,\s*_?(\d{1,3})\s*,\s*_?(\d{1,3})\s*>(?:\s*\{\s*\})?"
)
_POINTER = re.compile(r"_?smem_(?:sparse<\d+>_)?ptr\[(\d{1,3})b\]\((?:unset|[^)]{0,40})\)")
_COMPOSE = re.compile(r"\s*(?:o|∘)\s*")
_OFFSET = re.compile(r"_?(\d{1,18})(?=\s*(?:o|∘)\s)")
_INTEGER = re.compile(r"_?(\d+)(?:\s*\{\s*\})?")
_TYPES = re.compile(r"(?:Shape|Stride|Int|C)\s*<")
_LONGEST, _DEEPEST, _MOST_MODES, _MOST_DIGITS = 4000, 16, 64, 18

Nested = int | tuple["Nested", ...]


class CuteLayout(NamedTuple):
    """A layout: its swizzle, an offset in elements, and its modes, each a tuple of (extent, stride) in elements."""

    swizzle: tuple[int, int, int]
    offset: int
    element_bits: int | None
    modes: tuple[tuple[tuple[int, int], ...], ...]


def looks_like(text: str) -> bool:
    """Whether `text` begins as a swizzle or holds `(shape):(stride)` and no more, or is several such lines."""
    return _looks_like_one(text) or bool(starts(text))


def starts(text: str) -> list[int]:
    """Where each line of `text` begins, if they are layouts of their own and not one that was broken into lines."""
    lines = lines_of(text)
    alike = [line for _, line in lines if _looks_like_one(line)]
    # One layout may be broken where its second line reads as one too: Sw<3,4,3> o 0 o, then (8,64):(64,1).
    whole = sum(map(_is_one, alike[:1000]))
    if len(lines) < 2 or 2 * len(alike) <= len(lines) or not whole or (whole == 1 and _is_one(text)):
        return []
    return [offset for offset, _ in lines]


def _is_one(text: str) -> bool:
    try:
        parse(text)
    except UnreadableError:
        return False
    return True


def _looks_like_one(text: str) -> bool:
    if len(text) > _LONGEST:
        return False
    stripped = text.strip()
    return (
        _SWIZZLE.match(stripped) is not None
        or stripped.startswith(("ComposedLayout<", "composition(", "Layout<"))
        or re.fullmatch(r"[_\d(),\s]+:[_\d(),\s]+", stripped) is not None
    )


def read(text: str) -> Reading:
    """The layout as a question: which swizzle mode gives it? Raises UnreadableError where it cannot be read."""
    parse(text)
    return Reading(FORM, {"kind": "layout_query", "layout": text.strip()}, text, len(text) - len(text.lstrip()))


def parse(text: str) -> CuteLayout:
    """The layout that `text` prints. Raises UnreadableError with the column where it is not one."""
    if len(text) > _LONGEST:
        raise UnreadableError("too long for one layout", text=text, form=FORM)
    return _Parser(_without_types(text)).layout()


def parse_shape(text: str) -> Nested:
    """A shape alone, as CuTe prints it: `((8,_16),64)`. Raises UnreadableError with the column."""
    if len(text) > _LONGEST:
        raise UnreadableError("too long for one shape", text=text, form=FORM)
    parser = _Parser(text)
    shape = parser.nested(1)
    if parser.text[parser.index :].strip():
        raise parser.error("did not expect more after the shape", "write a shape as ((8,16),64)")
    return shape


def _without_types(text: str) -> str:
    """C++ types in the printed form, of the same length where nothing is nested: Shape<_8,_64> is (_8,_64)."""
    if "Layout<" not in text and "Layout <" not in text:
        return text
    swizzle = _SWIZZLE.search(text)
    parts = []
    for name in ("Shape", "Stride"):
        start = text.find(f"{name}<")
        end, depth = start + len(name), 0
        while start >= 0 and end < len(text):
            depth += {"<": 1, ">": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        parts.append(_TYPES.sub("(", text[start:end]).replace(">", ")"))
    return (f"{swizzle.group()} o 0 o " if swizzle else "") + ":".join(parts)


class _Parser:
    """A recursive-descent reader of one printed layout."""

    def __init__(self, text: str):
        self.text, self.index = text, len(text) - len(text.lstrip())

    def error(
        self, message: str, fix: str | None = "write a layout as Sw<3,4,3> o 0 o (8,64):(64,1)"
    ) -> UnreadableError:
        return UnreadableError(message, text=self.text, offset=self.index, form=FORM, fix=fix)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.index)
        if found:
            self.index = found.end()
        return found

    def layout(self) -> CuteLayout:
        swizzle, offset, bits = (0, 4, 3), 0, None
        if found := self.take(_SWIZZLE):
            swizzle = (int(found[1]), int(found[2]), int(found[3]))
            if pointer := self.take(_POINTER):
                bits = int(pointer[1])
            if not self.take(_COMPOSE):
                self.spaces()
                raise self.error("expected ' o ' and a layout after the swizzle")
            if pointer := self.take(_POINTER):
                bits = int(pointer[1])
            elif found := self.take(_OFFSET):
                offset = int(found[1])
            if (bits is not None or found is not None) and not self.take(_COMPOSE) and self.text[self.index - 1] != " ":
                raise self.error("expected ' o ' and a layout after the offset")
        shape = self.nested(0)
        self.expect(":")
        stride_at = self.index
        stride = self.nested(0)
        if self.text[self.index :].strip():
            raise self.error("did not expect more after the strides")
        modes = (
            tuple(zip(shape, stride, strict=False)) if isinstance(shape, tuple) and isinstance(stride, tuple) else ()
        )
        if not modes and isinstance(shape, int) and isinstance(stride, int):
            modes = ((shape, stride),)
        if not modes or (isinstance(shape, tuple) and isinstance(stride, tuple) and len(shape) != len(stride)):
            self.index = stride_at
            raise self.error("the strides do not have the shape's structure", "give one stride for each extent")
        flat = tuple(tuple(self.flatten(extents, strides, stride_at)) for extents, strides in modes)
        if sum(map(len, flat)) > _MOST_MODES:
            raise self.error(f"more than {_MOST_MODES} modes")
        return CuteLayout(swizzle, offset, bits, flat)

    def flatten(self, shape: Nested, stride: Nested, at: int) -> list[tuple[int, int]]:
        if isinstance(shape, int) and isinstance(stride, int):
            return [(shape, stride)]
        if not isinstance(shape, tuple) or not isinstance(stride, tuple) or len(shape) != len(stride):
            self.index = at
            raise self.error("the strides do not have the shape's structure", "give one stride for each extent")
        return [pair for parts in zip(shape, stride, strict=True) for pair in self.flatten(*parts, at)]

    def nested(self, depth: int) -> Nested:
        self.spaces()
        if depth > _DEEPEST:
            raise self.error("nested too deeply for a layout")
        if self.text[self.index : self.index + 1] == "(":
            self.index += 1
            items = [self.nested(depth + 1)]
            self.spaces()
            while self.text[self.index : self.index + 1] == ",":
                self.index += 1
                items.append(self.nested(depth + 1))
                self.spaces()
            self.expect(")")
            return tuple(items) if depth or len(items) > 1 else items[0]
        if found := self.take(_INTEGER):
            if self.text[self.index : self.index + 1] == "@":
                raise self.error("a stride of basis elements (1@0) gives coordinates and no addresses")
            if len(found[1]) > _MOST_DIGITS:
                self.index = found.start()
                raise self.error(f"an integer of {len(found[1])} digits", f"use at most {_MOST_DIGITS}")
            return int(found[1])
        raise self.error("expected an integer or an opening bracket")

    def spaces(self) -> None:
        while self.text[self.index : self.index + 1].isspace():
            self.index += 1

    def expect(self, mark: str) -> None:
        self.spaces()
        if self.text[self.index : self.index + 1] != mark:
            raise self.error(f"expected {mark!r}")
        self.index += 1
