"""A query: what an analyst asks, by names alone, before bounds are looked up and a budget is offered.

SQL and dataframes both end here, so that the same question asked in either way is the same record.

>>> from discreet.data import Source, count
>>> Query(relation=Source(table="visits"), keys=(key_of("city"),), outputs=(("n", count()),))
Query(source visits; by city; n: count)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.data import Aggregate, Filter, Relation
from discreet.data.description import describe_expression
from discreet.data.expressions import And, Column, Expression
from discreet.data.relation import Named, leftmost, walk_relation
from discreet.errors import UnsupportedQuery

__all__ = ["Query", "filtered", "key_of"]

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Query:
    """Aggregates of the rows of a relation, for every combination of keys.

    Attributes
    ----------
    relation : Relation
        Which rows: a table, filtered or not.
    keys : tuple of Named
        What to group by: columns or calculations, each under the name it has in the answer. The groups come
        in the order of their keys' values, the last key fastest. An answer shows the keys first, then the
        outputs.
    outputs : tuple of (name, Aggregate)
        What to compute for every group. An aggregate is taken of columns or calculations, or counts rows.
    """

    relation: Relation
    keys: tuple[Named, ...] = ()
    outputs: tuple[tuple[str, Aggregate], ...]

    def __post_init__(self) -> None:
        if not self.outputs:
            raise UnsupportedQuery(
                "the request has no aggregate; ask for COUNT(*), COUNT(x), SUM(x) or AVG(x)"
            )
        if len({key.expression for key in self.keys}) != len(self.keys):
            raise UnsupportedQuery("a column is grouped by twice; list it once")
        taken: set[str] = set()
        for name in (*(key.name for key in self.keys), *self.names):
            _check_name(name)
            if name.lower() in taken:
                raise UnsupportedQuery(
                    "two columns of the answer would have one name, but for upper and lower case; "
                    "name the aggregates apart with AS"
                )
            taken.add(name.lower())

    @property
    def table(self) -> str:
        """The name of the table that is read."""
        return leftmost(self.relation).table

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return tuple(name for name, _ in self.outputs)

    def __repr__(self) -> str:
        return f"Query({'; '.join(self._words())})"

    def _words(self) -> Iterator[str]:
        yield f"source {self.table}"
        for node in walk_relation(self.relation):
            if isinstance(node, Filter):
                yield f"where {describe_expression(node.condition)}"
        if self.keys:
            yield f"by {', '.join(key.name for key in self.keys)}"
        for name, aggregate in self.outputs:
            of = "" if aggregate.operand is None else f" of {describe_expression(aggregate.operand)}"
            yield f"{name}: {aggregate.function.value}{of}"


def key_of(column: str) -> Named:
    """Return a column as a key."""
    return Named(name=column, expression=Column(name=column))


def filtered(relation: Relation, condition: Expression) -> Relation:
    """Return the rows for which a condition is TRUE; conditions on top of each other become one AND.

    A row passes two filters just if both conditions are TRUE, just if their AND is.
    """
    if isinstance(relation, Filter):
        return Filter(source=relation.source, condition=And(operands=(relation.condition, condition)))
    return Filter(source=relation, condition=condition)


def _check_name(name: object) -> None:
    allowed = f"a name is text of 1 to {_LONGEST_NAME} characters"
    if not isinstance(name, str) or not 1 <= len(name) <= _LONGEST_NAME:
        raise UnsupportedQuery(f"the name of an output is missing or too long; {allowed}")
    try:
        name.encode("utf-8")
        encodable = "\0" not in name
    except UnicodeEncodeError:
        encodable = False
    if not encodable:
        raise UnsupportedQuery(f"the name of an output holds a NUL or half a character; {allowed}")
