"""The oracles against closed forms, exact sums, quadrature to many digits and each other."""

from __future__ import annotations

from math import comb, exp, expm1, log, sqrt

import dp_accounting
import mpmath
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant
from scipy.optimize import brentq
from scipy.special import ndtr

from accounting import exact_accountant, fft_accountant
from accounting.fft_accountant import epsilon
from accounting.loss_laws import (
    Gaussian,
    Laplace,
    Lattice,
    SampledGaussian,
    best_order,
    discrete_laplace,
    randomized_response,
)


@pytest.mark.parametrize(("sigma", "times"), [(0.3, 1), (10.0, 1000), (3e4, 7), (2000.0, 10**7)])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.05])
def test_gaussian_steps_are_the_closed_form(sigma, times, delta):
    exact = float(exact_accountant.gaussian_epsilon(mpmath.sqrt(times) / mpmath.mpf(sigma), delta))
    lower, upper = epsilon([(Gaussian(sigma), times)], delta)
    assert lower <= exact <= upper
    assert upper - lower <= 1e-6 * upper


def binomial_delta(loss: float, times: int, at: float) -> mpmath.mpf:
    """Sum over how often the truth is told (Kairouz, Oh & Viswanath 2015)."""
    with mpmath.workdps(60):
        e, total = mpmath.mpf(loss), mpmath.mpf(0)
        for told in range(times + 1):
            gain = -mpmath.expm1(at - (2 * told - times) * e)
            if gain > 0:
                total += comb(times, told) * mpmath.exp(told * e) * gain
        return total / (1 + mpmath.exp(e)) ** times


@pytest.mark.few(5)
@pytest.mark.parametrize(("loss", "times"), [(0.5, 3), (0.1, 100), (2.5, 12), (0.01, 2000), (1e-6, 400)])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
def test_pure_steps_are_the_binomial(loss, times, delta):
    lower, upper = epsilon([(randomized_response(loss, 2), times)], delta)
    assert lower == upper
    if lower == 0:
        assert binomial_delta(loss, times, 0.0) <= delta
    else:
        slack = 1e-10 / best_order([(randomized_response(loss, 2), times)], delta)
        assert (
            binomial_delta(loss, times, lower - slack) >= delta >= binomial_delta(loss, times, lower + slack)
        )


@pytest.mark.parametrize(
    "law",
    [
        randomized_response(1.2, 5),
        discrete_laplace(3, 5.0),
        discrete_laplace(1, 0.7),
        discrete_laplace(6, 40.0),
    ],
)
@pytest.mark.parametrize("delta", [1e-9, 1e-3])
def test_lattice_laws_are_their_sums(law, delta):
    """Convolve masses one step after another."""
    masses = np.array([1.0])
    for _ in range(25):
        masses = np.convolve(masses, law.masses)
    losses = law.unit * (25 * law.first + np.arange(len(masses)))
    lower, upper = epsilon([(law, 25)], delta)
    assert lower == upper
    above = losses > lower
    assert masses[above] @ -np.expm1(lower - losses[above]) == pytest.approx(delta, rel=1e-9)


def test_lattice_laws_are_laws():
    """P and Q = exp(-loss) P both sum to one, and the definitions agree with counting noise."""
    for law in (randomized_response(1.2, 5), discrete_laplace(3, 5.0), discrete_laplace(6, 0.4)):
        losses = law.unit * (law.first + np.arange(len(law.masses)))
        assert sum(law.masses) == pytest.approx(1, abs=1e-12)
        assert np.exp(-losses) @ law.masses == pytest.approx(1, abs=1e-12)
    ratio, noise = exp(-1 / 5), np.arange(-400, 401)
    p = (1 - ratio) / (1 + ratio) * ratio ** np.abs(noise)
    law = discrete_laplace(3, 5.0)
    for i, mass in enumerate(law.masses):
        exact = p[(np.abs(noise + 3) - np.abs(noise)) == law.first + i].sum()
        assert mass == pytest.approx(exact, abs=1e-14)


def twice_laplace(loss: str, at: str) -> mpmath.mpf:
    """Integrate the delta of one Laplace step over the loss of the other."""
    e, at = mpmath.mpf(loss), mpmath.mpf(at)

    def one(x):
        return -mpmath.expm1(x) if x < -e else max(mpmath.mpf(0), -mpmath.expm1((x - e) / 2))

    cuts = sorted({-e, e, min(e, max(-e, at - e)), min(e, max(-e, at + e))})
    between = mpmath.quad(lambda x: mpmath.exp((x - e) / 2) / 4 * one(at - x), cuts)
    return one(at - e) / 2 + mpmath.exp(-e) / 2 * one(at + e) + between


