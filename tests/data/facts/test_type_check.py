from __future__ import annotations

import datetime

import pytest
from hypothesis import given

from data import strategies
from discreet.data import Type, check_condition, coalesce, col, least, type_of, when
from discreet.data.language.expressions import Compare, IsIn, IsNull, literal
from discreet.data.language.types import ORDERED_TOGETHER, comparable
from discreet.errors import UndeclaredColumn, UnsupportedQuery

SCHEMA = {
    "age": Type.INTEGER,
    "cost": Type.FLOAT,
    "amount": Type.DECIMAL,
    "city": Type.TEXT,
    "flag": Type.BOOLEAN,
    "day": Type.DATE,
    "seen": Type.TIMESTAMP,
    "at": Type.INSTANT,
    "tags": Type.OTHER,
}
UTC = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    "formula",
    [
        col("age") < 3.5,
        col("age") < col("cost"),
        col("cost") * 2 + 1 < col("amount") / col("age"),
        col("city") >= "M",
        col("flag"),
        ~col("flag") & (col("flag") == True),  # noqa: E712
        col("day") < datetime.date(2026, 1, 1),
        col("day") < datetime.datetime(2026, 1, 1, 12),
        col("seen") < datetime.date(2026, 1, 1),
        col("at") >= UTC,
        col("tags").is_null(),
        col("city").isin(["a", "b"]),
        col("age").isin([1, 2.5]),
        col("flag") | True,
    ],
)
def test_conditions_are_admitted(formula):
    check_condition(formula.expression, SCHEMA)


@pytest.mark.parametrize(
    ("formula", "rewrite"),
    [
        (col("age"), "compare it"),
        (col("age") + 1, "compare it"),
        (col("age") == "40", "age = 40"),
        (col("city") == 40, "have its owner declare"),
        (col("flag") == 1, "flag = TRUE"),
        (col("day") < "2026-01-01", "DATE"),
        (col("seen") < "2026-01-01", "TIMESTAMP"),
        (col("at") < datetime.datetime(2026, 1, 1), "time zone"),
        (col("day") < col("seen"), r"CAST\(seen AS DATE\)"),
        (col("tags") == "x", "IS NULL"),
        (col("age") == None, "IS NULL"),  # noqa: E711
        (col("age").isin(["x"]), "one type"),
        (col("city") + "x" == "y", "numbers"),
        (~col("age"), "compare it"),
        (col("age") & col("flag"), "compare it"),
    ],
)
def test_refusals_say_what_to_write(formula, rewrite):
    with pytest.raises(UnsupportedQuery, match=rewrite):
        check_condition(formula.expression, SCHEMA)


@pytest.mark.parametrize(
    "expression",
    [
        Compare(operator="=", left=literal(1), right=literal(1)),
        IsNull(operand=literal(1)),
        IsNull(operand=literal(None)),
        IsIn(operand=literal(1), values=(literal(1),)),
        "1 = 1; DROP TABLE rows",
    ],
)
def test_constants_and_foreign_things_are_refused(expression):
    with pytest.raises(UnsupportedQuery):
        check_condition(expression, SCHEMA)


def test_an_unknown_column_is_named_with_what_is_there():
    with pytest.raises(UndeclaredColumn, match="'aeg'; known columns: 'age'"):
        type_of((col("aeg") < 3).expression, SCHEMA)
    with pytest.raises(UndeclaredColumn, match="and 5 more"):
        type_of(col("zzzz").expression, {f"column {number}": Type.TEXT for number in range(25)})


def test_no_refusal_shows_a_literal():
    canary = "okapi-in-the-question"
    for formula in (col("age") == canary, col("flag") & (col("age") < canary), col("age").isin([canary])):
        with pytest.raises(UnsupportedQuery) as refusal:
            check_condition(formula.expression, SCHEMA)
        assert "8675309" not in str(refusal.value)


def test_arithmetic_that_could_overflow_is_refused():
    formula = col("cost")
    for _ in range(6):
        formula = formula * col("cost")
    check_condition((formula > 1).expression, SCHEMA)
    for worse in (formula * col("cost") * col("cost") * 2**900, formula / 10**280):
        with pytest.raises(UnsupportedQuery, match="fewer factors"):
            check_condition((worse * col("cost") > 1).expression, SCHEMA)


def test_types_compare_within_their_family():
    for one in Type:
        for other in Type:
            together = any({one, other} <= family for family in ORDERED_TOGETHER)
            assert comparable(one, other) == together


