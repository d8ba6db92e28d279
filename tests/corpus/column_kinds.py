"""What a column of an answer holds, and so how near the exact value it must be.

Without noise, counts, sums and means are exact, and so is what is calculated from them. Two kinds are not:

- variances, correlations and the like are taken from values rounded to a grid that is coarse enough for their
  squares (`MOMENTS`);
- quantiles and extremes are grid points, chosen by their rank (`ranks`).

What a column holds is read from SELECT itself, not from the answer.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from sqlglot import exp

ROUNDING = 1e-9
"""Relative: sums and decimals are exact, but DuckDB adds doubles in an order of its own."""
MOMENTS = 5e-4
"""Relative. Squares of a person's 500 rows add up to at most 2^31 squared steps (`LARGEST_SQUARES`), so that
a value has at most 2072 steps; the next coarser of 1, 2, 5, 10 ... steps leaves at least 829. So a value is
moved by at most a 1658th of the range, and no deviation by more; far less where roundings cancel: 3 in 10,000
is the most that is seen here."""

_MOMENTS = tuple(
    getattr(exp, name)
    for name in (
        "Stddev",
        "StddevPop",
        "StddevSamp",
        "Variance",
        "VariancePop",
        "Corr",
        "CovarPop",
        "CovarSamp",
        "RegrSlope",
        "RegrIntercept",
    )
)
_SHARES = {exp.Min: Fraction(0), exp.Max: Fraction(1), exp.Median: Fraction(1, 2)}


class Holds(Enum):
    """What is in a column."""

    COUNT_OR_SUM = "a count or a sum: 0 where there are no rows"
    EXACT = "what has no error of its own"
    MOMENT = "a calculation with squares or products on a grid"
    RANKED = "a grid point chosen by its rank"


@dataclass(frozen=True)
class Ranked:
    """A quantile or an extreme: of what, and its share of the rows below."""

    operand: exp.Expression
    share: Fraction


def items_of(outermost: exp.Expression, count: int) -> list[exp.Expression | None]:
    """Return what SELECT lists, if it lists one thing for each column."""
    while isinstance(outermost, exp.SetOperation | exp.Subquery):
        outermost = outermost.this
    items = list(outermost.expressions)
    return items if len(items) == count else [None] * count


def ranked(item: exp.Expression | None) -> Ranked | None:
    """Return the quantile or the extreme that an item of SELECT is; None of anything else."""
    node = None if item is None else item.unalias()
    if isinstance(node, exp.WithinGroup) and isinstance(node.this, exp.PercentileCont | exp.PercentileDisc):
        (order,) = node.expression.expressions
        return None if order.args.get("desc") else Ranked(order.this, Fraction(node.this.this.this))
    if isinstance(node, exp.Quantile | exp.ApproxQuantile):
        return Ranked(node.this, Fraction(node.args["quantile"].this))
    share = _SHARES.get(type(node))
    return None if node is None or share is None else Ranked(node.this, share)


def is_over_answers(outermost: exp.Expression, persons: Container[str]) -> bool:
    """Tell whether rows of SELECT are groups of an answer, in which nothing is chosen any more."""
    inner = [one for one in outermost.find_all(exp.Select) if one is not outermost and one.args.get("group")]
    return any(
        all(node.name.lower() not in persons for node in one.args["group"].expressions) for one in inner
    )


def holds(items: Sequence[exp.Expression | None]) -> list[Holds]:
    """Return what each column holds."""
    return [_holds(item) for item in items]


def _holds(item: exp.Expression | None) -> Holds:
    if item is None:
        return Holds.EXACT
    if ranked(item) is not None:
        return Holds.RANKED
    if item.find(*_MOMENTS) is not None:
        return Holds.MOMENT
    node = item.unalias()
    return Holds.COUNT_OR_SUM if isinstance(node, exp.Count | exp.CountIf | exp.Sum) else Holds.EXACT