@pytest.mark.parametrize("loss", ["0.1", "3"])
@pytest.mark.parametrize("share", ["0.01", "0.9", "1.7"])
def test_residues_are_the_convolution_of_two_laplace_steps(loss, share):
    with mpmath.workdps(40):
        at = mpmath.mpf(loss) * mpmath.mpf(share)
        residues = exact_accountant.laplace_delta(mpmath.mpf(loss), 2, at)
        assert abs(residues / twice_laplace(loss, at) - 1) < 1e-30


@pytest.mark.parametrize(
    ("loss", "times"), [("0.2", 1), ("3", 2), ("0.01", 3), ("1", 4), ("0.1", 40), ("0.3", 90)]
)
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.02])
def test_laplace_steps_are_the_residues(loss, times, delta):
    exact = exact_accountant.laplace_epsilon(loss, times, delta)
    lower, upper = epsilon([(Laplace(float(loss)), times)], delta)
    assert lower * (1 - 1e-13) <= exact <= upper * (1 + 1e-13)
    assert upper - lower <= 1e-6 * upper
    with mpmath.workdps(60 + times):
        reached = exact_accountant.laplace_delta(mpmath.mpf(loss), times, exact)
        assert exact == 0 or abs(reached / mpmath.mpf(delta) - 1) < 1e-30


def sampled_delta(law: SampledGaussian, at: float) -> float:
    """One step: both laws are mixtures of normal ones and the worst event is a half line."""
    q, sigma = law.rate, law.sigma
    level = -at if law.adding else at
    if expm1(level) / q <= -1:
        return 1 - exp(at) if not law.adding else 0.0
    x = float(law.outcome(level))
    plain, mixed = (
        (ndtr(x / sigma), (1 - q) * ndtr(x / sigma) + q * ndtr((x - 1) / sigma))
        if law.adding
        else (ndtr(-x / sigma), (1 - q) * ndtr(-x / sigma) + q * ndtr((1 - x) / sigma))
    )
    return float(plain - exp(at) * mixed if law.adding else mixed - exp(at) * plain)


SAMPLED = [(0.4, 0.001), (1.0, 0.2), (4.0, 0.01), (0.6, 0.7), (1.0, 1e-4)]


@pytest.mark.few(20)
@pytest.mark.parametrize("adding", [False, True])
@pytest.mark.parametrize(("sigma", "rate"), SAMPLED)
@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("order", [0.5, 2.0])
def test_lattices_bound_one_sampled_step(sigma, rate, adding, step, order):
    """The two lattices lie on the two sides of the closed form at every epsilon."""
    law = SampledGaussian(sigma, rate, adding)
    placed = {side: fft_accountant._one_step(law, order, step, side) for side in ("lower", "upper")}
    losses = {side: found.start + step * np.arange(len(found.weights)) for side, found in placed.items()}
    masses = {
        side: found.weights * np.exp(found.log_total - order * losses[side]) for side, found in placed.items()
    }
    for at in np.concatenate(
        [[0.0], rate * np.geomspace(1e-2, 1e3, 12), -np.log1p(-rate) * np.array([0.3, 0.99])]
    ):
        if at > 20:
            continue
        exact = sampled_delta(law, float(at))
        deltas = {
            side: float(masses[side] @ np.maximum(0.0, -np.expm1(at - losses[side]))) for side in placed
        }
        assert deltas["lower"] <= exact * (1 + 1e-9) + 1e-14
        assert deltas["upper"] >= exact * (1 - 1e-9) - 1e-14
        assert deltas["upper"] - deltas["lower"] <= 3 * step


@pytest.mark.few(4)
@pytest.mark.parametrize(("sigma", "rate"), SAMPLED)
@pytest.mark.parametrize("delta", [1e-10, 1e-4])
def test_one_sampled_step_is_the_closed_form(sigma, rate, delta):
    laws = [SampledGaussian(sigma, rate, adding) for adding in (False, True)]
    exact = max(
        brentq(lambda at, law=law: sampled_delta(law, at) - delta, 0, 100, xtol=1e-14, rtol=1e-14)
        if sampled_delta(law, 0.0) > delta
        else 0.0
        for law in laws
    )
    lower, upper = epsilon([(laws[0], 1)], delta, 1e-4)
    assert lower * (1 - 1e-9) <= exact <= upper * (1 + 1e-9)
    assert upper - lower <= 1e-4 * upper


