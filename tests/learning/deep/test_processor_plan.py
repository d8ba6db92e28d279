"""The plan of a run on the processor: what floats round is charged, and so is what the law differs by."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import pytest

from discreet.accounting.epsilon_and_delta import epsilon as tight_epsilon
from discreet.learning.deep.clipping import AdaptiveClipping, FlatClipping
from discreet.learning.deep.one_word_plan import BeyondOneWord, OneWordPlan
from discreet.learning.deep.plan import TrainingPlan
from discreet.learning.deep.processor_plan import ProcessorPlan
from discreet.noise.one_word_gaussian import VARIANCE
from discreet.privacy.events import Approximate

COMMON = {"batch": 20, "population": 1000, "steps": 50, "epsilon": 1, "delta": 1e-5, "size": 10**6}
FLAT = FlatClipping(1.0)


def plan_for(kind=ProcessorPlan, **other):
    return kind(**{"clipping": FLAT, **COMMON, **other})


@pytest.mark.parametrize(
    ("other", "rows"),
    [
        ({}, 256),
        ({"batch": 256, "population": 256}, 256),
        ({"batch": 257, "population": 257}, 128),
        ({"batch": 256, "population": 60_000}, 128),
        ({"batch": 2048, "population": 2048}, 32),
        ({"batch": 2049, "population": 2049}, 0),
        ({"batch": 300, "population": 300, "examples": 3}, 64),
    ],
)
def test_what_sums_round_is_part_of_the_sensitivity(other, rows):
    """Lemma 3b, written out: two neighbors, each with as many examples as there are places."""
    plan = plan_for(**other)
    assert plan.rows_in_floats == rows
    each = Fraction(rows, 2**24) / (1 - Fraction(rows, 2**24)) * (1 + Fraction(1, 2**21))
    both = 2 * (plan.places * each + plan.population * plan.examples * Fraction(1, 2**31))
    bound = Fraction(plan.bound_in_steps)
    length = bound * (1 + both + Fraction(1, 2**21)) + isqrt(plan.size) + 2
    assert length**2 <= plan.squared_sensitivity <= (length * (1 + Fraction(1, 2**40)) + 1) ** 2
    assert both < Fraction(1, 100)


def test_floats_that_were_not_charged_would_be_too_much():
    plan = plan_for(batch=256, population=256)
    length = Fraction(plan.bound_in_steps) * (1 + Fraction(2 * 256 * 256, 2**24)) + isqrt(plan.size) + 1
    without = plan._room + isqrt(plan.size) + 2
    assert Fraction(without) >= length
    assert (Fraction(plan._room) * (1 + Fraction(2 * 256 * 256, 2**24))) ** 2 > plan.squared_sensitivity


@pytest.mark.parametrize("clipping", [FLAT, AdaptiveClipping()])
def test_the_noise_that_is_drawn_is_wider_than_charged_and_hardly_more(clipping):
    plan = plan_for(clipping=clipping)
    assert plan.variance * (1 + Fraction(1, 2**18)) <= VARIANCE <= plan.variance * (1 + Fraction(1, 2**13))
    assert 0.999 < tight_epsilon(plan.event, delta=1e-5).upper <= 1
    assert plan.noise_multiplier == pytest.approx(
        plan_for(TrainingPlan, clipping=clipping).noise_multiplier, rel=1e-6
    )


def test_a_charge_has_the_chance_that_the_law_fails():
    plan = plan_for()
    (failure, times), _ = plan.event_of_charge.parts
    assert failure == Approximate(epsilon=0, delta=Fraction(1, 2**58) + plan.overflow)
    assert times == 1


@pytest.mark.parametrize(
    "other",
    [
        {"epsilon": 40, "steps": 1},
        {"epsilon": 0.05, "batch": 1000},
        {"epsilon": 0.3, "batch": 1000, "size": 10**9},
        {"delta": 2.0**-58},
        {"size": 2**30},
    ],
)
def test_what_its_noise_is_not_for_has_a_plan_of_its_own(other):
    with pytest.raises(BeyondOneWord):
        plan_for(**other)
    assert type(plan_for(TrainingPlan, **other)) is TrainingPlan
    assert issubclass(ProcessorPlan, OneWordPlan)
