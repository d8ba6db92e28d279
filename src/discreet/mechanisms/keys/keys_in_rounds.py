"""Keys in rounds: for persons of many keys, the weight of keys that were found goes to the others."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import ceil, isqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.additive.gaussian_privacy import largest_mu
from discreet.mechanisms.keys.key_selection import KeyOffer
from discreet.mechanisms.tails import MOST_VARIANCE, rounded_tail, smallest_threshold_for
from discreet.mechanisms.values import check_reach
from discreet.noise import current, sample_rounded_gaussian
from discreet.noise.gaussian import check_variance
from discreet.privacy.events import Approximate, Event, RoundedGaussian, compose
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number, rational
from discreet.records import Record, dataclass

__all__ = ["KeysInRounds", "Round"]

Numbered: TypeAlias = NDArray[np.int64] | list[int]
"""Of persons, or of keys."""

SHARES = (Fraction(1, 13), Fraction(3, 13), Fraction(9, 13))
"""The parts of the squared loss that the rounds get: each three times the one before (Swanberg, Desfontaines
& Haney 2023). The first finds the keys of many persons cheaply, so that their weight is free for others."""

_LARGEST_UNIT = 1 << 10
"""The finest grid of weights, in units of the whole weight of a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round: weights are whole multiples of 1 / unit, and a key is found from a threshold on.

    Attributes
    ----------
    unit : int
        The whole weight of a person with one key left; with z keys left each gets floor(unit / sqrt(z)).
    variance : Fraction
        Of the noise, in squared units.
    threshold : int
        The least noisy weight that is found.
    delta : Fraction
        The probability with which any key that only one person has may be found.
    """

    unit: int
    variance: Fraction
    threshold: int
    delta: Fraction

    @property
    def event(self) -> Event:
        """The noise on weights that one person moves by at most the unit in L2, and new keys."""
        noise = RoundedGaussian(squared_sensitivity=self.unit**2, variance=self.variance)
        return noise + Approximate(epsilon=0, delta=self.delta)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class KeysInRounds(Record):
    """Show keys that enough persons have, in rounds, for persons who have many.

    In every round a person with z keys that were not found yet gives each of them the weight 1 / sqrt(z), the
    weights are added up, noise is added, and keys above a threshold are found. Keys that everybody has are
    found in the first round, with a small part of the offer; from then on persons give all their weight
    to the rest.

    Parameters
    ----------
    delta : number
        Half pays for the noise, half is the probability with which any key that only one person has is shown.
    epsilon : number
        The privacy loss, together with `delta`.
    keys : int
        In how many keys a person counts at most.

    Guarantee
    ---------
    (epsilon, delta)-DP when a person is added or removed: the rounds are Gaussian private with squares of mu
    that add up to that of the largest mu that implies (epsilon, delta / 2), except for their parts of
    delta / 2 (Swanberg, Desfontaines & Haney 2023; proof: docs/proofs/keys_in_rounds.md).

    Finite precision
    ----------------
    Weights are rounded down to a grid, sums are exact, the noise is exact, and thresholds are certified.

    Error
    -----
    `size_for` says how many persons a key needs who have no other key left in the last round. How many keys
    are found depends on how many keys persons share.

    Examples
    --------
    >>> from discreet.mechanisms.keys.keys_in_rounds import KeysInRounds
    >>> mechanism = KeysInRounds(epsilon=1, delta=1e-6, keys=100)
    >>> mechanism.size_for(0.5)
    32
    >>> found = mechanism.release([0, 0, 1, 2], [0, 1, 1, 1])  # persons, and their keys
    """

    offer: KeyOffer
    rounds: tuple[Round, ...]

    def __init__(self, *, delta: Number, epsilon: Number, keys: int = 1) -> None:
        offer = KeyOffer(epsilon=epsilon, rho=None, delta=delta, keys=keys)
        assert offer.epsilon is not None  # noqa: S101
        squared = largest_mu(offer.epsilon, offer.delta / 2) ** 2
        delta_of_a_round = offer.delta / 2 / len(SHARES)
        rounds = tuple(_round(squared * share, delta_of_a_round, offer) for share in SHARES)
        self._set(offer=offer, rounds=rounds)

    def __repr__(self) -> str:
        return f"KeysInRounds({self.offer})"

    @property
    def keys(self) -> int:
        """In how many keys a person counts at most."""
        return self.offer.keys

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds: a person is added or removed."""
        return ADD_REMOVE_PERSON

    @property
    def event(self) -> Event:
        """The rounds, one after the other."""
        return compose(one.event for one in self.rounds)

    @property
    def guarantee(self) -> ApproximateDP:
        """(epsilon, delta)-DP, as asked."""
        return self.offer.guarantee

    def size_for(self, probability: Number) -> int:
        """Return how many persons with no other key left it takes to find a key in the last round."""
        from scipy.special import ndtri

        last, wanted = self.rounds[-1], float(rational(probability, "probability"))
        reached = last.threshold + float(ndtri(wanted)) * float(last.variance) ** 0.5
        return int(max(ceil(reached / last.unit), 1))

    def release(self, persons: Numbered, keys: Numbered) -> NDArray[np.bool_]:
        """Return, for each key 0, 1, …, whether it is shown.

        Parameters
        ----------
        persons, keys : vectors of int
            The persons and the keys that they have, both numbered from 0; pairs count once.
            Persons of more than `keys` keys are left out.
        """
        who, what = np.asarray(persons, np.int64), np.asarray(keys, np.int64)
        many = int(what.max(initial=-1)) + 1
        pairs = np.sort(who * max(many, 1) + what)
        pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])] if len(pairs) else pairs
        who, what = pairs // max(many, 1), pairs % max(many, 1)
        within = np.bincount(who, minlength=1)[who] <= self.keys
        who, what = who[within], what[within]
        source = current()
        found = np.zeros(many, np.bool_)
        for one in self.rounds:
            weights = _weights(one.unit, self.keys)[np.bincount(who, minlength=1)][who]
            sums = np.bincount(what, weights=weights, minlength=many).astype(np.int64)  # exact below 2^53
            noisy = sums + sample_rounded_gaussian(one.variance, many, source)
            found |= (sums >= 1) & (noisy >= one.threshold)
            left = ~found[what]
            who, what = who[left], what[left]
        return source.mark(found)


