from __future__ import annotations

import datetime
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from functools import reduce

import numpy as np
import pandas
import pytest
from hypothesis import given

from data import strategies
from discreet.data import Type, col, literal
from discreet.data.language.expressions import (
    LARGEST_DEPTH,
    And,
    Column,
    Compare,
    Comparison,
    IsIn,
    Literal,
    Not,
    children,
    columns_of,
    walk,
)
from discreet.errors import ParameterError, UnsupportedQuery

AGE = Column(name="age")


@pytest.mark.parametrize(
    ("typed", "value", "kind"),
    [
        (None, None, Type.NULL),
        (True, True, Type.BOOLEAN),
        (np.True_, True, Type.BOOLEAN),
        (3, 3, Type.INTEGER),
        (np.int8(3), 3, Type.INTEGER),
        (3.0, 3, Type.INTEGER),
        (0.1, Fraction(1, 10), Type.DECIMAL),
        (Decimal("2.50"), Fraction(5, 2), Type.DECIMAL),
        (Fraction(1, 3), Fraction(1, 3), Type.DECIMAL),
        ("O'Hare", "O'Hare", Type.TEXT),
        (np.str_("x"), "x", Type.TEXT),
        (datetime.date(2026, 1, 2), datetime.date(2026, 1, 2), Type.DATE),
        (datetime.datetime(2026, 1, 2, 3), datetime.datetime(2026, 1, 2, 3), Type.TIMESTAMP),
        (pandas.Timestamp("2026-01-02 03:00:00.000000999"), datetime.datetime(2026, 1, 2, 3), Type.TIMESTAMP),
    ],
)
def test_literals_are_normalized(typed, value, kind):
    made = literal(typed)
    assert made.value == value
    assert type(made.value) is type(value)
    assert made.type is kind


def test_an_instant_is_kept_in_utc():
    zone = datetime.timezone(datetime.timedelta(hours=8))
    made = literal(datetime.datetime(2026, 1, 2, 3, tzinfo=zone))
    assert made.type is Type.INSTANT
    assert made.value == datetime.datetime(2026, 1, 1, 19, tzinfo=datetime.UTC)
    assert made.value.tzinfo is datetime.UTC


def test_equal_numbers_of_different_types_are_different_literals():
    assert literal(True) != literal(1)
    assert literal(datetime.date(2026, 1, 1)) != literal(datetime.datetime(2026, 1, 1))
    assert literal(1.0) == literal(1)
    assert Literal(value=Fraction(2)) == literal(2)


@pytest.mark.parametrize("typed", [float("nan"), float("inf"), Decimal("NaN")])
def test_numbers_that_are_none_are_refused(typed):
    with pytest.raises(ParameterError):
        literal(typed)


@pytest.mark.parametrize(
    "typed", [b"x", [1], object(), 1j, "nul\0", "\ud800", datetime.time(), np.datetime64("2026")]
)
def test_other_literals_are_refused_without_being_shown(typed):
    with pytest.raises(UnsupportedQuery) as refusal:
        literal(typed)
    assert refusal.value.__context__ is None
    assert repr(typed) not in str(refusal.value)


def test_no_printed_form_shows_a_literal():
    canary = "HIV-positive-8675309"
    condition = (col("name") == canary) | col("name").isin([canary]) & ~(col("name") < canary)
    for shown in (repr(condition), str(condition), repr(condition.expression), str(condition.expression)):
        assert canary not in shown
        assert "8675309" not in shown


def test_a_literal_moves_to_the_right():
    for operator in Comparison:
        one = Compare(operator=operator, left=literal(3), right=AGE)
        assert one == Compare(operator=operator.mirrored, left=AGE, right=literal(3))
    assert Compare(operator="<", left=AGE, right=AGE).operator is Comparison.LESS


def test_nested_conjunctions_are_flattened():
    a, b, c = (Compare(operator="=", left=AGE, right=literal(n)) for n in range(3))
    assert And(operands=(And(operands=(a, b)), c)) == And(operands=(a, And(operands=(b, c))))
    assert len(And(operands=(a, And(operands=(b, c)))).operands) == 3


def test_lists_are_sets():
    one, other = (IsIn(operand=AGE, values=tuple(map(literal, listed))) for listed in ([3, 1, 3], [1, 3.0]))
    assert one == other
    assert len(one.values) == 2


@pytest.mark.parametrize(
    "build",
    [
        lambda: IsIn(operand=AGE, values=()),
        lambda: IsIn(operand=AGE, values=(literal(None),)),
        lambda: And(operands=()),
        lambda: IsIn(operand=AGE, values=(AGE,)),
        lambda: IsIn(operand="age", values=(literal(1),)),
        lambda: Not(operand=True),
        lambda: Column(name=""),
        lambda: Column(name=3),
        lambda: Compare(operator="<", left=AGE, right=3),
    ],
)
def test_malformed_nodes_are_refused(build):
    with pytest.raises(UnsupportedQuery):
        build()


def test_deep_expressions_are_refused_when_built():
    node = Compare(operator="=", left=AGE, right=literal(1))
    with pytest.raises(UnsupportedQuery, match="deep"):
        reduce(lambda inner, _: Not(operand=inner), range(LARGEST_DEPTH), node)


def test_large_expressions_are_refused_when_built():
    node = col("age") == 1
    with pytest.raises(UnsupportedQuery, match="parts"):
        reduce(lambda inner, _: inner & ~inner, range(40), node)  # 2^40 nodes, if it were allowed


def test_nodes_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        AGE.name = "other"


@given(strategies.formulas)
def test_depth_and_size_are_those_of_the_tree(formula):
    node = formula.expression

    def depth(node):
        return 1 + max(map(depth, children(node)), default=0)

    assert node.depth == depth(node)
    assert node.size == len(list(walk(node)))
    assert columns_of(node) <= set(strategies.SCHEMA.names)
    assert hash(node) == hash(node)
