"""Sampled Gaussian runs of 1 to 1,000 steps: against quadrature, convolution and another accountant."""

from __future__ import annotations

from itertools import pairwise, product

import dp_accounting
import pytest
from dp_accounting.pld import PLDAccountant

from accounting.lattice_runs.quadrature import convolved_delta, delta_of_one_sampled_step, two_steps_delta
from discreet.accounting import curve, delta, epsilon
from discreet.accounting.lattice_runs import LatticeRun
from discreet.privacy import events

STEPS = (2, 5, 10, 30, 100, 300, 1000)
QUADRATURES = [
    (1, 0.01, 1e-5),
    (0.5, 1e-5, 1e-9),
    (2, 0.5, 1e-6),
    (20, 1e-3, 1e-6),
    (5, 0.9, 1e-5),
    (0.5, 0.1, 1e-8),
]


def run(sigma, rate, times):
    return events.PoissonSampled(events.Gaussian(noise_multiplier=sigma), rate=rate) * times


@pytest.mark.parametrize(
    ("sigma", "rate", "failure"),
    [
        (0.7, 1e-4, 1e-6),
        (1, 1e-3, 1e-12),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in QUADRATURES),
    ],
)
def test_two_steps_agree_with_quadrature(sigma, rate, failure):
    found = epsilon(run(sigma, rate, 2), delta=failure)
    assert found.certified
    least = two_steps_delta(found.upper, sigma, rate)
    assert two_steps_delta(found.lower, sigma, rate) >= failure >= least
    assert 0 < found.width <= 1e-4 * found.upper
    back = delta(run(sigma, rate, 2), epsilon=found.upper)
    assert back.lower <= least <= back.upper
    assert back.width <= 1e-3 * back.upper


@pytest.mark.parametrize(
    ("sigma", "rate", "times", "failure", "lattice"),
    [(1, 1e-3, 300, 1e-12, (2.5e-4, 2)), (1, 0.01, 30, 1e-6, (5e-4, 3)), (0.7, 1e-3, 20, 1e-9, (1e-3, 5))],
)
def test_many_steps_agree_with_convolution_of_positive_numbers(sigma, rate, times, failure, lattice):
    found = epsilon(run(sigma, rate, times), delta=failure)
    assert found.width <= 1e-4 * found.upper
    for end, sign in ((found.lower, 1), (found.upper, -1)):
        exact = convolved_delta(end, sigma, rate, times, spacing=lattice[0], largest=lattice[1])
        assert exact == pytest.approx(failure, rel=0.01)
        assert sign * (exact * (1 + sign * 0.01) - failure) >= 0


@pytest.mark.parametrize(("sigma", "rate"), [(0.5, 1e-4), (1, 0.01), (4, 0.5), (20, 0.9), (0.1, 1e-3)])
@pytest.mark.parametrize("failure", [1e-4, 1e-7, 1e-12])
def test_one_step_is_exact(sigma, rate, failure):
    found = epsilon(run(sigma, rate, 1), delta=failure)
    if found.upper == 0:
        assert max(delta_of_one_sampled_step(0, sigma, rate)) <= failure
        return
    assert found.width <= 1e-9 * found.upper
    assert delta_of_one_sampled_step(found.lower, sigma, rate)[0] >= failure * (1 - 1e-9)
    assert delta_of_one_sampled_step(found.upper, sigma, rate)[0] <= failure * (1 + 1e-9)
    back = delta(run(sigma, rate, 1), epsilon=found.upper)
    exact = delta_of_one_sampled_step(found.upper, sigma, rate)[0]
    assert back.lower * (1 - 1e-9) <= exact <= back.upper * (1 + 1e-9)


@pytest.mark.parametrize(("sigma", "rate"), [(0.5, 1e-4), (1, 0.3), (4, 0.9)])
@pytest.mark.parametrize("at", [0.0, 1e-5, 1e-3, 0.1, 1.0])
def test_both_directions_of_one_step(sigma, rate, at):
    removed, added = delta_of_one_sampled_step(at, sigma, rate)
    assert added <= removed


def test_adding_a_unit_is_looked_at():
    """Two kinds of steps for which adding a unit is the worse direction are bounded by it."""
    found = LatticeRun([(1.0, 0.9, 3)])
    lower, upper = found.epsilon(0.05, 0.05, 9e-5)
    forward, backward = (
        found._solved(0, 0.05, 0.05, 9e-5, True),
        LatticeRun([(1.0, 0.9, 3)])._solved(1, 0.05, 0.05, 9e-5, True),
    )
    assert upper >= max(forward[0], backward[0])
    assert lower <= max(forward[1], backward[1])


