"""Which conditions can hold together, against rows tried one by one."""

from __future__ import annotations

import datetime
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import Type
from discreet.data.facts.conditions.condition_regions import possible_truths
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    Call,
    Column,
    Compare,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
    literal,
)
from effort import examples

NUMBERS = st.integers(-2, 12).map(lambda n: Fraction(n, 2))
OPERATORS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
ROWS = {
    Type.INTEGER: [*range(-3, 9), None],
    Type.FLOAT: [*(Fraction(n, 4) for n in range(-12, 36)), float("inf"), None],
}


def comparisons():
    compare = st.builds(
        lambda operator, number: Compare(operator=operator, left=Column(name="x"), right=literal(number)),
        OPERATORS,
        NUMBERS,
    )
    member = st.builds(
        lambda numbers: IsIn(operand=Column(name="x"), values=tuple(map(literal, numbers))),
        st.sets(NUMBERS, min_size=1, max_size=3),
    )
    return compare | member | st.just(IsNull(operand=Column(name="x")))


def conditions():
    return st.recursive(
        comparisons(),
        lambda inner: (
            st.builds(lambda one: Not(operand=one), inner)
            | st.builds(lambda one, other: And(operands=(one, other)), inner, inner)
            | st.builds(lambda one, other: Or(operands=(one, other)), inner, inner)
        ),
        max_leaves=5,
    )


def truth(node, x):
    """SQL's three-valued logic, written once more."""
    if isinstance(node, Not):
        inner = truth(node.operand, x)
        return None if inner is None else not inner
    if isinstance(node, And):
        parts = [truth(part, x) for part in node.operands]
        return False if False in parts else None if None in parts else True
    if isinstance(node, Or):
        parts = [truth(part, x) for part in node.operands]
        return True if True in parts else None if None in parts else False
    if isinstance(node, IsNull):
        return x is None
    if x is None:
        return None
    if isinstance(node, IsIn):
        return x in [value.value for value in node.values]
    number = node.right.value
    return {
        "=": x == number, "<>": x != number, "<": x < number,
        "<=": x <= number, ">": x > number, ">=": x >= number,
    }[node.operator.value]  # fmt: skip


@pytest.mark.parametrize("kind", [Type.INTEGER, Type.FLOAT])
@settings(max_examples=150, deadline=None)
@given(several=st.lists(conditions(), min_size=1, max_size=4))
def test_what_can_hold_together_is_what_some_row_shows(kind, several):
    shown = {tuple(truth(one, x) is True for one in several) for x in ROWS[kind]}
    assert possible_truths(several, {"x": kind}) == sorted(row for row in shown if any(row))


def test_several_columns_texts_dates_and_truth_values():
    schema = {"city": Type.TEXT, "day": Type.DATE, "paid": Type.BOOLEAN}
    bern = Compare(operator="=", left=Column(name="city"), right=literal("Bern"))
    after = Compare(operator=">=", left=Column(name="day"), right=literal(datetime.date(2024, 1, 1)))
    paid = Compare(operator="=", left=Column(name="paid"), right=literal(True))
    assert len(possible_truths([bern, after, paid], schema)) == 7
    assert possible_truths([bern, Not(operand=bern)], schema) == [(False, True), (True, False)]


def test_times_lie_between_days():
    day, time = datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1, 12, 30)
    moments = [
        Compare(operator=">=", left=Column(name="at"), right=literal(value))
        for value in (day, time, datetime.date(2024, 1, 2))
    ]
    assert possible_truths(moments, {"at": Type.TIMESTAMP}) == [
        (True, False, False),
        (True, True, False),
        (True, True, True),
    ]


def test_constants_that_are_one_double_are_one_constant():
    one = Compare(operator="=", left=Column(name="x"), right=literal(Fraction(1, 10)))
    same = literal(Fraction(1, 10) + Fraction(1, 10**25))
    other = Compare(operator="=", left=Column(name="x"), right=same)
    assert possible_truths([one, other], {"x": Type.FLOAT}) == [(True, True)]
    assert possible_truths([one, other], {"x": Type.DECIMAL}) is None


