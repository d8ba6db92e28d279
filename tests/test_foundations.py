"""Basic theorems that belong to no single mechanism."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms import Laplace
from discreet.privacy import events


def laplace_law(scale: Fraction, reach: int) -> dict[int, mpmath.mpf]:
    """The discrete Laplace law by definition, in high precision."""
    ratio = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
    first = (1 - ratio) / (1 + ratio)
    return {y: first * ratio ** abs(y) for y in range(-reach, reach + 1)}


def hockey_stick(p: dict[object, mpmath.mpf], q: dict[object, mpmath.mpf], epsilon: mpmath.mpf) -> mpmath.mpf:
    factor = mpmath.exp(epsilon)
    return sum(max(mass - factor * q.get(y, mpmath.mpf(0)), 0) for y, mass in p.items())


laws = st.lists(st.integers(1, 1000), min_size=2, max_size=6).map(
    lambda weights: {index: mpmath.mpf(weight) / sum(weights) for index, weight in enumerate(weights)}
)


@given(p=laws, q=laws, epsilon=st.floats(0, 3))
def test_the_hockey_stick_is_never_above_the_probability_of_a_large_loss(p, q, epsilon):
    """Pr[loss > epsilon] <= delta suffices for (epsilon, delta); the exact delta is smaller still."""
    epsilon = mpmath.mpf(epsilon)
    large = sum(
        mass for y, mass in p.items() if y not in q or mpmath.log(mass / q[y]) > epsilon + mpmath.mpf("1e-14")
    )
    delta = hockey_stick(p, q, epsilon)
    assert delta <= large + mpmath.mpf("1e-13")
    # And delta is what it takes: P(S) <= e^epsilon Q(S) + delta on every set S, with equality on the best.
    gains = [mass - mpmath.exp(epsilon) * q.get(y, mpmath.mpf(0)) for y, mass in p.items()]
    subsets = [sum(g for bit, g in enumerate(gains) if mask >> bit & 1) for mask in range(1 << len(gains))]
    assert abs(max(subsets) - delta) < mpmath.mpf("1e-13")


@given(
    scale=st.fractions(min_value=Fraction(1, 2), max_value=5, max_denominator=10),
    buckets=st.integers(1, 7),
    offset=st.integers(-3, 3),
)
def test_no_function_of_a_release_reveals_more(scale, buckets, offset):
    """Post-processing: the divergence of any function of the output is at most that of the output."""
    with mpmath.workdps(30):
        law = laplace_law(scale, 60)
        moved = {y + 1: mass for y, mass in law.items()}

        def processed(source):
            image: dict[object, mpmath.mpf] = {}
            for y, mass in source.items():
                key = (max(y, offset) * 7919) % buckets
                image[key] = image.get(key, mpmath.mpf(0)) + mass
            return image

        for epsilon in (0, mpmath.mpf("0.1"), mpmath.mpf(1)):
            before = hockey_stick(law, moved, epsilon)
            assert hockey_stick(processed(law), processed(moved), epsilon) <= before + mpmath.mpf("1e-20")
    event = Laplace(sensitivity=1, scale=scale).event
    assert events.post_process(event) == event


@pytest.mark.parametrize("releases", [1, 2, 3])
def test_basic_composition_is_tight_for_laplace(releases):
    """Some outcome of k releases has a loss of exactly k epsilon."""
    epsilon = Fraction(1, 2)
    mechanism = Laplace(sensitivity=1, epsilon=epsilon)
    total = mechanism.event * releases
    assert total == sum([mechanism.event] * (releases - 1), mechanism.event)
    with mpmath.workdps(30):
        law = laplace_law(mechanism.event.scale, 20)
        worst = (law[5] / law[6]) ** releases  # every release lands at or above both values
        loss = mpmath.log(worst)
        assert abs(loss - releases * mpmath.mpf(epsilon.numerator) / epsilon.denominator) < mpmath.mpf(
            "1e-25"
        )
        largest = max(mpmath.log(law[y] / law[y + 1]) for y in range(-20, 20)) * releases
        assert abs(largest - loss) < mpmath.mpf("1e-25")


@pytest.mark.parametrize("counts", [1, 4, 10])
def test_each_of_k_counts_has_variance_two_k_squared_over_epsilon_squared(counts):
    """A budget divided over k counts: the variance grows with k squared."""
    epsilon = 0.01
    together = Laplace(sensitivity=counts, epsilon=epsilon)
    divided = Laplace(sensitivity=1, epsilon=Fraction(1, 100) / counts)
    assert together.event.scale == divided.event.scale
    assert together.error.variance == pytest.approx(2 * counts**2 / epsilon**2, rel=1e-3)


def test_a_budget_divided_over_steps_adds_up_exactly():
    """0.1 ten times is 1."""
    steps = [Laplace(sensitivity=1, epsilon=0.1).guarantee.epsilon for _ in range(10)]
    assert sum(steps) == 1


def largest_loss(scales: list[Fraction], shifts: tuple[int, ...]) -> mpmath.mpf:
    """The largest loss over the joint law of independent counts, one of each part, by enumeration."""
    worst = mpmath.mpf(0)
    for outputs in product(range(-6, 7), repeat=len(scales)):
        loss = sum(
            (abs(y - shift) - abs(y)) * mpmath.mpf(scale.denominator) / scale.numerator
            for y, shift, scale in zip(outputs, shifts, scales, strict=True)
        )
        worst = max(worst, abs(loss))
    return worst


def test_parallel_parts_cost_their_maximum_or_the_two_largest():
    """Add or remove: a person is in one part. Replace: one leaves a part and another enters a part."""
    parts = [Laplace(sensitivity=1, epsilon=Fraction(1, 2)), Laplace(sensitivity=1, epsilon=Fraction(1, 4))]
    scales = [part.event.scale for part in parts]
    assert largest_loss(scales, (1, 0)) == mpmath.mpf("0.5")
    assert largest_loss(scales, (0, 1)) == mpmath.mpf("0.25")
    assert largest_loss(scales, (-1, 1)) == mpmath.mpf("0.75")
    event = events.Parallel(*(part.event for part in parts))
    assert event == events.Parallel(*(part.event for part in reversed(parts)))
    assert event.pure_epsilon == Fraction(1, 2)


def upper_tail(t: mpmath.mpf) -> mpmath.mpf:
    """P(Z > t) of a standard normal Z, by quadrature of its density and not by the error function."""
    density = mpmath.exp(-(t**2) / 2) / mpmath.sqrt(2 * mpmath.pi)
    # P(Z > t) = density(t) times the integral of exp(-t s - s^2 / 2), which is smooth and short.
    end = 40 / (t + 1)
    return density * mpmath.quad(lambda s: mpmath.exp(-t * s - s * s / 2), [0, end / 20, end / 4, end, 40])
