"""Linear terms: what second derivatives cost, and what is left of epsilon and delta."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.learning.perturbation.linear_terms import (
    EuclideanTerm,
    NormalTerm,
    PureTerms,
    RowTerms,
    bent,
)
from discreet.mechanisms.additive.gaussian_privacy import delta_of
from discreet.privacy.directed import exp_interval
from discreet.privacy.events import Approximate, Pure

QUARTER = Fraction(1, 4)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 4), (3, 2), (2, 5), (6, 3)])
def test_no_rows_change_a_volume_by_more(rows, columns):
    """The determinant of I + c / Lambda sum of x x^T, over random rows and over the worst."""
    source, ratio = np.random.default_rng(5), 0.7
    most = float(bent(Fraction(7, 10), rows=rows, columns=columns))
    for _ in range(200):
        held = source.normal(size=(rows, columns))
        held /= np.linalg.norm(held, axis=1)[:, None]
        assert np.linalg.slogdet(np.eye(columns) + ratio * held.T @ held)[1] <= most + 1e-12
    worst = np.eye(columns)[np.arange(rows) % columns]
    if rows % min(rows, columns) == 0:
        assert np.linalg.slogdet(np.eye(columns) + ratio * worst.T @ worst)[1] == pytest.approx(most)


@pytest.mark.parametrize("rows", [1, 3])
def test_pure_epsilon_is_spent_in_three_parts(rows):
    terms = PureTerms(epsilon=Fraction(1), rows=rows, columns=5)
    scale = terms.term(QUARTER, Fraction(2)).scale
    spent = rows / scale + bent(QUARTER / 2, rows=rows, columns=5) + terms.answer_epsilon
    assert spent == 1
    assert terms.event == Pure(epsilon=1)
    assert terms.without_bending().scale < scale


@pytest.mark.parametrize("rows", [1, 4])
def test_a_group_of_rows_keeps_epsilon_and_delta(rows):
    terms = RowTerms(epsilon=Fraction(1), delta=Fraction(1, 10**6), rows=rows)
    assert terms.row_epsilon * rows == 1
    factors = [exp_interval(place * terms.row_epsilon) for place in range(rows)]
    assert terms.row_delta * sum(low for low, _ in factors) <= terms.delta
    assert terms.row_delta * sum(high for _, high in factors) >= terms.delta * Fraction(999, 1000)
    left = terms.row_epsilon - terms.answer_epsilon - bent(QUARTER / 5, rows=1, columns=1)
    mu = 1 / terms.term(QUARTER, Fraction(5)).scale
    assert Fraction(delta_of(mu, left)[1], 2**640) <= terms.row_delta
    assert Fraction(delta_of(mu * Fraction(1001, 1000), left)[0], 2**640) > terms.row_delta
    assert terms.event == Approximate(epsilon=1, delta=Fraction(1, 10**6))


@pytest.mark.parametrize(
    "terms",
    [
        PureTerms(epsilon=Fraction(1, 50), rows=3, columns=2),
        RowTerms(epsilon=Fraction(1, 50), delta=Fraction(1, 10), rows=3),
    ],
)
def test_at_the_least_regularization_half_of_epsilon_is_left(terms):
    least = terms.least_regularization(QUARTER)
    assert terms.term(QUARTER, least).scale > 0
    assert float(terms.term(QUARTER, least).scale / terms.without_bending().scale) < 3


def test_terms_are_drawn_in_steps():
    for term, spread in ((EuclideanTerm(scale=Fraction(2)), 4.0), (NormalTerm(scale=Fraction(4)), 4.0)):
        assert float(term.deviation(3)) == pytest.approx(spread)
        drawn = np.array([term.draw(3, Fraction(1, 1024)) for _ in range(200)]) / 1024
        assert 0.6 * spread < drawn.std() < 1.6 * spread
