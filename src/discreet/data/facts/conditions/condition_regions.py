"""Which of several conditions can be TRUE of a row together: the regions that comparisons cut values into.

Whatever is compared, a column or a calculation, has a value in every row. Constants cut the line of these
values into finitely many regions: each constant by itself, the gaps between neighboring ones, and NULL.
Within a region every comparison has one truth value, so conditions made of them by AND, OR and NOT have one,
too. A condition that is not a comparison with constants is such a value itself: TRUE, FALSE or NULL. What is
decided here is which combinations are possible; whether a row meets a condition is left to the engine.

Values are taken to be independent of each other. Where they are not, as a calculation depends on its
operands, some combinations never occur: they are classes without rows, and change no count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.data.facts.conditions.compared_values import Compared, compared, line_of
from discreet.data.language.expressions import And, Expression, Literal, Not, Or
from discreet.data.language.types import Schema

__all__ = ["possible_truths"]

_MOST_REGIONS = 1 << 18
"""How many combinations of regions are looked at: of eighteen values with two regions each, for instance."""
_MOST_VALUES = 30
"""Arrays have at most 32 axes, and each value takes one."""

Leaf = tuple[Expression, bool]
"""A condition without AND, OR and NOT, and the truth value that is asked for."""
Truths = NDArray[np.bool_]


def possible_truths(
    conditions: Sequence[Expression], schema: Schema, given: Sequence[Expression] = ()
) -> list[tuple[bool, ...]] | None:
    """Return the combinations of conditions that can be TRUE of one row, except the empty one.

    None if that cannot be said: where there are too many regions, or constants that engines may confuse.

    A condition is TRUE exactly if all operands of an AND are, one operand of an OR is, and the operand of a
    NOT is FALSE; FALSE the other way around. So it is enough to know of every comparison in which regions it
    is TRUE, or FALSE, and regions that agree in all that is asked of them are one.

    Parameters
    ----------
    conditions : sequence of Expression
        What may be TRUE.
    schema : mapping of names to types
        The columns that they read.
    given : sequence of Expression
        What is TRUE of every row. Only those count that compare the same values.
    """
    values, count = _values(conditions, schema), len(conditions)
    for filtered in given:
        read = _values([filtered], schema)
        if read.keys() <= values.keys():
            conditions = [*conditions, filtered]
            for value, of_value in read.items():
                values[value] |= of_value
    if len(values) > _MOST_VALUES:
        return None
    axes = [_regions(of_value) for of_value in values.values()]
    shape = [len(kinds) for kinds in axes]
    if prod(shape) > _MOST_REGIONS or 0 in shape:
        return None
    arrays: dict[Leaf, Truths] = {}
    for place, (of_value, kinds) in enumerate(zip(values.values(), axes, strict=True)):
        extent = [-1 if one == place else 1 for one in range(len(shape))]
        arrays |= {leaf: np.reshape(column, extent) for leaf, column in zip(of_value, kinds.T, strict=True)}
    held = np.array([np.broadcast_to(_holds(one, arrays, truth=True), shape).ravel() for one in conditions])
    asked, filters = held[:count], held[count:]
    distinct = np.unique(np.packbits(asked[:, filters.all(axis=0)], axis=0).T, axis=0)
    rows = np.unpackbits(distinct, axis=1, count=count).astype(bool).tolist()
    return sorted(truths for truths in map(tuple, rows) if any(truths))


def _values(conditions: Sequence[Expression], schema: Schema) -> dict[Expression, dict[Leaf, Compared]]:
    """Return all comparisons of every value that some conditions compare."""
    values: dict[Expression, dict[Leaf, Compared]] = {}
    for leaf in [leaf for condition in conditions for leaf in _leaves(condition, truth=True)]:
        found = compared(leaf[0], schema)
        values.setdefault(found.value, {})[leaf] = found
    return values


def _leaves(node: Expression, *, truth: bool) -> list[Leaf]:
    """Return the comparisons of a condition, each with the truth value that it is asked for."""
    if isinstance(node, And | Or):
        return [leaf for operand in node.operands for leaf in _leaves(operand, truth=truth)]
    if isinstance(node, Not):
        return _leaves(node.operand, truth=not truth)
    return [] if isinstance(node, Literal) else [(node, truth)]


def _regions(of_value: Mapping[Leaf, Compared]) -> Truths:
    """Return the regions of a value that differ: in which its comparisons have the truth values asked for.

    One row for each region, one column for each comparison; no row if regions cannot be told.
    """
    line = line_of(of_value.values())
    regions = () if line is None else line.regions
    kinds = dict.fromkeys(
        tuple(found.truth(region, line) is truth for (_, truth), found in of_value.items())
        for region in regions
        if line is not None
    )
    return np.array([*kinds], np.bool_).reshape(len(kinds), len(of_value))


def _holds(node: Expression, arrays: dict[Leaf, Truths], *, truth: bool) -> Truths:
    """Return in which combinations of regions a condition has a truth value."""
    if isinstance(node, And | Or):
        several = [_holds(operand, arrays, truth=truth) for operand in node.operands]
        combine = np.logical_and if isinstance(node, And) is truth else np.logical_or
        found = several[0]
        for other in several[1:]:
            found = combine(found, other)
        return found
    if isinstance(node, Not):
        return _holds(node.operand, arrays, truth=not truth)
    return np.array(node.value is truth) if isinstance(node, Literal) else arrays[node, truth]
