"""The Gaussian threshold against sums over the noise, and thresholds that would be too low."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import GaussianThreshold
from mechanisms.key_selection_oracle import gaussian_chance, law, real, rounded_chance, worst_gap

OFFERS = [
    (Fraction(1), Fraction(1, 20), 1),
    (Fraction(1), Fraction(1, 20), 2),
    (Fraction(1), Fraction(1, 20), 3),
    (Fraction(3), Fraction(1, 1000), 3),
    (Fraction(2), Fraction(1, 10**9), 1),
]


@pytest.mark.parametrize(("epsilon", "delta", "keys"), OFFERS)
def test_epsilon_and_delta_hold_on_all_small_counts(epsilon, delta, keys):
    mechanism = GaussianThreshold(epsilon=epsilon, delta=delta, keys=keys)
    chance = gaussian_chance(mechanism.variance, mechanism.threshold)
    counts = {0, 1, 2, mechanism.threshold - 1, mechanism.threshold}
    assert worst_gap(chance, counts, keys, epsilon) <= real(delta)


@pytest.mark.parametrize(("epsilon", "delta", "keys"), OFFERS)
def test_the_noise_takes_half_of_delta_and_the_threshold_the_other(epsilon, delta, keys):
    mechanism = GaussianThreshold(epsilon=epsilon, delta=delta, keys=keys)
    noise, new = mechanism.event.parts[-1][0], mechanism.event.parts[0][0]
    assert (new.epsilon, new.delta) == (0, delta / 2)
    assert noise.variance == mechanism.variance
    chance_of = gaussian_chance if keys == 1 else rounded_chance
    for threshold, holds in ((mechanism.threshold, True), (mechanism.threshold - 1, False)):
        one = chance_of(mechanism.variance, threshold)(1)
        assert (1 - (1 - one) ** keys <= real(delta / 2)) == holds
    if keys > 1:  # the noise before it was rounded moves by the root of the keys
        mu = mpmath.sqrt(keys / real(mechanism.variance))
        near, far = (mpmath.erfc((real(epsilon) / mu + s * mu / 2) / mpmath.sqrt(2)) / 2 for s in (-1, 1))
        assert near - mpmath.exp(real(epsilon)) * far <= real(delta / 2)
        return
    # The noise alone, on all sums of as many counts as one person touches: the worst set is a tail.
    reach = int(9 * mpmath.sqrt(real(mechanism.variance))) + 2
    weights = {k: mpmath.exp(-k * k / (2 * real(mechanism.variance))) for k in range(-reach, reach + 1)}
    total = mpmath.fsum(weights.values())
    sums = {0: mpmath.mpf(1)}
    for _ in range(keys):
        following: dict[int, mpmath.mpf] = {}
        for (at, mass), (k, weight) in product(sums.items(), weights.items()):
            following[at + k] = following.get(at + k, 0) + mass * weight / total
        sums = following
    loss = {at: (keys + 2 * at) / (2 * real(mechanism.variance)) for at in sums}
    spent = mpmath.fsum(
        mass * (1 - mpmath.exp(real(epsilon) - loss[at])) for at, mass in sums.items() if loss[at] > epsilon
    )
    assert spent <= real(delta / 2) * (1 + mpmath.mpf(10) ** -6)


@pytest.mark.parametrize("keys", [1, 2, 3])
def test_rho_holds_on_keys_that_others_have_and_delta_on_new_ones(keys):
    rho, delta = Fraction(1, 3), Fraction(1, 50)
    mechanism = GaussianThreshold(rho=rho, delta=delta, keys=keys)
    assert mechanism.variance == keys / (2 * rho)
    chance = gaussian_chance(mechanism.variance, mechanism.threshold)
    at = mechanism.threshold
    for before in ((at,) * keys, (at - 1,) * keys, (1,) * keys, (1, at, at - 1)[:keys]):
        p, q = law([chance(n) for n in before]), law([chance(n + 1) for n in before])
        for order in (1.5, 2, 10):
            for a, b in ((p, q), (q, p)):
                moment = mpmath.fsum(a[x] ** order * b[x] ** (1 - order) for x in a)
                assert mpmath.log(moment) / (order - 1) <= real(rho) * order
    assert 1 - (1 - chance(1)) ** keys <= real(delta)
    lower = gaussian_chance(mechanism.variance, mechanism.threshold - 1)
    assert 1 - (1 - lower(1)) ** keys > real(delta)


@pytest.mark.parametrize(("epsilon", "delta", "keys"), OFFERS)
def test_shown_is_the_sum_over_the_noise(epsilon, delta, keys):
    mechanism = GaussianThreshold(epsilon=epsilon, delta=delta, keys=keys)
    chance_of = gaussian_chance if keys == 1 else rounded_chance
    chance = chance_of(mechanism.variance, mechanism.threshold)
    for n in (1, 2, mechanism.threshold, mechanism.threshold + 3):
        low, high = mechanism.error.enclosed(n)
        assert abs(real(low) - chance(n)) < 1e-50
        assert abs(real(high) - chance(n)) < 1e-50
        assert low <= high


def test_noise_too_wide_to_be_summed_is_refused():
    assert GaussianThreshold(rho=Fraction(1, 2**21), delta=1e-6).threshold > 1000
    with pytest.raises(ParameterError, match="8192"):
        GaussianThreshold(rho=Fraction(1, 2**28), delta=1e-6)
