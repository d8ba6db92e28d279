"""The Gaussian threshold: its noise grows with the square root of the keys that a person may have."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.additive.gaussian_calibration import analytic_variance
from discreet.mechanisms.additive.gaussian_privacy import largest_mu
from discreet.mechanisms.error.key_selection import GaussianShownKeys, RoundedShownKeys
from discreet.mechanisms.keys.key_selection import KeyOffer, KeySelection
from discreet.mechanisms.tails import MOST_VARIANCE, gaussian_tail, rounded_tail, smallest_threshold
from discreet.mechanisms.values import check_reach
from discreet.noise import Source, sample_gaussian, sample_rounded_gaussian
from discreet.noise.gaussian import check_variance
from discreet.privacy.events import Approximate, DiscreteGaussian, Event, RoundedGaussian
from discreet.privacy.rational import Number
from discreet.records import dataclass

__all__ = ["GaussianThreshold"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class GaussianThreshold(KeySelection):
    """Show the keys whose number of persons, with Gaussian noise, reaches a threshold.

    Parameters
    ----------
    delta : number
        With rho: the probability with which any of the keys that only one person has may be shown. With
        epsilon: half of it is that, and half pays for the noise.
    epsilon : number, optional
        The privacy loss, together with `delta`. Give this or `rho`.
    rho : number, optional
        The zero-concentrated loss, except for `delta`.
    keys : int
        In how many keys a person counts at most.

    Guarantee
    ---------
    With rho: the variance of the noise is keys / (2 rho), and the threshold T is the least with
    1 - (1 - p)^keys <= delta, p = P(1 + noise >= T). With epsilon: (epsilon, delta)-DP, where the noise
    alone is (epsilon, delta / 2)-private and delta / 2 takes the place of delta (Wilson et al. 2020;
    proof: docs/proofs/gaussian_threshold.md). The noise is discrete Gaussian, or, for epsilon and several
    keys, rounded Gaussian, whose calibration is analytic. `event` is the noise on `keys` counts of
    sensitivity 1, and a (0, delta) or (0, delta / 2) part for the keys that are new.

    Finite precision
    ----------------
    The noise is exact, and p is bounded with certified arithmetic: where it cannot tell, T is one larger.

    Error
    -----
    A key of n persons is shown with probability P(noise >= T - n), above 1/2 from n = T on; see `error`.

    Examples
    --------
    >>> from discreet.mechanisms import GaussianThreshold
    >>> mechanism = GaussianThreshold(rho=0.125, delta=1e-6, keys=4)
    >>> mechanism.threshold
    22
    >>> mechanism.event
    Approximate(epsilon=0, delta=1e-6) + DiscreteGaussian(squared_sensitivity=1, variance=16, size=1) * 4
    """

    variance: Fraction
    """The parameter of the noise, sigma^2."""
    threshold: int
    """The least noisy number of persons that is shown."""

    def __init__(
        self, *, delta: Number, epsilon: Number | None = None, rho: Number | None = None, keys: int = 1
    ) -> None:
        offer = KeyOffer(epsilon=epsilon, rho=rho, delta=delta, keys=keys)
        variance = _variance(offer)
        check_reach(check_variance, variance, offer.parameter)
        if variance > MOST_VARIANCE:
            raise ParameterError(
                offer.parameter,
                "calls for more noise than thresholds are computed for",
                "larger, or keys smaller, such that the noise has a standard deviation of at most 8192",
            )
        tail = rounded_tail if _is_rounded(offer) else gaussian_tail
        threshold = smallest_threshold(partial(tail, variance), offer.keys, _delta_of_keys(offer))
        self._set(offer=offer, variance=variance, threshold=threshold)

    @property
    def event(self) -> Event:
        """The noise on the keys that a person has, and the chance that a new one is shown."""
        law = RoundedGaussian if _is_rounded(self.offer) else DiscreteGaussian
        noise = law(squared_sensitivity=1, variance=self.variance, size=1)
        return noise * self.keys + Approximate(epsilon=0, delta=_delta_of_keys(self.offer))

    @property
    def error(self) -> GaussianShownKeys | RoundedShownKeys:
        """With which probability a key of n persons is shown."""
        law = RoundedShownKeys if _is_rounded(self.offer) else GaussianShownKeys
        return law(variance=self.variance, threshold=self.threshold)

    def _levels(self, count: int, source: Source) -> NDArray[np.int64]:
        draw = sample_rounded_gaussian if _is_rounded(self.offer) else sample_gaussian
        return self.threshold - draw(self.variance, count, source)


def _delta_of_keys(offer: KeyOffer) -> Fraction:
    """Return the share of delta that new keys may use up."""
    return offer.delta if offer.epsilon is None else offer.delta / 2


def _is_rounded(offer: KeyOffer) -> bool:
    """Return whether the noise is rounded Gaussian: several counts move, and epsilon and delta were given."""
    return offer.epsilon is not None and offer.keys > 1


def _variance(offer: KeyOffer) -> Fraction:
    """Return the variance for counts that move by one step each, at most `keys` of them."""
    if offer.rho is not None:
        return offer.keys / (2 * offer.rho)
    assert offer.epsilon is not None  # noqa: S101
    if offer.keys == 1:
        return analytic_variance(1, offer.epsilon, offer.delta / 2)
    return offer.keys / largest_mu(offer.epsilon, offer.delta / 2) ** 2
