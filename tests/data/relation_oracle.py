"""The meaning of relations, evaluated slowly in plain Python: rows as (person, values by name)."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction

from discreet.data.facts.relation_facts import columns_of_relation, person_columns
from discreet.data.language.declarations import EACH_ROW
from discreet.data.language.expressions import Column, Compare, IsNull, Literal, Not
from discreet.data.language.relations import (
    Derive,
    Distinct,
    Filter,
    JoinPersons,
    JoinPublic,
    PerPerson,
    Project,
    Source,
    Union,
)


def everybody(relation, left, right):
    """All rows enter a join."""
    return left, right


def rows(relation, data, tables, entering=everybody):
    """The rows of a relation; `data` holds those of every table as dicts, `entering` thins out joins."""
    if isinstance(relation, Source):
        person = tables[relation.table].person
        if person is EACH_ROW:
            return [(number, row) for number, row in enumerate(data[relation.table])]
        return [(row[person], row) for row in data[relation.table] if row[person] is not None]
    if isinstance(relation, JoinPersons):
        left, right = (rows(one, data, tables, entering) for one in (relation.left, relation.right))
        left, right = entering(relation, left, right)
        known = columns_of_relation(relation.right, tables)
        added = chosen(relation, known, person_columns(relation.right, tables))
        return [
            (person, {**row, **more})
            for person, row in left
            for more in beside(row, [one for owner, one in right if owner == person], relation, added)
        ]
    if isinstance(relation, Union):
        return [one for source in relation.sources for one in rows(source, data, tables, entering)]
    below = rows(relation.source, data, tables, entering)
    if isinstance(relation, Filter):
        return [(who, row) for who, row in below if evaluate(relation.condition, row) is True]
    if isinstance(relation, Project | Derive):
        own = isinstance(relation, Derive)
        return [
            (
                who,
                {
                    **(row if own else {}),
                    **{one.name: evaluate(one.expression, row) for one in relation.columns},
                },
            )
            for who, row in below
        ]
    if isinstance(relation, JoinPublic):
        added = chosen(relation, tables[relation.table].schema, ())
        below, _ = entering(relation, below, data[relation.table])
        return [
            (who, {**row, **more})
            for who, row in below
            for more in beside(row, data[relation.table], relation, added)
        ]
    if isinstance(relation, Distinct):
        first = {(who, plain(row)): (who, row) for who, row in reversed(below)}
        return list(first.values())
    if isinstance(relation, PerPerson):
        known = columns_of_relation(relation.source, tables)
        return [
            (
                group[0][0],
                {
                    **{key: group[0][1][key] for key in relation.keys},
                    **{
                        one.name: aggregate(one, [row for _, row in group], known) for one in relation.columns
                    },
                },
            )
            for group in grouped(below, relation.keys)
        ]
    return windowed(relation, below)


def evaluate(node, row):
    """The value of an expression of the few kinds that `relation_plans` makes."""
    if isinstance(node, Column):
        return row[node.name]
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, IsNull):
        return evaluate(node.operand, row) is None
    if isinstance(node, Not):
        truth = evaluate(node.operand, row)
        return None if truth is None else not truth
    left, right = evaluate(node.left, row), evaluate(node.right, row)
    if left is None or right is None:
        return None
    if isinstance(node, Compare):
        left, right = ordered(left), ordered(right)
        return {"=": left == right, "<>": left != right, "<": left < right, ">=": left >= right}[
            node.operator.value
        ]
    if isinstance(node.left, Column) and not abs(left) <= 2.0**67:
        return None
    left, right = float(left), float(right)
    return left + right if node.operator.value == "+" else left * right


def equal(one, other):
    return one is not None and other is not None and ordered(one) == ordered(other)


def steps(value, bounds):
    """The index of a value on its grid, or None if it is absent."""
    if value is None or math.isnan(value):
        return None
    inside = max(bounds.lower, min(bounds.upper, value if math.isinf(value) else Fraction(value)))
    return math.floor(Fraction(inside) / bounds.step + Fraction(1, 2))


def chosen(relation, known, persons):
    if relation.columns is not None:
        return [(one.left, one.right) for one in relation.columns]
    hidden = {part.right for part in relation.on} | set(persons)
    return [(name, name) for name in known if name not in hidden]


def beside(row, others, relation, added):
    found = [
        {new: other[name] for new, name in added}
        for other in others
        if all(equal(row[part.left], other[part.right]) for part in relation.on)
    ]
    return found or ([{new: None for new, _ in added}] if relation.outer else [])


def grouped(below, keys):
    groups = {}
    for who, row in below:
        groups.setdefault((who, *(ordered(row[key]) for key in keys)), []).append((who, row))
    return groups.values()


def aggregate(one, group, known):
    if one.column is None:
        return len(group)
    values = [row[one.column] for row in group if row[one.column] is not None]
    if one.function == "count":
        return len(values)
    if one.function == "count distinct":
        return len({ordered(value) for value in values})
    if one.function in {"minimum", "maximum"}:
        choose = min if one.function == "minimum" else max
        return choose(values, key=ordered) if values else None
    bounds = one.bounds or known[one.column].bounds
    indices = [steps(row[one.column], bounds) for row in group]
    indices = [index for index in indices if index is not None]
    if not indices:
        return None
    step = bounds.step
    if one.function == "sum":
        total = sum(indices)
        return total if step == 1 else float(total) * float(step.numerator) / float(step.denominator)
    mean = float(sum(indices)) / float(len(indices)) * float(step.numerator) / float(step.denominator)
    return max(float(bounds.lower), min(float(bounds.upper), mean))


def windowed(relation, below):
    found = []
    for group in grouped(below, relation.partition):
        if relation.function == "row number":
            ranked = sorted(group, key=lambda one: rank(one[1], relation.order))
            found += [(who, {**row, relation.name: place}) for place, (who, row) in enumerate(ranked, 1)]
            continue
        values = [row[relation.column] for _, row in group] if relation.column else group
        present = [value for value in values if value is not None]
        value = len(present)
        if relation.function != "count":
            choose = min if relation.function == "minimum" else max
            value = choose(present, key=ordered) if present else None
        found += [(who, {**row, relation.name: value}) for who, row in group]
    return found


def rank(row, order):
    stated = [part.column for part in order]
    places = [Place(row[part.column], part.descending) for part in order]
    return [*places, *(Place(value, False) for name, value in row.items() if name not in stated)]


class Place:
    """A value in an order in which NULL is last either way."""

    def __init__(self, value, descending):
        self.value, self.descending = value, descending

    def __lt__(self, other):
        if self.value is None or other.value is None:
            return other.value is None and self.value is not None
        one, two = ordered(self.value), ordered(other.value)
        return one > two if self.descending else one < two

    def __hash__(self):
        raise TypeError

    def __eq__(self, other):
        return ordered(self.value) == ordered(other.value)


def ordered(value):
    """A value such that equal values are equal, and NaN is the largest number."""
    if isinstance(value, float | int | Decimal) and not isinstance(value, bool):
        return (1, 0) if isinstance(value, float) and math.isnan(value) else (0, value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    return value.encode() if isinstance(value, str) else value


def plain(row):
    """A row as something that can be counted."""
    return tuple((name, ordered(value)) for name, value in row.items())
