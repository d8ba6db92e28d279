"""Sums of noises of one law: against convolutions term by term, and against draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.error import sums
from discreet.mechanisms.error.sums import SumError

NOISES = {
    "wide": Laplace(sensitivity=1, epsilon=Fraction(1, 4)),
    "narrow": Laplace(sensitivity=1, epsilon=3),
    "almost none": Laplace(sensitivity=1, epsilon=40),
    "Gaussian": Gaussian(sensitivity=1, rho=Fraction(1, 50)),
    "rounded": Gaussian(sensitivity=1, epsilon=1, delta=Fraction(1, 10**5)),
}
COARSE = {
    "Laplace": Laplace(sensitivity=1, epsilon=Fraction(1, 5000)),
    "Gaussian": Gaussian(sensitivity=1, rho=Fraction(1, 10**9)),
}


def masses(law, most):
    tails = np.array([law.tail_in_steps(steps) for steps in range(most)])
    side = -np.diff(tails) / 2
    return np.concatenate([side[::-1], [1 - tails[0]], side])


def exact_tails(law, count):
    """P(abs(sum) > t) for t = 0, 1, …, by adding one noise at a time."""
    most = int(12 * max(law.variance, 1) ** 0.5) * 3 + 30
    one = masses(law, most)
    whole = one
    for _ in range(count - 1):
        whole = np.convolve(whole, one)
    middle = len(whole) // 2
    folded = np.concatenate([whole[middle : middle + 1], whole[middle + 1 :] * 2])
    return np.append(folded[::-1].cumsum()[::-1][1:], 0.0)


@pytest.mark.parametrize("count", [2, 3, 17, 32])
@pytest.mark.parametrize("name", NOISES)
def test_the_tail_of_a_sum_is_at_least_and_nearly_the_exact_one(name, count):
    law = NOISES[name].error
    exact, bound = exact_tails(law, count), SumError(law=law, count=count)
    for steps in range(min(len(exact), int(5 * bound.variance**0.5) + 3)):
        found = bound.tail_in_steps(steps)
        assert found >= exact[steps] * (1 - 1e-9) - 1e-13
        assert found <= exact[steps] * (1 + 1e-6) + 1e-8


@pytest.mark.parametrize("count", [33, 47, 100])
def test_counts_are_rounded_up_to_what_is_worked_out(count):
    law = NOISES["wide"].error
    exact, bound = exact_tails(law, count), SumError(law=law, count=count)
    for steps in range(0, int(5 * bound.variance**0.5), 7):
        assert bound.tail_in_steps(steps) >= exact[steps] * (1 - 1e-9)
    assert bound.quantile(0.95) <= 1.04 * int(np.argmax(exact <= 0.05))


def test_rounding_up_keeps_five_digits_and_never_loses():
    for count in range(1, 5000):
        rounded = sums._rounded_up(count)
        assert count <= rounded <= count * (1 + 1 / 16)
        assert rounded % (1 << max(rounded.bit_length() - 5, 0)) == 0


@pytest.mark.parametrize("name", COARSE)
def test_the_grid_of_wide_noise_is_paid_for(name):
    """Where noise is rounded to a grid, the bound holds for the sums of what is drawn."""
    mechanism, releases, count = COARSE[name], 4000, 20
    bound = SumError(law=mechanism.error, count=count)
    drawn = np.asarray(mechanism.release(np.zeros(releases * count, np.int64))).reshape(releases, count)
    beyond = np.abs(drawn.sum(axis=1))
    for confidence in (0.5, 0.8, 0.95):
        margin = bound.quantile(confidence)
        share = float((beyond > margin).mean())
        assert share <= 1 - confidence + 4 * (confidence * (1 - confidence) / releases) ** 0.5
        assert share >= 1 - confidence - 0.1  # it is not much too wide either


@pytest.mark.parametrize("name", [*NOISES])
@pytest.mark.parametrize("count", [2, 40, 1000, 50_000, 10**6])
def test_a_sum_is_never_wider_than_the_union_bound(name, count):
    law = NOISES[name].error
    margin = SumError(law=law, count=count).quantile(0.95)
    united = count * law.quantile(1 - Fraction(5, 100) / count)
    assert margin <= united
    if count >= 40 and law.variance > 1:
        assert margin <= united / 3


def test_far_out_chernoff_s_bound_decides():
    bound = SumError(law=NOISES["wide"].error, count=1000)
    assert 0 < bound.tail_in_steps(int(9 * bound.variance**0.5)) < 1e-9


def test_one_noise_is_itself():
    law = NOISES["wide"].error
    assert SumError(law=law, count=1).quantile(0.95) == law.quantile(0.95)


def test_a_law_without_its_wrapped_part_is_noticed(monkeypatch):
    """The control: a sum taken for less noisy than it is fails the comparison with the exact tail."""
    law = NOISES["wide"].error
    monkeypatch.setattr(sums, "_rounded_up", lambda count: count - 1)
    sums._law_of_sum.cache_clear()
    exact, bound = exact_tails(law, 17), SumError(law=law, count=17)
    assert any(bound.tail_in_steps(steps) < exact[steps] * (1 - 1e-9) for steps in range(5, 60))
