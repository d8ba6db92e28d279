"""The meaning of plans, evaluated slowly in plain Python: what every engine must agree with."""

from __future__ import annotations

import datetime
import hashlib
import math
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import product

from data import function_oracle
from discreet.data import Bounds, CountNonNull, CountRows, Filter, Limits, Sum
from discreet.data.facts.type_check import type_of
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from discreet.data.language.measures import (
    ContingencyTable,
    CountDistinct,
    CountPersons,
    Histogram,
    Moment,
    SumDistinct,
)


def evaluate(node, row):
    """The value of an expression in a row, by SQL's three-valued logic."""
    if isinstance(node, Column):
        return row[node.name]
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, IsNull):
        return evaluate(node.operand, row) is None
    if isinstance(node, Not):
        truth = evaluate(node.operand, row)
        return None if truth is None else not truth
    if isinstance(node, And):
        truths = [evaluate(operand, row) for operand in node.operands]
        return False if False in truths else None if None in truths else True
    if isinstance(node, Or):
        truths = [evaluate(operand, row) for operand in node.operands]
        return True if True in truths else None if None in truths else False
    if isinstance(node, Compare):
        return compare(node.operator.value, evaluate(node.left, row), evaluate(node.right, row))
    if isinstance(node, IsIn):
        found = [compare("=", evaluate(node.operand, row), value.value) for value in node.values]
        return None if None in found else True in found
    if isinstance(node, Case):
        values = [*(part.value for part in node.branches), node.otherwise]
        for place, part in enumerate(node.branches):
            if evaluate(part.condition, row) is True:
                return as_shared(values, row, evaluate(values[place], row))
        return as_shared(values, row, evaluate(node.otherwise, row))
    if isinstance(node, Cast):
        return function_oracle.cast(evaluate(node.operand, row), node.type.value)
    if isinstance(node, Call):
        return called(node, row)
    assert isinstance(node, Arithmetic)
    return calculate(node, row)


def called(node, row):
    values = [evaluate(operand, row) for operand in node.operands]
    name = node.function.name
    if name == "nullif":
        found = None if compare("=", *values) is True else values[0]
        return as_shared(node.operands[:1], row, found)
    if name in {"least", "greatest"} and any(isinstance(value, datetime.datetime) for value in values):
        values = [None if value is None else midnight(value) for value in values]
    found = function_oracle.call(node.function, values)
    return as_shared(node.operands, row, found) if name in {"coalesce", "least", "greatest"} else found


