"""Ranges under conditions against enumeration: every value that meets them, none that does not."""

from __future__ import annotations

import datetime
import operator
from fractions import Fraction
from itertools import product
from math import ceil, floor, inf

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.data import Bounds, Dates, Keys, Type
from discreet.data.facts.conditions.monotone import ends, monotone_in, within
from discreet.data.language.column_facts import ColumnFacts
from discreet.data.language.expressions import (
    Arithmetic,
    Call,
    Column,
    Compare,
    Comparison,
    Literal,
)
from discreet.data.language.functions import FUNCTIONS

AGE = Column(name="age")
SIGNS = {
    Comparison.EQUAL: operator.eq,
    Comparison.LESS: operator.lt,
    Comparison.AT_MOST: operator.le,
    Comparison.GREATER: operator.gt,
    Comparison.AT_LEAST: operator.ge,
    Comparison.UNEQUAL: operator.ne,
}
WHOLE = ColumnFacts(type=Type.INTEGER, bounds=Bounds(-10, 20))
HALVES = [Fraction(n, 2) for n in range(-24, 46)]


def number(value):
    return Literal(value=Fraction(value))


def stated(sign, value):
    return Compare(operator=sign, left=AGE, right=number(value))


def met(conditions, values):
    return [x for x in values if all(SIGNS[sign](x, value) for sign, value in conditions)]


@pytest.mark.parametrize("sign", [sign for sign in SIGNS if sign is not Comparison.UNEQUAL])
def test_one_condition_on_integers_leaves_just_those_that_meet_it(sign):
    """``age < 4.5`` leaves 4, ``age > 4.5`` leaves 5; a range of one value is two wide, as bounds must be."""
    for value in HALVES:
        left = met([(sign, value)], range(-10, 21))
        found = within("age", [stated(sign, value)], WHOLE)
        if not left:
            assert found == {}
        else:
            assert found["age"].bounds == Bounds(left[0], max(left[-1], left[0] + 1))


@given(st.lists(st.tuples(st.sampled_from(list(SIGNS)), st.sampled_from(HALVES)), min_size=1, max_size=4))
def test_several_conditions_on_integers_lose_no_value_and_refuse_only_if_none_is_left(conditions):
    left = met(conditions, range(-10, 21))
    found = within("age", [stated(*one) for one in conditions], WHOLE)
    if left:
        assert found["age"].bounds.lower <= left[0]
        assert found["age"].bounds.upper >= left[-1]
    ranged = [one for one in conditions if one[0] is not Comparison.UNEQUAL]
    inside = met(ranged, range(-10, 21))
    if found == {}:
        assert not inside
    elif ranged and inside:
        assert found["age"].bounds == Bounds(inside[0], max(inside[-1], inside[0] + 1))


@given(st.lists(st.tuples(st.sampled_from(list(SIGNS)), st.sampled_from(HALVES)), min_size=1, max_size=3))
def test_reals_lose_no_value_on_their_grid(conditions):
    facts = ColumnFacts(type=Type.FLOAT, bounds=Bounds(-12, 20, step=4))
    values = [Fraction(n, 8) for n in range(-96, 161)]
    left = met(conditions, values)
    found = within("age", [stated(*one) for one in conditions], facts)
    if left:
        assert found["age"].bounds.lower <= left[0]
        assert found["age"].bounds.upper >= left[-1]


def test_listed_keys_and_single_ends_bound_as_declared_ranges_do():
    keys = ColumnFacts(type=Type.INTEGER, keys=Keys([3, 9, 30, None]))
    assert within("age", [stated(Comparison.GREATER, 4)], keys)["age"].bounds == Bounds(5, 30)
    assert within("age", [stated(Comparison.LESS, 4.5)], keys)["age"].bounds == Bounds(3, 4)
    open_above = ColumnFacts(type=Type.INTEGER, least=Fraction(2))
    assert within("age", [stated(Comparison.LESS, 9)], open_above)["age"].bounds == Bounds(2, 8)
    assert within("age", [stated(Comparison.GREATER, 9)], open_above) == {"age": open_above}
    open_below = ColumnFacts(type=Type.INTEGER, most=Fraction(7))
    assert within("age", [stated(Comparison.AT_LEAST, 3)], open_below)["age"].bounds == Bounds(3, 7)
    nothing = ColumnFacts(type=Type.TEXT)
    assert within("age", [stated(Comparison.LESS, 9)], nothing) == {"age": nothing}
    assert within("age", [], WHOLE) == {"age": WHOLE}


DAYS = [datetime.date(2024, 2, 25) + datetime.timedelta(days=n) for n in range(12)]


@pytest.mark.parametrize("sign", [sign for sign in SIGNS if sign is not Comparison.UNEQUAL])
def test_days_are_left_as_they_meet_a_condition(sign):
    facts = ColumnFacts(type=Type.DATE, dates=Dates(DAYS[2], DAYS[-3]))
    for day in DAYS:
        condition = Compare(operator=sign, left=AGE, right=Literal(value=day))
        left = met([(sign, day)], DAYS[2:-2])
        found = within("age", [condition], facts)
        expected = {"age": ColumnFacts(type=Type.DATE, dates=Dates(left[0], left[-1]))} if left else {}
        assert found == expected


