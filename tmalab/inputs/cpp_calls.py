"""Where a C++ source calls the driver's encode functions, by their own names or by another that it gives them.

    cuTensorMapEncodeTiled(&m, …)    CHECK(api->cuTensorMapEncodeTiled_(&m, …))    WRAP(cuTensorMapEncodeTiled)(&m, …)
    auto encode = cuTensorMapEncodeTiled;    PFN_cuTensorMapEncodeTiled encode = …;    encode(&m, …)
    #define ENCODE cuTensorMapEncodeTiled    ENCODE(&m, …)
    api->encode(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, …, CU_TENSOR_MAP_INTERLEAVE_NONE, …)    by its arguments alone

>>> source = Source("auto encode = cuTensorMapEncodeTiled; encode(&m, 6, 2, p, d, s, b, e, 0, 0, 0, 0);")
>>> [(call.kind, call.name) for call in calls_of(source)]
[('Tiled', 'encode')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tmalab.inputs.cpp_functions import called
from tmalab.inputs.cpp_source import Source
from tmalab.inputs.cpp_tokens import Token, split_at_commas, texts

NAMED = re.compile(r"[cC]uTensorMapEncode(Tiled|Im2col(?:Wide)?)\w{0,40}")
# An argument list of the functions has 12, 15 or, in another version, a few more entries; less is no call of theirs.
_FEWEST, _MOST = 10, 18
_LONGEST_STATEMENT, _ROUNDS = 80, 4
TYPE = "CU_TENSOR_MAP_DATA_TYPE_"
# How many arguments each function takes; and of a call that only these tell, which is the interleave, from the last.
_ARGUMENTS, _INTERLEAVE = {12: "Tiled", 15: "Im2col"}, 4
_IN_MACRO = re.compile(r"\#\s*define\s+([A-Za-z_]\w*)(\([^)]*\))?")


class Call(NamedTuple):
    """A call: the function's kind, the index of its name, its arguments, or what is wrong with it.

    `name` is the name that it is called by where that is not the driver's own.
    """

    kind: str
    at: int
    arguments: list[list[Token]]
    wrong: str = ""
    fix: str = ""
    name: str = ""


def calls_of(source: Source) -> Iterator[Call]:
    """The calls, in the text's order."""
    kinds = _aliases(source)
    found: dict[int, Call] = {}
    for index, (token_kind, text, _) in enumerate(source.tokens):
        if token_kind == "directive" and "uTensorMapEncode" in text:
            if (call := _in_macro(index, text)) is not None:
                found[index] = call
        elif token_kind == "name" and "uTensorMapEncode" in text and (named := NAMED.search(text)):
            call = _call(source, index, named[1], text.rsplit("::", 1)[-1])
            if call is not None:
                found[index] = call
    for name, kind in kinds.items():
        for index in source.names.get(name, ()):
            call = _call(source, index, kind, "", name=name)
            if call is not None and not call.wrong:
                found.setdefault(index, call)
    for call in _by_arguments(source):
        found.setdefault(call.at, call)
    for index in sorted(found):
        if not any(arm.never for arm in source.arms(index)):
            yield found[index]


def _call(source: Source, index: int, kind: str, text: str, *, name: str = "") -> Call | None:
    """The call whose name stands at `index`; None where it is a declaration, a type, or only named."""
    is_type = text.startswith("PFN_")
    at = index + 1
    for _ in range(_ROUNDS):
        while source.at(at) in {")", ">", "*"}:  # WRAPPER(cuTensorMapEncodeTiled)(…)
            at += 1
        if source.at(at) != "(":
            if is_type and source.at(at + 1) == ")":  # ((PFN_cuTensorMapEncodeTiled)fn)(…)
                at += 1
                continue
            return None
        end = source.pairs.get(at)
        if end is None:
            return None if is_type or name else Call(
                kind, index, [], "the call has no end", "paste it up to its closing bracket"
            )  # fmt: skip
        arguments = split_at_commas(source.tokens[at + 1 : end])
        if len(arguments) >= _FEWEST or not (source.at(end + 1) in {"(", ")"} and (is_type or name or not arguments)):
            break
        at = end + 1  # get_encode()(…)
    if not arguments or (is_type and len(arguments) < _FEWEST) or _declares(arguments):
        return None
    if name and not _FEWEST <= len(arguments) <= _MOST:
        return None
    if not arguments[-1]:
        arguments.pop()
    return Call(kind, index, arguments, name=name)


