"""The entries of an array argument: a name declared above, an initializer on the spot, either with `+ 1` behind it.

    dims    &dims[1]    strides + 1    strides.data() + 1    (cuuint64_t[]){128, 16}    std::array<int, 2>{64, 8}

>>> from tmalab.inputs.cpp_source import Source
>>> source = Source("cuuint64_t strides[3] = {2, 256}; strides + 1")
>>> names = Values(source)
>>> [names.integer(entry) for entry in entries(names, source.tokens[-3:])]
[256, 0]
"""

from __future__ import annotations

from tmalab.inputs.cpp_names import Declaration
from tmalab.inputs.cpp_tokens import Token, closing, split_at_commas
from tmalab.inputs.cpp_values import CASTS, Values, path_of

_MOST_ENTRIES = 1024
_WHOLE = {"data", "begin", "cbegin"}  # methods that give the array itself
NULL_POINTERS = (["nullptr"], ["NULL"], ["None"], ["0"])
_ZERO = [Token("number", "0", 0)]


def entries(names: Values, tokens: list[Token]) -> list[list[Token]]:
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


def _entries(names: Values, tokens: list[Token]) -> list[list[Token]]:
    if not tokens:
        raise names.error("expected an array", tokens)
    if [token.text for token in tokens] in NULL_POINTERS:
        return []
    if any(token.text == "?" for token in tokens):
        raise names.error("only running the code tells which of these it is", tokens, "write the one that it is")
    first = tokens[0]
    if first.text in ("&", "*") or (first.text == "(" and closing(tokens, 0) == len(tokens) - 1):
        inner = tokens[1:] if first.text in ("&", "*") else tokens[1:-1]
        return _from(names, inner, addressed=first.text == "&")
    if first.text == "(" and tokens[closing(tokens, 0) + 1 :][:1] != [] and tokens[closing(tokens, 0) + 1].text != "{":
        return entries(names, tokens[closing(tokens, 0) + 1 :])  # (const cuuint64_t*)dims
    brace = next((index for index, token in enumerate(tokens) if token.text == "{"), None)
    if brace is not None and _is_a_type(tokens[:brace]):  # an initializer, whatever type stands before it
        end = closing(tokens, brace)
        return split_at_commas(_unwrapped(tokens[brace + 1 : end]))[_behind(names, tokens, end + 1) :]
    if first.text == "[":
        raise names.error("expected an array", tokens)
    if first.text in CASTS:  # static_cast<const cuuint64_t*>(dims)
        start = next((index for index, token in enumerate(tokens) if token.text == "("), len(tokens))
        end = closing(tokens, start)
        return entries(names, tokens[start + 1 : end])[_behind(names, tokens, end + 1) :]
    return _from(names, tokens, addressed=False)


def _is_a_type(tokens: list[Token]) -> bool:
    """Whether `tokens` can stand before an initializer's braces: a type, a cast, or nothing; a call cannot."""
    depth = 0
    for token in tokens:
        depth += (token.text in {"(", "["}) - (token.text in {")", "]"})
        if token.kind not in {"name", "number"} and token.text not in set("<>,()[]*&"):
            return False
    return depth == 0 and not any(token.text == "(" for token in tokens[1:])


def _unwrapped(inside: list[Token]) -> list[Token]:
    """What stands in an initializer; std::array<int, 2>{{64, 8}} has its array's braces within its own."""
    whole = inside and inside[0].text == "{" and closing(inside, 0) == len(inside) - 1
    return inside[1:-1] if whole else inside


def _from(names: Values, tokens: list[Token], *, addressed: bool) -> list[list[Token]]:
    """The entries of `name`, `name[k]` after an &, `name.data()`, each with `+ k` behind it."""
    if not tokens or tokens[0].kind == "number":
        raise names.error("expected an array", tokens)
    if tokens[0].kind != "name":
        return entries(names, tokens)
    path, end = path_of(tokens, 0)
    if end < len(tokens) and tokens[end].text == "(" and len(path) > 1:  # dims.data()
        path, end = path[:-1], end - 2
    elif end < len(tokens) and tokens[end].text in {"(", "<"}:
        raise names.error(f"only running the code tells what {path[-1].text[:40]} gives", tokens, "write the list out")
    name = ".".join(token.text for token in path)[:40]
    declared = names.lookup(path[0]) if len(path) == 1 else names.member(path)
    if declared is None:
        fix = f"put its declaration above the call, as cuuint64_t {path[-1].text[:40]}[] = {{128, 16}};"
        raise names.error(f"the array {name} is not declared above", tokens, fix)
    listed = _declared(names, declared, tokens)
    index, skipped = end, 0
    if index < len(tokens) and tokens[index].text == "[" and addressed:
        end = closing(tokens, index)
        skipped, index = names.integer(tokens[index + 1 : end]), end + 1
    while index + 1 < len(tokens) and tokens[index].text in (".", "->"):
        if tokens[index + 1].text not in _WHOLE:
            raise names.error(f"only running the code tells what {tokens[index + 1].text[:40]} gives", tokens)
        index = closing(tokens, index + 2) + 1
    skipped += _behind(names, tokens, index)
    if not 0 <= skipped <= len(listed):
        raise names.error(f"an offset of {skipped} into an array of {len(listed)}", tokens)
    return listed[skipped:]


def _behind(names: Values, tokens: list[Token], index: int) -> int:
    """The k of `+ k` from `index` on."""
    rest = tokens[index:]
    while len(rest) >= 4 and rest[0].text == "." and rest[1].text in _WHOLE:
        rest = rest[4:]
    if not rest:
        return 0
    if rest[0].text != "+":
        raise names.error(f"did not expect {rest[0].text[:40]!r} behind an array", rest)
    return names.integer(rest[1:])


def _declared(names: Values, declared: Declaration, tokens: list[Token]) -> list[list[Token]]:
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
