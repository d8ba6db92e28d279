"""Conditions as trees, made at random: how they are written in SQL, and what they mean, by no parser.

A tree is a tuple whose first entry says what it is. `written` puts in as few parentheses as SQL's
precedence allows, so that a parser with another precedence is found out. `truth` evaluates a tree in a row.
"""

from __future__ import annotations

import datetime
import math
from fractions import Fraction

from hypothesis import strategies as st

ROWS = [
    {
        "id": number,
        "age": age,
        "ward": ward,
        "cost": cost,
        "city": city,
        "urgent": urgent,
        "day": day,
    }
    for number, (age, ward, cost, city, urgent, day) in enumerate(
        [
            (30, 1, 10.5, "Taipei", True, datetime.date(2026, 1, 31)),
            (None, 2, 0.0, "Oslo", False, datetime.date(2026, 2, 1)),
            (0, None, -0.0, "it's", None, None),
            (110, 3, None, "", True, datetime.date(1999, 12, 31)),
            (-7, 0, 2.25, None, False, datetime.date(2026, 1, 31)),
            (7, 7, 7.0, "oslo", None, datetime.date(2026, 3, 1)),
            (1, -1, float("nan"), "Oslo", True, None),
            (2, 2, float("inf"), "\\n", False, datetime.date(2026, 1, 1)),
            (40, 4, -2.5, "naïve 日本", True, datetime.date(2026, 1, 30)),
            (None, None, None, None, None, None),
            (3, 2, 0.3, "Taipei", False, datetime.date(2026, 2, 28)),
            (100000, 5, 1e300, "A", True, datetime.date(2025, 1, 31)),
        ]
    )
]

NUMBERS = ["age", "ward", "cost"]
EXACT_NUMBERS = ["0", "1", "2", "7", "30", "0.5", ".25", "2.25", "10.5", "1e2", "4e0", "8."]
OTHER_NUMBERS = ["0.1", "0.3", "1e-3", "99999999999999999999", "1e400", "0.30000000000000001"]
TEXTS = ["Taipei", "Oslo", "it's", "", "\\n", "naïve 日本", "A"]
DAYS = [datetime.date(2026, 1, 31), datetime.date(2026, 2, 1), datetime.date(1999, 12, 31)]
SIGNS = ["=", "<>", "!=", "<", "<=", ">", ">=", "=="]

# How tightly an operator binds; an operand that binds less tightly is put in parentheses.
OR, AND, NOT, COMPARE, ADD, MULTIPLY, UNARY, ATOM = range(8)


def columns(names):
    return st.sampled_from(names).map(lambda name: ("column", name))


def numbers(literals, divisors):
    """Arithmetic over columns and numbers; `divisors` are the literals that may stand under a fraction."""
    literal = st.sampled_from(literals).map(lambda text: ("number", text))
    leaves = st.one_of(columns(NUMBERS), columns(NUMBERS), literal)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(st.just("negative"), inner),
            st.tuples(st.sampled_from(["+", "-", "*"]), inner, inner),
            st.tuples(st.just("/"), inner, st.sampled_from(divisors).map(lambda text: ("number", text)))
            if divisors
            else st.tuples(st.just("/"), inner, inner),
        ),
        max_leaves=4,
    )


def constant(tree):
    return tree[0] == "number" or (tree[0] != "column" and all(constant(part) for part in tree[1:]))


def conditions(literals=(*EXACT_NUMBERS, *OTHER_NUMBERS), divisors=()):
    """Conditions over the columns of `ROWS`."""
    value = numbers(literals, divisors).filter(lambda tree: not constant(tree))
    either = st.one_of(value, st.sampled_from(literals).map(lambda text: ("number", text)))
    listed = st.lists(st.sampled_from(literals).map(lambda text: ("number", text)), min_size=1, max_size=3)
    text = st.sampled_from(TEXTS).map(lambda text: ("text", text))
    day = st.sampled_from(DAYS).map(lambda day: ("day", day))
    atoms = st.one_of(
        st.tuples(st.just("compare"), st.sampled_from(SIGNS), value, either),
        st.tuples(st.just("compare"), st.sampled_from(SIGNS), either, value),
        st.tuples(st.just("compare"), st.sampled_from(SIGNS), columns(["city"]), text),
        st.tuples(st.just("compare"), st.sampled_from(SIGNS), day, columns(["day"])),
        st.tuples(
            st.just("compare"),
            st.sampled_from(SIGNS),
            columns(["urgent"]),
            st.sampled_from([("true",), ("false",)]),
        ),
        st.tuples(st.just("in"), st.booleans(), value, listed),
        st.tuples(st.just("in"), st.booleans(), columns(["city"]), st.lists(text, min_size=1, max_size=3)),
        st.tuples(st.just("between"), st.booleans(), value, either, either),
        st.tuples(st.just("between"), st.booleans(), columns(["day"]), day, day),
        st.tuples(st.just("null"), st.booleans(), st.one_of(value, columns(["city", "urgent", "day"]))),
        columns(["urgent"]),
    )
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.tuples(st.just("and"), inner, inner),
            st.tuples(st.just("or"), inner, inner),
            st.tuples(st.just("not"), inner),
            st.tuples(st.just("compare"), st.sampled_from(["=", "<>"]), inner, inner),
            st.tuples(st.just("null"), st.booleans(), inner),
        ),
        max_leaves=5,
    )


