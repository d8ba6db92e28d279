"""The plan: what a request asks of private tables, as a closed tree free of any engine.

A plan is `Group` over `Filter`s over a `Source`. It states everything that decides the shape and the
sensitivity of its answer: the condition, the keys with their declared values, the bounds of every
sum. With the limits of the table these give the sensitivity; no data is needed.

Every relation below `Group` maps rows to rows such that a person's rows, their values *and their
presence*, follow from that person's own rows and public facts. Contributions are bounded by
`Group`, last. Later relations (derived columns, joins to public tables, joins on the person,
aggregation per person) are further members of `Relation`, with the same duty.

>>> from discreet.data.expressions import Column, Compare, literal
>>> from discreet.data.declarations import Bounds, Keys
>>> adults = Compare(operator=">=", left=Column(name="age"), right=literal(18))
>>> plan = Group(source=Filter(source=Source(table="visits"), condition=adults),
...              keys=(GroupKey(column="city", values=Keys(["Taipei", "Hamilton"])),),
...              measures=(CountRows(), Sum(column="cost", bounds=Bounds(0, 5000), center=2500)))
>>> print(describe(plan))
group by city (2 keys)
  count of rows
  sum of cost - 2500 in [0, 5000], step 1
  filter age >= ?
    source visits
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TypeAlias

from discreet.data.declarations import Bounds, Keys
from discreet.data.expressions import (
    And,
    Arithmetic,
    Column,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from discreet.errors import UnsupportedQuery
from discreet.privacy.rational import rational, show

__all__ = [
    "LARGEST_CELLS",
    "CountNonNull",
    "CountRows",
    "Filter",
    "Group",
    "GroupKey",
    "Measure",
    "Plan",
    "PlanNode",
    "Relation",
    "Source",
    "Sum",
    "describe",
    "describe_expression",
    "describe_measure",
    "walk_plan",
]

LARGEST_CELLS = 10_000_000
"""How many groups one plan may have."""
LARGEST_MEASURES = 1_000
LARGEST_RELATION_DEPTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The rows of a declared table, by its public name."""

    table: str

    def __post_init__(self) -> None:
        _check(isinstance(self.table, str) and bool(self.table))


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The rows for which a condition is TRUE; FALSE and NULL leave a row out."""

    source: Relation
    condition: Expression

    def __post_init__(self) -> None:
        _check(isinstance(self.source, Relation) and isinstance(self.condition, Expression))
        if sum(isinstance(node, Filter) for node in walk_plan(self)) > LARGEST_RELATION_DEPTH:
            raise UnsupportedQuery("the plan stacks too many filters; join their conditions with AND")


Relation: TypeAlias = Source | Filter
"""What yields rows, each belonging to one person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupKey:
    """A column to group by and the declared values it may take, in their declared order."""

    column: str
    values: Keys

    def __post_init__(self) -> None:
        _check(isinstance(self.column, str) and isinstance(self.values, Keys))


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRows:
    """The number of (bounded) rows of a group: COUNT(*)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountNonNull:
    """The number of (bounded) rows of a group whose value in a column is present: COUNT(x).

    With `bounds`, present means present after the rules for NaN, infinity and NULL: what `Sum` with the
    same bounds adds up, so that their ratio is a mean. Without, it means not NULL.
    """

    column: str
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        _check(isinstance(self.column, str) and isinstance(self.bounds, Bounds | None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """The sum of (x - center) / step over the (bounded) rows of a group whose x is present.

    x is the column's value after rounding to the grid and clipping to `bounds`, so every summand is an
    integer, and at most max(upper - center, center - lower) / step in magnitude. The
    sum of x itself is step times this plus center times `CountNonNull`. The center is zero or a
    grid point within the bounds.
    """

    column: str
    bounds: Bounds
    center: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        _check(isinstance(self.column, str) and isinstance(self.bounds, Bounds))
        center = rational(self.center, "center")
        if center:  # zero is on every grid, also where it is outside the bounds
            self.bounds.steps(center, "center")
        object.__setattr__(self, "center", center)

    @property
    def center_steps(self) -> int:
        """The index of the center on the grid."""
        return int(self.center / self.bounds.step)

    @property
    def largest(self) -> int:
        """The most that one row adds or takes, in steps."""
        return max(
            abs(self.bounds.upper_steps - self.center_steps), abs(self.bounds.lower_steps - self.center_steps)
        )


Measure: TypeAlias = CountRows | CountNonNull | Sum
"""What is computed for every group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Measures for every combination of declared keys; without keys, for all rows together.

    The order of `keys` orders the groups: all combinations, the last key fastest. Measures are
    distinct; an answer names them, the plan does not.
    """

    source: Relation
    keys: tuple[GroupKey, ...] = ()
    measures: tuple[Measure, ...]

    def __post_init__(self) -> None:
        _check(isinstance(self.source, Relation))
        _check(isinstance(self.keys, tuple) and all(isinstance(key, GroupKey) for key in self.keys))
        _check(isinstance(self.measures, tuple) and all(isinstance(one, Measure) for one in self.measures))
        if not self.measures:
            raise UnsupportedQuery("the request has no aggregate; ask for COUNT, SUM or AVG")
        if len(self.measures) > LARGEST_MEASURES:
            raise UnsupportedQuery(f"the request has more than {LARGEST_MEASURES} aggregates; ask in parts")
        if len(set(self.measures)) != len(self.measures):
            raise UnsupportedQuery("the plan lists a measure twice; list it once and use it twice")
        names = [key.column for key in self.keys]
        if len(set(names)) != len(names):
            raise UnsupportedQuery("a column is grouped by twice; list it once")
        if self.cells > LARGEST_CELLS:
            raise UnsupportedQuery(
                f"the request has more than {LARGEST_CELLS} groups; group by fewer columns or fewer keys"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of declared values of each key."""
        return tuple(len(key.values) for key in self.keys)

    @property
    def cells(self) -> int:
        """The number of groups."""
        return prod(self.shape)