MIXED = {
    "sampled": ([(SampledGaussian(4.0, 0.01), 10_000)], 1e-5),
    "sampled, rarely": ([(SampledGaussian(0.531, 0.0002639), 9347)], 0.000955),
    "sampled, large epsilon": ([(SampledGaussian(1.0, 0.2), 500)], 1e-12),
    "sampled, tiny epsilon": ([(SampledGaussian(50.0, 0.001), 1000)], 1e-10),
    "sampled, almost always": ([(SampledGaussian(5.0, 0.9), 3), (Gaussian(3.0), 1)], 0.05),
    "Laplace": ([(Laplace(0.1), 1000)], 1e-6),
    "Laplace and Gaussian": ([(Laplace(0.3), 20), (Gaussian(2.0), 5)], 1e-9),
    "lattices and Gaussian": (
        [(randomized_response(0.7, 4), 9), (discrete_laplace(3, 8.0), 30), (Gaussian(1.5), 2)],
        1e-7,
    ),
    "everything": (
        [
            (Laplace(0.05), 50),
            (Gaussian(20.0), 200),
            (SampledGaussian(1.0, 0.01), 1000),
            (discrete_laplace(2, 9.0), 4),
        ],
        1e-6,
    ),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", MIXED)
def test_the_contour_lies_between_the_bounds(name):
    run, delta = MIXED[name]
    value, error = exact_accountant.exact_epsilon(run, delta)
    assert error < 1e-11
    lower, upper = epsilon(run, delta, 1e-4)
    assert lower <= value <= upper
    assert upper - lower <= 1e-4 * upper


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["sampled", "sampled, large epsilon", "sampled, almost always"])
def test_adding_costs_less_than_removing(name):
    """Both oracles turn the laws alike, and know which way is worse."""
    run, delta = MIXED[name]
    turned = [(law.turned(), times) for law, times in run]
    assert turned[0][0] == SampledGaussian(run[0][0].sigma, run[0][0].rate, adding=True)
    value, error = exact_accountant.contour_epsilon(turned, delta)
    lower, upper = fft_accountant.one_direction(turned, delta, 1e-4)
    assert error < 1e-11
    assert lower <= value <= upper
    assert upper < exact_accountant.contour_epsilon(run, delta)[0]


def test_the_contour_agrees_with_residues_and_forty_digits():
    """Where residues and the contour both reach, and by quadrature in mpmath for a mixture."""
    value, error = exact_accountant.exact_epsilon([(Laplace(3.0), 120)], 1e-6)
    assert value == pytest.approx(float(exact_accountant.laplace_epsilon("3", 120, 1e-6)), rel=1e-12)
    run, delta = MIXED["Laplace and Gaussian"]
    value, error = exact_accountant.exact_epsilon(run, delta)
    with mpmath.workdps(40):

        def integrand(y):
            s, e = mpmath.mpc(4, y), mpmath.mpf("0.3")
            one = (mpmath.exp(s * e) * (s + 1) + mpmath.exp(-(s + 1) * e) * s) / (2 * s + 1)
            rest = mpmath.exp(5 * s * (s + 1) / 8 - s * mpmath.mpf(value)) / (s * (s + 1))
            return (one**20 * rest).real / mpmath.pi

        # 0.3 is not a float: the oracle's differs from it by 1e-17
        found = mpmath.quad(integrand, list(range(0, 31, 2)))
    assert abs(found / delta - 1) < 1e-11
    assert error < 1e-13


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("sigma", "rate", "times", "delta"), [(4.0, 0.01, 10_000, 1e-5), (0.9, 0.05, 60, 1e-8)]
)
def test_another_accountant_agrees(sigma, rate, times, delta):
    """Its answer errs upward by about the square of its interval, over and above its truncation."""
    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
    accountant = PLDAccountant(value_discretization_interval=1e-4).compose(step, times)
    lower, upper = epsilon([(SampledGaussian(sigma, rate), times)], delta)
    assert lower <= accountant.get_epsilon(delta) * (1 + 1e-7)
    assert accountant.get_epsilon(delta) == pytest.approx(upper, rel=3e-4)


def test_another_accountant_agrees_on_a_mixture():
    event = dp_accounting.ComposedDpEvent(
        [
            dp_accounting.SelfComposedDpEvent(dp_accounting.LaplaceDpEvent(1 / 0.3), 20),
            dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(2.0), 5),
        ]
    )
    run, delta = MIXED["Laplace and Gaussian"]
    theirs = PLDAccountant(value_discretization_interval=1e-4).compose(event).get_epsilon(delta)
    lower, upper = epsilon(run, delta)
    assert lower <= theirs * (1 + 1e-7)
    assert theirs == pytest.approx(upper, rel=1e-4)


def test_bounds_close_in_by_the_square_of_the_step():
    run, delta = MIXED["sampled"]
    widths = [
        upper - lower for lower, upper in (fft_accountant.one_direction(run, delta, t) for t in (1e-2, 1e-4))
    ]
    assert widths[0] / widths[1] == pytest.approx(100, rel=0.2)


def test_a_lattice_of_zero_loss_costs_nothing():
    assert epsilon([(Lattice(1.0, 0, (1.0,)), 1), (Gaussian(sqrt(2)), 1)], 0.9) == (0.0, 0.0)
    assert epsilon([(Laplace(log(1.5)), 1)], 0.5) == (0.0, 0.0)
