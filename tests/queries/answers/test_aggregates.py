"""Aggregates of possible rows, against every choice of rows and numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, nan

import numpy as np
import pytest

from discreet.data import AggregateFunction
from discreet.queries.answers.aggregates import NUMERIC, aggregate_of_numbers, count_of
from discreet.queries.outputs.possible_numbers import PossibleNumbers

OF_LIST = {
    AggregateFunction.COUNT: len,
    AggregateFunction.SUM: sum,
    AggregateFunction.MEAN: np.mean,
    AggregateFunction.MINIMUM: min,
    AggregateFunction.MAXIMUM: max,
    AggregateFunction.VARIANCE: np.var,
    AggregateFunction.STANDARD_DEVIATION: np.std,
    AggregateFunction.SAMPLE_VARIANCE: lambda values: np.var(values, ddof=1) if len(values) > 1 else nan,
    AggregateFunction.SAMPLE_STANDARD_DEVIATION: lambda values: (
        np.std(values, ddof=1) if len(values) > 1 else nan
    ),
    AggregateFunction.QUANTILE: lambda values: sorted(values)[max(ceil(Fraction(2, 5) * len(values)), 1) - 1],
}


def choices(low, high, null, certain):
    """Every exact table, with numbers at the ends and in the middle."""
    each = []
    for a, b, missing, sure in zip(low, high, null, certain, strict=True):
        numbers = [a, (a + b) / 2, b, *([None] if missing else [])]
        each.append([(one,) for one in numbers] + ([] if sure else [()]))
    for chosen in product(*each):
        yield [one for row in chosen for one in row if one is not None]


@pytest.mark.parametrize("function", OF_LIST)
@pytest.mark.parametrize("seed", range(8))
def test_aggregates_hold_every_choice_of_rows_and_numbers(function, seed):
    draw = np.random.default_rng(seed)
    low = draw.normal(0, 5, 4).round(1)
    high = low + draw.exponential(2, 4).round(1)
    null, certain = draw.random(4) < 0.3, draw.random(4) < 0.6
    if seed < 3:
        null[:], certain[:] = False, True
    value, released = (low + high) / 2, draw.random(4) < 0.7
    numbers = PossibleNumbers(low=low, value=value, high=high, null=null)
    least, shown, most, may_be_null = aggregate_of_numbers(
        function, numbers, released, certain, Fraction(2, 5)
    )
    for values in choices(low, high, null, certain):
        if not values and function is not AggregateFunction.COUNT:
            assert may_be_null
            continue
        found = OF_LIST[function](values)
        if np.isnan(found):
            assert may_be_null
        else:
            assert least - 1e-9 <= found <= most + 1e-9
    if released.any():
        assert shown == pytest.approx(OF_LIST[function](list(value[released])), nan_ok=True)


def test_rows_are_counted_by_what_is_known_of_them():
    flags = np.array([True, False, True])
    assert count_of(flags, np.array([True, False, False])) == (1, 2, 3, False)


def test_no_row_gives_null():
    nothing = PossibleNumbers(
        *[], low=np.zeros(0), value=np.zeros(0), high=np.zeros(0), null=np.zeros(0, bool)
    )
    flags = np.zeros(0, np.bool_)
    for function in NUMERIC:
        low, value, high, null = aggregate_of_numbers(function, nothing, flags, flags, None)
        assert low > high
        assert np.isnan(value)
        assert null


def test_infinite_ends_stay_infinite():
    numbers = PossibleNumbers(
        low=np.array([-np.inf, 0.0]), value=np.zeros(2), high=np.array([1.0, np.inf]), null=np.zeros(2, bool)
    )
    flags = np.ones(2, np.bool_)
    for function in (AggregateFunction.SUM, AggregateFunction.MEAN):
        low, _, high, _ = aggregate_of_numbers(function, numbers, flags, flags, None)
        assert (low, high) == (-np.inf, np.inf)
