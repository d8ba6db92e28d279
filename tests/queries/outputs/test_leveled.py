"""Totals: sums of released integers, without overflow, at every level of an answer."""

# ruff: noqa: S608

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.curator.request.answer_keys import keys_of_levels
from discreet.curator.request.request import Draw
from discreet.data import GroupKey, Keys
from discreet.errors import UnsupportedQuery
from discreet.queries import Offer, build_request
from discreet.queries.outputs.answer_rows import AnswerRows
from discreet.queries.outputs.key_functions import public_columns
from discreet.queries.outputs.leveled import LeveledOutput
from discreet.queries.outputs.summed import exact_sums, has_totals, summed_part
from discreet.queries.question.answer_levels import check_levels, grouping_name
from discreet.queries.sql.select import parse
from queries.exact_answers import table

KEYS = (
    GroupKey(column="city", values=Keys(["a", "b", None])),
    GroupKey(column="ward", values=Keys([1, 2])),
)
LEVELS = ((True, True), (True, False), (False, False))


def requested(sql, offer=None):
    tables = {"visits": table()}
    return build_request(parse(sql, tables), tables, offer or Offer(epsilon=1))


def test_rows_of_levels():
    keys = keys_of_levels(KEYS, LEVELS)
    assert keys["city"] == ["a", "a", "b", "b", None, None, "a", "b", None, None]
    assert keys["ward"] == [1, 2, 1, 2, 1, 2, None, None, None, None]
    assert AnswerRows(keys=KEYS, levels=LEVELS).size == 10
    public = public_columns(KEYS, LEVELS, [grouping_name("city"), grouping_name("ward")])
    assert public[grouping_name("city")] == [0] * 9 + [1]
    assert public[grouping_name("ward")] == [0] * 6 + [1] * 4


def test_levels_must_fit_the_keys():
    with pytest.raises(UnsupportedQuery, match="not one of its keys"):
        check_levels(((True,),), ["city", "ward"])
    with pytest.raises(UnsupportedQuery, match="levels"):
        check_levels(((True,),) * 65, ["city"])


def test_sums_of_large_integers_do_not_wrap_around():
    request = requested("SELECT city, ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city, ward)")
    (column,) = request.columns
    assert isinstance(column, LeveledOutput)
    (part,) = request.parts
    found = column.finish([Draw(part=part, steps=np.full(20, 1 << 61))], Fraction(95, 100))
    assert found.values[-1] == 1 << 62
    assert (found.lower <= found.values).all()
    assert exact_sums(np.array([1 << 61, 1 << 61]), 2).sum() == 1 << 62


def test_noise_that_is_too_large_to_add_up_is_refused_before_the_charge():
    sql = "SELECT day, SUM(cost) AS s FROM visits GROUP BY {}"
    tiny = Offer(epsilon=Fraction(1, 10**10))
    requested(sql.format("day"), tiny)
    (part,) = requested(sql.format("day"), tiny).parts
    with pytest.raises(UnsupportedQuery, match="too large to be added up"):
        summed_part(part, 10**9)


@pytest.mark.parametrize(
    ("aggregate", "adds"),
    [
        ("COUNT(*)", True),
        ("COUNT(cost)", True),
        ("SUM(cost)", True),
        ("AVG(cost)", True),
        ("STDDEV(cost)", True),
        ("VARIANCE(cost)", True),
        ("MEDIAN(cost)", False),
        ("MAX(cost)", False),
        ("COUNT(DISTINCT ward)", False),
        ("MODE(city)", False),
    ],
)
def test_what_has_totals(aggregate, adds):
    (output,) = requested(f"SELECT {aggregate} AS x FROM visits").outputs
    assert has_totals(output) is adds


def test_expected_errors_are_those_of_the_largest_total():
    request = requested("SELECT city, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city)")
    (column,) = request.columns
    expected = column.expect(request.parts, Fraction(95, 100), 100)
    single = column.output.expect(request.parts, Fraction(95, 100), 100)
    assert single.margin < expected.margin < 2.2 * single.margin
    assert "4 groups together" in expected.means
