"""Which conditions can hold together, against rows tried one by one."""

from __future__ import annotations

import datetime
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import Type
from discreet.data.facts.condition_regions import possible_truths
from discreet.data.language.expressions import And, Column, Compare, IsIn, IsNull, Not, Or, literal

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
    beyond = Compare(operator="<", left=Column(name="x"), right=literal(10**400))
    assert possible_truths([one, beyond], {"x": Type.FLOAT}) is None


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        (Compare(operator="<", left=Column(name="x"), right=literal("b")), Type.TEXT),
        (Compare(operator="=", left=Column(name="x"), right=Column(name="y")), Type.INTEGER),
        (Compare(operator="=", left=Column(name="z"), right=literal(1)), Type.INTEGER),
        (Compare(operator="=", left=Column(name="x"), right=literal("1")), Type.INTEGER),
        (Column(name="x"), Type.BOOLEAN),
    ],
)
def test_what_is_no_comparison_with_a_constant_is_left_alone(condition, kind):
    assert possible_truths([condition], {"x": kind, "y": kind}) is None


def test_too_many_regions_are_left_alone():
    names = [f"x{place}" for place in range(8)]
    several = [
        Compare(operator="<", left=Column(name=name), right=literal(k)) for name in names for k in range(3)
    ]
    assert possible_truths(several, dict.fromkeys(names, Type.INTEGER)) is None
