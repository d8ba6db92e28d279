"""Noisy moments: sensitivities by enumeration, and moments of numpy where there is no noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning.moments.noisy_moments import NoisyMoments
from discreet.learning.training.budgets import stated_budget

BUDGETS = [{"epsilon": 1}, {"rho": Fraction(1, 2)}, {"epsilon": 1, "delta": 1e-6}]
LITTLE = {"rho": 10**12}


def moments(columns=2, *, budget=None, **options):
    return NoisyMoments(
        columns=columns, budget=stated_budget(**(budget or {"rho": Fraction(1, 2)})), **options
    )


def every_row(columns, steps):
    return np.array(list(product(range(-steps, steps + 1), repeat=columns)), dtype=np.int16)


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("rows", [1, 2])
def test_sensitivities_are_those_of_all_rows_of_a_small_grid(products, groups, rows):
    """Of every person with as many rows, each in any group: the largest change is the one that is stated."""
    options = {"products": products, "groups": groups, "rows": rows, "steps": 2}
    pure, normal = (moments(budget=budget, **options) for budget in BUDGETS[:2])
    parts = [
        pure.measured(row[None], np.array([group])) for row in every_row(2, 2) for group in range(groups)
    ]
    changes = np.array([sum(person) for person in product(parts, repeat=rows)])
    assert np.abs(changes).sum(axis=1).max() == pure.event.sensitivity
    assert (changes**2).sum(axis=1).max() == normal.event.squared_sensitivity


@pytest.mark.parametrize("products", [False, True])
def test_a_row_adds_its_own_part_and_nothing_else(products):
    source = np.random.default_rng(5)
    found = moments(4, products=products, groups=3)
    rows = source.integers(-4096, 4097, (40_000, 4)).astype(np.int16)
    groups = source.integers(0, 3, len(rows))
    everybody = found.measured(rows, groups)
    for who in (0, 20_000, 39_999):
        others = found.measured(np.delete(rows, who, 0), np.delete(groups, who))
        assert (everybody - others == found.measured(rows[who : who + 1], groups[who : who + 1])).all()


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_event_keeps_the_budget(budget):
    found = moments(5, budget=budget, products=True, groups=2)
    assert found.guarantee == stated_budget(**budget).guarantee
    if "delta" in budget:
        assert 0.999 <= accounting.epsilon(found.event, delta=1e-6).upper <= 1 + 1e-9
    else:
        name = "concentrated_rho" if "rho" in budget else "pure_epsilon"
        assert getattr(found.event, name) == next(iter(budget.values()))


def test_without_noise_the_moments_are_those_of_numpy():
    source = np.random.default_rng(1)
    steps = (source.normal(0.1, 0.3, (3000, 4)).clip(-1, 1) * 4096).round().astype(np.int16)
    groups = source.integers(0, 2, 3000)
    released = moments(4, budget=LITTLE, products=True, groups=2).release(steps, groups)
    for group in range(2):
        own = steps[groups == group] / 4096
        assert np.allclose(released.counts[group], len(own), atol=1e-3)
        assert np.allclose(released.means[group], own.mean(axis=0), atol=1e-6)
        assert np.allclose(released.variances[group], own.var(axis=0), atol=1e-6)
        assert np.allclose(released.covariances[group], np.cov(own.T, bias=True), atol=1e-6)


@pytest.mark.statistical
def test_noise_is_as_large_as_stated():
    """Of sums over no rows nothing is left but noise: deviations of 400 values are within a fifth."""
    found = moments(200, budget={"rho": Fraction(1, 100)}, groups=2)
    released = found.release(np.zeros((0, 200), dtype=np.int16))
    assert 0.8 * found.deviation < released.first.std() < 1.2 * found.deviation
    squares = found.deviation / 2  # of 2 u^2 - B^2; the count's part is common to all
    assert 0.8 * squares < (released.second - released.counts[:, None] / 2).std() < 1.2 * squares


def test_no_rows_have_moments():
    for rows in (0, 1):
        released = moments(3, products=True).release(np.full((rows, 3), 4096, dtype=np.int16))
        assert np.isfinite(released.means).all()
        assert (released.variances > 0).all()
        assert np.isfinite(released.covariances).all()


def test_too_many_columns_are_refused():
    assert moments(5000).columns == 5000
    with pytest.raises(ParameterError, match="1000"):
        moments(5000, products=True)


def test_other_shapes_are_refused():
    with pytest.raises(ParameterError, match="rows of 2"):
        moments(2).release(np.zeros((3, 4), dtype=np.int16))
