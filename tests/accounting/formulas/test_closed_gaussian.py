"""The Gaussian closed form against fifty and more digits, far beyond where floats cancel."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import pytest

from discreet.accounting import delta, epsilon
from discreet.accounting.formulas.closed_gaussian import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_epsilon_above,
    gaussian_epsilon_below,
)
from discreet.privacy import events
from randomness import some_seed


def exact(squared_mu, at):
    """By definition, with so many digits that nothing cancels."""
    size = 1 + at**2 / squared_mu + squared_mu
    with mpmath.workdps(120 + 2 * len(str(int(size)))):
        mu = mpmath.sqrt(mpmath.mpf(squared_mu.numerator) / squared_mu.denominator)
        loss = mpmath.mpf(at.numerator) / at.denominator
        near, far = mu / 2 - loss / mu, mu / 2 + loss / mu
        return (
            mpmath.erfc(-near / mpmath.sqrt(2)) / 2 - mpmath.exp(loss) * mpmath.erfc(far / mpmath.sqrt(2)) / 2
        )


def check(noise, target, at):
    square = 1 / noise**2
    lower, upper = gaussian_epsilon(square, target)
    below, above = gaussian_epsilon_below(square, target), gaussian_epsilon_above(square, target)
    assert below <= lower <= upper <= above <= below * (1 + 1e-14) + 1e-300
    with mpmath.workdps(120):
        wanted = mpmath.mpf(target.numerator) / target.denominator
        assert exact(square, Fraction(upper)) <= wanted, (noise, target, lower, upper)
        assert lower == 0 or exact(square, Fraction(lower)) >= wanted, (noise, target, lower, upper)
    assert upper - lower <= 3e-16 * upper
    low, high = gaussian_delta(square, at)
    if high > 1e-300:
        truth = exact(square, at)
        assert low <= truth <= high, (noise, at, low, high)
        assert high - low <= 3e-16 * high


CASES = [
    ("1", "1e-5", "1"),
    ("1e6", "3.989e-7", "1e-6"),  # next to delta(0)
    ("1e6", "1e-300", "0"),
    ("1e-3", "0.999999999999", "400000"),
    ("0.01", "1e-12", "5000"),
    ("300", "0.001", "0.01"),
]


@pytest.mark.parametrize(("noise", "target", "at"), CASES)
def test_both_ends_are_next_to_the_truth(noise, target, at):
    check(Fraction(noise), Fraction(target), Fraction(at))


@pytest.mark.slow
def test_random_grid():
    seed = some_seed()
    rng = random.Random(seed)
    for _ in range(400):
        noise = Fraction(f"{10 ** rng.uniform(-6, 6):.6g}")
        target = rng.choice(
            [
                10 ** rng.uniform(-300, 0),
                1 - 10 ** rng.uniform(-12, 0),
                float(exact(1 / noise**2, Fraction(0))) * (1 - 10 ** rng.uniform(-15, 0)),
            ]
        )
        target = Fraction(repr(target)) if 0 < target < 1 else Fraction(1, 2)
        at = Fraction(f"{rng.choice([0, 10 ** rng.uniform(-6, 5)]):.6g}")
        try:
            check(noise, target, at)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def test_noise_made_for_an_epsilon_is_never_charged_more():
    """The least float at which delta is kept: if one is, the answer is no larger."""
    for noise in ("4.2247", "0.731", "52"):
        square = 1 / Fraction(noise) ** 2
        for at in (0.1, 0.5, 1.0, 3.0):
            kept = Fraction(gaussian_delta(square, Fraction(at))[1])
            assert gaussian_epsilon(square, kept)[1] <= at


def test_the_accountant_uses_it():
    run = events.Gaussian(noise_multiplier=Fraction(10**6)) * 3
    found = epsilon(run, delta="1e-7")
    assert found.method == "closed form"
    assert 0 < found.width <= 3e-16 * found.upper
    assert delta(run, epsilon=0).width <= 3e-16 * delta(run, epsilon=0).upper
