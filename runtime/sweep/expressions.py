# SPDX-License-Identifier: LGPL-2.1-or-later
"""Expressions of a design: constraints between factors, values that follow from others.

They are Python's expressions, but only what the tables below allow: no names but those of factors, no attributes, no
calls but of a few functions of numbers. So nothing that a design says can do anything but compute, and sizes of numbers
are bounded, so that it ends soon."""
from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import nearest

LONGEST = 1000  # characters
LARGEST = 10**300  # of whole numbers, whose powers would else take all memory

Value = int | float | str | bool


class ExpressionError(Exception):
    """What is wrong, without the place."""


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 0:
        if abs(base) > 1 and exponent * math.log10(abs(base)) > 300:
            raise ExpressionError("a power that is too large")
    return operator.pow(base, exponent)


_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "round": round,
    "int": int,
    "float": float,
    "log2": math.log2,
    "log": math.log,
    "sqrt": math.sqrt,
    "ceil": math.ceil,
    "floor": math.floor,
}


@dataclass(frozen=True)
class Expression:
    text: str
    tree: ast.expr
    names: frozenset[str]

    def value(self, values: Mapping[str, Value]) -> Any:
        try:
            return _evaluate(self.tree, values)
        except ExpressionError:
            raise
        except (ArithmeticError, TypeError, ValueError) as error:
            raise ExpressionError(f"{error}") from None


def parse(text: str, known: Mapping[str, object] | set[str]) -> Expression:
    if len(text) > LONGEST:
        raise ExpressionError(f"more than {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(getattr(error, "msg", None) or str(error)) from None
    names: set[str] = set()
    _check(tree, set(known), names)
    return Expression(text, tree, frozenset(names))


def _check(node: ast.AST, known: set[str], names: set[str]) -> None:
    """Raises for whatever is not in the tables, before anything is computed."""
    if isinstance(node, ast.Constant):
        if not isinstance(node.value, (int, float, str, bool)):
            raise ExpressionError(f"a constant of type {type(node.value).__name__}")
        children: list[ast.AST] = []
    elif isinstance(node, ast.Name):
        if node.id not in known:
            close = nearest(node.id, known)
            raise ExpressionError(f"the unknown factor '{node.id}'" + (f" (nearest: '{close}')" if close else ""))
        names.add(node.id)
        children = []
    elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        children = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        children = [node.operand]
    elif isinstance(node, ast.BoolOp):
        children = list(node.values)
    elif isinstance(node, ast.Compare) and all(type(op) in _COMPARE for op in node.ops):
        children = [node.left, *node.comparators]
    elif isinstance(node, ast.IfExp):
        children = [node.test, node.body, node.orelse]
    elif isinstance(node, (ast.List, ast.Tuple)):
        children = list(node.elts)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id not in _FUNCTIONS:
            raise ExpressionError(f"a call of '{node.func.id}' (allowed: {', '.join(_FUNCTIONS)})")
        children = list(node.args)
    else:
        raise ExpressionError(f"{type(node).__name__}, which is not allowed here")
    for child in children:
        _check(child, known, names)


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ExpressionError("a number that is too large")
    if isinstance(value, (str, list, tuple)) and len(value) > LONGEST:
        raise ExpressionError("a text that is too long")
    return value


def _evaluate(node: ast.AST, values: Mapping[str, Value]) -> Any:
    if isinstance(node, ast.Constant):
        return _bounded(node.value)
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.BinOp):
        left, right = _evaluate(node.left, values), _evaluate(node.right, values)
        if isinstance(node.op, (ast.Mult, ast.Mod)) and not all(isinstance(v, (int, float)) for v in (left, right)):
            raise ExpressionError("a product of what is no number")
        return _bounded(_BINARY[type(node.op)](left, right))
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_evaluate(node.operand, values))
    if isinstance(node, ast.BoolOp):
        result: Any = None
        for part in node.values:
            result = _evaluate(part, values)
            if bool(result) != isinstance(node.op, ast.And):
                break
        return result
    if isinstance(node, ast.Compare):
        left = _evaluate(node.left, values)
        for op, part in zip(node.ops, node.comparators):
            right = _evaluate(part, values)
            if not _COMPARE[type(op)](left, right):
                return False
            left = right
        return True
    if isinstance(node, ast.IfExp):
        return _evaluate(node.body if _evaluate(node.test, values) else node.orelse, values)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_evaluate(part, values) for part in node.elts]
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return _bounded(_FUNCTIONS[node.func.id](*(_evaluate(part, values) for part in node.args)))
