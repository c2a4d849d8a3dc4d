"""What the names of a Python text are set to, scope by scope, and where functions are called.

    M = 4096                       top       M ──▶ 4096
    def launch(a, BM=128):         launch    a ──▶ what the call gives      BM ──▶ 128, or what the call gives
        BM += 1                              BM ──▶ only running the code tells

A name that is set more than once keeps all of its settings: which one holds at a call is not guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

_PASSED_OVER = (ast.Name, ast.Constant, ast.expr_context, ast.operator)
# Methods that change the list that they are called of.
_CHANGING = {"append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Setting(NamedTuple):
    """One place where a name is set. `value` is None where only running the code tells it; it is read in `scope`.

    `function` is the function's name where this is a parameter, and `position` its place among them, from 0.
    """

    offset: int
    value: ast.expr | None
    scope: Scope
    function: str | None = None
    position: int = 0


class Scope:
    """A function's names, a class's or the text's own."""

    def __init__(self, parent: Scope | None, *, of_class: bool = False):
        self.parent, self.of_class = parent, of_class
        self.names: dict[str, list[Setting]] = {}

    def lookup(self, name: str) -> tuple[list[Setting], Scope] | None:
        """The settings of `name` as this scope sees it, and the scope that has them; a class's are its own alone."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or not scope.of_class):
                return scope.names[name], scope
            scope = scope.parent
        return None


class Visit:
    """Every node of a tree, once: settings go into scopes, calls into `calls`; `uses` are calls by a function's name.

    A kernel is called as `name[grid](…)`.
    """

    def __init__(self, top: Scope, place: Callable[[ast.AST], int]):
        self.top, self.place = top, place
        self.calls: list[tuple[ast.Call, Scope]] = []
        self.uses: dict[str, list[tuple[ast.Call, Scope]]] = {}

    def all_of(self, tree: ast.AST, *, flat: bool = False) -> None:
        """Visit `tree`; where it is `flat`, a function's parameters are set beside all else."""
        pending = [(tree, self.top)]
        while pending:
            node, scope = pending.pop()
            inner = scope
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                name = getattr(node, "name", None)
                if name is not None:
                    self._set(scope, name, node, None)
                if not flat:
                    inner = Scope(scope, of_class=isinstance(node, ast.ClassDef))
                if isinstance(node, _FUNCTIONS):
                    self._parameters(node, inner, scope)
            elif isinstance(node, ast.Call):
                self._call(node, scope)
            else:
                self._statement(node, scope)
            children = [(child, inner) for child in ast.iter_child_nodes(node) if not isinstance(child, _PASSED_OVER)]
            pending += children[::-1]  # the first comes next: settings stand in the order of the text

    def _call(self, node: ast.Call, scope: Scope) -> None:
        self.calls.append((node, scope))
        called = node.func.value if isinstance(node.func, ast.Subscript) else node.func
        if isinstance(called, ast.Name):
            self.uses.setdefault(called.id, []).append((node, scope))
        elif isinstance(called, ast.Attribute) and called.attr in _CHANGING and isinstance(called.value, ast.Name):
            self._change(scope, called.value)

    def _statement(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._target(scope, target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            if node.value is not None:
                self._target(scope, node.target, node.value)
        elif isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension)):
            self._target(scope, node.target, None)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._target(scope, node.optional_vars, None)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self._target(scope, target, None)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                self._set(scope, (alias.asname or alias.name).partition(".")[0], node, None)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            for name in node.names:
                self._set(scope, name, node, None)
                self._set(self.top, name, node, None)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name is not None:
            self._set(scope, node.name, node, None)

    def _target(self, scope: Scope, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self._set(scope, target.id, target, value)
        elif isinstance(target, ast.Starred):
            self._target(scope, target.value, None)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):  # box[0] = 8
            self._change(scope, target.value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part, one in zip(target.elts, _unpacked(target, value), strict=True):
                self._target(scope, part, one)

    def _change(self, scope: Scope, name: ast.Name) -> None:
        """Set what `name` is, in the scope that has it, to what only running the code tells."""
        found = scope.lookup(name.id)
        self._set(scope if found is None else found[1], name.id, name, None)

    def _set(self, scope: Scope, name: str, node: ast.AST, value: ast.expr | None) -> None:
        scope.names.setdefault(name, []).append(Setting(self.place(node), value, scope))

    def _parameters(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, inner: Scope, outer: Scope
    ) -> None:
        arguments = node.args
        named = [*arguments.posonlyargs, *arguments.args]
        given = [None] * (len(named) - len(arguments.defaults)) + list(arguments.defaults) + list(arguments.kw_defaults)
        for index, (argument, default) in enumerate(zip([*named, *arguments.kwonlyargs], given, strict=True)):
            found = Setting(self.place(argument), default, outer, getattr(node, "name", "lambda"), index)
            inner.names.setdefault(argument.arg, []).append(found)
        for rest in (arguments.vararg, arguments.kwarg):
            if rest is not None:
                self._set(inner, rest.arg, rest, None)


def _unpacked(target: ast.Tuple | ast.List, value: ast.expr | None) -> Iterator[ast.expr | None]:
    """What each part of `M, K = …` is set to: an entry of what is written there, or entry 0, 1, … of a value."""
    known = value is not None and not any(isinstance(part, ast.Starred) for part in target.elts)
    if known and isinstance(value, (ast.Tuple, ast.List)):
        known = len(value.elts) == len(target.elts) and not any(isinstance(one, ast.Starred) for one in value.elts)
        yield from value.elts if known else [None] * len(target.elts)
        return
    for index in range(len(target.elts)):
        yield ast.copy_location(_entry(value, index), value) if known and value is not None else None


def _entry(value: ast.expr, index: int) -> ast.Subscript:
    """`value[index]`, at the place of `value`."""
    return ast.Subscript(value, ast.copy_location(ast.Constant(index), value), ast.Load())
