"""The plan of a run on an accelerator: what is charged is no less than what is drawn."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import pytest

from discreet.accounting.epsilon_and_delta import delta as tight_delta
from discreet.accounting.epsilon_and_delta import epsilon as tight_epsilon
from discreet.errors import ParameterError
from discreet.learning.deep.accelerator.device_plan import DevicePlan
from discreet.learning.deep.clipping import AdaptiveClipping, FlatClipping
from discreet.learning.deep.plan import TrainingPlan
from discreet.noise.one_word_gaussian import VARIANCE
from discreet.privacy.events import Approximate, Gaussian

COMMON = {"batch": 20, "population": 1000, "steps": 50, "delta": 1e-5, "size": 10**6}


FLAT = FlatClipping(1.0)


def plan_for(epsilon=1, clipping=FLAT, kind=DevicePlan, **other):
    return kind(epsilon=epsilon, clipping=clipping, **{**COMMON, **other})


def test_the_run_keeps_its_promise_and_hardly_more():
    plan = plan_for()
    assert 0.999 < tight_epsilon(plan.event, delta=1e-5).upper <= 1
    assert tight_delta(plan.event, epsilon=1).upper <= 1e-5


@pytest.mark.parametrize(("epsilon", "batch"), [(1, 20), (2, 20), (0.3, 1000), (0.6, 900)])
@pytest.mark.parametrize("clipping", [FLAT, AdaptiveClipping()])
def test_noise_is_wider_than_charged_by_what_its_law_differs_and_hardly_more(epsilon, batch, clipping):
    plan = plan_for(epsilon, clipping, batch=batch)
    assert plan.variance * (1 + Fraction(1, 2**18)) <= VARIANCE <= plan.variance * (1 + Fraction(1, 2**13))


@pytest.mark.parametrize(("epsilon", "batch", "size"), [(1, 20, 10**6), (2, 20, 10**8), (0.3, 1000, 3)])
def test_rounding_to_the_grid_is_part_of_the_sensitivity(epsilon, batch, size):
    plan = plan_for(epsilon, batch=batch, size=size)
    length = Fraction(plan.integers + 2, 2**plan.shift) + isqrt(size) + 1
    assert length**2 <= plan.squared_sensitivity <= (length + 2) ** 2
    assert 2**29 - 2**16 <= plan.integers < 2**30
    assert 1 <= plan.shift < 30


def test_the_more_noise_the_coarser_the_grid():
    assert plan_for(2).shift < plan_for(0.3, batch=1000).shift


def test_the_noise_is_that_of_sums_in_doubles():
    assert plan_for().noise_multiplier == pytest.approx(
        plan_for(kind=TrainingPlan).noise_multiplier, rel=1e-6
    )


def test_a_charge_has_the_chance_that_the_law_fails():
    for plan in (plan_for(), plan_for(epsilon=0.3, batch=1000)):
        (failure, times), _ = plan.event_of_charge.parts
        assert failure == Approximate(epsilon=0, delta=Fraction(1, 2**58) + plan.overflow)
        assert times == 1
        assert tight_delta(plan.event_of_charge, epsilon=60).upper >= failure.delta
    assert plan.overflow == 0
    assert plan_for().overflow == Fraction(1, 10**5 * 2**10 * 50)


def test_the_law_that_is_drawn_is_dominated_by_what_is_charged():
    """Lemma 4 at its tightest: a loss that is larger by twice the distance of the laws, at every epsilon."""
    for multiplier in (0.4, 1.0, 16.0, 256.0):
        drawn = Gaussian(noise_multiplier=multiplier * (1 + 2.0**-19.2))
        charged = Gaussian(noise_multiplier=multiplier)
        distance = 2**30 * 2.0**-83
        for epsilon in (0.01, 0.3, 1.0, 4.0):
            more = tight_delta(drawn, epsilon=max(epsilon - 2 * distance, 0)).lower * (1 + 2 * distance)
            assert more <= tight_delta(charged, epsilon=epsilon).upper


def test_an_adaptive_bound_is_paid_for():
    plan = plan_for(clipping=AdaptiveClipping())
    assert plan.drawn == plan.size + 1
    assert plan.squared_sensitivity > (plan.integers >> plan.shift) ** 2 + plan.count_weight**2


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ({"epsilon": 40, "steps": 1}, "hardly any noise, less than 0.4 times.*at most .* on an accelerator"),
        ({"epsilon": 0.05, "batch": 1000}, "more noise than 256 times.*at least .*model on the processor"),
        ({"epsilon": 0.15, "batch": 1000, "size": 2**30 - 1}, "rounding"),
        ({"delta": 2.0**-58}, "too small"),
        ({"size": 2**30}, "too many trained numbers"),
        ({"population": 2**28, "batch": 2**22}, "too many examples"),
    ],
)
def test_what_is_not_proven_is_refused(other, problem):
    with pytest.raises(ParameterError, match=problem):
        plan_for(**other)
