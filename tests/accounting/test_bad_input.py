"""The edges and what lies beyond them, through every question that accounting answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import pytest

from discreet import accounting
from discreet.errors import ParameterError
from discreet.privacy import ADD_REMOVE_PERSON, REPLACE_PERSON, Neighbors, events

GAUSSIAN = events.Gaussian(noise_multiplier=1)
LAPLACE = events.Laplace(epsilon=1)
RUN = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000

QUESTIONS = {
    "epsilon": lambda event: accounting.epsilon(event, delta=1e-6).upper,
    "delta": lambda event: accounting.delta(event, epsilon=1).upper,
    "curve": lambda event: accounting.curve(event, deltas=[1e-6]).upper[0],
    "profile": lambda event: accounting.profile(event, epsilons=[1]).upper[0],
    "divergence": lambda event: accounting.divergence(event, order=2).upper,
    "ladder": lambda event: accounting.ladder(event, 1e-6)["tight"].epsilon,
    "most_steps": lambda event: accounting.most_steps(event, epsilon=1, delta=1e-6),
    "calibrate": lambda event: accounting.calibrate(lambda x: event, epsilon=1, delta=1e-6),
}


@dataclass(frozen=True)
class Unheard(events.Event):
    """An event that no accountant knows."""

    neighbors: Neighbors = ADD_REMOVE_PERSON

    def _group(self, size):
        raise NotImplementedError

    def to_json(self):
        return "unheard"


@pytest.mark.parametrize("rate", [-0.1, 1.1, "3/2", float("nan"), float("inf"), None])
def test_rates_outside_the_unit_interval(rate):
    with pytest.raises(ParameterError, match=r"^rate "):
        events.PoissonSampled(GAUSSIAN, rate=rate)


def test_rates_at_the_ends():
    never, always = (events.PoissonSampled(GAUSSIAN, rate=rate) * 100 for rate in (0, 1))
    assert accounting.epsilon(never, delta=0).upper == 0
    assert accounting.epsilon(always, delta=1e-5).upper == pytest.approx(
        accounting.epsilon(GAUSSIAN * 100, delta=1e-5).upper, rel=1e-6
    )
    assert accounting.mu(never).upper == 0


@pytest.mark.parametrize("noise", [0, -1, "0", float("nan"), float("inf"), None])
def test_noise_that_is_none(noise):
    with pytest.raises(ParameterError, match=r"^noise_multiplier "):
        events.Gaussian(noise_multiplier=noise)


@pytest.mark.parametrize("event", [GAUSSIAN, RUN, GAUSSIAN + LAPLACE, GAUSSIAN * 10**9], ids=repr)
def test_at_delta_zero_an_unbounded_loss_has_an_infinite_epsilon(event):
    assert accounting.epsilon(event, delta=0).upper == math.inf
    assert accounting.curve(event, deltas=[0, 1e-5]).upper[0] == math.inf


def test_at_delta_zero_a_bounded_loss_has_its_bound():
    assert accounting.epsilon(LAPLACE * 7, delta=0).upper == 7
    assert accounting.epsilon(events.Pure(epsilon=0.5) * 10**9, delta=0).upper == 5e8


@pytest.mark.parametrize("delta", [1, 1.5, 2, -1e-9, float("nan"), float("inf"), "x", None, True])
def test_deltas_out_of_range(delta):
    with pytest.raises(ParameterError, match=r"^deltas? "):
        accounting.epsilon(RUN, delta=delta)
    with pytest.raises(ParameterError, match=r"^deltas? "):
        accounting.curve(RUN, deltas=[delta])


@pytest.mark.parametrize("epsilon", [-1, -1e-300, float("nan"), float("inf"), "x", None, True])
def test_epsilons_out_of_range(epsilon):
    with pytest.raises(ParameterError, match=r"^epsilons? "):
        accounting.delta(RUN, epsilon=epsilon)
    with pytest.raises(ParameterError, match=r"^epsilons? "):
        accounting.profile(RUN, epsilons=[epsilon])


@pytest.mark.parametrize("event", [GAUSSIAN, LAPLACE, RUN, LAPLACE * 10**9], ids=repr)
def test_tiny_epsilons_are_as_good_as_zero(event):
    at_zero, near = (accounting.delta(event, epsilon=at) for at in (0, "1e-300"))
    assert near.lower <= near.upper <= at_zero.upper * (1 + 1e-9)
    assert near.upper >= at_zero.lower * (1 - 1e-9)


@pytest.mark.parametrize("event", [LAPLACE, LAPLACE * 100, events.Pure(epsilon=3) * 2], ids=repr)
@pytest.mark.parametrize("epsilon", [101, 1e4, 1e300])
def test_huge_epsilons_leave_no_delta(event, epsilon):
    assert accounting.profile(event, epsilons=[epsilon]).upper[0] == 0


@pytest.mark.parametrize("times", [10**9, 10**12])
@pytest.mark.parametrize("event", [GAUSSIAN, LAPLACE, RUN.parts[0][0], events.Pure(epsilon=1e-6)], ids=repr)
def test_very_many_repetitions(event, times):
    found = accounting.epsilon(event * times, delta=1e-6)
    assert 0 < found.lower <= found.upper < math.inf
    assert found.upper <= found.lower * 1.01


@pytest.mark.parametrize("times", [-1, 1.5, True, 10**19, "3"])
def test_repetitions_out_of_range(times):
    with pytest.raises(ParameterError, match=r"^times "):
        GAUSSIAN * times


@pytest.mark.parametrize(
    "other",
    [
        events.RandomizedResponse(truth="3/4"),
        events.Gaussian(noise_multiplier=1, neighbors=REPLACE_PERSON),
        events.group(LAPLACE, 2),
    ],
    ids=repr,
)
def test_relations_do_not_mix(other):
    for mixed in (lambda: GAUSSIAN + other, lambda: events.Parallel(GAUSSIAN, other)):
        with pytest.raises(ParameterError, match="relations do not mix") as caught:
            mixed()
        assert str(GAUSSIAN.neighbors) in str(caught.value)
        assert str(other.neighbors) in str(caught.value)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("event", [Unheard(), Unheard() + LAPLACE * 2], ids=["alone", "in a sum"])
def test_unknown_events_are_refused_by_name(question, event):
    with pytest.raises(ParameterError, match="Unheard"):
        QUESTIONS[question](event)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("event", ["Gaussian", 3, None])
def test_what_is_no_event(question, event):
    with pytest.raises(ParameterError, match=r"not an event|not a function|neither"):
        QUESTIONS[question](event)


def test_nothing_costs_nothing():
    assert accounting.epsilon(events.Nothing, delta=0).upper == 0
    assert accounting.delta(events.Nothing, epsilon=0).upper == 0
    assert accounting.curve(events.Nothing, deltas=[0]).upper[0] == 0
    assert accounting.tradeoff(events.Nothing)(0.3) == pytest.approx(0.7)
    assert accounting.rho(events.Nothing).upper == accounting.mu(events.Nothing).upper == 0


def test_no_message_repeats_a_number():
    with pytest.raises(ParameterError) as caught:
        accounting.epsilon(RUN, delta=Fraction(271828, 100000))
    assert "2.7" not in str(caught.value)
    assert "271828" not in str(caught.value)