def as_shared(operands, row, value):
    """A value as the type that all operands share: a double unless all are integers."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, datetime.date):
        timed = any(holds(operand, row, "timestamp") for operand in operands)
        return midnight(value) if timed else value
    if any(holds(operand, row, "float") for operand in operands):
        return nearest(value)
    return value


def holds(node, row, kind):
    """Whether the type of an expression is a float (or a decimal) or another: by its shape, not its value."""
    found = type_of(
        node,
        TYPES | {name: TYPES.get(name, function_oracle.type_of_value(value)) for name, value in row.items()},
    ).value
    if isinstance(node, Literal) and found == "integer":
        return kind == "float" and not -(2**63) <= node.value < 2**63
    return found == kind or (kind == "float" and found == "decimal")


TYPES = {}
"""The types of the columns of rows, for what a NULL does not tell; filled by `strategies`."""


def compare(operator, left, right):
    if left is None or right is None:
        return None
    if isinstance(left, float) or isinstance(right, float):
        left, right = order(nearest(left)), order(nearest(right))
    elif isinstance(left, int | Decimal | Fraction) and not isinstance(left, bool):
        left, right = (Fraction(side) for side in (left, right))
    elif isinstance(left, datetime.datetime) or isinstance(right, datetime.datetime):
        left, right = midnight(left), midnight(right)
    return {
        "=": left == right,
        "<>": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[operator]


def order(number):
    return (1, 0.0) if math.isnan(number) else (0, number)


def nearest(number):
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def midnight(moment):
    if isinstance(moment, datetime.datetime):
        return moment
    return datetime.datetime.combine(moment, datetime.time())


def calculate(node, row):
    if holds(node.left, row, "date"):
        left, right = evaluate(node.left, row), evaluate(node.right, row)
        return None if left is None or right is None else left.toordinal() - right.toordinal()
    result = calculate_double(node, row)
    if (
        result is None
        or node.operator.value == "/"
        or holds(node.left, row, "float")
        or holds(node.right, row, "float")
    ):
        return result
    if any(isinstance(side, Literal) and abs(side.value) > 2**53 for side in (node.left, node.right)):
        return result
    return int(result) if abs(result) < 2.0**63 else None


def calculate_double(node, row):
    """Arithmetic in doubles: integers become 64 bits only where they leave arithmetic."""
    sides = []
    for side in (node.left, node.right):
        if isinstance(side, Arithmetic) and not holds(side.left, row, "date"):
            value = calculate_double(side, row)
        else:
            value = evaluate(side, row)
            value = None if value is None else nearest(value)
            if value is not None and not isinstance(side, Literal):
                value = function_oracle.tame(value)
        if value is None:
            return None
        sides.append(value)
    left, right = sides
    if node.operator.value == "/":
        return None if right == 0 else left / right
    return {"+": left + right, "-": left - right, "*": left * right}[node.operator.value]


def steps(value, bounds):
    """The index of a value on its grid, or None if it is absent."""
    if value is None:
        return replaced(bounds.null, bounds)
    if isinstance(value, int) and bounds.step == 1:
        return max(bounds.lower_steps, min(bounds.upper_steps, int(value)))
    value = float(value)
    if math.isnan(value):
        return replaced(bounds.nan, bounds)
    if math.isinf(value) and bounds.infinity != "clamp":
        return replaced(bounds.infinity, bounds)
    inside = max(float(bounds.lower), min(float(bounds.upper), value))
    inside = 0.0 if abs(value) < 1e-150 else inside
    index = math.floor(inside * float(bounds.step.denominator) / float(bounds.step.numerator) + 0.5)
    return max(bounds.lower_steps, min(bounds.upper_steps, index))


def replaced(rule, bounds):
    return None if rule == "drop" else int(rule / bounds.step)


def contribution(row, measure):
    """What a row brings to a measure: an integer that is added up, or a value that is counted."""
    if isinstance(measure, CountRows | CountPersons):
        return 1
    if isinstance(measure, CountNonNull):
        value = row[measure.column]
        present = value is not None if measure.bounds is None else steps(value, measure.bounds) is not None
        return int(present)
    if isinstance(measure, Moment):
        product = 1
        for factor in measure.factors:
            index = steps(row[factor.column], factor.bounds)
            if index is None:
                return 0
            product *= (index - factor.center_steps) ** factor.power
        return product - measure.shift
    if isinstance(measure, CountDistinct):
        value = row[measure.column]
        return value + 0.0 if isinstance(value, float) else value
    if isinstance(measure, SumDistinct):
        return steps(row[measure.column], measure.bounds)
    if isinstance(measure, Histogram):
        value = row[measure.column]
        return steps(value, measure.values) if isinstance(measure.values, Bounds) else value
    if isinstance(measure, ContingencyTable):
        return tuple(cell(row, axis) for axis in measure.axes)
    assert isinstance(measure, Sum)
    index = steps(row[measure.column], measure.bounds)
    return 0 if index is None else index - measure.center_steps


def cell(row, axis):
    """The cell of an axis that a row is in, or None."""
    value = row[axis.column]
    if isinstance(axis.values, Bounds):
        index = steps(value, axis.values)
        return None if index is None else (index - axis.values.lower_steps) // axis.width
    return axis.values.values.index(value) if value in axis.values.values else None


def summed(measure, brought):
    """The integers of a measure in one group, from what rows of (person, value) bring."""
    values = [value for _, value in brought]
    if isinstance(measure, CountPersons):
        return [len({person for person, _ in brought})]
    if isinstance(measure, CountDistinct):
        return [len({"nan" if str(value) == "nan" else value for value in values if value is not None})]
    if isinstance(measure, SumDistinct):
        return [sum(value**measure.power for value in set(values) if value is not None)]
    if isinstance(measure, Histogram) and isinstance(measure.values, Bounds):
        grid = range(measure.values.lower_steps, measure.values.upper_steps + 1)
        return [values.count(point) for point in grid]
    if isinstance(measure, Histogram):
        return [sum(value is key or value == key for value in values) for key in measure.values.values]
    if isinstance(measure, ContingencyTable):
        found = Counter(values)
        return [found[cells] for cells in product(*(range(axis.cells) for axis in measure.axes))]
    return [sum(values)]


def passing(plan, rows):
    """The rows that pass every filter and have declared keys."""
    relation, conditions = plan.source, []
    while isinstance(relation, Filter):
        conditions.append(relation.condition)
        relation = relation.source
    for row in rows:
        if (
            all(evaluate(condition, row) is True for condition in conditions)
            and all(row[key.column] in key.values.values for key in plan.keys)
            and all(cell(row, axis) is not None for axis in plan.present)
        ):
            yield row


def spelled(value):
    if value is None:
        return "null|"
    if isinstance(value, bool):
        return "true|" if value else "false|"
    return f"{len(value)}:{value}|" if isinstance(value, str) else f"{value}|"


def lot(salt, purpose, parts, person):
    return digest(f"{salt.value}|{purpose}|" + "".join(spelled(part) for part in parts) + str(person))


def digest(text):
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def kept(contents, limits, person, salt):
    """The contents, of one person's rows, that stay: each is (keys, measures)."""
    numbered = [(number, content) for content, many in Counter(contents).items() for number in range(many)]
    ranked = sorted(numbered, key=lambda row: lot(salt, "row", (row[0], *row[1][0], *row[1][1]), person))
    if limits.rows is not None:
        return [content for _, content in ranked[: limits.rows]]
    groups = sorted({keys for keys, _ in contents}, key=lambda keys: lot(salt, "group", keys, person))
    return [
        content
        for keys in groups[: limits.groups]
        for content in [content for _, content in ranked if content[0] == keys][: limits.rows_per_group]
    ]


