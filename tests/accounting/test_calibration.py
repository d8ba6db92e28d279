"""Calibration is on the safe side, as close to the edge as it says, and refuses what has no answer."""

from __future__ import annotations

import sys
from fractions import Fraction
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import Interval, calibrate, epsilon, most_steps
from discreet.accounting.epsilon_and_delta import epsilon_within
from discreet.errors import ParameterError
from discreet.privacy import events
from effort import examples


def run(sigma, rate="0.01", steps=10_000):
    return events.PoissonSampled(events.Gaussian(noise_multiplier=sigma), rate=rate) * steps


def cost(make, parameter, delta=1e-6):
    return epsilon(make(parameter), delta=delta).upper


# One real parameter --------------------------------------------------------------------------------


@pytest.mark.parametrize("between", [(1e-4, 1e4), (1, 20)])
def test_the_noise_of_the_lecture_for_epsilon_one(between):
    sigma = calibrate(run, epsilon=1, delta=1e-6, between=between)
    assert sigma == pytest.approx(4.3021, abs=2e-4)
    assert cost(run, sigma) <= 1 < cost(run, sigma * (1 - 2e-7))


def test_a_rate_is_the_largest_that_keeps_the_promise():
    def make(rate):
        return run(4, rate=rate)

    rate = calibrate(make, epsilon=1, delta=1e-6, between=(1e-9, 1))
    assert cost(make, rate) <= 1 < cost(make, rate * (1 + 2e-7))


def test_a_sensitivity_is_the_largest_that_keeps_the_promise():
    def make(sensitivity):
        return events.Gaussian(noise_multiplier=5 / sensitivity) * 10

    found = calibrate(make, epsilon=1, delta=1e-6)
    assert cost(make, found) <= 1 < cost(make, found * (1 + 2e-7))
    noise = calibrate(lambda s: events.Gaussian(noise_multiplier=s) * 10, epsilon=1, delta=1e-6)
    assert found == pytest.approx(5 / noise, rel=1e-6)


def test_a_round_answer_is_given_as_it_is():
    """A hundred pure answers within 1: each may cost 1/100, which the search meets only from below."""
    assert calibrate(lambda each: events.Laplace(epsilon=each) * 100, epsilon=1, delta=0) == 0.01


@pytest.mark.parametrize(("target", "delta"), [(1e-3, 1e-10), (30, 1e-6), (1e-6, 1e-3)])
def test_small_and_large_promises(target, delta):
    def make(sigma):
        return events.Gaussian(noise_multiplier=sigma)

    sigma = calibrate(make, epsilon=target, delta=delta, between=(1e-4, 1e8))
    assert cost(make, sigma, delta) <= target < cost(make, sigma * (1 - 2e-7), delta)


@given(
    target=st.floats(0.01, 20),
    power=st.floats(-3, 3).filter(lambda x: abs(x) > 0.1),
    scale=st.floats(0.01, 100),
    noise=st.floats(0, 1e-4),
)
@settings(max_examples=examples(60))
def test_whatever_the_cost_looks_like_the_answer_keeps_the_promise(target, power, scale, noise):
    """Costs that rise or fall, like powers, and shake a little as upper bounds do."""

    def priced(event, *, delta, width=None, lower_too=False):
        x = float(event.epsilon)
        upper = scale * x**power * (1 + noise * ((hash(event.epsilon) % 1000) / 1000))
        return Interval(lower=0, upper=upper, method="", neighbors=None, certified=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["discreet.accounting.calibration"], "tight_epsilon", priced)
        exact = (target / scale) ** (1 / power)
        between = (1e-60, 1e60)
        found = calibrate(lambda x: events.Pure(epsilon=x), epsilon=target, delta=0, between=between)
        assert priced(events.Pure(epsilon=found), delta=0).upper <= target
        assert abs(log(found / exact)) <= 2e-7 + 1.1e-4 / abs(power)


def test_few_runs_are_priced(monkeypatch):
    priced = []

    def counting(event, *, delta, width, lower_too):
        priced.append(event)
        assert not lower_too
        return epsilon_within(event, delta=delta, width=width, lower_too=lower_too)

    monkeypatch.setattr(sys.modules["discreet.accounting.calibration"], "tight_epsilon", counting)
    calibrate(run, epsilon=1, delta=1e-6)
    assert len(set(priced)) <= 16
    assert len(priced) <= 2 * len(set(priced))


@pytest.mark.parametrize(
    "between", [(0, 1), (2, 1), (-1, 3), (1, 1), (1,), None, ("a", "b"), (1, float("inf"))]
)
def test_bad_brackets_are_refused(between):
    with pytest.raises(ParameterError, match=r"^between is not (an interval|a pair of numbers)"):
        calibrate(run, epsilon=1, delta=1e-6, between=between)


def test_a_bracket_without_an_answer_is_refused():
    with pytest.raises(ParameterError, match="holds no parameter"):
        calibrate(run, epsilon=1, delta=1e-6, between=(1, 2))
    with pytest.raises(ParameterError, match="holds only parameters that keep"):
        calibrate(run, epsilon=1, delta=1e-6, between=(5, 20))
    with pytest.raises(ParameterError, match="holds no parameter"):
        calibrate(lambda sigma: events.Gaussian(noise_multiplier=sigma), epsilon=1, delta=0)


