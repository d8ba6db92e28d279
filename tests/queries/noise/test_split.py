"""The division of an offer: it adds up exactly, it is the best there is, and it can be overridden."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.data import CountNonNull, CountRows, Limits, Sum, col, count
from discreet.errors import ParameterError
from discreet.queries import TableRequest, bind
from discreet.queries.noise.split import CONCENTRATED, PURE, shares_of, squared_weights
from effort import examples
from queries.clinic import TABLES, visits

VISITS = TableRequest(table="visits")
AGGREGATES = [
    count(),
    *(
        of
        for name in ("age", "cost", "balance")
        for of in (col(name).count(), col(name).sum(), col(name).mean())
    ),
]
chosen = st.lists(st.sampled_from(range(len(AGGREGATES))), min_size=1, max_size=8)
splits = st.lists(st.fractions(min_value=Fraction(1, 1000), max_value=1000), min_size=8, max_size=8)


def bound_for(places, tables=TABLES):
    return bind(VISITS.agg(**{f"o{index}": AGGREGATES[place] for index, place in enumerate(places)}), tables)


def total_error(bound, shares, power):
    """The weighted mean squared error that a division has, up to a factor, from the variances."""
    weights, error = squared_weights(bound.outputs), 0.0
    for measure, share in shares.items():
        sensitivity = bound.statistics.of(measure).sensitivity
        if power == PURE:
            error += float(weights[measure] * sensitivity.l1**2) / float(share) ** 2
        else:
            error += float(weights[measure] * sensitivity.squared_l2) / float(share)
    return error


@pytest.mark.parametrize("power", [PURE, CONCENTRATED])
@given(chosen, st.none() | splits)
def test_shares_are_positive_and_add_up_to_exactly_one(power, places, numbers):
    bound = bound_for(places)
    split = None if numbers is None else dict(zip([one.name for one in bound.outputs], numbers, strict=False))
    shares = shares_of(bound, power, split)
    assert sum(shares.values()) == 1
    assert all(isinstance(share, Fraction) and share > 0 for share in shares.values())
    assert list(shares) == list(bound.plan.measures)


@pytest.mark.parametrize("power", [PURE, CONCENTRATED])
@settings(max_examples=examples(50))
@given(chosen, st.lists(st.lists(st.floats(-1, 1), min_size=8, max_size=8), min_size=20, max_size=20))
def test_no_other_division_is_better(power, places, changes):
    bound = bound_for(places)
    shares = shares_of(bound, power)
    best = total_error(bound, shares, power)
    even = dict.fromkeys(shares, Fraction(1, len(shares)))
    assert best <= total_error(bound, even, power) * (1 + 2e-6)
    for change in changes:
        other = np.array(
            [float(share) * np.exp(by) for share, by in zip(shares.values(), change, strict=False)]
        )
        other /= other.sum()
        assert best <= total_error(bound, dict(zip(shares, other, strict=True)), power) * (1 + 2e-6)


@pytest.mark.parametrize("power", [PURE, CONCENTRATED])
def test_it_beats_an_even_split(power):
    bound = bind(VISITS.agg(n=col("age").count(), s=col("age").sum(), m=col("age").mean(), k=count()), TABLES)
    shares = shares_of(bound, power)
    even = dict.fromkeys(shares, Fraction(1, len(shares)))
    assert total_error(bound, shares, power) < 0.99 * total_error(bound, even, power)


def test_the_closed_form():
    """COUNT(x) and AVG(x): the count has weight sqrt(2) by its two readers, the sum weight 1, in rows."""
    bound = bind(VISITS.agg(n=col("age").count(), m=col("age").mean()), TABLES)
    counted, total = (
        CountNonNull(column="age"),
        Sum(column="age", bounds=TABLES["visits"].columns["age"], center=55),
    )
    pure = shares_of(bound, PURE)
    assert float(pure[counted] / pure[total]) == pytest.approx(2 ** (1 / 3), abs=1e-3)
    concentrated = shares_of(bound, CONCENTRATED)
    assert float(concentrated[counted] / concentrated[total]) == pytest.approx(sqrt(2), abs=1e-3)


def test_outputs_that_one_row_moves_alike_share_evenly():
    """A sum over wide bounds and one over narrow bounds matter alike: errors are counted in rows."""
    bound = bind(VISITS.agg(n=count(), s=col("cost").sum(), b=col("balance").sum()), TABLES)
    assert set(shares_of(bound, PURE).values()) == {Fraction(1, 3)}
    assert set(shares_of(bound, CONCENTRATED).values()) == {Fraction(1, 3)}


@settings(max_examples=examples(15))
@given(chosen, st.integers(1, 20), st.integers(1, 20))
def test_the_division_does_not_depend_on_limits(places, rows, groups):
    assume(len(places) > 1)
    tables = [
        {"visits": visits([], limits=Limits(rows=rows))},
        {"visits": visits([], limits=Limits(groups=groups, rows_per_group=rows))},
    ]
    one, other = (shares_of(bound_for(places, table), CONCENTRATED) for table in tables)
    assert one == other


def test_a_split_is_by_output():
    bound = bind(VISITS.agg(n=col("age").count(), m=col("age").mean(), k=count()), TABLES)
    shares = shares_of(bound, PURE, {"n": 1, "m": 3, "k": "0.5"})
    total, counted, rows = bound.plan.measures[1], CountNonNull(column="age"), CountRows()
    assert shares[rows] == Fraction(1, 9)
    assert shares[total] == Fraction(1, 3)
    assert shares[counted] == Fraction(2, 9) + Fraction(1, 3)


@pytest.mark.parametrize(
    "split",
    [
        {},
        {"n": 1},
        {"n": 1, "m": 1, "x": 1},
        {"n": 0, "m": 1},
        {"n": -1, "m": 1},
        {"n": "x", "m": 1},
        3,
        [1, 2],
    ],
)
def test_a_split_names_every_output_with_a_positive_number(split):
    bound = bind(VISITS.agg(n=count(), m=col("age").mean()), TABLES)
    with pytest.raises(ParameterError, match="split"):
        shares_of(bound, PURE, split)
