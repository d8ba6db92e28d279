"""Per-instance losses of vectors against products of laws, and of all instances against the guarantee."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, inf

import numpy as np
import pytest
from scipy import stats

from discreet.accounting import instance_event, instance_losses, largest_shift_guarantee
from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.events import Pure, compose
from discreet.stability.instance_shifts import (
    count_shift_bound,
    count_shifts,
    mean_shift_bound,
    mean_shifts,
    sum_shift_bound,
    sum_shifts,
)

OUTCOMES = np.arange(-45, 46)


def law(event, center: int) -> np.ndarray:
    """The law of one noisy number on the integers, from its definition."""
    away = OUTCOMES - center
    if hasattr(event, "scale"):
        weights = np.exp(-np.abs(away) / float(event.scale))
        return weights / weights.sum()
    sigma = float(event.variance) ** 0.5
    if type(event).__name__ == "RoundedGaussian":
        return stats.norm.cdf((away + 0.5) / sigma) - stats.norm.cdf((away - 0.5) / sigma)
    weights = np.exp(-(away**2) / (2 * sigma**2))
    return weights / weights.sum()


def delta_of(event, shift, epsilon: float) -> float:
    """The hockey-stick divergence of two product laws, by a sum over all their outcomes."""
    p, q = np.ones(1), np.ones(1)
    for one in shift:
        p = np.multiply.outer(p, law(event, 0)).ravel()
        q = np.multiply.outer(q, law(event, int(one))).ravel()
    return float(np.maximum(p - exp(epsilon) * q, 0).sum())


EVENTS = [
    Laplace(sensitivity=3, epsilon=1).event,
    Gaussian(sensitivity=3, sigma=Fraction(5, 2)).event,
]


@pytest.mark.parametrize("event", EVENTS, ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("shift", [(1,), (3,), (1, 1), (2, 1), (3, 2), (0, 2), (1, -2, 1)])
@pytest.mark.parametrize("delta", [1e-2, 1e-4])
def test_losses_of_vectors_are_the_divergences_of_their_product_laws(event, shift, delta):
    loss = instance_losses([shift], event=event, delta=delta).losses[0]
    assert delta_of(event, shift, loss) <= delta * (1 + 1e-6)
    assert delta_of(event, shift, loss * (1 - 1e-4)) > delta


@pytest.mark.parametrize("shift", [(1,), (2, 1), (1, 1, 1)])
def test_losses_of_rounded_noise_are_those_of_normal_noise_and_little_above_its_own(shift):
    event = Gaussian(sensitivity=3, mu=1, size=5).event
    loss = instance_losses([shift], event=event, delta=1e-3).losses[0]
    assert delta_of(event, shift, loss) <= 1e-3
    assert delta_of(event, shift, loss * 0.97) > 1e-3


def test_pure_losses_are_shifts_over_the_scale():
    event = Laplace(sensitivity=5, epsilon=1, size=3).event
    found = instance_losses([[1, 2, 3], [0, 0, 0], [0, 0, -5]], event=event).losses
    assert found == pytest.approx([6 / 5, 0, 1], rel=1e-12)
    assert instance_event(event, [0, 0]) == compose([])
    assert instance_event(event, [1, -1]) == instance_event(event, [1]) * 2


def test_rounding_is_charged_in_whole_steps():
    event = Laplace(sensitivity=1.0, epsilon=1, grid=0.5).event
    assert instance_event(event, [0.1]).shift == 1
    assert instance_event(event, [Fraction(-3, 4)]).shift == 2


def test_what_is_not_known_is_infinite():
    event = Gaussian(sensitivity=1, rho=1).event
    assert instance_losses([np.nan, inf, 0], event=event, delta=1e-6).losses.tolist() == [inf, inf, 0]
    assert instance_losses([1], event=event).losses.tolist() == [inf]
    assert instance_losses([], event=event, delta=1e-6).losses.tolist() == []
    with pytest.raises(ParameterError, match="shifts"):
        instance_losses([[[1]]], event=event, delta=1e-6)
    with pytest.raises(ParameterError, match="added noise"):
        instance_event(Pure(epsilon=1), [1])
    with pytest.raises(ParameterError, match="delta"):
        largest_shift_guarantee(1, event=event)


VALUES = (-1, 0, 2)
DATA = [data for size in range(7) for data in combinations_with_replacement(VALUES, size)]
"""All data sets of up to six values on a small grid."""


@pytest.mark.parametrize(
    ("shifts", "bound"),
    [
        (lambda data: sum_shifts(data, range(len(data))), sum_shift_bound(-1, 2)),
        (lambda data: count_shifts(range(len(data))), count_shift_bound()),
        (lambda data: mean_shifts(data, range(len(data)), empty=1), mean_shift_bound(-1, 2, empty=1)),
    ],
    ids=["sum", "count", "mean"],
)
def test_the_supremum_of_all_instances_has_a_closed_form(shifts, bound):
    largest = max(shifts(data).max(initial=0) for data in DATA)
    assert largest == pytest.approx(float(bound), rel=1e-12)
    assert largest >= bound
    one_number = Gaussian(sensitivity=3, sigma=Fraction(5, 2), size=1).event
    for event, delta in ((Laplace(sensitivity=4, epsilon=1).event, 0), (one_number, 1e-5)):
        everyone = np.unique(np.concatenate([np.ceil(shifts(data)) for data in DATA]))
        worst = instance_losses(everyone, event=event, delta=delta).losses.max()
        guarantee = largest_shift_guarantee(-(-bound // 1), event=event, delta=delta)
        assert float(guarantee.epsilon) == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize("others", [0, 1, 3])
def test_a_person_of_several_rows_moves_a_mean_by_no_more_than_the_bound(others):
    """All tables of a person with up to two rows and up to four rows of others."""
    largest = 0.0
    for own in [rows for size in (1, 2) for rows in product(VALUES, repeat=size)]:
        for rest in [
            rows for size in range(others, 5) for rows in combinations_with_replacement(VALUES, size)
        ]:
            persons = [0] * len(own) + list(range(1, len(rest) + 1))
            largest = max(largest, mean_shifts([*own, *rest], persons, empty=5)[0])
    bound = mean_shift_bound(-1, 2, rows=2, others=others, empty=5)
    assert largest == pytest.approx(float(bound), rel=1e-12)


def test_bounds_that_are_none_are_refused():
    with pytest.raises(ParameterError, match="lower"):
        sum_shift_bound(2, 1)
    with pytest.raises(ParameterError, match="rows"):
        count_shift_bound(rows=0)
    assert sum_shift_bound(-3, 2, rows=4) == 12
