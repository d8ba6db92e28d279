"""The public numbers of a run: what is charged is what is drawn, and it keeps the promise."""

from __future__ import annotations

import re
from fractions import Fraction
from math import sqrt

import pytest

from accounting.formulas.test_binomial_tail import exact_tail
from discreet.accounting.epsilon_and_delta import delta, epsilon
from discreet.errors import ParameterError
from discreet.learning.deep.clipping import AdaptiveClipping, FlatClipping
from discreet.learning.deep.plan import GRID_STEPS, TrainingPlan, least_multiplier, places_of
from discreet.privacy.events import Approximate, Gaussian, PoissonSampled, RoundedGaussian

STATED = {
    "batch": 50,
    "population": 1000,
    "steps": 40,
    "epsilon": 1,
    "delta": 1e-5,
    "size": 10_000,
    "clipping": FlatClipping(1.0),
}


def test_the_event_is_the_law_that_is_drawn():
    plan = TrainingPlan(**STATED)
    noise = RoundedGaussian(squared_sensitivity=plan.squared_sensitivity, variance=plan.variance, size=10_000)
    overflow = Approximate(epsilon=0, delta=Fraction(1, 10**5 * 2**10 * 40))
    assert plan.event == (PoissonSampled(noise, rate=Fraction(1, 20)) + overflow) * 40
    everybody = TrainingPlan(**STATED | {"batch": 1000})
    noise = RoundedGaussian(
        squared_sensitivity=plan.squared_sensitivity, variance=everybody.variance, size=10_000
    )
    assert everybody.event == PoissonSampled(noise, rate=1) * 40


@pytest.mark.parametrize("batch", [50, 1000])
def test_the_run_keeps_its_promise_and_hardly_more(batch):
    plan = TrainingPlan(**STATED | {"batch": batch})
    assert 0.999 < epsilon(plan.event, delta=1e-5).upper <= 1
    assert delta(plan.event, epsilon=1).upper <= 1e-5 * (1 + 1e-3)


def test_steps_that_overflow_are_part_of_the_promise():
    """What is left of delta without them would not be enough for the noise of a plan that forgot them."""
    plan = TrainingPlan(**STATED)
    forgotten = least_multiplier(plan.rate, 40, Fraction(1), Fraction(1, 10**5))
    event = (PoissonSampled(Gaussian(noise_multiplier=forgotten), rate=plan.rate)) * 40
    assert plan.noise_multiplier > forgotten
    assert epsilon(event + Approximate(epsilon=0, delta=40 * plan.overflow), delta=1e-5).lower > 1


@pytest.mark.parametrize(
    "changed",
    [{}, {"examples": 3}, {"population": 60_000, "batch": 256, "steps": 2000}, {"delta": 1e-15}],
)
def test_places_are_enough_but_for_the_chance_that_is_charged(changed):
    """One person less would not be: the law of the others by fractions."""
    plan = TrainingPlan(**STATED | changed)
    assert plan.overflow == plan.delta / (2**10 * plan.steps)
    people, rest = divmod(plan.places, plan.examples)
    assert rest == 0
    assert exact_tail(plan.population - 1, people, plan.rate) <= plan.overflow
    assert exact_tail(plan.population - 1, people - 1, plan.rate) > plan.overflow * (1 - Fraction(1, 10**5))


@pytest.mark.parametrize(
    "changed",
    [{"batch": 1000}, {"population": 5, "batch": 3}, {"batch": 999.9}, {"population": 1, "batch": 1}],
)
def test_where_everybody_may_come_everybody_has_a_place_and_nothing_is_charged(changed):
    plan = TrainingPlan(**STATED | changed)
    assert (plan.places, plan.overflow) == (plan.population, 0)
    assert not any(isinstance(part, Approximate) for part, _ in plan.event.parts)


