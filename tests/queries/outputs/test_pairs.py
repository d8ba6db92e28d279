"""Covariances and correlations: their previews are what intervals of supposed values turn out to be."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.data import Limits, col, correlation, covariance
from discreet.queries import Offer, expectations
from discreet.queries.outputs.jets import variables
from discreet.queries.outputs.pairs import CorrelationOutput, CovarianceOutput, _ratio
from queries.spread_data import exact_of, noiseless, request_for

PAIR = {"c": covariance(col("age"), col("cost")), "r": correlation(col("age"), col("cost"))}


def test_previews_are_those_of_the_intervals():
    request = request_for(PAIR, Offer(epsilon=1), cells=1, limits=Limits(rows=1))
    assert [type(one) for one in request.outputs] == [CovarianceOutput, CorrelationOutput]
    ages = list(range(-20, 81)) * 25 * 4
    costs = [step / 2 for step in range(25) for _ in range(101)] * 4
    expected = {one.name: one.margin for one in expectations(request, rows=len(ages))}
    found = noiseless(request, {"age": ages, "cost": costs})
    halves = {name: float(column.upper[0] - column.lower[0]) / 2 for name, column in found.items()}
    assert halves["r"] == pytest.approx(expected["r"], rel=0.05)
    assert 0.2 * expected["c"] < halves["c"] <= expected["c"]


def test_jets_of_outputs_are_their_values():
    """The function that the law is of is the one that is released."""
    request = request_for(PAIR, Offer(epsilon=30), cells=1, limits=Limits(rows=1))
    data = {"age": [-20, 10, 50, 80, 33], "cost": [0, 2, 7.5, 11, 6]}
    values = noiseless(request, data)
    integers = [np.array([float(exact_of(part.measure, data)[0])]) for part in request.parts]
    of = dict(zip([part.measure for part in request.parts], variables(*[integers] * 3), strict=True))
    for output in request.outputs:
        jet = output.jet(of)
        assert jet.value.value[0] == pytest.approx(values[output.name].values[0])
        assert jet.value.low[0] <= jet.value.value[0] <= jet.value.high[0]


@pytest.mark.filterwarnings("error")
def test_without_covariance_and_without_spread_nothing_is_divided():
    """0 / 0 was multiplied to a warning; a constant column has correlation 0, and no row has no number."""
    above, below = np.array([0.0, -0.0, 2.0, -2.0, 3.0]), np.array([0.0, 0.0, 0.0, 0.0, 2.0])
    np.testing.assert_array_equal(_ratio(above, below), [0, 0, np.inf, -np.inf, 1.5])
    np.testing.assert_array_equal(_ratio(above, below, at_zero=0.0), [0, 0, 0, 0, 1.5])
    request = request_for(PAIR, Offer(epsilon=10**5), cells=1, limits=Limits(rows=1))
    for ages in ([], [7] * 40):
        found = noiseless(request, {"age": ages, "cost": [1.0] * len(ages)})["r"]
        assert -1 <= found.lower[0] <= found.values[0] <= found.upper[0] <= 1
