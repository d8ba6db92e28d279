"""The meaning of plans, evaluated slowly in plain Python: what every engine must agree with."""

from __future__ import annotations

import datetime
import hashlib
import math
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import product

from discreet.data import CountNonNull, CountRows, Filter, Limits
from discreet.data.expressions import And, Arithmetic, Column, Compare, IsIn, IsNull, Literal, Not, Or


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
    assert isinstance(node, Arithmetic)
    return calculate(node, row)


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
    sides = []
    for side in (node.left, node.right):
        value = evaluate(side, row)
        if value is None:
            return None
        value = float(value)
        if isinstance(side, Column):
            if math.isnan(value) or abs(value) > 2.0**67:
                return None
            value = 0.0 if abs(value) < 2.0**-67 else value
        sides.append(value)
    left, right = sides
    if node.operator.value == "/":
        return None if right == 0 else left / right
    return {"+": left + right, "-": left - right, "*": left * right}[node.operator.value]


def steps(value, bounds):
    """The index of a value on its grid, or None where it is absent."""
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
    if isinstance(measure, CountRows):
        return 1
    if isinstance(measure, CountNonNull):
        value = row[measure.column]
        present = value is not None if measure.bounds is None else steps(value, measure.bounds) is not None
        return int(present)
    index = steps(row[measure.column], measure.bounds)
    return 0 if index is None else index - measure.center_steps


def passing(plan, rows):
    """The rows that pass every filter and have declared keys."""
    relation, conditions = plan.source, []
    while isinstance(relation, Filter):
        conditions.append(relation.condition)
        relation = relation.source
    for row in rows:
        if all(evaluate(condition, row) is True for condition in conditions) and all(
            row[key.column] in key.values.values for key in plan.keys
        ):
            yield row


def spelled(value):
    if value is None:
        return "null|"
    if isinstance(value, bool):
        return "true|" if value else "false|"
    return f"{len(value)}:{value}|" if isinstance(value, str) else f"{value}|"


def lot(salt, purpose, parts, person):
    text = f"{salt.value}|{purpose}|" + "".join(spelled(part) for part in parts) + str(person)
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
    for number, row in enumerate(passing(plan, rows)):
        keys = tuple(row[key.column] for key in plan.keys)
        measures = tuple(contribution(row, measure) for measure in plan.measures)
        if person is None:
            owned[number].append((keys, measures))
        elif row[person] is not None:
            owned[row[person]].append((keys, measures))
    totals = {group: [0] * len(plan.measures) for group in product(*(key.values.values for key in plan.keys))}
    for owner, contents in owned.items():
        # CountRows has no column of its own, and takes no part in a row's content.
        bare = [
            (
                keys,
                tuple(
                    m for m, measure in zip(measures, plan.measures, strict=True) if measure != CountRows()
                ),
            )
            for keys, measures in contents
        ]
        full = dict(zip(bare, contents, strict=True))
        for content in kept(bare, limits or Limits(rows=1), owner, salt):
            keys, measures = full[content]
            totals[keys] = [total + one for total, one in zip(totals[keys], measures, strict=True)]
    return [[totals[group][index] for group in totals] for index in range(len(plan.measures))]
