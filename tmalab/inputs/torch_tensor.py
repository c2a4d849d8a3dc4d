"""The element type and the shape of a torch tensor that a text makes: what a descriptor takes from its tensor.

    torch.empty((M, K), dtype=torch.float16, device="cuda")    torch.randn(M, K).half().cuda()    torch.empty_like(a)
    a.to(torch.float8_e4m3fn)        a.shape        a.stride()        a.size(0)

>>> from tmalab.inputs.python_text import Source
>>> source = Source("a = torch.zeros(4096, 512, dtype=torch.bfloat16)\\nmake(a)", re.compile("make"))
>>> tensors, (call, scope) = Tensors(source, "triton"), source.calls[1]
>>> tensors.dtype(call.args[0], scope), [tensors.integer(*one) for one in tensors.strides(call.args[0], scope)]
('bfloat16', [512, 1])
"""

from __future__ import annotations

import ast
import re

from tmalab.inputs.position import UnreadableError
from tmalab.inputs.python_scope import Scope
from tmalab.inputs.python_values import Node, Values, last_name

_MADE = {"empty", "zeros", "ones", "rand", "randn"}
_MADE_WITH_MORE = {"full": 1, "randint": None}  # arguments behind the shape; of randint the shape stands last
_LIKE = {"empty_like", "zeros_like", "ones_like", "rand_like", "randn_like", "full_like", "randint_like"}
_CASTS = {"half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64", "int": "int32",
          "long": "int64", "char": "int8", "short": "int16", "byte": "uint8"}  # fmt: skip
# What a tensor keeps its shape through, and lies dense after where it lay so before.
_KEEP = {"cuda", "contiguous", "clone", "detach", "requires_grad_", "pin_memory", "to", "type", "normal_", "uniform_",
         "fill_", "zero_", "random_", "abs", "mul_", "div_", "add_"} | set(_CASTS)  # fmt: skip
_DTYPE = re.compile(r"(u?int|float|bfloat|complex)\d+\w*|half|float|double|bool")
_DEVICES = re.compile(r"(cuda|cpu|meta)(:\d+)?")


class Tensors(Values):
    """`Values` that also know a tensor's shape, strides and element type."""

    def dtype(self, node: ast.expr, scope: Scope) -> str | None:
        """The element type's name, or None where the text does not say it."""
        try:
            node, scope = self.follow(node, scope)
        except UnreadableError:  # a tensor that comes from elsewhere: its type may be said beside the text
            return None
        if isinstance(node, ast.BinOp):  # a_ptr + start
            return self.dtype(node.left, scope)
        if not isinstance(node, ast.Call):
            return None
        named = next((keyword.value for keyword in node.keywords if keyword.arg == "dtype"), None)
        if named is not None:
            return self._type(named, scope)
        name = last_name(node.func)
        if name in _LIKE and node.args:
            return self.dtype(node.args[0], scope)
        if not isinstance(node.func, ast.Attribute) or name in _MADE or name in _MADE_WITH_MORE:
            return None
        if name in ("to", "type", "view"):
            found = next((found for one in node.args if (found := self._type(one, scope))), None)
            if found is not None:
                return found
        return _CASTS.get(name) or self.dtype(node.func.value, scope)

    def _type(self, node: ast.expr, scope: Scope) -> str | None:
        """The element type that `torch.float16`, a name for it or its text says; None for a device or a shape."""
        try:
            node, scope = self.follow(node, scope)
        except UnreadableError:
            return None
        said = node.value if isinstance(node, ast.Constant) else last_name(node)
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            return self.dtype(node.value, scope)
        if not isinstance(said, str) or _DEVICES.fullmatch(said):
            return None
        said = said[:40].removeprefix("torch.")
        return said if _DTYPE.fullmatch(said) else None

    def shape(self, node: ast.expr, scope: Scope) -> list[Node]:
        """The extents of the tensor that `node` is. Raises UnreadableError where the text does not tell them."""
        made, scope = self.follow(node, scope)
        name = last_name(made.func) if isinstance(made, ast.Call) else ""
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
            if name in _MADE or name in _MADE_WITH_MORE:
                return self._made_shape(made, scope, name)
            if name in _LIKE and made.args:
                return self.shape(made.args[0], scope)
            if name in ("view", "reshape") and made.args and self._type(made.args[0], scope) is None:
                return self._written(made, made.args, scope)
            if name in _KEEP:
                return self.shape(made.func.value, scope)
        fix = "make it in the text, as a = torch.empty((4096, 512), dtype=torch.float16), or give shape and strides"
        raise self.error("the text does not tell this tensor's shape", node, fix)

    def _made_shape(self, made: ast.Call, scope: Scope, name: str) -> list[Node]:
        size = next((keyword.value for keyword in made.keywords if keyword.arg == "size"), None)
        if size is not None:
            return self.entries(size, scope)
        if name == "randint":
            return self.entries(made.args[-1], scope) if made.args else []
        more = _MADE_WITH_MORE.get(name)
        return self._written(made, made.args if more is None else made.args[:-more], scope)

    def _written(self, made: ast.Call, given: list[ast.expr], scope: Scope) -> list[Node]:
        """A shape given as one list, or as its extents one by one."""
        listed = self.arguments(given, scope)
        if len(listed) == 1:
            only, inside = self.follow(*listed[0])
            if not isinstance(only, (ast.Constant, ast.BinOp)) or isinstance(getattr(only, "value", None), str):
                listed = self.entries(only, inside)
        if not listed:
            raise self.error("a tensor without a shape", made)
        if any(isinstance(one, ast.UnaryOp) for one, _ in listed):
            raise self.error("an extent of -1 that only running the code tells", made, "write the extent")
        return listed

    def strides(self, node: ast.expr, scope: Scope) -> list[Node]:
        """The strides in elements, of dense rows: no call that is known here leaves others."""
        sizes = [self.integer(*one) for one in self.shape(node, scope)]
        made: list[Node] = []
        step = 1
        for size in reversed(sizes):
            made.append((ast.copy_location(ast.Constant(step), node), scope))
            step *= max(size, 1)
        return made[::-1]

    def method(self, node: ast.Call, scope: Scope) -> int:
        """`a.size(0)`, `a.stride(0)`, `a.numel()`."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("size", "stride") and len(node.args) == 1:
            of = self.shape if node.func.attr == "size" else self.strides
            listed, index = of(node.func.value, scope), self.integer(node.args[0], scope)
            if not -len(listed) <= index < len(listed):
                raise self.error(f"dimension {index} of {len(listed)}", node)
            return self.integer(*listed[index])
        return super().method(node, scope)

    def listed(self, node: ast.expr, scope: Scope) -> list[Node]:
        """`a.shape`, `a.size()`, `a.stride()`."""
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            return self.shape(node.value, scope)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            if node.func.attr == "size":
                return self.shape(node.func.value, scope)
            if node.func.attr == "stride":
                return self.strides(node.func.value, scope)
        return super().listed(node, scope)