def written(tree):
    """The tree in SQL."""
    return _written(tree)[0]


def _operand(tree, least):
    text, binds = _written(tree)
    return text if binds >= least else f"({text})"


def _written(tree):
    kind, *parts = tree
    if kind == "column":
        return parts[0], ATOM
    if kind == "number":
        return parts[0], ATOM
    if kind == "text":
        return "'" + parts[0].replace("'", "''") + "'", ATOM
    if kind == "day":
        return f"DATE '{parts[0]}'", ATOM
    if kind in {"true", "false"}:
        return kind.upper(), ATOM
    if kind == "negative":
        return f"- {_operand(parts[0], UNARY)}", UNARY
    if kind in "+-*/":
        level = ADD if kind in "+-" else MULTIPLY
        return f"{_operand(parts[0], level)} {kind} {_operand(parts[1], level + 1)}", level
    if kind == "compare":
        sign, left, right = parts
        return f"{_operand(left, ADD)} {sign} {_operand(right, ADD)}", COMPARE
    if kind == "in":
        negated, value, listed = parts
        items = ", ".join(written(item) for item in listed)
        return f"{_operand(value, ADD)} {'NOT ' * negated}IN ({items})", COMPARE
    if kind == "between":
        negated, value, low, high = parts
        ends = f"{_operand(low, ADD)} AND {_operand(high, ADD)}"
        return f"{_operand(value, ADD)} {'NOT ' * negated}BETWEEN {ends}", COMPARE
    if kind == "null":
        negated, value = parts
        return f"{_operand(value, ADD)} IS {'NOT ' * negated}NULL", COMPARE
    if kind == "not":
        return f"NOT {_operand(parts[0], NOT)}", NOT
    level = AND if kind == "and" else OR
    return f"{_operand(parts[0], level)} {kind.upper()} {_operand(parts[1], level + 1)}", level


def truth(tree, row):
    """The value of a tree in a row; a number is a Fraction if it is constant, else an int or a float."""
    kind, *parts = tree
    if kind == "column":
        return row[parts[0]]
    if kind == "number":
        return Fraction(parts[0])
    if kind in {"text", "day"}:
        return parts[0]
    if kind in {"true", "false"}:
        return kind == "true"
    if kind == "negative":
        return _calculated("-", ("number", "0"), parts[0], row)
    if kind in {"+", "-", "*", "/"}:
        return _calculated(kind, *parts, row)
    if kind == "compare":
        sign, left, right = parts
        return _compared(sign, truth(left, row), truth(right, row))
    if kind == "in":
        negated, value, listed = parts
        found = [_compared("=", truth(value, row), truth(item, row)) for item in listed]
        return None if None in found else (True in found) != negated
    if kind == "between":
        negated, value, low, high = parts
        both = _and(
            _compared(">=", truth(value, row), truth(low, row)),
            _compared("<=", truth(value, row), truth(high, row)),
        )
        return None if both is None else both != negated
    if kind == "null":
        negated, value = parts
        return (truth(value, row) is None) != negated
    if kind == "not":
        inner = truth(parts[0], row)
        return None if inner is None else not inner
    left, right = (truth(part, row) for part in parts)
    if kind == "and":
        return _and(left, right)
    return True if True in (left, right) else None if None in (left, right) else False


def _and(left, right):
    return False if False in (left, right) else None if None in (left, right) else True


def _calculated(sign, left, right, row):
    one, other = truth(left, row), truth(right, row)
    if one is None or other is None:
        return None
    if isinstance(one, Fraction) and isinstance(other, Fraction):  # constants are exact
        return {"+": one + other, "-": one - other, "*": one * other}[sign] if sign != "/" else one / other
    one, other = (_double(value, tree[0] == "column") for value, tree in ((one, left), (other, right)))
    if one is None or other is None or (sign == "/" and other == 0):
        return None
    return one / other if sign == "/" else {"+": one + other, "-": one - other, "*": one * other}[sign]


def _double(value, column):
    value = _nearest(value)
    if column and not abs(value) <= 2.0**67:  # NaN too
        return None
    return 0.0 if column and abs(value) < 2.0**-67 else value


def _nearest(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _compared(sign, left, right):
    if left is None or right is None:
        return None
    if isinstance(left, float) or isinstance(right, float):
        left, right = (
            (math.isnan(value), 0 if math.isnan(value) else value)
            for value in (_nearest(left), _nearest(right))
        )
    return {
        "=": left == right,
        "==": left == right,
        "<>": left != right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[sign]
