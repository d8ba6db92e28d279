"""ROLLUP, CUBE and GROUPING SETS: by which keys each level of an answer is grouped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product

from sqlglot import exp

from discreet.errors import UnsupportedQuery
from discreet.queries.question.answer_levels import LARGEST_LEVELS, AnswerLevels
from discreet.queries.sql.formulas.expressions import unwrapped
from discreet.queries.sql.syntax.refusals import check_parts, refused

__all__ = ["grouped_nodes", "grouping_node"]

_Set = tuple[exp.Expression, ...]


def grouped_nodes(group: exp.Group | None) -> tuple[list[exp.Expression], AnswerLevels]:
    """Return what GROUP BY names, each once, and the levels; no levels if there is one, of all of them.

    The sets of several clauses are combined: GROUP BY a, ROLLUP (b) is by a and b, and by a.
    """
    if group is None:
        return [], ()
    check_parts(group, "expressions", "rollup", "cube", "grouping_sets")
    plain = [unwrapped(node) for node in group.expressions]
    further = [*(group.args.get(part) or () for part in ("rollup", "cube", "grouping_sets"))]
    clauses = [one for part in further for one in part]
    if not clauses:
        return plain, ()
    if any(not one.expressions for one in clauses):  # WITH ROLLUP or WITH CUBE
        if len(clauses) > 1 or isinstance(clauses[0], exp.GroupingSets):
            raise refused("WITH ROLLUP beside other sets", "write GROUPING SETS, and list the sets")
        clauses = [type(clauses[0])(expressions=plain)]
        plain = []
    found: list[_Set] = [tuple(plain)]
    for clause in clauses:
        found = [(*one, *other) for one, other in product(found, _sets(clause))]
        if len(found) > LARGEST_LEVELS:
            raise UnsupportedQuery(
                f"the answer would have more than {LARGEST_LEVELS} levels; list fewer with GROUPING SETS"
            )
    nodes: list[exp.Expression] = []
    for node in (one for level in found for one in level):
        if node not in nodes:
            nodes.append(node)
    if not nodes:
        raise UnsupportedQuery("GROUP BY names no column; leave it out, or name one with declared keys")
    levels = tuple(tuple(node in level for node in nodes) for level in found)
    return nodes, () if levels == ((True,) * len(nodes),) else levels


def grouping_node(
    node: exp.Expression, grouping: Callable[[exp.Expression], exp.Expression]
) -> exp.Expression:
    """Return GROUPING(a, b) as a number whose binary digits say which keys are left out of a level.

    Parameters
    ----------
    node : sqlglot Grouping or GroupingId
        What is asked.
    grouping : callable
        Returns what stands for whether a key is left out, or refuses what is not a key.
    """
    check_parts(node, "expressions")
    if not node.expressions:
        raise refused("GROUPING of nothing", "write a key of GROUP BY, as in GROUPING(city)")
    first, *others = (grouping(one) for one in node.expressions)
    found = first
    for one in others:
        doubled = exp.Mul(this=found, expression=exp.Literal.number(2))
        found = exp.Add(this=doubled, expression=one)
    return exp.Paren(this=found) if others else found


def _sets(clause: exp.Expression) -> list[_Set]:
    """Return the sets of columns that one clause lists."""
    elements = clause.expressions
    if isinstance(clause, exp.GroupingSets):
        return [found for one in elements for found in _listed(one)]
    parts = [_columns(one) for one in elements]
    if isinstance(clause, exp.Rollup):
        return [_joined(parts[:count]) for count in range(len(parts), -1, -1)]
    if len(parts) > LARGEST_LEVELS.bit_length() - 1:
        raise UnsupportedQuery(
            f"the answer would have more than {LARGEST_LEVELS} levels; list fewer with GROUPING SETS"
        )
    return [_joined(chosen) for count in range(len(parts), -1, -1) for chosen in combinations(parts, count)]


def _listed(element: exp.Expression) -> list[_Set]:
    if isinstance(element, exp.Rollup | exp.Cube | exp.GroupingSets):
        return _sets(element)
    return [_columns(element)]


def _columns(element: exp.Expression) -> _Set:
    if isinstance(element, exp.Tuple):
        return tuple(unwrapped(one) for one in element.expressions)
    return (unwrapped(element),)


def _joined(parts: Sequence[_Set]) -> _Set:
    return tuple(node for part in parts for node in part)
