"""Methods and functions build the nodes that their names say."""

from __future__ import annotations

import datetime
import json

import pytest
from hypothesis import given

from data import function_strategies as made
from discreet.data import (
    Type,
    coalesce,
    col,
    concat,
    from_json,
    greatest,
    least,
    literal,
    outline,
    to_json,
    when,
)
from discreet.data.language.description import describe_expression
from discreet.data.language.expressions import Call, Case, Cast, Column, IsNull, Not, When
from discreet.data.language.functions import FUNCTIONS
from discreet.errors import ParameterError, UnsupportedQuery

X = Column(name="x")
x = col("x")
PLAIN = {
    "abs": FUNCTIONS["abs"],
    "floor": FUNCTIONS["floor"],
    "ceil": FUNCTIONS["ceiling"],
    "round": FUNCTIONS["round"],
    "sign": FUNCTIONS["sign"],
    "sqrt": FUNCTIONS["sqrt"],
    "lower": FUNCTIONS["lower"],
    "upper": FUNCTIONS["upper"],
    "strip": FUNCTIONS["trim"],
    "length": FUNCTIONS["length"],
    **{part: FUNCTIONS[part] for part in ("year", "quarter", "month", "day", "day_of_week", "day_of_year")},
    **{part: FUNCTIONS[part] for part in ("hour", "minute")},
}


@pytest.mark.parametrize(("word", "function"), PLAIN.items())
def test_methods_of_one_value(word, function):
    assert getattr(x, word)().expression == Call(function=function, operands=(X,))


@pytest.mark.parametrize(
    ("formula", "function", "operands"),
    [
        (x.round(2), "round", (X, literal(2))),
        (x.round(0), "round", (X,)),
        (x % 3, "modulo", (X, literal(3))),
        (3 % x, "modulo", (literal(3), X)),
        (x.bins(0, 10, 5), "width_bucket", (X, literal(0), literal(10), literal(5))),
        (x.coalesce(0), "coalesce", (X, literal(0))),
        (coalesce(x, 0), "coalesce", (X, literal(0))),
        (x.null_if(0), "nullif", (X, literal(0))),
        (least(x, 1, col("y")), "least", (X, literal(1), Column(name="y"))),
        (greatest(x, 1), "greatest", (X, literal(1))),
        (x.slice(0, 3), "substring", (X, literal(1), literal(3))),
        (x.slice(2), "substring", (X, literal(3))),
        (x.concat("-", x), "concat", (X, literal("-"), X)),
        (concat("-", x), "concat", (literal("-"), X)),
        (x.replace("a", "b"), "replace", (X, literal("a"), literal("b"))),
        (x.starts_with("a"), "starts_with", (X, literal("a"))),
        (x.ends_with("a"), "ends_with", (X, literal("a"))),
        (x.contains("a"), "contains", (X, literal("a"))),
        (x.like("a%"), "like", (X, literal("a%"))),
        (x.truncate("month"), "date_trunc", (literal("month"), X)),
        (x.days_since(col("y")), "date_difference", (X, Column(name="y"))),
    ],
)
def test_methods_of_several_values(formula, function, operands):
    assert formula.expression == Call(function=function, operands=operands)


def test_clipping_keeps_null():
    inner = Call(function="least", operands=(greatest(x, 0).expression, literal(9)))
    present = Not(operand=IsNull(operand=X))
    assert x.clip(0, 9).expression == Case(
        branches=(When(condition=present, value=inner),), otherwise=literal(None)
    )


@pytest.mark.parametrize(
    ("to", "kind"),
    [(int, "integer"), (float, "float"), (str, "text"), (bool, "boolean"), ("date", "date"),
     (Type.TIMESTAMP, "timestamp"),
     ("string", "text"), ("double", "float")],
)  # fmt: skip
def test_casts(to, kind):
    assert x.cast(to).expression == Cast(operand=X, type=kind)


def test_cases():
    child, adult = (x < 18), (x < 65)
    branches = (
        When(condition=child.expression, value=literal("child")),
        When(condition=adult.expression, value=literal("adult")),
    )
    made = when(child).then("child").when(adult).then("adult")
    assert made.expression == Case(branches=branches, otherwise=literal(None))
    assert made.otherwise(col("y")).expression == Case(branches=branches, otherwise=Column(name="y"))
    assert repr(made.otherwise("senior")) == "Formula(case when x < ? then ? when x < ? then ? else ? end)"
    assert repr(made.sum()) == "Aggregate(sum of case when x < ? then ? when x < ? then ? end)"
    assert repr(when(child)) == "Branch(waits for then)"
    assert when(True).then(1).expression.branches[0].condition == literal(True)


@pytest.mark.parametrize(
    "build",
    [
        lambda: x.cast("not a type"),
        lambda: x.cast(datetime.date),
        lambda: x.slice(-1),
        lambda: x.slice("a"),
        lambda: when("x"),
        lambda: when(1),
    ],
)
def test_slips_are_refused(build):
    with pytest.raises(ParameterError):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: least(x),
        coalesce,
        lambda: Call(function="abs", operands=(X, X)),
        lambda: Call(function="abs", operands=[X]),
        lambda: Call(function="abs", operands=("x",)),
        lambda: Case(branches=(), otherwise=X),
        lambda: Case(branches=(X,), otherwise=X),
        lambda: Case(branches=(When(condition=X, value=X),), otherwise=When(condition=X, value=X)),
        lambda: When(condition=X, value=1),
        lambda: Cast(operand="x", type="text"),
    ],
)
def test_nodes_check_their_parts(build):
    with pytest.raises(UnsupportedQuery) as refusal:
        build()
    assert "; " in str(refusal.value)


@given(made.calculated, made.calculated)
def test_calculations_have_one_spelling(one, other):
    text = to_json(one.expression)
    assert from_json(text) == one.expression
    assert (text == to_json(other.expression)) == (one.expression == other.expression)
    describe_expression(one.expression)


def test_no_description_and_no_outline_holds_a_literal():
    formulas = [
        x.like("canary%"),
        when(x == "canary").then("canary").otherwise(8675309),
        x.truncate("canary"),
        x.bins(0, 8675309, 8675309),
        x.coalesce("canary"),
        x.replace("canary", "8675309"),
    ]
    for formula in formulas:
        told = repr(formula) + repr(formula.expression) + json.dumps(outline(formula.expression))
        assert "canary" not in told
        assert "8675309" not in told
