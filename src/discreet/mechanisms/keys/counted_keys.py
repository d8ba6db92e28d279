"""Counted keys: the noisy counts that reach a threshold are themselves the answer."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.additive.gaussian_privacy import largest_mu
from discreet.mechanisms.calibration import least_error
from discreet.mechanisms.error.key_selection import NoiseShownKeys
from discreet.mechanisms.keys.counting_noise import (
    MOST_REACH,
    CountingGaussian,
    CountingLaplace,
    CountingNoise,
    CountingRounded,
    CountingTruncated,
)
from discreet.mechanisms.keys.key_selection import Counts, KeyOffer, entered_counts
from discreet.mechanisms.tails import MOST_VARIANCE, smallest_threshold_for
from discreet.mechanisms.values import check_reach
from discreet.noise import current
from discreet.noise.gaussian import check_variance
from discreet.noise.geometric import check_scale
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events import Approximate, DiscreteGaussian, DiscreteLaplace, Event, RoundedGaussian
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number, float_below, whole
from discreet.records import Record, dataclass

__all__ = ["CountedKeys", "Reach"]

_MOST_COMPARED = 3
MOST_ROWS = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Reach(Record):
    """How far one person moves the counts of keys.

    Parameters
    ----------
    keys : int
        In how many keys a person counts at most.
    rows : int
        By how much they move the count of one key at most.
    total : int, optional
        By how much they move all counts together at most; by default keys times rows.
    """

    keys: int
    rows: int
    total: int

    def __init__(self, *, keys: int = 1, rows: int = 1, total: int | None = None) -> None:
        keys, rows = whole(keys, "keys", least=1), whole(rows, "rows", least=1, most=MOST_ROWS)
        most = keys * rows
        total = most if total is None else whole(total, "total", least=max(keys, rows), most=most)
        self._set(keys=keys, rows=rows, total=total)

    @property
    def squared(self) -> int:
        """The largest sum of squared moves: as many keys as possible by as much as possible."""
        full, rest = divmod(self.total, self.rows)
        return full * self.rows**2 + rest**2

    @property
    def worst(self) -> tuple[tuple[int, int], ...]:
        """Moves, and how often each, with which new keys pass at least as often as with any possible ones.

        As many keys by `rows` as the total allows, one by what is then left, and all others by 1: of any
        possible moves, none is larger in its place (proof: counted_keys, lemma 2).
        """
        full, rest = divmod(self.total, self.rows)
        moves = ((self.rows, full), (rest, 1 if rest else 0), (1, self.keys - full - (1 if rest else 0)))
        return tuple((move, times) for move, times in moves if times > 0)

    def __str__(self) -> str:
        rest = f", rows={self.rows}, total={self.total}" if self.rows > 1 else ""
        return f"keys={self.keys}{rest}"


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class CountedKeys(Record):
    """Show the keys whose noisy count reaches a threshold, each with that noisy count.

    Parameters
    ----------
    offer : KeyOffer
        Epsilon or rho, with delta, for the keys of a person.
    reach : Reach
        How far one person moves the counts.
    noise : CountingNoise
        What is added. `CountedKeys.best` chooses.
    threshold : int
        The least noisy count that is shown.
    event : Event
        What is charged.

    Guarantee
    ---------
    (epsilon, delta)-DP when a person is added or removed, or rho-zero-concentrated privacy except for a share
    delta: that of the noise on all counts, and of the keys that nobody else has, of which any is shown with
    probability at most delta. That a count is shown costs no more than that its key is (Korolova,
    Kenthapadi, Mishra & Ntoulas 2009; Desfontaines, Voss, Gipson & Mandayam 2022; proof:
    docs/proofs/counted_keys.md).

    Finite precision
    ----------------
    Draws are exact, thresholds certified. Counts below 1 are never shown, and those beyond 2^62 are clamped.

    Error
    -----
    A count n is shown with probability P(N >= threshold - n). `margin` is for counts far above the threshold;
    `lowest` says how far below a shown one the true one may be, given that it was shown.

    Examples
    --------
    >>> from discreet.mechanisms.keys.counted_keys import CountedKeys
    >>> mechanism = CountedKeys.best(epsilon=1, delta=1e-6)
    >>> mechanism.threshold, mechanism.event
    (15, Approximate(epsilon=1, delta=1e-6))
    >>> noisy = mechanism.release([1, 400, 12])  # 0 for a key that is not shown
    """

    offer: KeyOffer
    reach: Reach
    noise: CountingNoise
    threshold: int
    event: Event

    def __init__(
        self, *, offer: KeyOffer, reach: Reach, noise: CountingNoise, threshold: int, event: Event
    ) -> None:
        self._set(offer=offer, reach=reach, noise=noise, threshold=threshold, event=event)

    def __repr__(self) -> str:
        loss = str(self.offer).rsplit(", keys", 1)[0]
        return f"CountedKeys({loss}, {self.reach}; {self.noise!r}, threshold {self.threshold})"

    @property
    def keys(self) -> int:
        """In how many keys a person counts at most."""
        return self.reach.keys

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds: a person is added or removed."""
        return ADD_REMOVE_PERSON

    @property
    def guarantee(self) -> ApproximateDP:
        """(epsilon, delta)-DP: as asked, or what rho and delta imply with 2 delta."""
        return self.offer.guarantee

    @property
    def error(self) -> NoiseShownKeys:
        """With which probability a key is shown, by its count."""
        return NoiseShownKeys(noise=self.noise, threshold=self.threshold)

    def size_for(self, probability: Number) -> int:
        """Return the smallest count whose key is shown with at least this probability."""
        return self.error.size_for(probability)

    def release(self, counts: Counts) -> NDArray[np.int64]:
        """Return, for each key, its noisy count if that reaches the threshold, else 0."""
        exact = entered_counts(counts)
        source = current()
        noisy = exact + self.noise.draw(len(exact), source)
        return source.mark(np.where((exact >= 1) & (noisy >= self.threshold), noisy, 0))

    def neighboring_inputs(self) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
        """Return counts without and with one person: of new keys, of keys at the threshold, of both."""
        full, rest = divmod(self.reach.total, self.reach.rows)
        moves = np.array(([self.reach.rows] * full + [rest] * (rest > 0))[:_MOST_COMPARED])
        half = self.threshold
        starts = {(0,) * len(moves), (half,) * len(moves), (0, *(half,) * (len(moves) - 1))}
        return tuple((np.array(start), np.array(start) + moves) for start in sorted(starts))

    @staticmethod
    def best(
        *,
        delta: Number,
        epsilon: Number | None = None,
        rho: Number | None = None,
        reach: Reach | None = None,
    ) -> CountedKeys:
        """Return the one of the lowest threshold and, of several, of the least variance.

        Parameters
        ----------
        delta : number
            The probability with which any key that only one person has may be shown.
        epsilon, rho : number, optional
            The privacy loss: one of them.
        reach : Reach, optional
            How far one person moves the counts; by default that of one key by 1.
        """
        reach = reach or Reach()
        return _best(KeyOffer(epsilon=epsilon, rho=rho, delta=delta, keys=reach.keys), reach)