def test_beyond_all_doubles_there_are_infinity_and_nan():
    below, above = (
        Compare(operator=operator, left=Column(name="x"), right=literal(10**400)) for operator in "<>"
    )
    assert possible_truths([below, above], {"x": Type.FLOAT}) == [(False, True), (True, False)]
    assert possible_truths([below, above, literal(True)], {"x": Type.FLOAT})[0] == (False, False, True)


CALCULATED = {
    "x + y": Arithmetic(operator="+", left=Column(name="x"), right=Column(name="y")),
    "y + x": Arithmetic(operator="+", left=Column(name="y"), right=Column(name="x")),
    "x * y": Arithmetic(operator="*", left=Column(name="x"), right=Column(name="y")),
    "x / y": Arithmetic(operator="/", left=Column(name="x"), right=Column(name="y")),
}
PAIRS = list(product([*range(-3, 4), None], repeat=2))


def calculations():
    """Conditions on what is calculated from two columns, and on the columns themselves."""
    values = [*CALCULATED.values(), Column(name="x"), Column(name="y")]
    constant = st.builds(
        lambda operator, value, number: Compare(operator=operator, left=value, right=literal(number)),
        OPERATORS,
        st.sampled_from(values),
        st.integers(-4, 4).map(lambda n: Fraction(n, 2)),
    )
    pair = st.builds(
        lambda operator, sides: Compare(operator=operator, left=sides[0], right=sides[1]),
        OPERATORS,
        st.sampled_from([(values[4], values[5]), (values[5], values[4]), (values[3], values[4])]),
    )
    missing = st.sampled_from(values).map(lambda value: IsNull(operand=value))
    leaves = constant | pair | missing
    return (
        leaves
        | st.builds(lambda one: Not(operand=one), leaves)
        | st.builds(
            lambda kind, one, other: kind(operands=(one, other)), st.sampled_from([And, Or]), leaves, leaves
        )
    )


def value(node, x, y):
    """What is calculated, in fractions: quotients of small numbers compare as their doubles do."""
    if isinstance(node, Column):
        return {"x": x, "y": y}[node.name]
    if isinstance(node, Literal):
        return node.value
    left, right = value(node.left, x, y), value(node.right, x, y)
    if left is None or right is None or (node.operator.value == "/" and right == 0):
        return None
    return {"+": lambda: left + right, "*": lambda: left * right, "/": lambda: Fraction(left, right)}[
        node.operator.value
    ]()


def holds(node, x, y):
    if isinstance(node, Not | And | Or):
        parts = [holds(part, x, y) for part in ([node.operand] if isinstance(node, Not) else node.operands)]
        if isinstance(node, Not):
            return None if parts[0] is None else not parts[0]
        decisive = isinstance(node, Or)
        return decisive if decisive in parts else None if None in parts else not decisive
    if isinstance(node, IsNull):
        return value(node.operand, x, y) is None
    left, right = value(node.left, x, y), value(node.right, x, y)
    if left is None or right is None:
        return None
    return {
        "=": left == right, "<>": left != right, "<": left < right,
        "<=": left <= right, ">": left > right, ">=": left >= right,
    }[node.operator.value]  # fmt: skip


@settings(max_examples=examples(150), deadline=None)
@given(several=st.lists(calculations(), min_size=1, max_size=5), given=st.lists(calculations(), max_size=2))
def test_no_class_of_rows_is_missed_where_values_are_calculated(several, given):
    """Every row that passes the filters is in a class that is said to be possible."""
    schema = {"x": Type.INTEGER, "y": Type.INTEGER}
    shown = {
        tuple(holds(one, x, y) is True for one in several)
        for x, y in PAIRS
        if all(holds(one, x, y) is True for one in given)
    }
    assert {row for row in shown if any(row)} <= set(possible_truths(several, schema, given))


