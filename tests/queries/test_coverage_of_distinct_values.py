"""Intervals of aggregates of distinct values, and of products, cover at least as often as they say.

Distinct values are few, and a person may add several of them: the offers are larger than elsewhere, or no
interval of a mean would have an end.
"""

from __future__ import annotations

import numpy as np
import pytest

from discreet.queries import Offer
from effort import releases
from queries.test_coverage import ABSENT, AGE, CODE, COST, Case, answers, check

pytestmark = pytest.mark.statistical

FEW, MANY = 300, releases(10_000)
OFFERS = {
    "pure": Offer(epsilon=60),
    "approximate": Offer(epsilon=60, delta=1e-3),
    "zCDP": Offer(rho=30),
}
VALUES = np.unique(CODE)
PRODUCTS = np.clip(np.floor(AGE * COST / 0.5 + 0.5) * 0.5, -20 * 12, 80 * 12)[~ABSENT]
"""A product is put within its own bounds, and on its own grid."""
CASES = {
    "sum of distinct values": Case("SUM(DISTINCT code)", VALUES.sum(), exact=True),
    "mean of distinct values": Case("AVG(DISTINCT code)", VALUES.mean()),
    "variance of distinct values": Case("VAR_POP(DISTINCT code)", VALUES.var()),
    "deviation of distinct values": Case("STDDEV(DISTINCT code)", VALUES.std(ddof=1)),
    "sum of products": Case("SUM(age * cost)", PRODUCTS.sum(), exact=True),
    "mean of products": Case("AVG(age * cost)", PRODUCTS.mean()),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", CASES)
def test_intervals_of_distinct_values_and_products_cover(name):
    check(name, FEW, CASES, OFFERS)


@pytest.mark.few(0, slow=2)
@pytest.mark.parametrize("name", CASES)
def test_intervals_of_distinct_values_and_products_cover_in_many_releases(name):
    check(name, MANY, CASES, OFFERS)


@pytest.mark.parametrize("name", ["mean of distinct values", "mean of products"])
def test_they_have_ends(name):
    """The control: an interval without ends would cover anything."""
    sql = f"SELECT copy, {CASES[name].sql} AS x FROM visits GROUP BY copy"  # noqa: S608
    column = answers(sql, "pure", 50, OFFERS).outputs[0]
    assert np.isfinite(column.upper - column.lower).mean() > 0.9
