"""Integers and arrays out of C++ tokens: literals, arithmetic, sizeof, casts, and names that were set above.

    64 * sizeof(__half)    kCols / 2    (cuuint64_t)1 << 32    static_cast<int>(n) + 1

>>> source = Source("int n = 4; using T = float; (uint64_t)n * sizeof(T) + (1 << 4)")
>>> Values(source).integer(source.tokens[10:])
32

Nothing is evaluated by Python's `eval`: what is not in this grammar is an UnreadableError at its place.
"""

from __future__ import annotations

from tmalab.inputs.cpp_members import Members
from tmalab.inputs.cpp_names import FORM, Declaration, Names
from tmalab.inputs.cpp_source import Source
from tmalab.inputs.cpp_tokens import Token, closing, split_at_commas

__all__ = ["CASTS", "FORM", "Declaration", "Values", "path_of"]

_MOST_BITS = 256
_DEEPEST = 40
_LONGEST = 4096  # tokens of an expression, its macros put in
_PRECEDENCE = {"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
CASTS = {"static_cast", "reinterpret_cast", "const_cast", "bit_cast", "std::bit_cast"}
# Named by their last part: cutlass::half_t is half_t.
SIZEOF = {
    "char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "byte": 1, "float_e4m3_t": 1, "float_e5m2_t": 1,
    "__nv_fp8_e4m3": 1, "__nv_fp8_e5m2": 1, "short": 2, "int16_t": 2, "uint16_t": 2, "__half": 2, "half": 2,
    "half_t": 2, "__nv_bfloat16": 2, "nv_bfloat16": 2, "bfloat16_t": 2, "bf16": 2, "fp16": 2, "__half2": 4, "half2": 4,
    "nv_bfloat162": 4, "__nv_bfloat162": 4, "int": 4, "unsigned": 4, "signed": 4, "int32_t": 4, "uint32_t": 4,
    "cuuint32_t": 4, "uint": 4, "float": 4, "tfloat32_t": 4, "long": 8, "int64_t": 8, "uint64_t": 8, "cuuint64_t": 8,
    "size_t": 8, "double": 8, "float2": 8, "uint2": 8, "int2": 8, "float4": 16, "uint4": 16, "int4": 16,
}  # fmt: skip
_FLOATING = {
    "float", "double", "half", "__half", "half_t", "__nv_bfloat16", "nv_bfloat16", "bfloat16_t", "bf16", "fp16",
    "tfloat32_t",
}  # fmt: skip
_QUALIFIERS = {"const", "volatile", "void", "struct", "enum", "class", "constexpr", "auto"}


def is_type(token: Token) -> bool:
    """Whether a name can only be a type's, as far as its spelling tells."""
    last = token.text.rsplit("::", 1)[-1]
    return token.kind == "name" and (
        last in SIZEOF or last in _QUALIFIERS or last.endswith("_t") or last.startswith("CUtensorMap")
    )


class Values(Members):
    """`Names` and their members, which also know what expressions of them come to."""

    def __init__(self, source: Source, frames: dict[int, int] | None = None, known: Names | None = None):
        super().__init__(source, frames, known)
        self.deep = 0
        self.known: dict[tuple[Token, ...], int] = {}

    def _expanded(self, tokens: list[Token]) -> list[Token]:
        """`tokens` with each macro's text in its place, as the preprocessor puts it: no brackets come with it."""
        for _ in range(_DEEPEST):
            parts = [self._replaced(token) or [token] for token in tokens]
            if all(len(part) == 1 and part[0] is token for part, token in zip(parts, tokens, strict=True)):
                return tokens
            tokens = [token for part in parts for token in part]
            if len(tokens) > _LONGEST:
                break
        raise self.error("a macro that does not end", tokens)

    def _replaced(self, token: Token) -> list[Token] | None:
        declared = self.lookup(token) if token.kind == "name" else None
        return declared.value if declared is not None and declared.macro else None

    def integer(self, tokens: list[Token]) -> int:
        """The integer that `tokens` write. Raises UnreadableError at what no literal, name or operator explains."""
        if not tokens:
            raise self.error("expected a number", tokens)
        key = tuple(tokens)
        if key in self.known:  # twenty names, each twice the next, are a million sums and twenty values
            return self.known[key]
        self.deep += 1
        if self.deep > _DEEPEST:
            raise self.error("an expression nested too deeply, or a name set by itself", tokens)
        try:
            tokens = self._expanded(tokens)
            value, end = self._binary(tokens, 0, 1)
            if end < len(tokens):
                raise self.error(f"did not expect {tokens[end].text[:40]!r} here", tokens[end:])
            self.known[key] = value
            return value
        finally:
            self.deep -= 1

    def _binary(self, tokens: list[Token], index: int, lowest: int) -> tuple[int, int]:
        """Precedence climbing, as in C++: `*` before `+` before `<<` before `&`, each from the left."""
        left, index = self._unary(tokens, index)
        while index < len(tokens) and _PRECEDENCE.get(tokens[index].text, 0) >= lowest:
            mark = tokens[index]
            right, after = self._binary(tokens, index + 1, _PRECEDENCE[mark.text] + 1)
            left, index = self._apply(mark, left, right), after
        return left, index

    def _apply(self, mark: Token, left: int, right: int) -> int:
        if mark.text in ("/", "%"):
            if right == 0:
                raise self.error("division by zero", [mark])
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)  # towards zero, as in C++
            return quotient if mark.text == "/" else left - quotient * right
        if mark.text in ("<<", ">>"):
            if not 0 <= right < _MOST_BITS:
                raise self.error(f"a shift by {right}", [mark])
            value = left << right if mark.text == "<<" else left >> right
        else:
            value = {
                "+": left + right, "-": left - right, "*": left * right, "&": left & right, "|": left | right,
                "^": left ^ right,
            }[mark.text]  # fmt: skip
        if value.bit_length() > _MOST_BITS:
            raise self.error("a number of more than 256 bits", [mark], "the driver's widest field has 64")
        return value

    def _unary(self, tokens: list[Token], index: int) -> tuple[int, int]:
        if index >= len(tokens):
            raise self.error("the expression has no end", tokens[-1:])
        token = tokens[index]
        if token.text in ("-", "+", "~"):
            signs = index
            while index < len(tokens) and tokens[index].text in ("-", "+", "~"):
                index += 1
            value, end = self._unary(tokens, index)
            for sign in reversed(tokens[signs:index]):
                value = -value if sign.text == "-" else ~value if sign.text == "~" else value
            return value, end
        if token.kind == "number":
            return self._literal(token), index + 1
        if token.text in ("(", "{"):  # int n{16};
            end = closing(tokens, index)
            inside = tokens[index + 1 : end]
            if inside and all(is_type(part) or part.text in {"*", "&"} for part in inside) and end + 1 < len(tokens):
                value, after = self._unary(tokens, end + 1)
                return self._cast(inside, value), after
            return self.integer(inside), end + 1
        if token.kind == "name":
            return self._name(tokens, index)
        raise self.error(f"{token.text[:40]!r} is not an integer", [token], "give literals, or the names' values above")

    def _literal(self, token: Token) -> int:
        digits = token.text.replace("'", "").rstrip("uUlLzZ")
        if len(digits) > 80:
            raise self.error(f"an integer of {len(digits)} digits", [token])
        try:
            octal = len(digits) > 1 and digits[0] == "0" and digits.isdecimal()
            return int(digits, 8 if octal else 0)
        except ValueError:
            raise self.error(f"{token.text[:40]!r} is not an integer", [token]) from None

    def _name(self, tokens: list[Token], index: int) -> tuple[int, int]:
        path, end = path_of(tokens, index)
        if len(path) > 1:
            return self._member(path, tokens, end)
        token, index = path[0], end - 1
        after = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if token.text == "sizeof" and after == "(":
            end = closing(tokens, index + 1)
            return self._sizeof(tokens[index + 2 : end], token), end + 1
        if after == "<" and token.text in CASTS:
            end = next((i for i in range(index, len(tokens)) if tokens[i].text == ">"), len(tokens))
            if end + 1 < len(tokens) and tokens[end + 1].text == "(":
                close = closing(tokens, end + 1)
                return self._cast(tokens[index + 2 : end], self.integer(tokens[end + 2 : close])), close + 1
        if after in ("(", "{"):
            close = closing(tokens, index + 1)
            return self._called(token, split_at_commas(tokens[index + 2 : close])), close + 1
        declared = self.lookup(token)
        if declared is not None and after == "[":
            close = closing(tokens, index + 1)
            return self._entry(declared, token, self.integer(tokens[index + 2 : close])), close + 1
        return self._declared(declared, token.text, token), index + 1

    def _called(self, token: Token, inside: list[list[Token]]) -> int:
        """The value of a cast, or of one of the few functions that everybody means the same by."""
        if is_type(token) and len(inside) == 1:
            return self._cast([token], self.integer(inside[0]))
        last = token.text.rsplit("::", 1)[-1]
        if last in ("min", "max") and len(inside) == 2:
            return (min if last == "min" else max)(self.integer(inside[0]), self.integer(inside[1]))
        if last in ("ceil_div", "cdiv", "div_up", "ceildiv") and len(inside) == 2:
            if (divisor := self.integer(inside[1])) == 0:
                raise self.error("division by zero", inside[1])
            return -(-self.integer(inside[0]) // divisor)
        raise self.error(f"{token.text[:40]} is called here, and only its code knows the value", [token])

    def _declared(self, declared: Declaration | None, name: str, at: Token) -> int:
        if declared is None or not declared.value or declared.type or declared.entries:
            fix = f"put its value above the call, as constexpr int {name[:40]} = 128;"
            raise self.error(f"the value of {name[:40]} is not known", [at], fix)
        return self.integer(declared.value)

    def _member(self, path: list[Token], tokens: list[Token], end: int) -> tuple[int, int]:
        """The value of `a.b`."""
        name = ".".join(token.text for token in path)
        if end < len(tokens) and tokens[end].text in ("(", "["):
            raise self.error(f"only running the code tells what {name[:40]} gives", path, "write the number that it is")
        declared = self.member(path)
        if declared is None:
            message = f"the value of {name[:40]} is not known"
            raise self.error(message, path, f"write it in place of {name[:40]}")
        return self._declared(declared, name, path[0]), end

    def _entry(self, declared: Declaration, token: Token, index: int) -> int:
        """Entry `index` of an array that is written out."""
        for _ in range(_DEEPEST):
            one = declared.value[0] if len(declared.value) == 1 else None
            following = self.lookup(one) if one is not None and one.kind == "name" and not declared.entries else None
            if following is None:
                break
            declared = following
        written = declared.value[:1] and declared.value[0].text == "{" and not declared.entries
        entries = split_at_commas(declared.value[1:-1]) if written else []
        if not 0 <= index < len(entries):
            message = f"the value of {token.text[:40]}[{index}] is not known"
            raise self.error(message, [token], "write the number that it is")
        return self.integer(entries[index])

    def _cast(self, types: list[Token], value: int) -> int:
        """`value` as that type holds it. Raises UnreadableError where it does not, or is no integer there."""
        last = next((token.text.rsplit("::", 1)[-1] for token in reversed(types) if token.kind == "name"), "")
        if last in _FLOATING:
            raise self.error("a number that is not an integer", types, "write the integer that it comes to")
        if last in SIZEOF and not any(token.text == "*" for token in types):
            words = {token.text for token in types}
            bits = 8 * self._type_size(types)
            unsigned = "unsigned" in words or last.startswith(("uint", "cuuint", "size_t"))
            low, high = (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)
            if last not in {"bool", "byte"} and not low <= value <= high:
                raise self.error(f"{value} does not fit into {last}", types, "write the value that is meant")
        return value

    def _type_size(self, tokens: list[Token]) -> int:
        names = [token.text.rsplit("::", 1)[-1] for token in tokens if token.text not in _QUALIFIERS]
        last = names[-1] if names else ""
        if last == "int" and len(names) > 1 and names[-2] in ("long", "short"):
            last = names[-2]
        return SIZEOF.get(last, 0)

    def _sizeof(self, tokens: list[Token], at: Token) -> int:
        asked = next((token.text for token in reversed(tokens) if token.kind == "name"), "this")
        for _ in range(_DEEPEST):
            if tokens and tokens[-1].text == "*" and all(is_type(token) or token.text == "*" for token in tokens):
                return 8
            names = [token for token in tokens if token.text not in _QUALIFIERS and token.text != "typename"]
            if not names or any(token.kind != "name" for token in names):
                break
            declared = self.lookup(names[-1]) if len(names) == 1 else None
            if declared is None:
                if size := self._type_size(names):
                    return size
                break
            if not (declared.type or declared.macro or self._is_type_parameter(names[-1])):
                break
            tokens = declared.value  # using T = __half;
        raise self.error(f"the size of {asked[:40]} is not known", [at], "write it as a number")

    def _is_type_parameter(self, token: Token) -> bool:
        """Whether the name is a template's type, which one call gives."""
        for scope in self.source.inside[self.source.index(token)].chain():
            if (parameter := self.functions.parameter(scope, token.text)) is not None:
                return parameter.is_type
        return False


def path_of(tokens: list[Token], index: int) -> tuple[list[Token], int]:
    """The names of `a.b->c` from `index` on, and where they end; a method is left to what follows."""
    path, end = [tokens[index]], index + 1
    while end + 1 < len(tokens) and tokens[end].text in (".", "->") and tokens[end + 1].kind == "name":
        path.append(tokens[end + 1])
        end += 2
    return path, end