def test_a_bracket_that_the_run_refuses_is_refused_with_its_reason():
    with pytest.raises(ParameterError, match=r"^between holds .* refuses \(rate is out of"):
        calibrate(lambda rate: run(4, rate=rate), epsilon=1, delta=1e-6, between=(0.5, 100))
    with pytest.raises(ParameterError, match="use most_steps"):
        calibrate(lambda steps: events.Pure(epsilon=0.1) * steps, epsilon=1, delta=0, between=(0.5, 90))


def test_a_cost_that_is_not_monotone_is_refused():
    with pytest.raises(ParameterError, match=r"^make costs more here and less there"):
        calibrate(lambda x: events.Pure(epsilon=abs(x - 3) + 0.1), epsilon=1, delta=0, between=(0.5, 20))


@pytest.mark.parametrize("make", [None, 4, lambda x: "event"])
def test_what_makes_no_events_is_refused(make):
    with pytest.raises(ParameterError, match=r"^make "):
        calibrate(make, epsilon=1, delta=1e-6)


@pytest.mark.parametrize(
    ("target", "delta", "name"),
    [(0, 1e-6, "epsilon"), (-1, 1e-6, "epsilon"), (1, 1, "delta"), (1, -1, "delta")],
)
def test_bad_promises_are_refused(target, delta, name):
    for search in (
        lambda **promise: calibrate(run, **promise),
        lambda **promise: most_steps(run(4), **promise),
    ):
        with pytest.raises(ParameterError, match=rf"^{name} "):
            search(epsilon=target, delta=delta)


# A whole number of steps ---------------------------------------------------------------------------


def test_the_steps_of_the_lecture_for_epsilon_one():
    step = run(4, steps=1)
    steps = most_steps(step, epsilon=1, delta=1e-6)
    assert epsilon(step * steps, delta=1e-6).upper <= 1 < epsilon(step * (steps + 1), delta=1e-6).upper
    assert 8500 < steps < 8700


@given(each=st.integers(1, 2048).map(lambda k: Fraction(k, 1024)), target=st.integers(1, 50))
@settings(max_examples=examples(60))
def test_pure_steps_add_up_to_the_promise_exactly(each, target):
    assert most_steps(events.Pure(epsilon=each), epsilon=target, delta=0) == target // each


def test_steps_after_something_else():
    def make(steps):
        return events.Gaussian(noise_multiplier=2) + run(4, steps=steps)

    steps = most_steps(make, epsilon=3, delta=1e-6)
    assert cost(make, steps) <= 3 < cost(make, steps + 1)
    assert steps < most_steps(run(4, steps=1), epsilon=3, delta=1e-6)


def test_where_one_step_is_too_many_there_are_none():
    assert most_steps(events.Gaussian(noise_multiplier=0.1), epsilon=1, delta=1e-6) == 0
    with pytest.raises(ParameterError, match="without a single step"):
        most_steps(lambda n: events.Pure(epsilon=2) + events.Pure(epsilon=1) * n, epsilon=1, delta=0)


def test_where_every_number_of_steps_fits_none_is_the_largest():
    with pytest.raises(ParameterError, match=r"^most is a number of steps that still keeps the promise"):
        most_steps(events.Pure(epsilon=0), epsilon=1, delta=0)
    with pytest.raises(ParameterError, match=r"^most "):
        most_steps(events.Pure(epsilon=0.1), epsilon=1, delta=0, most=10)
    assert most_steps(events.Pure(epsilon=0.1), epsilon=1, delta=0, most=11) == 10


def test_very_many_steps():
    assert most_steps(events.Pure(epsilon=Fraction(1, 10**9)), epsilon=1, delta=0) == 10**9


def test_more_steps_that_cost_less_are_refused():
    with pytest.raises(ParameterError, match=r"^(make|most) "):
        most_steps(lambda n: events.Pure(epsilon=Fraction(100, n + 1)), epsilon=1, delta=0)


@pytest.mark.parametrize("make", [None, 4, lambda n: "event"])
def test_what_makes_no_steps_is_refused(make):
    with pytest.raises(ParameterError, match=r"^make "):
        most_steps(make, epsilon=1, delta=1e-6)


@pytest.mark.parametrize("most", [0, -1, 1.5, True])
def test_bad_limits_of_steps(most):
    with pytest.raises(ParameterError, match=r"^most "):
        most_steps(run(4), epsilon=1, delta=1e-6, most=most)


@pytest.mark.parametrize(
    ("rate", "times", "target", "delta"),
    [(1e-4, 2, 0.006, 1e-6), (0.01, 5, 1, 1e-6), (1e-3, 300, 0.5, 1e-12)],
)
def test_few_steps_small_rates_and_small_deltas_have_an_answer(rate, times, target, delta):
    def make(sigma):
        return events.PoissonSampled(events.Gaussian(noise_multiplier=sigma), rate=rate) * times

    sigma = calibrate(make, epsilon=target, delta=delta)
    assert cost(make, sigma, delta) <= target < cost(make, sigma * (1 - 1e-3), delta)