Plan: TypeAlias = Group
"""A whole plan. Its root aggregates; nothing else leaves."""
PlanNode: TypeAlias = Group | Relation
"""Any node of the tree of relations."""


def walk_plan(node: PlanNode) -> Iterator[PlanNode]:
    """Yield a node of a plan and the relations below it, from the root down."""
    current: PlanNode | None = node
    while current is not None:
        yield current
        current = None if isinstance(current, Source) else current.source


def describe(plan: Plan) -> str:
    """Write a plan for people, one node to a line. Literals are hidden: they may be sensitive."""
    by = ", ".join(f"{key.column} ({len(key.values)} keys)" for key in plan.keys)
    lines = [f"group by {by}" if by else "all rows together"]
    lines += [f"  {describe_measure(measure)}" for measure in plan.measures]
    indent = "  "
    for node in walk_plan(plan.source):
        if isinstance(node, Filter):
            lines.append(f"{indent}filter {describe_expression(node.condition)}")
        elif isinstance(node, Source):
            lines.append(f"{indent}source {node.table}")
        indent += "  "
    return "\n".join(lines)


def describe_measure(measure: Measure) -> str:
    """Write a measure for people."""
    if isinstance(measure, CountRows):
        return "count of rows"
    if isinstance(measure, CountNonNull):
        return f"count of {measure.column}"
    center = f" - {show(measure.center)}" if measure.center else ""
    bounds = measure.bounds
    within = f"[{show(bounds.lower)}, {show(bounds.upper)}], step {show(bounds.step)}"
    return f"sum of {measure.column}{center} in {within}"


def describe_expression(node: Expression) -> str:
    """Write an expression for people, with a question mark for every literal."""
    if isinstance(node, Column):
        return node.name
    if isinstance(node, Literal):
        return "?"
    if isinstance(node, Compare | Arithmetic):
        return f"{_inner(node.left)} {node.operator.value} {_inner(node.right)}"
    if isinstance(node, And | Or):
        word = " and " if isinstance(node, And) else " or "
        return word.join(_inner(operand) for operand in node.operands)
    if isinstance(node, Not):
        return f"not {_inner(node.operand)}"
    if isinstance(node, IsNull):
        return f"{_inner(node.operand)} is null"
    if isinstance(node, IsIn):
        return f"{_inner(node.operand)} in ({', '.join('?' * len(node.values))})"
    raise TypeError("not an expression")


def _check(good: bool) -> None:
    if not good:
        raise UnsupportedQuery("a part of the plan is of another kind; build it from its parts")


def _inner(node: Expression) -> str:
    text = describe_expression(node)
    return text if isinstance(node, Column | Literal) else f"({text})"