def test_places_of_a_part_of_the_people():
    """That of a process among several, whose chance is the one that is charged, whatever it is."""
    plan = TrainingPlan(**STATED | {"examples": 2})
    found = [places_of(people, 2, plan.rate, plan.overflow) for people in (0, 1, 5, 500, 1000)]
    assert found == sorted(found)
    assert found[:3] == [0, 2, 10]
    assert exact_tail(499, found[3] // 2, plan.rate) <= plan.overflow
    assert found[4] == plan.places
    assert places_of(1000, 2, Fraction(1), Fraction(0)) == 2000


def test_the_sensitivity_has_all_rounding():
    plan = TrainingPlan(**STATED | {"examples": 3})
    length = sqrt(plan.squared_sensitivity)
    assert length >= GRID_STEPS + 3 * 1000 * 2.0**-30 * GRID_STEPS + sqrt(10_000)
    assert length <= GRID_STEPS * (1 + 1e-4)
    assert plan.variance >= Fraction(plan.noise_multiplier) ** 2 * plan.squared_sensitivity


def test_an_adaptive_bound_is_paid_for():
    plain, adaptive = (
        TrainingPlan(**STATED | {"clipping": kind}) for kind in (FlatClipping(1.0), AdaptiveClipping())
    )
    assert adaptive.squared_sensitivity == plain.squared_sensitivity + adaptive.count_weight**2
    assert adaptive.count_weight > 0
    assert adaptive.drawn == plain.drawn + 1
    assert epsilon(adaptive.event, delta=1e-5).upper <= 1
    deviation = sqrt(adaptive.variance) / (2 * adaptive.count_weight * 50)
    assert deviation == pytest.approx(0.05, rel=0.01)


def test_a_plan_is_told_from_others():
    plans = [TrainingPlan(**STATED | changed) for changed in ({}, {"steps": 41}, {"epsilon": 2}, {"size": 9})]
    assert len({str(plan.to_object()) for plan in plans}) == 4
    assert plans[0].to_object()["overflow"] == str(plans[0].overflow)
    assert TrainingPlan(**STATED).to_object() == plans[0].to_object()


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"batch": 0}, "batch"),
        ({"batch": 1001}, "batch"),
        ({"steps": 0}, "steps"),
        ({"steps": 1.5}, "steps"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"population": 2**28}, "population"),
        ({"examples": 0}, "examples_per_person"),
        ({"epsilon": 1e9}, "epsilon"),
    ],
)
def test_bad_numbers_are_refused_by_name(changed, name):
    with pytest.raises(ParameterError) as refused:
        TrainingPlan(**STATED | changed)
    assert refused.value.parameter == name


def test_a_batch_that_is_a_share_is_refused_with_the_number():
    with pytest.raises(ParameterError, match=r"not a share of them, which would be batch=100$"):
        TrainingPlan(**STATED | {"batch": 0.1})
    with pytest.raises(ParameterError, match="larger than the number of people, 1000"):
        TrainingPlan(**STATED | {"batch": 1001})
    assert TrainingPlan(**STATED | {"batch": 1}).rate == Fraction(1, 1000)


@pytest.mark.parametrize(
    ("wrong", "problem", "mend"),
    [
        (1e-9, "needs more noise than 1000 times the bound", "at least"),
        (10**12, "needs hardly any noise, less than 0.01 times", "at most"),
    ],
)
def test_an_epsilon_beyond_all_noise_is_refused_with_one_that_is_not(wrong, problem, mend):
    with pytest.raises(ParameterError, match=problem) as caught:
        TrainingPlan(**STATED | {"epsilon": wrong})
    (named,) = re.findall(rf"{mend} ([0-9.e+-]+) ", str(caught.value))
    assert TrainingPlan(**STATED | {"epsilon": float(named)}).noise_multiplier > 0.009
    further = float(named) * (0.97 if mend == "at least" else 1.03)
    with pytest.raises(ParameterError, match=problem):
        TrainingPlan(**STATED | {"epsilon": further})
