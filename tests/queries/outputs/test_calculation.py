"""What an expression of an answer can be holds what it is for any statistics within their intervals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.data.language.expressions import Column
from discreet.data.language.types import Type
from discreet.errors import UnsupportedQuery
from discreet.queries.outputs.calculation import (
    Evaluation,
    PossibleTruths,
    PossibleWords,
    check_calculation,
    words_of,
)
from discreet.queries.outputs.possible_numbers import PossibleNumbers
from discreet.queries.sql.formulas.expressions import expression_of
from discreet.queries.sql.syntax.parser import read_select

SCHEMA = {"a": Type.FLOAT, "b": Type.FLOAT, "n": Type.INTEGER, "k": Type.INTEGER, "city": Type.TEXT}
KEY, CITY = 3, "Oslo"


def expression(sql):
    (node,) = read_select(f"SELECT {sql} FROM t").expressions  # noqa: S608
    return expression_of(node, lambda one: Column(name=one.name))


def exact(a, b, n):
    """What the expressions below give for exact statistics, by Python, with None for NULL."""

    def div(one, other):
        return None if one is None or not other else one / other

    def rounded(value, digits=0):
        if value is None:
            return None
        scaled = math.floor(abs(value) * 10**digits + Fraction(1, 2))
        return Fraction(scaled if value >= 0 else -scaled) / 10**digits

    ratio = div(a, b)
    return {
        "a + b * n - 2": a + b * n - 2,
        "a / b": ratio,
        "100.0 * a / n": div(100 * a, n),
        "ROUND(a / b, 1)": rounded(ratio, 1),
        "ROUND(a) + FLOOR(b) - CEILING(a)": rounded(a) + math.floor(b) - math.ceil(a),
        "COALESCE(a / b, n, 0)": n if ratio is None else ratio,
        "a / NULLIF(n, 0)": div(a, n),
        "COALESCE(a / NULLIF(b, 2), -7)": -7 if b == 2 or ratio is None else ratio,
        "GREATEST(a, b, 0.5) - LEAST(a, n)": max(a, b, Fraction(1, 2)) - min(a, n),
        "ABS(a - b) * SIGN(b)": abs(a - b) * ((b > 0) - (b < 0)),
        "CASE WHEN a > b THEN a WHEN n = 2 THEN 5 ELSE b - a END": a if a > b else 5 if n == 2 else b - a,
        "CASE WHEN a > 1 AND NOT (b < 1 OR n IN (1, 3)) THEN 1 END": 1
        if a > 1 and not (b < 1 or n in (1, 3))
        else None,
        "CASE WHEN a / b > 1 THEN 1 ELSE 0 END": int(ratio is not None and ratio > 1),
        "CASE WHEN NOT (a / b > 1) THEN 1 ELSE 0 END": int(ratio is not None and not ratio > 1),
        "CASE WHEN a / n IS NULL OR b > 0 THEN a ELSE b END": a if n == 0 or b > 0 else b,
        "CASE WHEN (a / b > 1) IS NULL THEN 1 ELSE 2 END": 1 if ratio is None else 2,
        "CASE city WHEN 'Oslo' THEN a ELSE b END * k": a * KEY,
        "CASE WHEN k < 3 THEN a END": None,
        "CAST(a AS INTEGER) + CAST(n AS DOUBLE)": rounded(a) + n,
        "CASE WHEN (CASE WHEN a > 1 THEN 'x' ELSE 'y' END) = 'x' THEN 1 ELSE 2 END": 1 if a > 1 else 2,
        "CASE WHEN (CASE WHEN a > b THEN 'x' END) IS NULL THEN 1 ELSE 2 END": 2 if a > b else 1,
        "CASE WHEN COALESCE(a > b, FALSE) THEN 1 ELSE 2 END": 1 if a > b else 2,
    }


def numbers_of(low, high, value, *, whole):
    arrays = [np.array([float(one)]) for one in (low, value, high)]
    return PossibleNumbers(
        low=arrays[0], value=arrays[1], high=arrays[2], null=np.array([False]), whole=whole
    )


def a_place(draw, *, whole):
    """An interval, what is released in it, and the statistic: often at 0, at an end, or a single number."""
    ends = sorted(Fraction(int(draw.integers(-8, 9)), 1 if whole else 4) for _ in range(2))
    if draw.random() < 0.2:
        ends[1] = ends[0]
    spread = (ends[1] - ends[0]) * (1 if whole else 4)
    released, true = (
        ends[0] + Fraction(int(draw.integers(0, int(spread) + 1)), 1 if whole else 4) for _ in "ab"
    )
    return numbers_of(*ends, released, whole=whole), true


def check_all(places):
    draw, parsed = (
        np.random.default_rng(3),
        {sql: expression(sql) for sql in exact(*map(Fraction, (1, 1, 1)))},
    )
    for _ in range(places):
        (a, x), (b, y), (n, m) = (a_place(draw, whole=whole) for whole in (False, False, True))
        evaluation = Evaluation({"a": a, "b": b, "n": n}, {"k": [KEY], "city": [CITY]}, 1)
        for sql, true in exact(x, y, m).items():
            found = evaluation.of(parsed[sql])
            assert isinstance(found, PossibleNumbers), sql
            if true is None:
                assert found.null[0], (sql, x, y, m)
            else:
                assert found.low[0] <= float(true) <= found.high[0], (sql, x, y, m)


def test_every_expression_holds_its_exact_result():
    check_all(200)


@pytest.mark.slow
def test_every_expression_holds_its_exact_result_in_many_places():
    check_all(4_000)


def test_a_case_that_takes_only_the_released_branch_is_caught(monkeypatch):
    """The control: what the exact statistics may decide otherwise is seen."""

    def released_only(released, possible, avoidable, one, other):
        del possible, avoidable
        chosen = [
            np.where(released, getattr(one, part), getattr(other, part))
            for part in ("low", "value", "high", "null")
        ]
        return PossibleNumbers(low=chosen[0], value=chosen[1], high=chosen[2], null=chosen[3])

    monkeypatch.setattr("discreet.queries.outputs.calculation.chosen", released_only)
    with pytest.raises(AssertionError):
        check_all(200)


def test_everything_is_checked_before():
    for sql in exact(*map(Fraction, (1, 1, 1))):
        assert check_calculation(expression(sql), SCHEMA) in {Type.INTEGER, Type.FLOAT, Type.DECIMAL}
    assert check_calculation(expression("a > 1"), SCHEMA) is Type.BOOLEAN
    assert check_calculation(expression("'x'"), SCHEMA) is Type.TEXT


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("MOD(n, 2)", "MODULO of an answer"),
        ("UPPER(city)", "UPPER of an answer"),
        ("CAST(n AS TEXT)", "CAST of an answer to text"),
        ("CAST(city AS INTEGER)", "takes numbers, not text"),
        ("NULLIF(city, 'x')", "takes numbers, not text"),
        ("LEAST(city, 'x')", "takes numbers, not text"),
        ("city + 1", "takes numbers"),
    ],
)
def test_what_has_no_interval_arithmetic_is_refused(sql, words):
    with pytest.raises(UnsupportedQuery, match=words):
        check_calculation(expression(sql), SCHEMA)


def test_keys_of_others_are_refused():
    with pytest.raises(UnsupportedQuery, match="MODE"):
        check_calculation(expression("top IS NULL"), {"top": Type.OTHER})


def test_text_that_noise_decides_is_not_certain():
    inside, above = numbers_of(0, 4, 3, whole=True), numbers_of(5, 9, 7, whole=True)
    for n, certain in ((inside, False), (above, True)):
        found = Evaluation({"n": n}, {"city": [CITY]}, 1).of(
            expression("CASE WHEN n > 2 THEN 'large' ELSE city END")
        )
        assert isinstance(found, PossibleWords)
        assert found.values.tolist() == ["large"]
        assert found.certain is certain


def test_a_negative_count_is_not_taken_for_a_certain_one():
    """A released count may lie below its interval, which begins at 0."""
    released = numbers_of(0, 4, -3, whole=True)
    found = Evaluation({"n": released}, {}, 1).of(expression("CASE WHEN n >= 0 THEN 'x' ELSE 'y' END"))
    assert isinstance(found, PossibleWords)
    assert found.values.tolist() == ["y"]
    assert not found.certain


def test_words_of_numbers_and_truths():
    point, truth = numbers_of(2, 2, 2, whole=True), np.array([1.0])
    assert words_of(point).values.tolist() == [2]
    assert words_of(point).certain
    yes, no = np.array([True]), np.array([False])
    for false in (yes, no):
        found = words_of(PossibleTruths(value=truth, true=yes, false=false, null=no))
        assert found.values.tolist() == [True]
        assert found.certain is not bool(false[0])