@pytest.mark.parametrize(("sigma", "rate", "failure"), [(1, 0.01, 1e-5), (0.7, 1e-4, 1e-6), (2, 0.1, 1e-9)])
def test_more_steps_never_cost_less(sigma, rate, failure):
    counts = [1, 2, 3, 4, 7, 12, 40, 41, 150]
    found = [epsilon(run(sigma, rate, times), delta=failure) for times in counts]
    assert all(a.upper <= b.upper and a.lower <= b.upper for a, b in pairwise(found))


def test_many_deltas_share_what_is_known():
    wanted = [1e-10, 1e-8, 1e-6, 3e-6, 1e-5, 1e-4]
    found = curve(run(1, 0.01, 20), deltas=wanted)
    single = [epsilon(run(1, 0.01, 20), delta=failure) for failure in wanted]
    for lower, upper, one in zip(found.lower, found.upper, single, strict=True):
        assert upper - lower <= 1e-4 * upper
        assert lower <= one.upper
        assert one.lower <= upper


@pytest.mark.parametrize(
    ("sigma", "rate", "times", "failure"),
    [(1, 0.01, 300, 1e-5), (1.0251, 1e-3, 1000, 1e-12), (0.7, 1e-4, 2, 1e-6), (0.5, 1e-5, 1000, 1e-9)],
)
def test_only_an_upper_bound_may_be_asked_for(sigma, rate, times, failure):
    """It is as safe as that of both, and about as close; a loose one is safe too."""
    both = LatticeRun([(1 / sigma, rate, times)]).epsilon(failure, failure, 9e-5)
    assert both[1] - both[0] <= 9e-5 * both[1]
    for width in (9e-5, 0.01):
        lower, upper = LatticeRun([(1 / sigma, rate, times)]).epsilon(
            failure, failure, width, lower_too=False
        )
        assert lower == 0
        assert both[0] <= upper <= both[1] * (1 + 10 * width)


def test_kinds_of_steps_mix():
    """A run of several kinds lies between runs of the least and of the most noise."""
    mixed = run(1, 0.01, 10) + run(2, 0.02, 20) + events.Gaussian(noise_multiplier=30)
    found = epsilon(mixed, delta=1e-6)
    assert found.width <= 1e-4 * found.upper
    accountant = PLDAccountant(value_discretization_interval=1e-3)
    for sigma, rate, times in ((1, 0.01, 10), (2, 0.02, 20), (30, 1, 1)):
        step = dp_accounting.GaussianDpEvent(sigma)
        sampled = step if rate == 1 else dp_accounting.PoissonSampledDpEvent(rate, step)
        accountant.compose(sampled, times)
    assert found.upper == pytest.approx(accountant.get_epsilon(1e-6), rel=2e-3)


def test_kinds_with_losses_of_very_different_size_mix():
    """A kind whose losses are all small does not keep the other from deciding alone."""
    mixed = run(10.34, 0.00052, 24) + run(0.88, 0.00901, 93)
    found = epsilon(mixed, delta=2.7e-5)
    assert found.width <= 1e-4 * found.upper
    accountant = PLDAccountant(value_discretization_interval=1e-3)
    for sigma, rate, times in ((10.34, 0.00052, 24), (0.88, 0.00901, 93)):
        step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
        accountant.compose(step, times)
    other = accountant.get_epsilon(2.7e-5)
    assert found.lower <= other
    assert found.upper == pytest.approx(other, rel=1e-2)


def test_an_epsilon_is_never_negative():
    """Where delta is beyond the distance of both laws, even if only the lattice sees it."""
    found = epsilon(run(0.4515, 2.18e-5, 216), delta=0.0008561146996536758)
    assert 0 <= found.lower <= found.upper <= 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [0.5, 0.7, 1, 2, 5, 20])
@pytest.mark.parametrize("failure", [1e-4, 1e-6, 1e-9, 1e-12])
def test_all_intervals_are_narrow_and_grow_with_steps(sigma, failure):
    for rate in (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9):
        found = [epsilon(run(sigma, rate, times), delta=failure) for times in (1, *STEPS)]
        assert all(one.certified and one.width <= 1.2e-4 * one.upper + 1e-10 for one in found), (rate, found)
        assert all(a.upper <= b.upper for a, b in pairwise(found)), (rate, found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "rate", "times"), list(product((0.7, 1, 4), (1e-3, 0.01, 0.2), (5, 30, 300)))
)
def test_another_accountant_agrees(sigma, rate, times):
    """Its pessimistic answer is no less than the lower bound, and not much more than the upper one."""
    found = epsilon(run(sigma, rate, times), delta=1e-5)
    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
    other = PLDAccountant().compose(step, times).get_epsilon(1e-5)
    assert found.lower <= other * (1 + 1e-9)
    assert other <= found.upper * (1 + 1e-3) + 2e-3
