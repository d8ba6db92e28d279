"""Parallel releases: a person may be in another part each time, and rules may follow the answers."""

from __future__ import annotations

from itertools import combinations_with_replacement

import mpmath
import pytest

from accounting.referee import adaptive_delta
from discreet import accounting
from discreet.accounting import delta, epsilon
from discreet.privacy import events
from discreet.privacy.neighbors import REPLACE_PERSON

NORMAL, LAPLACE = events.Gaussian(noise_multiplier=2), events.Laplace(epsilon="1.475")
BOTH = events.Parallel(NORMAL, LAPLACE)


def test_a_person_may_be_in_another_part_each_time():
    found = epsilon(BOTH + BOTH, delta=1e-5)
    other = epsilon(NORMAL + LAPLACE, delta=1e-5)
    assert other.lower == pytest.approx(3.39018, abs=1e-5)
    assert other.lower <= found.lower <= found.upper
    assert found.upper <= other.upper * 1.002
    assert found.certified


@pytest.mark.parametrize("times", [3, 40])
def test_no_multiset_of_parts_exceeds_the_bound(times):
    found = epsilon(BOTH * times, delta=1e-6)
    fixed = [epsilon(NORMAL * k + LAPLACE * (times - k), delta=1e-6).lower for k in range(times + 1)]
    assert max(fixed) <= found.upper <= 1.02 * max(fixed)
    assert found.lower <= found.upper


@pytest.mark.slow
def test_every_view_sees_it():
    run = BOTH + BOTH
    other = NORMAL + LAPLACE
    found = accounting.curve(run, deltas=[1e-6, 1e-3])
    assert (found.upper >= accounting.curve(other, deltas=[1e-6, 1e-3]).lower).all()
    profile, least = (
        accounting.profile(run, epsilons=[0, 1, 3]),
        accounting.profile(other, epsilons=[0, 1, 3]),
    )
    assert (profile.upper >= least.lower).all()

    def half(scale):
        return events.Parallel(
            events.Gaussian(noise_multiplier=2 * scale), events.Laplace(epsilon=1.475 / scale)
        )

    scale = accounting.calibrate(lambda scale: half(scale) * 2, epsilon=3.38, delta=1e-5, between=(0.5, 2))
    apart = events.Gaussian(noise_multiplier=2 * scale) + events.Laplace(epsilon=1.475 / scale)
    assert epsilon(apart, delta=1e-5).lower <= 3.38


FINITE = [
    events.Pure(epsilon=1),
    events.DiscreteLaplace(sensitivity=2, scale=1, size=1),
    events.PoissonSampled(events.Pure(epsilon=3), rate="0.2"),
    events.Approximate(epsilon="0.2", delta="0.03"),
]


@pytest.mark.parametrize("parts", list(combinations_with_replacement(range(4), 2)))
def test_finite_parts_against_every_adversary(parts):
    """Multisets from below; from above, adversaries who choose the part in view of the answers."""
    run = events.Parallel(*(FINITE[k] for k in parts)) * 2 + events.Pure(epsilon="0.3")
    for at in ("0", "0.7", "1.5", "2.4"):
        found = delta(run, epsilon=at)
        with mpmath.workdps(40):
            truth = adaptive_delta(run, mpmath.mpf(at))
        assert found.lower <= truth * (1 + 1e-12)
        assert truth <= found.upper
        assert found.upper <= 1.25 * truth + 1e-9


def test_choosing_the_part_after_an_answer_is_more_than_any_fixed_choice():
    """Why multisets of parts are not an upper bound: an exact adversary, in fifty digits."""
    parts = FINITE[0], events.Approximate(epsilon="0.2", delta="0.1")
    run = events.Parallel(*parts) * 2
    with mpmath.workdps(50):
        fixed = max(
            adaptive_delta(one + other, mpmath.mpf("1.4"))
            for one, other in combinations_with_replacement(parts, 2)
        )
        chosen = adaptive_delta(run, mpmath.mpf("1.4"))
    assert chosen > 1.1 * fixed
    assert delta(run, epsilon="1.4").upper >= chosen


def test_parts_that_others_dominate_cost_nothing():
    noises = [events.Gaussian(noise_multiplier=k) for k in range(2, 200)]
    assert epsilon(events.Parallel(*noises) * 5, delta=1e-6) == epsilon(noises[0] * 5, delta=1e-6)
    sampled = events.PoissonSampled(NORMAL, rate="0.1")
    assert (
        epsilon(events.Parallel(NORMAL, sampled) * 5, delta=1e-6).upper
        == epsilon(NORMAL * 5, delta=1e-6).upper
    )


def test_steps_that_all_parts_share_stay_exact():
    run = events.Parallel(NORMAL + events.Pure(epsilon=1), NORMAL + LAPLACE) + NORMAL
    found = epsilon(run, delta=1e-5)
    assert epsilon(NORMAL * 2 + LAPLACE, delta=1e-5).lower <= found.upper
    assert found.lower >= epsilon(NORMAL * 2 + LAPLACE, delta=1e-5).lower * (1 - 1e-9)


def test_under_replace_two_parts_are_touched_each_time():
    parts = [
        events.Gaussian(noise_multiplier=2, neighbors=REPLACE_PERSON),
        events.Laplace(epsilon="1.475", neighbors=REPLACE_PERSON),
        events.Laplace(epsilon="1.475", neighbors=REPLACE_PERSON),
    ]
    found = epsilon(events.Parallel(*parts) * 2, delta=1e-5)
    for one, other in combinations_with_replacement(range(3), 2):
        if one != other:
            assert epsilon(parts[0] + parts[1] + parts[one] + parts[other], delta=1e-5).lower <= found.upper


def test_nested_parallel_parts():
    nested = events.Parallel(BOTH * 2, events.Pure(epsilon=2))
    found = epsilon(nested + events.Pure(epsilon="0.1"), delta=1e-5)
    assert epsilon(NORMAL + LAPLACE + events.Pure(epsilon="0.1"), delta=1e-5).lower <= found.upper < 4.2