@given(strategies.formulas)
def test_generated_conditions_are_admitted(formula):
    schema = {**dict.fromkeys(["age", "level"], Type.INTEGER), strategies.COST: Type.FLOAT}
    schema |= {strategies.CITY: Type.TEXT, "flag": Type.BOOLEAN, "amount": Type.DECIMAL}
    schema |= {"day": Type.DATE, "seen": Type.TIMESTAMP}
    check_condition(formula.expression, schema)


@pytest.mark.parametrize(
    ("formula", "kind"),
    [
        (col("age") + 1, Type.INTEGER),
        (col("age") * col("age") - 2, Type.INTEGER),
        (-col("age"), Type.INTEGER),
        (col("age") + 0.5, Type.FLOAT),
        (col("age") + 2**60, Type.FLOAT),
        (col("age") / 2, Type.FLOAT),
        (col("cost") + 1, Type.FLOAT),
        (col("day") - col("day"), Type.INTEGER),
        (col("age").coalesce(0), Type.INTEGER),
        (col("age").coalesce(2**70), Type.FLOAT),
        (col("age").null_if(0.5), Type.INTEGER),
        (col("amount").abs(), Type.FLOAT),
        (col("age").round(2), Type.INTEGER),
        (col("cost").round(2), Type.FLOAT),
        (col("cost").round(-2), Type.INTEGER),
        (col("seen").truncate("month"), Type.DATE),
        (col("at").truncate("day"), Type.DATE),
        (col("at").truncate("hour"), Type.INSTANT),
        (when(col("flag")).then(None).otherwise(col("seen")), Type.TIMESTAMP),
        (when(col("flag")).then(datetime.date(2026, 1, 1)).otherwise(col("seen")), Type.TIMESTAMP),
        (least(col("at"), UTC), Type.INSTANT),
        (col("flag").coalesce(False), Type.BOOLEAN),
    ],
)
def test_types_of_calculations(formula, kind):
    assert type_of(formula.expression, SCHEMA) is kind


@pytest.mark.parametrize(
    ("formula", "rewrite"),
    [
        (least(col("at"), col("seen")), "one type"),
        (coalesce(col("tags"), col("tags")), "IS NULL"),
        (col("at").cast("integer"), "convert it first to"),
        (col("seen").cast("instant"), "convert it first to"),
        (col("tags").cast("text"), "integers, dates or booleans"),
        (col("seen") - col("seen"), "DATEDIFF"),
        (col("day") + 1, "DATEDIFF"),
        (when(col("age")).then(1), "CASE WHEN age"),
        (when(col("flag")).then(None), "at least one other"),
        (col("age").bins(0, 1, 1001), "1 to 1000"),
        (col("city").coalesce(None), "COALESCE"),
    ],
)
def test_refusals_of_calculations_say_what_to_write(formula, rewrite):
    with pytest.raises(UnsupportedQuery, match=rewrite) as refusal:
        type_of(formula.expression, SCHEMA)
    assert "; " in str(refusal.value)


def test_what_would_grow_too_long_is_refused():
    deep = col("cost")
    for _ in range(7):
        deep = deep.round() / 3
    with pytest.raises(UnsupportedQuery, match="nest fewer"):
        type_of(deep.expression, SCHEMA)
    twice = col("city")
    for _ in range(10):
        twice = twice.concat(twice)
    with pytest.raises(UnsupportedQuery, match="join fewer"):
        type_of(twice.expression, SCHEMA)
    longer = col("city")
    for _ in range(4):
        longer = longer.replace("a", "aaaaaaaaa")
    with pytest.raises(UnsupportedQuery, match="join fewer"):
        type_of(longer.expression, SCHEMA)
    wide = col("age") + 0
    for _ in range(7):
        wide = wide + col("age")
    type_of(wide.bins(0, 1, 1000).expression, SCHEMA)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (col("city") < datetime.date(2026, 1, 1), r"'city' is text, .* CAST\(city AS DATE\), .*Dates\("),
        (col("city").year() == 2026, r"YEAR takes dates .*'city' is text, .* CAST\(city AS DATE\)"),
        (col("city") > 3, r"'city' is text, .* CAST\(city AS DOUBLE\), .*Bounds\("),
        (col("city").isin([3, 4]), r"IN compares text with integer; .*'city' is text"),
    ],
)
def test_a_column_that_is_text_for_want_of_a_declaration_is_named(formula, words):
    with pytest.raises(UnsupportedQuery, match=words):
        type_of(formula.expression, SCHEMA)


def test_an_example_is_not_what_was_written():
    """MONTH(day) of text was answered with: write MONTH(day)."""
    for name, example in (("day", False), ("note", True)):
        with pytest.raises(UnsupportedQuery, match=rf"CAST\({name} AS DATE\)") as caught:
            type_of(col(name).month().expression, {name: Type.TEXT})
        assert ("write MONTH(day)" in str(caught.value)) is example
