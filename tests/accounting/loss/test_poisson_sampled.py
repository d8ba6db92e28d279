"""Samples by definition: mixtures in both directions, real mechanisms on all samples, and fixed sizes."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import exp, log

import mpmath
import numpy as np
import pytest

from accounting.loss.profiles import assert_between, normal, of_densities, of_masses, upper
from discreet.accounting.epsilon_and_delta import epsilon as epsilon_at
from discreet.accounting.loss.pair import NO_LOSS, finite_pair, pair_of
from discreet.accounting.loss.poisson_sampled import MirroredPair, SampledGaussianPair, sampled_pair
from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.neighbors import REPLACE_ROW


def of_mixture(p, q, rate):
    """Deltas of (1 - rate) q + rate p against q, and of the reverse, for two lists of probabilities."""
    mixed = (1 - rate) * np.asarray(q) + rate * np.asarray(p)

    def delta(direction, epsilon):
        return of_masses(mixed, q, epsilon) if direction == 0 else of_masses(q, mixed, epsilon)

    return delta


def epsilons(total, rate):
    """Places up to the largest losses of both directions, and below 0."""
    up, down = log(1 + rate * (exp(total) - 1)), -log(1 - rate + rate * exp(-total))
    return (-down, 0.0, 0.5 * down, 0.9 * down, 0.5 * up, 0.95 * up)


@pytest.mark.parametrize(("sigma", "rate"), [(0.7, 0.01), (1.0, 0.3), (20.0, 0.001)])
def test_sampled_gaussians_are_the_definition(sigma, rate):
    plain, moved = normal(0, sigma), normal(1, sigma)

    def mixed(x):
        return (1 - rate) * plain(x) + rate * moved(x)

    def exact(direction, epsilon):
        laws = (mixed, plain) if direction == 0 else (plain, mixed)
        return of_densities(*laws, epsilon, -14 * sigma, 1 + 14 * sigma, kinks=(0, 1))

    pair = pair_of(events.PoissonSampled(events.Gaussian(noise_multiplier=str(sigma)), rate=str(rate)))
    assert_between(pair, exact, (-rate, 0.0, rate / 2, rate, 3 * rate), width=2e-2, cells=(100, 1500))
    assert pair == SampledGaussianPair(sigma, rate)


@pytest.mark.parametrize(("epsilon", "rate"), [(0.1, 0.5), (1.0, 0.01), (3.0, 0.2)])
def test_sampled_laplace_is_the_definition(epsilon, rate):
    def plain(x):
        return exp(-abs(x)) / 2

    def mixed(x):
        return (1 - rate) * plain(x) + rate * plain(x - epsilon)

    def exact(direction, at):
        laws = (mixed, plain) if direction == 0 else (plain, mixed)
        return of_densities(*laws, at, -60, epsilon + 60, kinks=(0, epsilon))

    pair = pair_of(events.PoissonSampled(events.Laplace(epsilon=str(epsilon)), rate=str(rate)))
    assert_between(pair, exact, epsilons(epsilon, rate), width=1e-3)
    # The atoms at both ends are where they belong.
    assert pair.law(0, "upper", 50).largest == pytest.approx(log(1 + rate * (exp(epsilon) - 1)), rel=1e-12)
    assert pair.law(1, "upper", 50).largest == pytest.approx(-log(1 - rate + rate * exp(-epsilon)), rel=1e-12)


@pytest.mark.parametrize(("shift", "scale", "width"), [(1, 1, 1e-9), (5, 7, 1e-9), (3000, 2000, 1e-3)])
@pytest.mark.parametrize("rate", [0.02, 0.5])
def test_sampled_discrete_laplace_is_the_definition(shift, scale, width, rate):
    y = np.arange(-40 * scale, shift + 40 * scale + 1)
    q, p = (np.exp(-abs(y - c) / scale) * np.tanh(1 / (2 * scale)) for c in (0, shift))
    event = events.DiscreteLaplace(sensitivity=shift, scale=scale)
    pair = pair_of(events.PoissonSampled(event, rate=str(rate)))
    assert_between(pair, of_mixture(p, q, rate), epsilons(shift / scale, rate), width=width)


@pytest.mark.parametrize(("variance", "shift", "width"), [(1, 1, 1e-9), (30, 4, 1e-9), (10**6, 900, 1e-2)])
@pytest.mark.parametrize("rate", [0.02, 0.5])
def test_sampled_discrete_gaussians_are_the_definition(variance, shift, width, rate):
    sigma = variance**0.5
    y = np.arange(-int(25 * sigma), shift + int(25 * sigma) + 1.0)
    q, p = (np.exp(-((y - c) ** 2) / (2 * variance)) for c in (0, shift))
    event = events.DiscreteGaussian(squared_sensitivity=shift**2, variance=variance, size=1)
    pair = pair_of(events.PoissonSampled(event, rate=str(rate)))
    truth = of_mixture(p / p.sum(), q / q.sum(), rate)
    assert_between(pair, truth, (-rate, 0.0, rate / 3, 1.5 * rate), width=width)


@pytest.mark.parametrize("rate", [0.05, 0.6])
@pytest.mark.parametrize("delta", [0.0, 0.03])
def test_sampled_pure_and_approximate_laws_are_the_definition(rate, delta):
    truth = (1 - delta) / (1 + exp(-1.2))
    p = np.array([delta, truth, 1 - delta - truth, 0.0])
    event = events.Approximate(epsilon="1.2", delta=str(delta)) if delta else events.Pure(epsilon="1.2")
    pair = pair_of(events.PoissonSampled(event, rate=str(rate)))
    assert_between(pair, of_mixture(p, p[::-1], rate), epsilons(1.2, rate), width=1e-9)
    assert pair.law(0, "upper", 3).infinity == pytest.approx(rate * delta)
    assert pair.law(1, "upper", 3).infinity == 0


@pytest.mark.parametrize("rate", [0.05, 0.6])
def test_a_sampled_choice_is_the_worst_of_sampled_two_point_laws(rate):
    width = 1.3
    pair = pair_of(events.PoissonSampled(events.ExponentialChoice(epsilon=str(width)), rate=str(rate)))
    for direction, at in product((0, 1), (0.0, 0.2 * rate, 0.7 * rate)):
        found = []
        for t in np.linspace(0, width, 2001):
            first = (exp(width) - exp(t)) / (exp(width) - 1)
            p = np.array([first, 1 - first])
            q = p * np.exp([-t, width - t])
            found.append(of_mixture(p, q, rate)(direction, at))
        assert upper(pair, direction, at, 4000) == pytest.approx(max(found), rel=1e-4)
        assert upper(pair, direction, at, 4000) >= max(found) - 1e-12
        assert pair.law(direction, "lower", 10).delta(at) <= max(found) + 1e-15


def random_mechanism(generator, units, outcomes):
    """A law for every subset of the units: whatever it is, its own worst pairs are found by looking."""
    return {
        subset: generator.dirichlet(np.ones(outcomes))
        for size in range(units + 1)
        for subset in combinations(range(units), size)
    }


def poisson_law(mechanism, units, rate):
    """The law of the release on a Poisson sample."""
    total = 0.0
    for size in range(len(units) + 1):
        for subset in combinations(units, size):
            total = total + rate**size * (1 - rate) ** (len(units) - size) * mechanism[subset]
    return total


@pytest.mark.parametrize("trial", range(20))
def test_each_direction_is_dominated_by_its_own_pair(trial):
    """No symmetry: a random mechanism, with the largest delta of removing and of adding at every epsilon."""
    generator = np.random.default_rng()
    rate, units = float(generator.uniform(0.05, 0.9)), 3
    mechanism = random_mechanism(generator, units, 4)
    neighbors = [
        (mechanism[tuple(sorted((*subset, unit)))], mechanism[subset])
        for subset in mechanism
        for unit in range(units)
        if unit not in subset
    ]
    whole = poisson_law(mechanism, (0, 1, 2), rate)
    for unit in range(units):
        less = poisson_law(mechanism, tuple(u for u in range(units) if u != unit), rate)
        for at in np.linspace(-1.5, 1.5, 13):
            removed = max(of_mixture(p, q, rate)(0, at) for p, q in neighbors)
            added = max(of_mixture(p, q, rate)(1, at) for p, q in neighbors)
            assert of_masses(whole, less, at) <= removed + 1e-12
            assert of_masses(less, whole, at) <= added + 1e-12


def test_an_asymmetric_pair_keeps_its_directions():
    p, q = np.array([0.7, 0.2, 0.1]), np.array([0.3, 0.3, 0.4])
    pair = sampled_pair(finite_pair(p, q, directions=2), 0.3)
    assert_between(pair, of_mixture(p, q, 0.3), (-0.3, 0.0, 0.1, 0.2), width=1e-9)
    wrong = of_mixture(q, p, 0.3)
    assert any(abs(wrong(0, at) - upper(pair, 0, at)) > 1e-3 for at in (0.0, 0.1, 0.2))


def test_sampling_twice_is_sampling_at_the_product():
    for step in (
        events.Gaussian(noise_multiplier=1),
        events.Laplace(epsilon=1),
        events.Pure(epsilon=1),
        events.DiscreteGaussian(squared_sensitivity=4, variance=9, size=1),
        events.MixtureOfGaussians(standard_deviation=1, contributions=[(1, "1/2")]),
    ):
        once = pair_of(events.PoissonSampled(step, rate="0.06"))
        twice = pair_of(events.PoissonSampled(events.PoissonSampled(step, rate="0.3"), rate="0.2"))
        for direction, at in product((0, 1), (0.0, 0.02, 0.05)):
            for side in ("lower", "upper"):
                one, other = (pair.law(direction, side, 3000).delta(at) for pair in (once, twice))
                assert one == pytest.approx(other, rel=1e-6, abs=1e-12)


def test_rates_at_their_ends():
    step = events.Laplace(epsilon=1)
    assert pair_of(events.PoissonSampled(step, rate=0)) is NO_LOSS
    assert pair_of(events.PoissonSampled(step, rate=1)) == pair_of(step)
    tiny = pair_of(events.PoissonSampled(step, rate=Fraction(1, 10**400)))
    assert 0 < upper(tiny, 0, 0.0) < 1e-150


def test_a_sample_of_what_has_no_pair_has_none():
    assert pair_of(events.PoissonSampled(events.ZeroConcentrated(rho=1), rate="0.1")) is None
    choice = events.DiscreteGaussian(squared_sensitivity=4, variance=1)
    assert pair_of(events.PoissonSampled(choice, rate="0.1")) is None


def test_a_replaced_unit_is_refused_by_poisson_samples():
    with pytest.raises(ParameterError, match="relation"):
        events.PoissonSampled(events.Pure(epsilon=1, neighbors=REPLACE_ROW), rate="0.1")


def fixed_size_law(values, batch, law_of):
    """The law of a release about a batch, all batches alike, drawn from a list of values."""
    batches = list(combinations(values, batch))
    return sum(law_of(each) for each in batches) / len(batches)


def discrete_laplace_of_sum(scale):
    y = np.arange(-60, 71)

    def law_of(values):
        return np.exp(-abs(y - sum(values)) / scale) * np.tanh(1 / (2 * scale))

    return law_of


@pytest.mark.parametrize(("batch", "scale"), [(1, 1.0), (2, 2.0), (3, 0.7)])
def test_no_neighbors_exceed_samples_of_fixed_size(batch, scale):
    """Four units with values from 0 to 2, one of which is replaced: all tables, both directions."""
    inner = events.DiscreteLaplace(sensitivity=2, scale=Fraction(str(scale)), neighbors=REPLACE_ROW)
    pair = pair_of(events.SampledWithoutReplacement(inner, batch=batch, population=4))
    law_of = discrete_laplace_of_sum(scale)
    tight = 0.0
    for rest in product((0, 2), repeat=3):
        for one, other in ((0, 2), (2, 0), (0, 1), (1, 2)):
            p, q = (fixed_size_law((*rest, x), batch, law_of) for x in (one, other))
            for at in np.linspace(-1.5, 1.5, 13):
                found, limit = of_masses(p, q, at), upper(pair, 0, at)
                assert found <= limit + 1e-12
                if at >= 0 and limit > 1e-6:
                    tight = max(tight, found / limit)
    assert tight > 0.99


def test_neither_direction_of_a_poisson_sample_covers_replacements():
    """The replaced unit may be like the others before or after: each direction fails for one of the two."""
    inner = events.DiscreteLaplace(sensitivity=4, scale=2, neighbors=REPLACE_ROW)
    right = pair_of(events.SampledWithoutReplacement(inner, batch=1, population=4))
    wrong = sampled_pair(pair_of(inner), 0.25)
    odd, alike = (fixed_size_law((0, 0, 0, x), 1, discrete_laplace_of_sum(2.0)) for x in (4, 0))
    places = np.linspace(-1.2, 1.2, 49)
    for direction, (p, q) in enumerate(((alike, odd), (odd, alike))):
        assert any(of_masses(p, q, at) > upper(wrong, direction, at) + 1e-3 for at in places)
        assert all(of_masses(p, q, at) <= upper(right, 0, at) + 1e-12 for at in places)


@pytest.mark.parametrize("trial", range(10))
def test_the_mirrored_pair_covers_three_laws_that_are_pairwise_close(trial):
    """Mixtures (1 - q) c + q a and (1 - q) c + q b of random laws, within the worst of their own profiles."""
    generator = np.random.default_rng()
    rate, epsilon = float(generator.uniform(0.05, 0.95)), 1.0
    centre = generator.dirichlet(np.ones(5))
    laws = []
    for _ in range(2):
        tilt = centre * np.exp(generator.choice([-0.25, 0.25], 5) * epsilon)
        laws.append(tilt / tilt.sum())
    mirrored = MirroredPair(sampled_pair(pair_of(events.Pure(epsilon=1)), rate))
    p, q = ((1 - rate) * centre + rate * law for law in laws)
    for at in np.linspace(-1.2, 1.2, 25):
        assert of_masses(p, q, at) <= upper(mirrored, 0, at) + 1e-13


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_mirrored_law_is_a_law_and_its_own_mirror_image(rate):
    for step in (events.Gaussian(noise_multiplier=1), events.Pure(epsilon=2), events.Laplace(epsilon=1)):
        one_sided = sampled_pair(pair_of(step), rate)
        law = MirroredPair(one_sided).law(0, "upper", 2000)
        assert law.masses.sum() + law.infinity == pytest.approx(1, abs=1e-9)
        assert (law.masses * np.exp(-law.losses)).sum() + law.infinity == pytest.approx(1, abs=1e-9)
        for at in (0.0, 0.1, 0.5):
            assert law.delta(at) == pytest.approx(one_sided.law(0, "upper", 2000).delta(at), rel=1e-12)
            mirror = 1 - exp(-at) + exp(-at) * law.delta(at)
            assert law.delta(-at) == pytest.approx(mirror, rel=1e-9)


def test_whole_batches_are_the_step_and_empty_ones_are_nothing():
    inner = events.Pure(epsilon=1, neighbors=REPLACE_ROW)
    whole = pair_of(events.SampledWithoutReplacement(inner, batch=5, population=5))
    assert np.array_equal(whole.p, pair_of(inner).p)
    assert pair_of(events.SampledWithoutReplacement(inner, batch=0, population=5)) is NO_LOSS


@pytest.mark.parametrize("digits", [5, 8, 12, 15, 17, 40])
def test_a_rate_next_to_one_keeps_the_digits_of_its_rest(digits):
    rate = 1 - Fraction(1, 3 * 10**digits)
    laws = events.FiniteLaws(outcomes=[(1, "1/2"), (0, "1/2")])
    for delta in (Fraction(0), Fraction(1, 10**5)):
        found = epsilon_at(events.PoissonSampled(laws, rate=rate), delta=delta)
        with mpmath.workdps(60):  # adding the unit: half of all outcomes have the loss -log(1 - rate)
            exact = mpmath.log((1 - 2 * mpmath.mpf(delta.numerator) / delta.denominator) * 3 * 10**digits)
            assert found.lower <= exact <= found.upper
            assert found.upper - found.lower <= 1e-12 * exact


def test_a_replaced_unit_at_a_rate_next_to_one_keeps_them_too():
    rest, shift, x = Fraction(1, 3 * 10**12), 5.0, np.array([-20.0, -12.0, 9.0, 12.0, 20.0])
    pair = pair_of(events.ReplacedPoissonGaussian(noise_multiplier="0.2", rate=1 - rest))
    with mpmath.workdps(60):
        small = mpmath.mpf(rest.numerator) / rest.denominator

        def mixed(sign, at):
            return small + (1 - small) * mpmath.exp(sign * shift * mpmath.mpf(at) - shift**2 / 2)

        for at, found in zip(x, pair.losses(x), strict=True):
            assert found == pytest.approx(float(mpmath.log(mixed(1, at) / mixed(-1, at))), rel=1e-13)