@pytest.mark.parametrize("sign", [sign for sign in SIGNS if sign is not Comparison.UNEQUAL])
@pytest.mark.parametrize("hour", [0, 13])
def test_days_of_times_hold_every_time_that_meets_a_condition(sign, hour):
    facts = ColumnFacts(type=Type.TIMESTAMP, dates=Dates(DAYS[2], DAYS[-3]))
    times = [datetime.datetime(d.year, d.month, d.day, h) for d, h in product(DAYS[2:-2], (0, 1, 13, 14, 23))]
    for day in DAYS:
        moment = datetime.datetime(day.year, day.month, day.day, hour)
        condition = Compare(operator=sign, left=AGE, right=Literal(value=moment))
        left = [time.date() for time in met([(sign, moment)], times)]
        found = within("age", [condition], facts)
        if left:
            assert found["age"].dates.first <= left[0]
            assert found["age"].dates.last >= left[-1]
            if sign is Comparison.LESS:
                assert found["age"].dates.last == left[-1]


def calculated(shape, constant):
    """An expression that is monotone in age, and the same in Python."""
    several = number(constant)

    def two(sign, left, right):
        return Arithmetic(operator=sign, left=left, right=right)

    return {
        "plus": (two("+", AGE, several), lambda x: x + constant),
        "from": (two("-", several, AGE), lambda x: constant - x),
        "less": (two("-", AGE, several), lambda x: x - constant),
        "times": (two("*", several, AGE), lambda x: constant * x),
        "by": (two("/", AGE, several), lambda x: x / constant),
        "floor": (
            two("*", Call(function=FUNCTIONS["floor"], operands=(two("/", AGE, several),)), several),
            lambda x: floor(x / constant) * constant,
        ),
        "ceiling": (
            two("-", several, Call(function=FUNCTIONS["ceiling"], operands=(two("/", AGE, several),))),
            lambda x: constant - ceil(x / constant),
        ),
        "bucket": (
            Call(function=FUNCTIONS["width_bucket"], operands=(AGE, number(-4), number(16), number(5))),
            lambda x: sum(x >= mark for mark in (-4, 0, 4, 8, 12, 16)),
        ),
    }[shape]


@pytest.mark.parametrize("shape", ["plus", "from", "less", "times", "by", "floor", "ceiling", "bucket"])
@settings(max_examples=40)
@given(
    constant=st.sampled_from([-7, -2, 2, 5]),
    low=st.sampled_from(HALVES),
    high=st.sampled_from(HALVES),
    signs=st.tuples(
        st.sampled_from([Comparison.GREATER, Comparison.AT_LEAST]),
        st.sampled_from([Comparison.LESS, Comparison.AT_MOST]),
    ),
)
def test_ends_of_calculations_are_their_least_and_largest_values(shape, constant, low, high, signs):
    expression, in_python = calculated(shape, constant)
    assert monotone_in(expression) == "age"
    conditions = [(signs[0], low), (signs[1], high)]
    values = met(conditions, range(-30, 60))
    assume(values)
    results = [float(in_python(x)) for x in values]
    found = ends(expression, [stated(*one) for one in conditions], {"age": WHOLE})
    assert found == (min(results), max(results))


def test_an_expression_of_two_columns_or_a_reciprocal_is_monotone_in_none():
    other = Column(name="other")
    assert monotone_in(Arithmetic(operator="+", left=AGE, right=other)) is None
    assert monotone_in(Arithmetic(operator="/", left=number(1), right=AGE)) is None
    assert monotone_in(Call(function=FUNCTIONS["abs"], operands=(AGE,))) is None
    assert monotone_in(AGE) == "age"


def test_nothing_is_known_of_a_product_with_null_or_of_a_quotient_by_zero():
    nothing = Literal(value=None)
    below = [stated(Comparison.LESS, 9), stated(Comparison.GREATER, 2)]
    for expression in (
        Arithmetic(operator="*", left=AGE, right=nothing),
        Arithmetic(operator="+", left=nothing, right=AGE),
        Arithmetic(operator="/", left=AGE, right=number(0)),
    ):
        assert ends(expression, below, {"age": WHOLE}) == (-inf, inf)


@pytest.mark.parametrize("far", [2**53 + 2, 2**80])
def test_nothing_is_said_beyond_what_doubles_hold(far):
    twice = Arithmetic(operator="*", left=AGE, right=number(2))
    assert ends(twice, [stated(Comparison.LESS, far)], {"age": WHOLE}) == (-inf, inf)
    assert ends(twice, [stated(Comparison.AT_MOST, 2**52)], {"age": WHOLE}) == (-inf, 2.0**53)
    less = Arithmetic(operator="-", left=AGE, right=number(1))
    more = Arithmetic(operator="+", left=AGE, right=number(1))
    assert ends(less, [stated(Comparison.AT_MOST, 2**53)], {"age": WHOLE}) == (-inf, 2.0**53 - 1)
    assert ends(more, [stated(Comparison.AT_LEAST, -(2**53))], {"age": WHOLE}) == (1 - 2.0**53, inf)
    assert ends(twice, [stated(Comparison.AT_MOST, 2**52 + 1)], {"age": WHOLE}) == (-inf, inf)


def test_reals_below_a_condition_are_below_the_double_before_it():
    facts = ColumnFacts(type=Type.FLOAT, bounds=Bounds(-10, 20, step=1))
    whole = Call(function=FUNCTIONS["floor"], operands=(AGE,))
    assert ends(whole, [stated(Comparison.LESS, 4)], {"age": facts}) == (-inf, 3)
    assert ends(whole, [stated(Comparison.AT_MOST, 4)], {"age": facts}) == (-inf, 4)
    assert ends(whole, [stated(Comparison.GREATER, 4)], {"age": facts}) == (4, inf)
    assert ends(whole, [stated(Comparison.EQUAL, 4.5)], {"age": facts}) == (4, 4)
