"""The Laplace threshold: a key is shown where its noisy number of persons reaches a threshold."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.error.key_selection import LaplaceShownKeys
from discreet.mechanisms.keys.key_selection import KeyOffer, KeySelection
from discreet.mechanisms.tails import laplace_tail, smallest_threshold
from discreet.mechanisms.values import check_reach
from discreet.noise import Source, sample_laplace
from discreet.noise.geometric import check_scale
from discreet.privacy.events import Approximate, DiscreteLaplace, Event
from discreet.privacy.rational import Number
from discreet.records import dataclass

__all__ = ["LaplaceThreshold"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class LaplaceThreshold(KeySelection):
    """Show the keys whose number of persons, with Laplace noise, reaches a threshold.

    Parameters
    ----------
    delta : number
        The probability with which any of the keys that only one person has may be shown.
    epsilon : number, optional
        The privacy loss, together with `delta`. Give this or `rho`.
    rho : number, optional
        The zero-concentrated loss, except for `delta`.
    keys : int
        In how many keys a person counts at most.

    Guarantee
    ---------
    (epsilon, delta)-DP: the scale of the noise is keys / epsilon, and the threshold T is the least with
    1 - (1 - p)^keys <= delta, p = P(1 + noise >= T) (Korolova, Kenthapadi, Mishra & Ntoulas 2009; Wilson et
    al. 2020; proof: docs/proofs/laplace_threshold.md). `event` is the noise on `keys` counts of
    sensitivity 1, and a (0, delta) part for the keys that are new. For rho the scale is
    sqrt(keys / (2 rho)).

    Finite precision
    ----------------
    The noise is exact, and p is bounded with certified arithmetic: where it cannot tell, T is one larger.

    Error
    -----
    A key of n persons is shown with probability P(noise >= T - n), above 1/2 from n = T on; see `error`.

    Examples
    --------
    >>> from discreet.mechanisms import LaplaceThreshold
    >>> mechanism = LaplaceThreshold(epsilon=1, delta=1e-6, keys=2)
    >>> mechanism.threshold, mechanism.event
    (30, Approximate(epsilon=0, delta=1e-6) + DiscreteLaplace(sensitivity=1, scale=2) * 2)
    """

    scale: Fraction
    """The scale of the noise."""
    threshold: int
    """The least noisy number of persons that is shown."""

    def __init__(
        self, *, delta: Number, epsilon: Number | None = None, rho: Number | None = None, keys: int = 1
    ) -> None:
        offer = KeyOffer(epsilon=epsilon, rho=rho, delta=delta, keys=keys)
        scale = 1 / offer.loss_of_a_key
        check_reach(check_scale, scale, offer.parameter)
        threshold = smallest_threshold(partial(laplace_tail, scale), offer.keys, offer.delta)
        self._set(offer=offer, scale=scale, threshold=threshold)

    @property
    def event(self) -> Event:
        """The noise on the keys that a person has, and the chance that a new one is shown."""
        noise = DiscreteLaplace(sensitivity=1, scale=self.scale)
        return noise * self.keys + Approximate(epsilon=0, delta=self.offer.delta)

    @property
    def error(self) -> LaplaceShownKeys:
        """With which probability a key of n persons is shown."""
        return LaplaceShownKeys(scale=self.scale, threshold=self.threshold)

    def _levels(self, count: int, source: Source) -> NDArray[np.int64]:
        return self.threshold - sample_laplace(self.scale, count, source)
