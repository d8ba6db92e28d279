"""What conditions compare, and the lines of their values."""

from __future__ import annotations

import datetime
from fractions import Fraction

from discreet.data import Type
from discreet.data.facts.conditions.compared_values import compared, line_of
from discreet.data.language.expressions import (
    Arithmetic,
    Column,
    Compare,
    Comparison,
    IsIn,
    IsNull,
    literal,
)

SCHEMA = {"x": Type.FLOAT, "n": Type.INTEGER, "d": Type.DECIMAL, "day": Type.DATE, "city": Type.TEXT}
X, N = Column(name="x"), Column(name="n")


def test_sums_and_products_are_one_value_in_either_order():
    one = Arithmetic(operator="*", left=X, right=Arithmetic(operator="+", left=N, right=literal(2)))
    other = Arithmetic(operator="*", left=Arithmetic(operator="+", left=literal(2), right=N), right=X)
    first, second = (
        compared(Compare(operator="<", left=side, right=literal(3)), SCHEMA) for side in (one, other)
    )
    assert first == second
    assert first.kind is Type.FLOAT
    quotients = [Arithmetic(operator="/", left=a, right=b) for a, b in ((X, N), (N, X))]
    values = [
        compared(Compare(operator="<", left=side, right=literal(3)), SCHEMA).value for side in quotients
    ]
    assert values[0] != values[1]


def test_a_pair_is_compared_from_either_side():
    less = compared(Compare(operator="<", left=X, right=N), SCHEMA)
    more = compared(Compare(operator=">", left=N, right=X), SCHEMA)
    assert less == more
    line = line_of([less])
    assert line.regions == (0, 1, 2, None)
    assert [less.truth(region, line) for region in line.regions].count(True) == 1


def test_constants_are_what_they_are_compared_as():
    tenth = compared(Compare(operator="=", left=X, right=literal(Fraction(1, 10))), SCHEMA)
    assert tenth.constants == (Fraction(0.1),)
    exact = compared(Compare(operator="=", left=Column(name="d"), right=literal(Fraction(1, 10))), SCHEMA)
    assert exact.constants == (Fraction(1, 10),)
    noon = datetime.datetime(2024, 1, 1, 12)
    day = compared(Compare(operator="<", left=Column(name="day"), right=literal(noon)), SCHEMA)
    assert line_of([day]).regions == (0, 2, None)  # no day is a noon


def test_a_line_has_regions_that_hold_a_value():
    listed = compared(IsIn(operand=N, values=(literal(1), literal(2), literal(5))), SCHEMA)
    assert line_of([listed]).regions == (0, 1, 3, 4, 5, 6, None)
    assert line_of([listed]).place(Fraction(5)) == 5
    missing = compared(IsNull(operand=Column(name="city")), SCHEMA)
    assert line_of([missing]).regions == (0, None)
    assert missing.relation is None
    assert missing.truth(None, line_of([missing])) is True


def test_constants_that_engines_may_confuse_have_no_line():
    close = [
        compared(Compare(operator=">", left=Column(name="d"), right=literal(number)), SCHEMA)
        for number in (Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30))
    ]
    assert line_of(close) is None
    assert line_of(close[:1]).regions == (0, 1, 2, None)


def test_any_condition_is_a_comparison_with_true():
    flag = compared(Column(name="flag"), {"flag": Type.BOOLEAN})
    assert (flag.relation, flag.constants) == (Comparison.EQUAL, (Fraction(1),))
    line = line_of([flag])
    assert [flag.truth(region, line) for region in line.regions] == [False, True, None]
