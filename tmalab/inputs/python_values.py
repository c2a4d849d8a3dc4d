"""Integers and lists out of Python's tree: literals, arithmetic, and names that are set once. Nothing is run.

    K * 2      (1,) * len(dims)      triton.cdiv(M, 128)      tl.constexpr(64)      shape[::-1]

>>> from tmalab.inputs.python_text import Source
>>> source = Source("K = 1 << 9\\ncall([K // 2, 3])", re.compile("call"))
>>> values = Values(source, "triton")
>>> [values.integer(*entry) for entry in values.entries(source.calls[0][0].args[0], source.top)]
[256, 3]

What is not known is an UnreadableError at its place: a name that nothing sets, or that two lines set, is not guessed.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

from tmalab.inputs.position import UnreadableError, position_of
from tmalab.inputs.python_scope import Scope, Setting
from tmalab.inputs.python_text import Source

_MOST_BITS, _DEEPEST, _MOST_ENTRIES = 256, 60, 1024
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.Pow: operator.pow,
    ast.BitOr: operator.or_, ast.BitAnd: operator.and_, ast.BitXor: operator.xor,
}  # fmt: skip
# Named by their last part: T.int64 is int64.
_WRAPPERS = re.compile(r"u?int(8|16|32|64)?|constexpr")
_FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max}
_CEIL = ("cdiv", "ceildiv", "ceil_div")
Node = tuple[ast.expr, Scope]


def last_name(node: ast.expr) -> str:
    """The last part of `tl.make_tensor_descriptor`, or an empty text where no name is called."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class Values:
    """What the expressions of `source` come to."""

    def __init__(self, source: Source, form: str):
        self.source, self.form = source, form
        self._deep = 0
        self._known: dict[tuple[int, int], tuple[int, Node]] = {}  # with what has that id, so that nothing else gets it

    def error(self, message: str, node: ast.AST, fix: str | None = None) -> UnreadableError:
        """An error at the place of `node`."""
        return self.error_at(message, self.source.place(node), fix)

    def error_at(self, message: str, offset: int, fix: str | None = None) -> UnreadableError:
        """An error at `offset`."""
        return UnreadableError(message, text=self.source.text, offset=offset, form=self.form, fix=fix)

    def follow(self, node: ast.expr, scope: Scope) -> Node:
        """`node`, or what it is set to where it is a name, and the scope in which that is read."""
        for _ in range(_DEEPEST):
            if not isinstance(node, ast.Name):
                return node, scope
            node, scope = self._value(node, scope)
        raise self.error("a name that is set by itself", node)

    def _value(self, node: ast.Name, scope: Scope) -> Node:
        name, found = node.id[:40], scope.lookup(node.id)
        if found is None:
            raise self.error(f"{name} is not set in this text", node, f"put a line above it, as {name} = 4096")
        settings = found[0]
        if len(settings) > 1:
            where = ", ".join(str(position_of(self.source.text, one.offset)) for one in settings[:3])
            raise self.error(
                f"{name} is set more than once ({where}), and only running the code tells its value here", node,
                f"write the number in place of {name}",
            )  # fmt: skip
        setting = self._given(settings[0], node) if settings[0].function is not None else settings[0]
        if setting.value is None:
            message = f"only running the code tells what {name} is"
            raise self.error_at(message, setting.offset, f"write the number in place of {name}")
        return setting.value, setting.scope

    def _given(self, setting: Setting, node: ast.Name) -> Setting:
        """A parameter's value: what the one call of its function gives, or its default."""
        function, name = (setting.function or "")[:40], node.id[:40]
        uses = self.source.uses.get(setting.function or "", [])
        given = [self._argument(call, scope, setting.position, node.id) for call, scope in uses]
        if all(value is None for value in given):
            if setting.value is None:
                raise self.error_at(
                    f"{name} is a parameter of {function}, and the text gives it no value", setting.offset,
                    f"give it a default, as {name} = 128, or put the one call of {function} into the text",
                )  # fmt: skip
            return setting
        if len(given) > 1 or given[0] is None:
            message = f"{name} is a parameter of {function}, which is called more than once"
            raise self.error_at(message, setting.offset, f"write the number in place of {name}")
        return setting._replace(value=given[0][0], scope=given[0][1])

    def _argument(self, call: ast.Call, scope: Scope, index: int, name: str) -> Node | None:
        """What `call` gives for a parameter."""
        for keyword in call.keywords:
            if keyword.arg is None:
                raise self.error("what stands behind ** is known only by running the code", keyword.value)
            if keyword.arg == name:
                return keyword.value, scope
        listed = self.arguments(call.args, scope)
        return listed[index] if index < len(listed) else None

    def integer(self, node: ast.expr, scope: Scope) -> int:
        """The integer that `node` is. Raises UnreadableError at what no literal, name or operator explains."""
        key = (id(node), id(scope))
        if key not in self._known:  # twenty names, each twice the next, are a million sums and twenty values
            with _Deeper(self, node):
                value = self._integer(*self.follow(node, scope))
            if value.bit_length() > _MOST_BITS:
                raise self.error(f"a number of {value.bit_length()} bits", node)
            self._known[key] = value, (node, scope)
        return self._known[key][0]

    def _integer(self, node: ast.expr, scope: Scope) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value = self.integer(node.operand, scope)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp):
            return self._operation(node, scope)
        if isinstance(node, ast.Subscript):
            return self._entry(node, scope)
        if isinstance(node, ast.Call) and not node.keywords:
            return self._call(node, scope)
        raise self.unknown(node)

    def unknown(self, node: ast.expr) -> UnreadableError:
        """The error for what has no value that the text tells."""
        inner = node.value if isinstance(node, ast.Attribute) else None
        what = f"{inner.id}.{last_name(node)}"[:60] if isinstance(inner, ast.Name) else last_name(node)[:60] or "this"
        return self.error(f"only running the code tells what {what} is", node, "write the number that it is")

    def _operation(self, node: ast.BinOp, scope: Scope) -> int:
        left, right = self.integer(node.left, scope), self.integer(node.right, scope)
        if isinstance(node.op, (ast.LShift, ast.RShift, ast.Pow)) and not 0 <= right < _MOST_BITS:
            raise self.error(f"{right} is no shift or power of an integer here", node.right)
        if isinstance(node.op, (ast.FloorDiv, ast.Mod, ast.Div)) and right == 0:
            raise self.error("division by zero", node.right)
        if isinstance(node.op, ast.Div) or type(node.op) not in _OPERATORS:
            raise self.error("an operator that makes no integer of integers", node, "divide with //")
        return _OPERATORS[type(node.op)](left, right)

    def _call(self, node: ast.Call, scope: Scope) -> int:
        name, given = last_name(node.func), node.args
        if name == "len" and len(given) == 1:
            return len(self.entries(given[0], scope))
        if _WRAPPERS.fullmatch(name) and len(given) == 1:
            return self.integer(given[0], scope)
        if name in _FUNCTIONS and len(given) > 1:
            return _FUNCTIONS[name](*(self.integer(one, scope) for one in given))
        if name in _CEIL and len(given) == 2:
            if (by := self.integer(given[1], scope)) == 0:
                raise self.error("division by zero", given[1])
            return -(-self.integer(given[0], scope) // by)
        if name == "next_power_of_2" and len(given) == 1:
            return 1 << max(self.integer(given[0], scope) - 1, 0).bit_length()
        return self.method(node, scope)

    def method(self, node: ast.Call, scope: Scope) -> int:
        """The integer that a call of something else gives: none that is known here."""
        raise self.unknown(node)

    def _entry(self, node: ast.Subscript, scope: Scope) -> int:
        listed, index = self.entries(node.value, scope), self.integer(node.slice, scope)
        if not -len(listed) <= index < len(listed):
            raise self.error(f"entry {index} of a list of {len(listed)}", node)
        return self.integer(*listed[index])

    def entries(self, node: ast.expr, scope: Scope) -> list[Node]:
        """The entries of a list or tuple, each with its scope."""
        with _Deeper(self, node):
            listed = self._entries(*self.follow(node, scope))
        if len(listed) > _MOST_ENTRIES:
            raise self.error(f"a list of {len(listed)} entries", node, "a tensor map has at most 5 dimensions")
        return listed

    def _entries(self, node: ast.expr, scope: Scope) -> list[Node]:
        if isinstance(node, (ast.Tuple, ast.List)):
            return self.arguments(node.elts, scope)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.entries(node.left, scope) + self.entries(node.right, scope)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            turned = isinstance(self.follow(node.right, scope)[0], (ast.Tuple, ast.List))
            listed, times = (node.right, node.left) if turned else (node.left, node.right)
            return self.entries(listed, scope) * min(max(self.integer(times, scope), 0), _MOST_ENTRIES)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            part = node.slice
            ends = [None if end is None else self.integer(end, scope) for end in (part.lower, part.upper, part.step)]
            if ends[2] == 0:
                raise self.error("a step of zero", node)
            return self.entries(node.value, scope)[slice(*ends)]
        if isinstance(node, ast.Call) and len(node.args) == 1 and last_name(node.func) in ("list", "tuple", "reversed"):
            listed_once = self.entries(node.args[0], scope)
            return listed_once[::-1] if last_name(node.func) == "reversed" else listed_once
        return self.listed(node, scope)

    def listed(self, node: ast.expr, scope: Scope) -> list[Node]:
        """The entries of anything else: none that are known here."""
        known = isinstance(node, (ast.Constant, ast.UnaryOp))
        message = "expected a list of integers" if known else "only running the code tells what this list is"
        raise self.error(message, node, "write it out, as [4096, 512]")

    def arguments(self, given: list[ast.expr], scope: Scope) -> list[Node]:
        """Arguments or entries as they are listed, those behind a star put in their places."""
        listed: list[Node] = []
        for one in given:
            listed += self.entries(one.value, scope) if isinstance(one, ast.Starred) else [(one, scope)]
        return listed

    def integers(self, node: ast.expr, scope: Scope) -> list[int]:
        """The integers of a list."""
        return [self.integer(*entry) for entry in self.entries(node, scope)]


class _Deeper:
    """One level deeper in an expression; too many are an error, and names that are set by each other have no end."""

    def __init__(self, values: Values, node: ast.expr):
        self.values, self.node = values, node

    def __enter__(self) -> None:
        if self.values._deep >= _DEEPEST:
            raise self.values.error("an expression nested too deeply, or a name set by itself", self.node)
        self.values._deep += 1

    def __exit__(self, *_: object) -> None:
        self.values._deep -= 1