def compute(plan, rows, person, limits, salt):
    """What `discreet.data.compute` must return, as a list of lists."""
    owned = defaultdict(list)
    tables = [measure for measure in plan.measures if isinstance(measure, ContingencyTable)]
    axes = dict.fromkeys(axis for table in tables for axis in table.axes)
    for number, row in enumerate(passing(plan, rows)):
        keys = tuple(row[key.column] for key in plan.keys)
        measures = tuple(contribution(row, measure) for measure in plan.measures)
        cells = tuple(cell(row, axis) for axis in axes)
        if person is None:
            owned[number].append((keys, measures, cells))
        elif row[person] is not None:
            owned[row[person]].append((keys, measures, cells))
    brought = {group: [] for group in product(*(key.values.values for key in plan.keys))}
    # Counts of rows and persons have no column of their own, and take no part in a row's content; tables do
    # with the cells of their axes.
    others = CountRows | CountPersons | ContingencyTable
    columns = [not isinstance(measure, others) for measure in plan.measures]
    for owner, contents in owned.items():
        bare = [
            (keys, (*(value for value, has in zip(measures, columns, strict=True) if has), *cells))
            for keys, measures, cells in contents
        ]
        full = dict(zip(bare, contents, strict=True))
        for content in kept(bare, limits or Limits(rows=1), owner, salt):
            keys, measures, _ = full[content]
            brought[keys].append((owner, measures))
    return [
        [
            integer
            for rows_of_group in brought.values()
            for integer in summed(measure, [(owner, values[index]) for owner, values in rows_of_group])
        ]
        for index, measure in enumerate(plan.measures)
    ]
