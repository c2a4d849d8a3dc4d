"""Integers and arrays out of C++ tokens: literals, arithmetic, sizeof, casts, and names that were set above.

    64 * sizeof(__half)    kCols / 2    (cuuint64_t)1 << 32    static_cast<int>(n) + 1

>>> from tmalab.inputs.cpp_declared import declarations
>>> from tmalab.inputs.cpp_tokens import tokenize
>>> names = Names(declarations(tokenize("int n = 4; using T = float;")), "")
>>> names.integer(tokenize("(uint64_t)n * sizeof(T) + (1 << 4)"))
32

Nothing is evaluated by Python's `eval`: what is not in this grammar is an UnreadableError at its place.
"""

from __future__ import annotations

from tmalab.inputs.cpp_declared import Declaration
from tmalab.inputs.cpp_tokens import Token, closing, split_at_commas
from tmalab.inputs.position import UnreadableError

FORM = "cpp"
_MOST_BITS = 256
_DEEPEST = 40
_LONGEST = 4096  # tokens of an expression, its macros put in
_PRECEDENCE = {"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "//": 6, "%": 6}
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
QUALIFIERS = {"const", "volatile", "void", "struct", "enum", "class", "constexpr", "auto"}


def is_type(token: Token) -> bool:
    """Whether a name can only be a type's, as far as its spelling tells."""
    last = token.text.rsplit("::", 1)[-1]
    return token.kind == "name" and (
        last in SIZEOF or last in QUALIFIERS or last.endswith("_t") or last.startswith("CUtensorMap")
    )


class Names:
    """What the names above a call mean; `text` is the whole text, for the place in an error."""

    def __init__(self, declared: dict[str, Declaration], text: str):
        self.declared, self.text = declared, text
        self.deep = 0
        self.known: dict[tuple[Token, ...], int] = {}

    def error(self, message: str, tokens: list[Token], fix: str | None = None) -> UnreadableError:
        """An error at the first of `tokens`."""
        offset = tokens[0].offset if tokens else 0
        return UnreadableError(message, text=self.text, offset=offset, form=FORM, fix=fix)

    def lookup(self, token: Token) -> Declaration | None:
        """What the name was set to; a qualified name is also looked up by its last parts."""
        declared, name = None, token.text
        while declared is None and name:
            declared, name = self.declared.get(name), name.partition("::")[2]
        if declared is not None and declared.parameter is not None:
            raise self.error(
                f"{token.text[:40]} is a parameter here, and only the caller knows its value", [declared.parameter],
                f"set it in the function, as in {declared.parameter.text[:40]} = 128;, or paste the values as JSON",
            )  # fmt: skip
        if declared is not None and declared.changed is not None:
            raise self.error(
                f"{token.text[:40]} is changed here, and only running the code tells its value", [declared.changed],
                "write its last value where it is declared",
            )  # fmt: skip
        return declared

    def _expanded(self, tokens: list[Token]) -> list[Token]:
        """`tokens` with each macro's text in its place, as the preprocessor puts it: no brackets come with it."""
        for _ in range(_DEEPEST):
            parts = [self._macro(token) or [token] for token in tokens]
            if all(len(part) == 1 and part[0] is token for part, token in zip(parts, tokens, strict=True)):
                return tokens
            tokens = [token for part in parts for token in part]
            if len(tokens) > _LONGEST:
                break
        raise self.error("a macro that does not end", tokens)

    def _macro(self, token: Token) -> list[Token] | None:
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
        if mark.text in ("/", "//", "%"):
            if right == 0:
                raise self.error("division by zero", [mark])
            if mark.text == "//":
                return left // right
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
                return self._unary(tokens, end + 1)  # a cast changes no value that fits
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
        begin = index
        while [token.text for token in tokens[index + 1 : index + 2]] in (["."], ["->"]) and index + 2 < len(tokens):
            index += 2  # driver.cuuint64_t(128)
        token = tokens[index]
        after = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if index > begin and after != "(":  # params.K is no K that stands above
            token = token._replace(text=f"{tokens[index - 2].text}.{token.text}", offset=tokens[begin].offset)
        if token.text == "sizeof" and after == "(":
            end = closing(tokens, index + 1)
            return self._sizeof(tokens[index + 2 : end], token), end + 1
        if after == "<" and token.text in CASTS:
            end = next((i for i in range(index, len(tokens)) if tokens[i].text == ">"), len(tokens))
            if end + 1 < len(tokens) and tokens[end + 1].text == "(":
                close = closing(tokens, end + 1)
                return self.integer(tokens[end + 2 : close]), close + 1
        if after in ("(", "{"):
            close = closing(tokens, index + 1)
            inside = split_at_commas(tokens[index + 2 : close])
            if is_type(token) and len(inside) == 1:
                return self.integer(inside[0]), close + 1
            last = token.text.rsplit("::", 1)[-1]
            if last in ("min", "max") and len(inside) == 2:
                return (min if last == "min" else max)(self.integer(inside[0]), self.integer(inside[1])), close + 1
            if last in ("ceil_div", "cdiv", "div_up", "ceildiv") and len(inside) == 2:
                return -(-self.integer(inside[0]) // (self.integer(inside[1]) or 1)), close + 1
            raise self.error(f"{token.text[:40]} is called here, and only its code knows the value", [token])
        declared = self.lookup(token)
        if declared is not None and after == "[":
            close = closing(tokens, index + 1)
            at = self.integer(tokens[index + 2 : close])
            entries = split_at_commas(declared.value[1:-1])
            if 0 <= at < len(entries) and not declared.entries:
                return self.integer(entries[at]), close + 1
        if declared is None or not declared.value:
            fix = f"put its value above the call, as constexpr int {token.text[:40]} = 128;"
            raise self.error(f"the value of {token.text[:40]} is not known", [token], fix)
        return self.integer(declared.value), index + 1

    def _sizeof(self, tokens: list[Token], at: Token) -> int:
        names = [token for token in tokens if token.kind == "name" and token.text not in QUALIFIERS]
        if any(token.text == "*" for token in tokens):
            return 8
        asked = last = names[-1].text.rsplit("::", 1)[-1] if names else ""
        if last == "int" and len(names) > 1 and names[-2].text in ("long", "short"):
            last = names[-2].text
        for _ in range(_DEEPEST):
            if last in SIZEOF:
                return SIZEOF[last]
            declared = self.declared.get(last)  # using T = __half;
            if declared is None or not declared.value:
                break
            last = declared.value[-1].text.rsplit("::", 1)[-1]
        raise self.error(f"the size of {asked[:40] or 'this'} is not known", [at], "write it as a number")