def _by_arguments(source: Source) -> Iterator[Call]:
    """The calls of a pointer that another file sets: it takes what the driver's function takes, in the same places."""
    for index, (kind, text, _) in enumerate(source.tokens):
        if kind != "name" or TYPE not in text or (about := source.about[index]) < 1 or source.at(about) != "(":
            continue
        name, arguments = called(source, about), source.arguments(about)
        which = _ARGUMENTS.get(len(arguments))
        if which is None or not name or NAMED.search(name) or about not in source.pairs or name in source.functions:
            continue  # what is laid out otherwise, or made here, is a wrapper with parameters of its own
        types, modes = (texts(arguments[at]) for at in (1, -_INTERLEAVE))
        if len(types) == 1 and TYPE in types[0] and len(modes) == 1 and "CU_TENSOR_MAP_INTERLEAVE_" in modes[0]:
            yield Call(which, about - 1, arguments, name=name)


def _declares(arguments: list[list[Token]]) -> bool:
    """Whether these are parameters: the first is CUtensorMap* and a name, or the type alone."""
    first = [token.text for token in arguments[0]]
    return first[:1] == ["CUtensorMap"] and first[1:2] in (["*"], ["&"])


def _in_macro(index: int, text: str) -> Call | None:
    """What is said of a call in a macro's text: its arguments are put in where nobody here sees it."""
    macro, named = _IN_MACRO.match(text), NAMED.search(text)
    if macro is None or named is None or not re.match(r"\w*\s*\)?\s*\(\s*(?!__VA_ARGS__)\S", text[named.end() :]):
        return None
    if text[max(named.start() - 4, 0) : named.start()] == "PFN_":
        return None
    wrong = f"the call stands in the macro {macro[1][:40]}, and what its text becomes is not known here"
    return Call(named[1], index, [], wrong, "paste the call as it is with the macro's arguments put in")


def _aliases(source: Source) -> dict[str, str]:
    """Other names of the functions, each with the function's kind."""
    kinds: dict[str, str] = {}
    pending: list[tuple[int, str]] = []
    for index in source.directives:
        text = source.at(index)
        macro, named = _IN_MACRO.match(text), NAMED.search(text)
        if macro is not None and named is not None and not NAMED.fullmatch(macro[1]) and _in_macro(index, text) is None:
            kinds[macro[1]] = named[1]
    for name, places in source.names.items():
        if "uTensorMapEncode" in name and (named := NAMED.search(name)):
            pending += [(index, named[1]) for index in places]
    for _ in range(_ROUNDS):
        fresh: dict[str, str] = {}
        for index, kind in pending:
            name = _renamed(source, index)
            if name and name not in kinds and NAMED.search(name) is None:
                fresh[name] = kind
        kinds |= fresh
        pending = [(index, kind) for name, kind in fresh.items() for index in source.names.get(name, ())]
    return kinds


def _renamed(source: Source, index: int) -> str:
    """The name that the statement about the function's name at `index` gives to it, or nothing."""
    if source.at(index + 1) == "(" and len(source.arguments(index + 1)) >= _FEWEST:
        return ""  # what it returns
    at = index - 1
    for _ in range(_LONGEST_STATEMENT):
        text = source.at(at)
        if text in {"", ";", "{", "}"} or source.tokens[at].kind == "directive":
            break
        if text == "=" and source.tokens[at - 1].kind == "name":
            return source.at(at - 1)
        if text == "=" and source.at(at - 1) == ")":  # CUresult (*encode)(…) = cuTensorMapEncodeTiled
            at = source.pairs.get(at - 1, at)
            return source.at(at - 2) if source.at(at - 1) == ")" else ""
        at = (source.pairs.get(at, at) if text in {")", "]"} else at) - 1
    at = index + 1
    while source.at(at) in {
        "*",
        "&",
        ">",
        ")",
    }:  # PFN_cuTensorMapEncodeTiled encode, decltype(&cuTensorMapEncodeTiled) encode
        at += 1
    return source.at(at) if at < len(source.tokens) and source.tokens[at].kind == "name" else ""
