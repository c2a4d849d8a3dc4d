"""The entries of an array argument: a name declared above, an initializer on the spot, either with `+ 1` behind it.

    dims    &dims[1]    strides + 1    strides.data() + 1    (cuuint64_t[]){128, 16}    std::array<int, 2>{64, 8}

>>> from tmalab.inputs.cpp_declared import declarations
>>> from tmalab.inputs.cpp_tokens import tokenize
>>> names = Names(declarations(tokenize("cuuint64_t strides[3] = {2, 256};")), "")
>>> [names.integer(entry) for entry in entries(names, tokenize("strides + 1"))]
[256, 0]
"""

from __future__ import annotations

from tmalab.inputs.cpp_declared import Declaration
from tmalab.inputs.cpp_tokens import Token, closing, split_at_commas
from tmalab.inputs.cpp_values import Names

_MOST_ENTRIES = 1024
NULL_POINTERS = (["nullptr"], ["NULL"], ["None"], ["0"])
_ZERO = [Token("number", "0", 0)]


def entries(names: Names, tokens: list[Token]) -> list[list[Token]]:
    """The entries as tokens; C++ fills an initializer up to the declared size with zeros, and so does this.

    A null pointer has none.
    """
    names.deep += 1
    try:
        if names.deep > 40:
            raise names.error("an array that is set by itself", tokens)
        return _entries(names, tokens)
    finally:
        names.deep -= 1


def _entries(names: Names, tokens: list[Token]) -> list[list[Token]]:
    if not tokens:
        raise names.error("expected an array", tokens)
    if [token.text for token in tokens] in NULL_POINTERS:
        return []
    first = tokens[0]
    if first.text in ("&", "*") or (first.text == "(" and closing(tokens, 0) == len(tokens) - 1):
        inner = tokens[1:] if first.text in ("&", "*") else tokens[1:-1]
        return _from(names, inner, addressed=first.text == "&")
    for index, token in enumerate(tokens):
        if token.text == "{" or (token.text == "[" and index == 0):  # an initializer, whatever type stands before it
            end = closing(tokens, index)
            listed = split_at_commas(_unwrapped(tokens[index + 1 : end]))
            return listed[_behind(names, tokens, end + 1) :]
        if token.text == "(" and index > 0 and tokens[index - 1].text == ">":  # static_cast<const cuuint64_t*>(dims)
            end = closing(tokens, index)
            return entries(names, tokens[index + 1 : end])[_behind(names, tokens, end + 1) :]
    if first.text == "(":  # (const cuuint64_t*)dims
        return entries(names, tokens[closing(tokens, 0) + 1 :])
    return _from(names, tokens, addressed=False)


def _unwrapped(inside: list[Token]) -> list[Token]:
    """What stands in an initializer; std::array<int, 2>{{64, 8}} has its array's braces within its own."""
    whole = inside and inside[0].text == "{" and closing(inside, 0) == len(inside) - 1
    return inside[1:-1] if whole else inside


def _from(names: Names, tokens: list[Token], *, addressed: bool) -> list[list[Token]]:
    """The entries of `name`, `name[k]` after an &, `name.data()`, each with `+ k` behind it."""
    if not tokens or tokens[0].kind != "name":
        return entries(names, tokens)
    declared = names.lookup(tokens[0])
    if declared is None:
        fix = f"put its declaration above the call, as cuuint64_t {tokens[0].text[:40]}[] = {{128, 16}};"
        raise names.error(f"the array {tokens[0].text[:40]} is not declared above", tokens, fix)
    listed = _declared(names, declared, tokens)
    index, skipped = 1, 0
    if index < len(tokens) and tokens[index].text == "[" and addressed:
        end = closing(tokens, index)
        skipped, index = names.integer(tokens[index + 1 : end]), end + 1
    while index + 1 < len(tokens) and tokens[index].text in (".", "->"):  # .data(), .begin()
        index = closing(tokens, index + 2) + 1 if tokens[index + 2 : index + 3] else index + 2
    skipped += _behind(names, tokens, index)
    if not 0 <= skipped <= len(listed):
        raise names.error(f"an offset of {skipped} into an array of {len(listed)}", tokens)
    return listed[skipped:]


def _behind(names: Names, tokens: list[Token], index: int) -> int:
    """The k of `+ k` (or of Python's `[k:]`) from `index` on."""
    rest = tokens[index:]
    while len(rest) >= 3 and rest[0].text == "." and rest[1].kind == "name":
        rest = rest[4:] if rest[2].text == "(" else rest[2:]
    if not rest:
        return 0
    if rest[0].text == "[" and len(rest) >= 4 and rest[-2].text == ":":
        return names.integer(rest[1:-2])
    if rest[0].text != "+":
        raise names.error(f"did not expect {rest[0].text[:40]!r} behind an array", rest)
    return names.integer(rest[1:])


def _declared(names: Names, declared: Declaration, tokens: list[Token]) -> list[list[Token]]:
    """The entries of a declared array: its initializer, zeros up to its size, then entries set one by one."""
    value = declared.value
    listed = entries(names, value) if value else []
    if not value and not declared.size:
        raise names.error(f"{tokens[0].text[:40]} has no values", tokens)
    size = names.integer(declared.size) if declared.size else len(listed)
    if size > _MOST_ENTRIES:
        raise names.error(f"an array of {size} entries", tokens, "a tensor map has at most 5 dimensions")
    unset = range(0 if value else size)  # C++ leaves an array without an initializer as it finds the memory
    listed = listed + [_ZERO] * (size - len(listed))
    for at, set_to in declared.entries:
        index = names.integer(at)
        if not 0 <= index < len(listed):
            raise names.error(f"entry {index} of an array of {len(listed)}", at)
        listed[index] = set_to
    set_ones = {names.integer(at) for at, _ in declared.entries}
    if missing := [index for index in unset if index not in set_ones]:
        fix = "give it an initializer, or set each entry above the call"
        raise names.error(f"{tokens[0].text[:40]}[{missing[0]}] has no value", tokens, fix)
    return listed
