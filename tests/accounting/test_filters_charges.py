"""What each filter charges for each event, against pairs of laws that the event allows."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from accounting.pairs_of_laws import (
    KINDS,
    bounded_range,
    check,
    drawn,
    fixed,
    gaussian,
    laplace,
    lattice,
    poisson,
    response,
    rounded,
    shuffled,
    times,
)
from accounting.pairs_of_records import CHARGED_RECORDS
from discreet.accounting.filters.conversion import renyi_epsilon_above
from discreet.accounting.filters.renyi import RenyiRate
from discreet.accounting.renyi.conversion import epsilon_from_renyi
from discreet.errors import BudgetExceeded
from discreet.privacy import ADD_REMOVE_PERSON, REPLACE_ROW, events

LOCAL = events.RandomizedResponse(truth="3/4", neighbors=REPLACE_ROW)
DELTA = events.Approximate(epsilon=1, delta="1/20")
ROW_DELTA = events.Approximate(epsilon=1, delta="1/20", neighbors=REPLACE_ROW)
ROW_GAUSSIAN = events.Gaussian(noise_multiplier=1, neighbors=REPLACE_ROW)
UNARY = [
    np.outer(*([c, 1 - c] for c in chances)).ravel() for chances in ((0.5, 0.25), (0.25, 0.5))
]  # the third bit has the same law
REST, TWICE = gaussian(2)[1], gaussian(2, 2)[0]
COUNTS = [lattice(lambda steps: steps * math.log(3), c)[0] for c in range(3)]

# An event, the filters that charge it, and pairs of laws that it allows.
CHARGED = {
    "Laplace": (events.Laplace(epsilon=1), "pure rho renyi", [laplace(1)]),
    "Gaussian": (events.Gaussian(noise_multiplier=1), "rho renyi mu", [gaussian(1)]),
    "DiscreteLaplace": (
        events.DiscreteLaplace(sensitivity=3, scale=2),
        "pure rho renyi",
        [lattice(lambda y: y / 2, 3), times(lattice(lambda y: y / 2, 1), lattice(lambda y: y / 2, 2))],
    ),
    "DiscreteGaussian": (
        events.DiscreteGaussian(squared_sensitivity=1, variance=4),
        "rho renyi",
        [lattice(lambda y: y * y / 8, 1)],
    ),
    "RoundedGaussian": (
        events.RoundedGaussian(squared_sensitivity=2, variance=4),
        "rho renyi mu",
        [rounded(2, 1), times(rounded(2, 1), rounded(2, 1))],
    ),
    "ExponentialChoice": (
        events.ExponentialChoice(epsilon=2),
        "pure rho renyi",
        [bounded_range(2, top) for top in (0.1, 1, 1.9)],
    ),
    **{
        name: (make(1), "pure rho renyi", [response(math.e)])
        for name, make in {
            "PermuteAndFlip": lambda e: events.PermuteAndFlip(epsilon=e),
            "NoisyMax": lambda e: events.NoisyMax(epsilon=e),
            "Pure": lambda e: events.Pure(epsilon=e),
            "AboveThreshold": lambda e: events.AboveThreshold(epsilon=e, positives=3),
        }.items()
    },
    "Grouped": (
        events.Grouped(events.Pure(epsilon=1), size=2),
        "pure rho renyi",
        [response(math.e), response(math.e**2)],
    ),
    "RandomizedResponse": (LOCAL, "pure rho renyi", [response(3)]),
    "UnaryEncoding": (
        events.UnaryEncoding(keep="1/2", flip="1/4", size=3),
        "pure rho renyi",
        [tuple(UNARY)],
    ),
    "Approximate": (DELTA, "pure rho renyi", [response(math.e, 0.05)]),
    "ZeroConcentrated": (events.ZeroConcentrated(rho="1/2"), "rho renyi", [gaussian(1)]),
    "Renyi": (events.Renyi(curve=[(2, 1), (3, "3/2"), (32, 16)]), "renyi", [gaussian(1)]),
    "MixtureOfGaussians": (
        events.MixtureOfGaussians(standard_deviation=2, contributions=[(1, "1/5"), (2, "1/10")]),
        "rho renyi",
        [(0.7 * REST + 0.2 * gaussian(2)[0] + 0.1 * TWICE, REST)],
    ),
    "Nothing": (events.Nothing, "pure rho renyi mu", [(np.ones(1), np.ones(1))]),
    "Composed": (
        events.Laplace(epsilon=1) * 2 + DELTA,
        "pure rho renyi",
        [times(laplace(1), laplace(1), response(math.e, 0.05))],
    ),
    "Parallel": (
        events.Parallel(events.Laplace(epsilon=2), DELTA),
        "pure rho renyi",
        [laplace(2), response(math.e, 0.05)],
    ),
    "Parallel, replaced": (
        events.Parallel(LOCAL, LOCAL * 2, ROW_DELTA),
        "pure rho renyi",
        [
            times(*pair)
            for pair in combinations(
                [response(3), times(response(3), response(3)), response(math.e, 0.05)], 2
            )
        ],
    ),
    "Parallel, Gaussian": (
        events.Parallel(ROW_GAUSSIAN, ROW_GAUSSIAN, ROW_GAUSSIAN),
        "rho renyi mu",
        [times(gaussian(1), gaussian(1))],
    ),
    "PoissonSampled": (
        events.PoissonSampled(events.Laplace(epsilon=2), rate="1/3"),
        "pure rho renyi",
        poisson(1 / 3, laplace(2)),
    ),
    "PoissonSampled, Gaussian": (
        events.PoissonSampled(events.Gaussian(noise_multiplier=1), rate="1/3"),
        "rho renyi",
        poisson(1 / 3, gaussian(1)),
    ),
    "PoissonSampled, with a delta": (
        events.PoissonSampled(DELTA, rate="1/3"),
        "pure rho renyi",
        poisson(1 / 3, response(math.e, 0.05)),
    ),
    "PoissonSampled, deltas composed": (
        events.PoissonSampled(DELTA * 2 + events.Laplace(epsilon=1), rate="1/3"),
        "pure rho renyi",
        poisson(1 / 3, times(response(math.e, 0.05), response(math.e, 0.05), laplace(1))),
    ),
    "PoissonSampled, a delta and normal noise": (
        events.PoissonSampled(DELTA + events.Gaussian(noise_multiplier=1), rate="1/3"),
        "rho renyi",
        poisson(1 / 3, times(response(math.e, 0.05), gaussian(1))),
    ),
    "PoissonSampled, twice": (
        events.PoissonSampled(events.PoissonSampled(DELTA, rate="1/2") * 2, rate="1/3"),
        "pure rho renyi",
        [
            pair
            for one in poisson(1 / 2, response(math.e, 0.05))
            for pair in poisson(1 / 3, times(one, one))[:1]
        ],
    ),
    "SampledWithoutReplacement": (
        events.SampledWithoutReplacement(LOCAL, batch=1, population=3),
        "pure rho renyi",
        fixed(1 / 3, response(3)),
    ),
    "SampledWithoutReplacement, Gaussian": (
        events.SampledWithoutReplacement(ROW_GAUSSIAN, batch=1, population=3),
        "rho renyi",
        fixed(1 / 3, gaussian(1)),
    ),
    "SampledWithoutReplacement, with a delta": (
        events.SampledWithoutReplacement(ROW_DELTA, batch=1, population=3),
        "pure rho renyi",
        fixed(1 / 3, response(math.e, 0.05)),
    ),
    "SampledWithoutReplacement, deltas composed": (
        events.SampledWithoutReplacement(ROW_DELTA + LOCAL, batch=1, population=3),
        "pure rho",
        fixed(1 / 3, times(response(math.e, 0.05), response(3))),
    ),
    "SampledWithReplacement": (
        events.SampledWithReplacement(LOCAL, draws=2, population=3),
        "pure rho renyi",
        drawn(2, 3, COUNTS),
    ),
    "SampledWithReplacement, with a delta": (
        events.SampledWithReplacement(ROW_DELTA, draws=2, population=3),
        "",
        [],
    ),
    "Shuffled": (
        events.Shuffled(events.RandomizedResponse(truth="3/4"), people=7),
        "pure rho renyi",
        shuffled(0.75, 7),
    ),
    **CHARGED_RECORDS,
}
EACH = pytest.mark.parametrize(("event", "kinds", "pairs"), CHARGED.values(), ids=CHARGED)


def test_every_event_is_in_the_table():
    classes = {
        name
        for name in events.__all__
        if isinstance(getattr(events, name), type) and getattr(events, name) is not events.Event
    }
    assert classes <= {type(event).__name__ for event, _, _ in CHARGED.values()}


@EACH
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_charged_covers_every_pair_that_the_event_allows(event, kinds, pairs, kind):
    budget = KINDS[kind](event.neighbors or ADD_REMOVE_PERSON)
    cost = budget.cost(event)
    if kind in kinds.split():
        check(kind, cost, pairs)
        assert budget.fits(event)
        assert tuple(budget.spend(event).spent.values()) == cost
    else:
        assert None in cost
        assert not budget.fits(event)
        assert budget.remaining(event) == 0
        with pytest.raises(BudgetExceeded, match=f"has no {budget.measure}"):
            budget.spend(event)


def test_deltas_of_samples_are_scaled_and_never_forgotten():
    rate = Fraction(1, 3)
    for inner, whole in ((DELTA, Fraction(1, 20)), (DELTA * 2, Fraction(1, 10))):
        event = events.PoissonSampled(inner, rate=rate)
        for kind in ("pure", "rho"):
            assert KINDS[kind](ADD_REMOVE_PERSON).cost(event)[-1] == rate * whole
    assert float(KINDS["renyi"](ADD_REMOVE_PERSON).cost(event)[-1]) == pytest.approx(1 / 10)
    amplified = math.log1p(math.expm1(1) / 3)
    event = events.PoissonSampled(DELTA, rate=rate)
    assert float(KINDS["pure"](ADD_REMOVE_PERSON).cost(event)[0]) == pytest.approx(amplified)
    assert float(KINDS["rho"](ADD_REMOVE_PERSON).cost(event)[0]) == pytest.approx(amplified**2 / 2)
    many = events.PoissonSampled(DELTA * 30, rate=rate)  # its amplified epsilon says less than its rho
    assert KINDS["rho"](ADD_REMOVE_PERSON).cost(many)[0] == 15


def largest_delta(order, divergence, epsilon):
    """Over all two-point laws of the ratio with mean 1 and this divergence: they attain the largest delta."""
    moment, best = math.exp((order - 1) * divergence), 0.0
    for low in np.concatenate([np.geomspace(1e-9, 0.5, 300), 1 - np.geomspace(1e-9, 0.5, 300)]):
        near, far = 1.0, 1e12
        for _ in range(200):
            high = math.sqrt(near * far)
            q = (1 - low) / (high - low) if high > low else 1.0
            near, far = (high, far) if (1 - q) * low**order + q * high**order < moment else (near, high)
        best = max(best, (1 - low) / (near - low) * (near - math.exp(epsilon)) if near > low else 0.0)
    return best


@pytest.mark.parametrize(
    ("order", "divergence", "target"),
    [
        ("2", "0.1", "0.01"),
        ("5", "0.3", "0.001"),
        ("1.5", "1", "0.1"),
        ("20", "0.5", "1e-5"),
        ("1.1", "0.5", "0.3"),
    ],
)
def test_a_conversion_is_the_optimum_at_its_order(order, divergence, target):
    found = renyi_epsilon_above(Fraction(order), Fraction(divergence), Fraction(target))
    best = epsilon_from_renyi([float(divergence)], [float(order)], float(target))
    assert found <= best * (1 + 1e-3)
    truth = largest_delta(float(order), float(divergence), found)
    assert truth <= float(target) * (1 + 1e-9)
    assert truth >= float(target) * (1 - 1e-2)


def test_an_event_that_the_accountant_does_not_know_costs_the_least_of_what_it_says_of_itself():
    """D_a <= epsilon and D_a <= a rho: at every order the smaller one, exactly."""
    rate, unknown = RenyiRate((Fraction(2), Fraction(3), Fraction(64))), [math.inf] * 3
    assert rate._divergences(events.Pure(epsilon=1), unknown) == [1, 1, 1]
    assert rate._divergences(events.Pure(epsilon="1/2"), unknown) == [
        Fraction(1, 4),
        Fraction(3, 8),
        Fraction(1, 2),
    ]
    assert rate._divergences(events.Gaussian(noise_multiplier=2), unknown) == [
        Fraction(1, 4),
        Fraction(3, 8),
        8,
    ]
    assert rate._divergences(events.Renyi(curve=[(2, 1)]), unknown) == [None, None, None]
    assert rate._divergences(events.Pure(epsilon=1), [0.25, 1.5, math.inf]) == [Fraction(1, 4), 1, 1]
