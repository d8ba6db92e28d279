"""Rényi divergence, rho and mu of an event, against laws by definition."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import accounting
from discreet.accounting import delta, divergence, epsilon, mu, rho
from discreet.errors import ParameterError
from discreet.privacy import REPLACE_PERSON, events

RUN = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
ORDERS = [1.0001, 1.3, 2, 3.7, 10, 60, 1000]


def gaussian_delta(at, shift):
    at, shift = mpmath.mpf(float(at)), mpmath.mpf(float(shift))
    return mpmath.ncdf(shift / 2 - at / shift) - mpmath.exp(at) * mpmath.ncdf(-shift / 2 - at / shift)


def gaussian_epsilon(target, shift):
    """The epsilon of one Gaussian release, by bisection on its delta."""
    low, high = mpmath.mpf(0), mpmath.mpf(200)
    if gaussian_delta(low, shift) <= target:
        return low
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, shift) > target else (low, middle)
    return high


def binomial_law(size, times):
    """Losses and masses of `times` randomized responses with loss plus or minus `size`."""
    up = 1 / (1 + mpmath.exp(-mpmath.mpf(size)))
    return [
        ((2 * k - times) * mpmath.mpf(size), mpmath.binomial(times, k) * up**k * (1 - up) ** (times - k))
        for k in range(times + 1)
    ]


def exact_delta(law, at):
    return sum(mass * max(0, 1 - mpmath.exp(mpmath.mpf(float(at)) - loss)) for loss, mass in law)


def exact_divergence(law, order):
    moment = sum(mass * mpmath.exp((mpmath.mpf(float(order)) - 1) * loss) for loss, mass in law)
    return mpmath.log(moment) / (mpmath.mpf(float(order)) - 1)


def laplace_divergence(size, order):
    """By its closed form (Mironov 2017, Table II), in high precision."""
    a, size = mpmath.mpf(float(order)), mpmath.mpf(size)
    moment = a / (2 * a - 1) * mpmath.exp((a - 1) * size) + (a - 1) / (2 * a - 1) * mpmath.exp(-a * size)
    return mpmath.log(moment) / (a - 1)


# Rényi divergence ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [*ORDERS, Fraction(5, 3)])
def test_a_divergence_holds_the_exact_one(order):
    with mpmath.workdps(40):
        law = binomial_law("0.5", 6)
        found = divergence(events.Pure(epsilon=0.5) * 6, order=order)
        assert found.lower <= exact_divergence(law, order) <= found.upper
        assert found.upper <= exact_divergence(law, order) * (1 + mpmath.mpf("1e-9"))
        laplace = divergence(events.Laplace(epsilon=2), order=order)
        assert laplace.lower <= laplace_divergence(2, order) <= laplace.upper
        assert laplace.lower > 0


@pytest.mark.parametrize("order", ORDERS)
def test_gaussian_noise_has_an_exact_divergence(order):
    found = divergence(events.Gaussian(noise_multiplier=3) * 5, order=order)
    assert found.certified
    assert found.lower <= Fraction(5, 18) * Fraction(str(order)) <= found.upper
    assert found.upper - found.lower <= 1e-15 * found.upper


def test_two_equally_likely_answers_attain_what_total_variation_implies():
    """Of all laws with an advantage, randomized response has the least divergence: the bounds meet."""
    found = divergence(events.Pure(epsilon=1), order=8)
    assert found.upper - found.lower <= 1e-9 * found.upper


def test_no_divergence_is_promised_where_a_part_has_a_delta():
    found = divergence(events.Approximate(epsilon=0.1, delta=1e-6), order=2)
    assert found.upper == math.inf
    assert 0 <= found.lower < 1


@pytest.mark.parametrize("order", [1, 0.5, -2, float("nan"), "x", None])
def test_bad_orders(order):
    with pytest.raises(ParameterError, match=r"^order "):
        divergence(RUN, order=order)


# rho -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0.01, 0.5, 1, 3])
def test_the_rho_of_a_pure_event_is_its_mean_loss(size):
    """epsilon tanh(epsilon / 2): D_alpha / alpha is largest as the order goes to 1."""
    found = rho(events.Pure(epsilon=size))
    exact = size * math.tanh(size / 2)
    assert found.lower <= exact <= found.upper * (1 + 1e-15)
    assert found.upper <= exact * (1 + 2e-5)


@pytest.mark.parametrize("size", [0.1, 1, 4])
def test_the_rho_of_laplace_noise_is_its_mean_loss(size):
    found = rho(events.Laplace(epsilon=size))
    exact = size - 1 + math.exp(-size)
    assert found.lower <= exact <= found.upper
    assert found.upper <= exact * (1 + 2e-5) < size**2 / 2


@given(
    sizes=st.lists(st.sampled_from(["0.1", "0.7", "2"]), min_size=1, max_size=3),
    times=st.integers(1, 4),
)
@settings(max_examples=15)
def test_no_order_exceeds_rho(sizes, times):
    run = events.compose(events.Laplace(epsilon=size) for size in sizes) * times
    found = rho(run)
    for order in np.concatenate([1 + np.geomspace(1e-6, 1, 40), np.geomspace(2, 1e5, 60)]):
        total = times * sum(laplace_divergence(size, order) for size in sizes)
        assert total / mpmath.mpf(float(order)) <= found.upper
    assert found.upper <= float(run.concentrated_rho)


def test_gaussian_noise_has_an_exact_rho_also_on_samples():
    assert (rho(events.Gaussian(noise_multiplier=2) * 8).lower, rho(RUN).upper) == (1.0, 312.5)
    # What sampling gains at low orders is lost at high ones.
    ratio = divergence(RUN, order=2**15).upper / 2**15
    assert 0.99 * 312.5 < ratio <= 312.5


def test_rho_is_infinite_where_none_is_known():
    assert rho(events.Renyi(curve=[(8, 0.1)])).upper == math.inf
    assert rho(events.Approximate(epsilon=1, delta=0.1)).upper == math.inf
    assert rho(events.Nothing).upper == 0


# mu ------------------------------------------------------------------------------------------------


def test_gaussian_noise_has_an_exact_mu():
    found = mu(events.Gaussian(noise_multiplier=3) * 36)
    assert (found.upper, found.certified, found.method) == (2.0, True, "exact")
    assert mu(events.Gaussian(noise_multiplier=3) * 36, smallest_delta=1e-6).upper == 2.0


def test_the_whole_curve_gains_nothing_from_sampling_and_a_part_of_it_much():
    assert mu(RUN).upper == 25.0
    part = mu(RUN, smallest_delta=1e-6)
    assert part.certified
    assert part.lower <= part.upper <= part.lower * (1 + 1e-3)
    assert part.upper < 0.26
    assert mu(RUN, smallest_delta=1e-9).upper > part.upper > mu(RUN, smallest_delta=1e-3).upper


@pytest.mark.parametrize("size", [1e-6, 0.3, 1, 5])
def test_one_randomized_response_touches_its_gaussian_curve_in_one_point(size):
    found = mu(events.Pure(epsilon=size))
    exact = 2 * mpmath.sqrt(2) * mpmath.erfinv(mpmath.tanh(mpmath.mpf(size) / 2))
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower <= 1e-6 * found.upper


@pytest.mark.parametrize(("size", "times"), [("0.5", 1), ("0.5", 6), ("2", 3), ("0.1", 40)])
def test_the_gaussian_curve_lies_above_everywhere_and_a_lower_one_does_not(size, times):
    with mpmath.workdps(40):
        law = binomial_law(size, times)
        found = mu(events.Pure(epsilon=size) * times)
        grid = np.linspace(0, float(size) * times, 400)
        assert all(gaussian_delta(at, found.upper) >= exact_delta(law, at) for at in grid)
        assert any(gaussian_delta(at, found.lower * 0.999) < exact_delta(law, at) for at in grid)
        assert found.upper <= found.lower * 1.001


@pytest.mark.parametrize("least", [1e-9, 1e-3, 0.05])
def test_over_a_range_of_deltas_no_epsilon_is_larger_than_the_gaussian_one(least):
    with mpmath.workdps(40):
        law = binomial_law("0.1", 40)
        run = events.Pure(epsilon=0.1) * 40
        found = mu(run, smallest_delta=least)
        for target in np.geomspace(least, 0.3, 25):
            own = epsilon(run, delta=float(target)).lower
            assert own <= gaussian_epsilon(mpmath.mpf(float(target)), found.upper)
        grid = [at for at in np.linspace(0, 4, 400) if exact_delta(law, at) > least]
        assert any(gaussian_delta(at, found.lower * 0.999) < exact_delta(law, at) for at in grid)
        assert found.upper <= mu(run).upper * (1 + 1e-9)


def test_where_no_delta_reaches_the_range_mu_is_zero():
    found = mu(events.Laplace(epsilon=1e-6), smallest_delta=1e-3)
    assert (found.lower, found.upper) == (0.0, 0.0)


@pytest.mark.slow
def test_what_happens_below_every_delta_that_is_looked_at_counts_too():
    """All of this curve lies below 1e-30, where the search for mu does not go; its end still does."""
    for run in (events.Laplace(epsilon="1e-31"), events.Laplace(epsilon="1e-31") * 2):
        needed = mpmath.sqrt(2 * mpmath.pi) * mpmath.mpf("1e-31") / 2  # 2 Phi(mu / 2) - 1 at epsilon 0
        assert mu(run).upper >= needed


@pytest.mark.parametrize("run", [events.Pure(epsilon=500) * 10, events.Pure(epsilon=1e-5) * 10**9], ids=repr)
def test_losses_whose_exponential_is_no_float(run):
    assert 0 < mu(run).lower <= mu(run).upper < 1e4
    assert rho(run).upper <= float(run.concentrated_rho)


def test_mu_composes_like_squares_where_the_curve_says_less():
    both = events.Laplace(epsilon=0.05) * 50 + events.Gaussian(noise_multiplier=20) * 200
    laplace = 2 * mpmath.sqrt(2) * mpmath.erfinv(mpmath.tanh(mpmath.mpf("0.025")))
    assert mu(both).upper == pytest.approx(float(mpmath.sqrt(50 * laplace**2 + mpmath.mpf("0.5"))), rel=1e-9)
    assert mu(both, smallest_delta=1e-6).upper < mu(both).upper


def test_parallel_parts_pay_the_largest_mu_or_the_two_largest():
    parts = [events.Gaussian(noise_multiplier=noise) for noise in (1, 2, 4)]
    assert mu(events.Parallel(*parts)).upper == 1.0
    parts = [events.Gaussian(noise_multiplier=noise, neighbors=REPLACE_PERSON) for noise in (1, 2, 4)]
    assert mu(events.Parallel(*parts)).upper == pytest.approx(math.sqrt(1.25), rel=1e-12)


def test_mu_is_infinite_where_none_is_known():
    assert mu(events.Approximate(epsilon=0.1, delta=1e-4)).upper == math.inf
    assert mu(events.Approximate(epsilon=0.1, delta=1e-4), smallest_delta=1e-5).upper == math.inf
    assert mu(events.Approximate(epsilon=0.1, delta=1e-4), smallest_delta=1e-3).upper < 1
    assert mu(events.Nothing).upper == 0


@pytest.mark.parametrize("least", [-0.1, 1, 2, float("nan"), None])
def test_bad_smallest_deltas(least):
    with pytest.raises(ParameterError, match=r"^smallest_delta "):
        mu(RUN, smallest_delta=least)


# All views -----------------------------------------------------------------------------------------


def test_views_of_a_group():
    """Group privacy: ask for the group's event."""
    three = events.group(events.Gaussian(noise_multiplier=6), 3)
    assert mu(three).upper == 0.5
    assert rho(three).upper == 0.125
    assert divergence(three, order=4).upper == 0.5
    assert delta(three, epsilon=0).upper == pytest.approx(math.erf(0.5 / math.sqrt(8)))
    assert three.neighbors.size == 3


def test_every_view_refuses_what_is_no_event_and_what_is_unknown():
    class Odd(events.Event):
        neighbors = None

        def _group(self, size):
            raise NotImplementedError

    for view in (rho, mu, lambda event: divergence(event, order=2), accounting.tradeoff):
        with pytest.raises(ParameterError, match="is not an event"):
            view("run")
    with pytest.raises(ParameterError, match="Odd"):
        divergence(Odd(), order=2)


def test_the_reference_names_what_accounting_exports():
    reference = (Path(__file__).parents[2] / "docs" / "reference.md").read_text()
    section = reference.split("## Accounting")[1].split("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
    assert sorted(documented) == sorted(accounting.__all__)