@lru_cache(maxsize=256)
def _best(offer: KeyOffer, reach: Reach) -> CountedKeys:
    """Return what an offer, which is public, makes; a question needs it several times on its way."""
    kinds = [_gaussian, _laplace] if offer.epsilon is None else [_truncated, _gaussian, _laplace]
    return least_error(
        [partial(kind, offer, reach) for kind in kinds],
        lambda made: (made.threshold, made.noise.variance_of_noise),
    )


def _laplace(offer: KeyOffer, reach: Reach) -> CountedKeys:
    """Discrete Laplace noise of scale total / epsilon; for rho, epsilon is sqrt(2 rho), rounded down."""
    epsilon = _pure(offer)
    scale = reach.total / epsilon
    check_reach(check_scale, scale, offer.parameter)
    noise = CountingLaplace(scale=scale)
    event = DiscreteLaplace(sensitivity=reach.total, scale=scale) + Approximate(epsilon=0, delta=offer.delta)
    threshold = smallest_threshold_for(noise.tail, reach.worst, offer.delta)
    return CountedKeys(offer=offer, reach=reach, noise=noise, threshold=threshold, event=event)


def _gaussian(offer: KeyOffer, reach: Reach) -> CountedKeys:
    """Discrete Gaussian noise for rho; for epsilon rounded Gaussian noise, which half of delta pays for."""
    if offer.rho is not None:
        variance, delta = reach.squared / (2 * offer.rho), offer.delta
    else:
        assert offer.epsilon is not None  # noqa: S101
        delta = offer.delta / 2
        variance = reach.squared / largest_mu(offer.epsilon, delta) ** 2
    check_reach(check_variance, variance, offer.parameter)
    check_reach(_summed, variance, offer.parameter)
    noise = (CountingRounded if offer.rho is None else CountingGaussian)(variance=variance)
    law = RoundedGaussian if offer.rho is None else DiscreteGaussian
    added = law(squared_sensitivity=reach.squared, variance=variance)
    threshold = smallest_threshold_for(noise.tail, reach.worst, delta)
    event = added + Approximate(epsilon=0, delta=delta)
    return CountedKeys(offer=offer, reach=reach, noise=noise, threshold=threshold, event=event)


