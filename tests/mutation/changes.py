"""Small faults that a test should notice, planted one at a time in the text of a module.

A change replaces one piece of source: the rest of the file stays as it is, line for line. What is only said
(docstrings, messages, annotations, `__all__`), and what cannot change a result (decorators, `strict=` of zip,
imports for type checkers) is left alone.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Change", "changes_of"]

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),  # codespell:ignore
    ast.NotIn: (ast.In,),  # codespell:ignore
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
TWINS = {"floor": "ceil", "min": "max", "minimum": "maximum", "any": "all"}
TWINS |= {other: one for one, other in TWINS.items()}
CLAMPS = {"min", "max", "minimum", "maximum", "clip"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One planted fault: which function it is in, and what stands there instead of what."""

    line: int
    function: str
    before: str
    after: str
    start: int
    end: int

    def applied(self, source: str) -> str:
        """Return the text of the module with the fault."""
        text = source.encode()
        return (text[: self.start] + self.after.encode() + text[self.end :]).decode()

    @property
    def shown(self) -> str:
        """What was changed, on one line."""
        return f"{' '.join(self.before.split())}  ->  {' '.join(self.after.split())}"


def changes_of(source: str) -> list[Change]:
    """Return every change of a module, in the order of its lines."""
    lines = [0]
    for line in source.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    found = {}
    tree = ast.parse(source)
    decisive = {node.test for node in ast.walk(tree) if isinstance(node, ast.If)}
    for node, function in _nodes(tree, ()):
        before = ast.get_source_segment(source, node)
        if before is None:
            continue
        branches = [ast.Constant(True), ast.Constant(False)] if node in decisive else []
        for new in (*_replacements(node), *branches):
            after = ast.unparse(new) if isinstance(new, ast.stmt) else f"({ast.unparse(new)})"
            start = lines[node.lineno - 1] + node.col_offset
            end = lines[node.end_lineno - 1] + node.end_col_offset
            found[start, end, after] = Change(
                line=node.lineno, function=function, before=before, after=after, start=start, end=end
            )
    return [found[place] for place in sorted(found)]


def _nodes(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[ast.AST, str]]:
    """Walk what is executed, each node with the dotted name of its function."""
    for child in _executed(node):
        inner = names
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inner = (*names, child.name)
        if isinstance(child, ast.expr | ast.stmt):
            yield child, ".".join(inner)
        yield from _nodes(child, inner)


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "exc", "cause", "format_spec", "msg"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _only_said(child):
                yield child


def _only_said(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)  # a docstring
    if isinstance(node, ast.Assign):
        return any(isinstance(one, ast.Name) and one.id == "__all__" for one in node.targets)
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.FunctionDef):
        return node.name in {"__repr__", "__str__"}
    if isinstance(node, ast.keyword):
        return node.arg in {"strict", "repr", "maxsize"}
    return isinstance(node, ast.JoinedStr | ast.Assert | ast.Import | ast.ImportFrom)


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for place, sign in enumerate(node.ops):
            for other in COMPARISONS.get(type(sign), ()):
                signs = [*node.ops[:place], other(), *node.ops[place + 1 :]]
                yield _with(node, ops=signs)
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _is_type(node):
        yield _with(node, op=ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        for place in range(len(node.values)):
            rest = node.values[:place] + node.values[place + 1 :]
            yield _with(node, values=rest) if len(rest) > 1 else rest[0]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Constant):
        yield from _constants(node.value)
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, ast.Raise) and not _is_abstract(node):
        yield ast.Pass()
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()  # a check, or an effect, that does not happen
    elif isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield _with(node, op=ARITHMETIC[type(node.op)]())


def _constants(value: object) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
        if value > 0:
            yield ast.Constant(value - 1)
        if value > 2:
            yield ast.Constant(2 * value)
            yield ast.Constant(value // 2)
    elif isinstance(value, float) and value:
        yield ast.Constant(2 * value)
        yield ast.Constant(value / 2)


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in TWINS and isinstance(function, ast.Attribute):
        yield _with(node, func=_with(function, attr=TWINS[name]))
    elif name in TWINS:
        # The module may not have imported the other one of floor and ceil.
        other = f"__import__('math').{TWINS[name]}" if name in {"floor", "ceil"} else TWINS[name]
        yield _with(node, func=ast.Name(other, ast.Load()))
    if name in CLAMPS and len(node.args) > 1 and not node.keywords:
        if isinstance(function, ast.Attribute) and name == "clip":
            yield function.value
        else:
            yield from (one for one in node.args if not isinstance(one, ast.Starred))


def _is_type(node: ast.BinOp) -> bool:
    """Tell whether `a | b` is a union of types."""
    plain = {"int", "float", "list", "tuple", "str", "None", "bool", "dict"}
    names = [ast.unparse(one).split(".")[-1] for one in (node.left, node.right)]
    return isinstance(node.op, ast.BitOr) and all(name in plain or name[:1].isupper() for name in names)


def _is_abstract(node: ast.Raise) -> bool:
    return node.exc is None or "NotImplementedError" in ast.unparse(node.exc)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
