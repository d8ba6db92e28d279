"""Statements without what nothing reads: columns that no one asks for are neither calculated nor measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from discreet.data.language.expressions import columns_of
from discreet.queries.question.answer_relations import (
    AnswerRelation,
    Combined,
    Cut,
    Extended,
    Joined,
    Kept,
    Measured,
    Picked,
    Regrouped,
    walk_answer,
)
from discreet.queries.question.query import Query
from discreet.queries.question.statement import Statement

__all__ = ["pruned"]


def pruned(statement: Statement) -> Statement:
    """Return the statement with only the questions and aggregates that its answer depends on.

    A question of which only keys are read keeps its first aggregate.
    """
    relation = _narrowed(statement.relation, frozenset((*statement.keys, *statement.names)))
    read: dict[int, set[str]] = {}
    for node in walk_answer(relation):
        if isinstance(node, Measured):
            read.setdefault(node.part, set()).update(source for _, source in node.columns)
    places = {old: new for new, old in enumerate(sorted(read))}
    parts = tuple(_with_outputs(statement.parts[old], read[old]) for old in places)
    return replace(statement, parts=parts, relation=_renumbered(relation, places))


def _with_outputs(query: Query, read: set[str]) -> Query:
    outputs = tuple((name, aggregate) for name, aggregate in query.outputs if name in read)
    return replace(query, outputs=outputs or query.outputs[:1])


def _narrowed(relation: AnswerRelation, wanted: frozenset[str] | None) -> AnswerRelation:
    """Return a relation of which only some columns are read; all, if `wanted` is None."""
    if isinstance(relation, Joined):
        pairs = frozenset(name for pair in relation.on for name in (pair.left, pair.right))
        below = None if wanted is None else wanted | pairs
        return replace(relation, one=_narrowed(relation.one, below), other=_narrowed(relation.other, below))
    if isinstance(relation, Combined):
        return replace(relation, one=_narrowed(relation.one, None), other=_narrowed(relation.other, None))
    if isinstance(relation, Measured):
        return replace(relation, columns=_chosen(relation.columns, wanted))
    if isinstance(relation, Picked):
        columns = _chosen(relation.columns, wanted)
        below = frozenset(old for _, old in columns)
        return replace(relation, columns=columns, source=_narrowed(relation.source, below))
    if isinstance(relation, Regrouped):
        columns = _chosen(relation.columns, wanted)
        operands = (operand for _, aggregate in columns for operand in aggregate.operands)
        below = frozenset(relation.keys).union(*map(columns_of, operands))
        return replace(relation, columns=columns, source=_narrowed(relation.source, below))
    if isinstance(relation, Extended):
        added = tuple(one for one in relation.columns if wanted is None or one.name in wanted)
        below = wanted
        if wanted is not None:
            below = wanted.union(*(columns_of(one.expression) for one in added))
        source = _narrowed(relation.source, below)
        return replace(relation, columns=added, source=source) if added else source
    if isinstance(relation, Kept):
        below = None if wanted is None else wanted | columns_of(relation.condition)
        return replace(relation, source=_narrowed(relation.source, below))
    if isinstance(relation, Cut):
        below = None if wanted is None else wanted | {part.column for part in relation.order}
        return replace(relation, source=_narrowed(relation.source, below))
    return relation


def _chosen(columns: Iterable[tuple[str, object]], wanted: frozenset[str] | None) -> tuple:  # type: ignore[type-arg]
    return tuple(one for one in columns if wanted is None or one[0] in wanted)


def _renumbered(relation: AnswerRelation, places: dict[int, int]) -> AnswerRelation:
    if isinstance(relation, Measured):
        return replace(relation, part=places[relation.part])
    if isinstance(relation, Joined | Combined):
        one, other = (_renumbered(side, places) for side in (relation.one, relation.other))
        return replace(relation, one=one, other=other)
    if isinstance(relation, Picked | Regrouped | Extended | Kept | Cut):
        return replace(relation, source=_renumbered(relation.source, places))
    return relation