def _truncated(offer: KeyOffer, reach: Reach) -> CountedKeys:
    """Truncated Laplace noise of the least reach t with sum of P(N > t - move) <= delta; threshold t + 1.

    A key that nobody has would then never be shown, so that its count is like any other.
    """
    assert offer.epsilon is not None  # noqa: S101
    scale = reach.total / offer.epsilon
    check_reach(check_scale, scale, offer.parameter)

    def suffices(far: int) -> bool:
        noise = CountingTruncated(scale=scale, reach=far)
        return sum(times * noise.exceeding(move) for move, times in reach.worst) <= offer.delta

    far = _least(suffices, _estimate(scale, reach, offer.delta))
    noise = CountingTruncated(scale=scale, reach=far)
    event = Approximate(epsilon=reach.total / scale, delta=offer.delta)
    return CountedKeys(offer=offer, reach=reach, noise=noise, threshold=far + 1, event=event)


def _estimate(scale: Fraction, reach: Reach, delta: Fraction) -> int:
    """Return about the least reach that suffices, in floats; tables decide."""
    per_step = float(1 / scale)
    mass = sum(times * np.expm1(move * per_step) for move, times in reach.worst)
    # P(N > t - c) is about e^(-t / s) (e^(c / s) - 1) / (1 + e^(1 / s) - 2 e^(-t / s)), within e^(1 / s).
    logs = np.log(mass + 2 * float(delta)) - np.log(float(delta)) - np.log1p(np.exp(per_step))
    estimate = logs / per_step
    return min(max(int(estimate), 1), MOST_REACH + 1)


def _least(suffices: Callable[[int], bool], guess: int) -> int:
    """Return the least number for which a monotone test holds, near a guess; few tables are made."""
    if suffices(guess):
        while guess > 1 and suffices(guess - 1):
            guess -= 1
        return guess
    while not suffices(guess + 1):
        guess += 1
    return guess + 1


def _summed(variance: Fraction) -> Fraction:
    if variance > MOST_VARIANCE:
        whole(-1, "variance", least=0)
    return variance


def _pure(offer: KeyOffer) -> Fraction:
    if offer.epsilon is not None:
        return offer.epsilon
    assert offer.rho is not None  # noqa: S101
    return Fraction(float_below(sqrt_interval(2 * offer.rho)[0]))
