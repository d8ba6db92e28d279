"""Counts by size: every value in its cell, and margins of sums that hold by the exact laws."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pandas
import pytest

from discreet.curator import Budget
from discreet.data import EACH_ROW, Source, Table, col, compute, fresh_salt
from discreet.front import Curator
from discreet.privacy.offer import Offer
from discreet.queries.fitting.size_counts import SizeCounts, counted_by_size
from discreet.queries.noise.build_request import build_request

EDGES = (1, 2, 4)
SIZED = counted_by_size(Source(table="t"), col("x"), EDGES)


def tables(values):
    return {"t": Table(pandas.DataFrame({"x": values}), person=EACH_ROW)}


def counts(offer, values=(1.0,)):
    request = build_request(SIZED, tables(values), offer)
    return SizeCounts(edges=EDGES, counts=np.array([9, 5, 3, 1]), part=request.parts[0])


def laplace(scale, reach):
    values = np.arange(-reach, reach + 1)
    ratio = exp(-1 / scale)
    return (1 - ratio) / (1 + ratio) * ratio ** np.abs(values)


def test_every_value_has_its_cell_and_null_has_none():
    values = [-3.0, 0.0, 1.0, 1.5, 2.0, 3.9, 4.0, 4.1, 1e300, None]
    found = tables(values)
    request = build_request(SIZED, found, Offer(epsilon=1))
    exact = compute(request.plan, found, salt=fresh_salt())
    assert exact.values[0][:4].tolist() == [3, 2, 2, 2]
    strictly = counted_by_size(Source(table="t"), col("x"), (0, 0, 2), strictly=1)
    request = build_request(strictly, found, Offer(epsilon=1))
    assert compute(request.plan, found, salt=fresh_salt()).values[0][:4].tolist() == [1, 1, 3, 4]


def test_what_lies_beyond_an_edge(tmp_path):
    seen = counts(Offer(epsilon=1))
    assert seen.total == 18
    assert [seen.above(place) for place in range(3)] == [9, 4, 1]
    assert [seen.below(place) for place in range(3)] == [9, 14, 17]
    values = [1.0] * 300 + [3.0] * 200 + [9.0] * 100
    curator = Curator(tables(values), budget=Budget(epsilon=100), ledger=tmp_path / "ledger")
    read = SizeCounts.read(curator.ask(SIZED, epsilon=50), EDGES)
    curator.close()
    assert np.abs(read.counts - [300, 0, 200, 100]).max() <= 3


@pytest.mark.parametrize("cells", [1, 2, 5, 11, 99])
@pytest.mark.parametrize("confidence", [Fraction(9, 10), Fraction(95, 100), Fraction(999, 1000)])
def test_margins_of_sums_hold_by_the_exact_law(cells, confidence):
    """The oracle convolves the laws; what its finite window leaves out is below 1e-12."""
    for epsilon in (Fraction(1, 4), Fraction(2)):
        margin = counts(Offer(epsilon=epsilon)).margin(cells, confidence)
        reach = int(40 / epsilon) + 40
        whole = np.ones(1)
        for _ in range(cells):
            whole = np.convolve(whole, laplace(float(1 / epsilon), reach))
            middle = len(whole) // 2
            keep = min(middle, 6 * reach)
            whole = whole[middle - keep : middle + keep + 1]
        far = np.abs(np.arange(len(whole)) - len(whole) // 2) > margin
        beyond = whole[far].sum() + (1 - whole.sum())
        assert beyond <= float(1 - confidence)
        assert beyond > 1e-9 or margin < 4 * counts(Offer(epsilon=epsilon)).deviation(cells) + 8


def test_margins_of_normal_noise_hold_in_simulation():
    seen = counts(Offer(rho=Fraction(1, 50)))
    deviation = seen.deviation(1)
    draw = np.random.default_rng(5).normal(0, deviation, (20_000, 7)).sum(axis=1)
    assert np.mean(np.abs(draw) > seen.margin(7, Fraction(95, 100))) < 0.05
    assert seen.margin(0, Fraction(95, 100)) == 0