def test_conditions_on_one_calculation_cut_one_line():
    schema = {"weight": Type.FLOAT, "height": Type.FLOAT}
    square = Arithmetic(operator="*", left=Column(name="height"), right=Column(name="height"))
    mass = Arithmetic(operator="/", left=Column(name="weight"), right=square)
    bands = [Compare(operator=">", left=mass, right=literal(Fraction(number, 2))) for number in (37, 50, 60)]
    assert possible_truths(bands, schema) == [
        (True, False, False),
        (True, True, False),
        (True, True, True),
    ]
    both = [Compare(operator=">", left=CALCULATED[name], right=literal(1)) for name in ("x + y", "y + x")]
    assert possible_truths(both, {"x": Type.FLOAT, "y": Type.FLOAT}) == [(True, True)]
    known, unknown = Not(operand=IsNull(operand=mass)), IsNull(operand=mass)
    assert possible_truths([bands[0], known, unknown], schema) == [
        (False, False, True),
        (False, True, False),
        (True, True, False),
    ]


def test_what_two_columns_are_to_each_other_is_one_of_three():
    less = Compare(operator="<", left=Column(name="x"), right=Column(name="y"))
    mirrored = Compare(operator=">", left=Column(name="y"), right=Column(name="x"))
    equal = Compare(operator="=", left=Column(name="y"), right=Column(name="x"))
    schema = {"x": Type.DATE, "y": Type.DATE}
    assert possible_truths([less, mirrored, equal, Not(operand=less)], schema) == [
        (False, False, False, True),
        (False, False, True, True),
        (True, True, False, False),
    ]


def test_text_is_ordered_by_code_point():
    before = [Compare(operator="<", left=Column(name="x"), right=literal(text)) for text in ("b", "B")]
    assert possible_truths(before, {"x": Type.TEXT}) == [(True, False), (True, True)]


def test_what_is_no_comparison_is_true_false_or_null():
    paid = Column(name="paid")
    like = Call(function="contains", operands=(Column(name="city"), literal("er")))
    schema = {"paid": Type.BOOLEAN, "city": Type.TEXT}
    same = Compare(operator="=", left=paid, right=literal(True))
    assert possible_truths([paid, same, Not(operand=paid)], schema) == [
        (False, False, True),
        (True, True, False),
    ]
    assert len(possible_truths([like, paid, Not(operand=like)], schema)) == 5


def test_decimals_are_told_apart_if_doubles_can():
    cents = [
        Compare(operator=operator, left=Column(name="x"), right=literal(Fraction(number, 100)))
        for operator, number in (("<", 5), ("=", 5), (">", 7))
    ]
    assert possible_truths(cents, {"x": Type.DECIMAL}) == [
        (False, False, True),
        (False, True, False),
        (True, False, False),
    ]


def test_integers_beyond_doubles_are_told_apart_in_columns_alone():
    below, above = (
        Compare(operator=operator, left=Column(name="x"), right=literal(2**60 + number))
        for operator, number in (("<", 1), (">", 0))
    )
    assert len(possible_truths([below, above], {"x": Type.INTEGER})) == 2
    calculated = [
        Compare(operator=one.operator, left=CALCULATED["x + y"], right=one.right) for one in (below, above)
    ]
    assert possible_truths(calculated, {"x": Type.INTEGER, "y": Type.INTEGER}) is None


def test_a_common_filter_leaves_out_what_it_excludes():
    sex = [Compare(operator="=", left=Column(name="sex"), right=literal(letter)) for letter in "FM"]
    old = Compare(operator=">", left=Column(name="age"), right=literal(64))
    schema = {"sex": Type.TEXT, "age": Type.INTEGER, "city": Type.TEXT}
    listed = IsIn(operand=Column(name="sex"), values=(literal("F"), literal("M")))
    elsewhere = Compare(operator="=", left=Column(name="city"), right=literal("Bern"))
    assert len(possible_truths([*sex, old], schema)) == 5
    assert len(possible_truths([*sex, old], schema, [listed, elsewhere])) == 4


def test_too_many_regions_are_left_alone():
    names = [f"x{place}" for place in range(10)]
    several = [
        Compare(operator="<", left=Column(name=name), right=literal(k)) for name in names for k in range(3)
    ]
    assert possible_truths(several, dict.fromkeys(names, Type.INTEGER)) is None
    flags = [Column(name=f"flag{place}") for place in range(31)]
    assert possible_truths(flags, {flag.name: Type.BOOLEAN for flag in flags}) is None
