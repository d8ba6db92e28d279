"""Truncated geometric selection: for persons of one key, no other selection shows keys more often."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.error.key_selection import LevelShownKeys
from discreet.mechanisms.keys.key_selection import KeyOffer, KeySelection
from discreet.noise import Source
from discreet.noise.enclosure import exponential
from discreet.noise.levels import Levels, sample_levels
from discreet.privacy.events import Approximate, Event
from discreet.privacy.rational import Number
from discreet.records import dataclass

__all__ = ["TruncatedGeometric"]

MOST_LEVELS = 1 << 19

_GUARD_BITS = 128
_WORKING_BITS = 256


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class TruncatedGeometric(KeySelection):
    """Show each key with the largest probability that its number of persons allows.

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
    (epsilon, delta)-DP: with l = epsilon / keys and d = delta / keys, a key of n persons is shown with p_n,
    where p_0 = 0 and p_(n + 1) = min(e^l p_n + d, 1 - e^-l (1 - p_n - d), 1). So each key is
    (l, d)-private, and `keys` of them compose (Desfontaines, Voss, Gipson & Mandayam 2022; proof:
    docs/proofs/truncated_geometric.md). `event` is that composition. Where a person has one key, no
    (epsilon, delta)-private selection shows a key of any size with a larger probability. For rho, l is
    sqrt(2 rho / keys).

    Finite precision
    ----------------
    The p_n are multiples of a power of two far finer than d, each rounded down from what the rounded one
    before it allows: the inequalities hold exactly for the numbers that are drawn with, and
    coins with these are exact.

    Error
    -----
    A key of n persons is shown with probability p_n, which is 1 from some n on; see `error`.

    Examples
    --------
    >>> from discreet.mechanisms import TruncatedGeometric
    >>> mechanism = TruncatedGeometric(epsilon=1, delta=1e-6, keys=2)
    >>> mechanism.event
    Approximate(epsilon=0.5, delta=5e-7) * 2
    >>> mechanism.size_for(0.5), mechanism.size_for(1)
    (27, 54)
    """

    def __init__(
        self, *, delta: Number, epsilon: Number | None = None, rho: Number | None = None, keys: int = 1
    ) -> None:
        offer = KeyOffer(epsilon=epsilon, rho=rho, delta=delta, keys=keys)
        self._set(offer=offer)
        if _tabulated(offer.loss_of_a_key, offer.delta / offer.keys) is None:
            raise ParameterError(
                offer.parameter,
                "is so small that no key of moderate size is surely shown",
                f"such that keys of {MOST_LEVELS} persons are shown with probability 1; or fewer keys",
            )

    @property
    def event(self) -> Event:
        """The keys that a person has, each of which is (epsilon, delta)-private by itself."""
        share = Approximate(epsilon=self.offer.loss_of_a_key, delta=self.offer.delta / self.keys)
        return share * self.keys

    @property
    def error(self) -> LevelShownKeys:
        """With which probability a key of n persons is shown."""
        return LevelShownKeys(levels=self._table)

    @property
    def _table(self) -> Levels:
        table = _tabulated(self.offer.loss_of_a_key, self.offer.delta / self.keys)
        assert table is not None  # noqa: S101
        return table

    def _levels(self, count: int, source: Source) -> NDArray[np.int64]:
        return sample_levels(self._table, count, source)


@lru_cache(maxsize=64)
def _tabulated(epsilon: Fraction, delta: Fraction) -> Levels | None:
    """Tabulate p_1, p_2, … up to 1, as multiples of 2^-bits; None where too many are below 1.

    With P = p_n 2^bits, D = floor(delta 2^bits) and whole numbers h >= e^-epsilon 2^working and
    g <= e^epsilon 2^working, the next is the least of floor(g P / 2^working) + D, of 2^bits -
    ceil(h (2^bits - P - D) / 2^working), and of 2^bits. It is at least P + D, so the table ends.
    """
    bits = _GUARD_BITS + (1 / delta).__ceil__().bit_length()
    working = bits + _WORKING_BITS
    fall = exponential(epsilon, working)[1]
    growth = (1 << (2 * working)) // fall
    one, least = 1 << bits, (delta.numerator << bits) // delta.denominator
    chance = 0
    numerators: list[int] = []
    while chance < one and len(numerators) < MOST_LEVELS:
        rest = max(one - chance - least, 0)
        rising = (growth * chance >> working) + least
        closing = one - -(-fall * rest >> working)
        chance = min(rising, closing, one)
        numerators.append(chance)
    return Levels(numerators, bits) if chance == one else None