def _round(squared_mu: Fraction, delta: Fraction, offer: KeyOffer) -> Round:
    """Return the round of a squared mu: the finest grid whose noise has tails that are computed."""
    unit = min(_LARGEST_UNIT, max(isqrt(int(MOST_VARIANCE * squared_mu)), 1))
    variance = unit**2 / squared_mu
    check_reach(check_variance, variance, offer.parameter)
    moves = _worst_moves(unit, offer.keys)
    thresholds = [smallest_threshold_for(partial(rounded_tail, variance), (move,), delta) for move in moves]
    return Round(unit=unit, variance=variance, threshold=max(thresholds), delta=delta)


def _worst_moves(unit: int, keys: int) -> list[tuple[int, int]]:
    """Return weights, and how many new keys a person has at most with at most that weight.

    With z keys, 2^j <= z < 2^(j + 1), each weighs at most as one of 2^j, and there are less than 2^(j + 1).
    """
    moves, least = [], 1
    while least <= keys:
        weight = int(_weights(unit, least)[least])
        if weight >= 1:
            moves.append((weight, min(2 * least - 1, keys)))
        least *= 2
    return moves


def _weights(unit: int, keys: int) -> NDArray[np.int64]:
    """Return floor(unit / sqrt(z)) for z = 0, …, keys; 0 for z = 0.

    It is the integer root of floor(unit^2 / z): w^2 z <= unit^2 exactly if w^2 <= floor(unit^2 / z).
    """
    squares = unit**2 // np.maximum(np.arange(keys + 1), 1)
    roots = np.sqrt(squares).astype(np.int64)
    roots -= roots**2 > squares
    roots += (roots + 1) ** 2 <= squares
    roots[0] = 0
    return np.asarray(roots, np.int64)
