"""Events of local privacy: each person randomizes an answer before it leaves the person's hands.

Who answers is public here, so the relation replaces a person's value; adding or removing a
person would be seen at once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.privacy.directed import log_interval
from discreet.privacy.events.event import Event, stored
from discreet.privacy.events.generic import Pure
from discreet.privacy.neighbors import REPLACE_PERSON, Change, Neighbors, check_relation
from discreet.privacy.rational import float_above, rational, whole
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["RandomizedResponse", "UnaryEncoding", "log_above"]


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class RandomizedResponse(Event):
    """One report: the truth with probability `truth`, else one of the other values, all alike.

    Each other value has probability (1 - truth) / (categories - 1).

    Parameters
    ----------
    truth : number
        An exact probability, above 1 / categories and below 1.
    categories : int
        The number of possible values, at least 2.
    neighbors : Neighbors
        A relation of the kind replace.
    """

    truth: Fraction
    categories: int = 2
    neighbors: Neighbors = REPLACE_PERSON

    def __init__(self, *, truth: Number, categories: int = 2, neighbors: Neighbors = REPLACE_PERSON) -> None:
        _check_local(neighbors)
        exact, values = rational(truth, "truth"), whole(categories, "categories", least=2)
        if not Fraction(1, values) < exact < 1:
            raise ParameterError("truth", "is out of range", "above 1 / categories and below 1")
        self._set(truth=exact, categories=values, neighbors=check_relation(neighbors))

    @property
    def epsilon(self) -> float:
        """log(truth (categories - 1) / (1 - truth)), the exact loss, rounded up."""
        return float_above(self.pure_epsilon)

    @property
    def pure_epsilon(self) -> Fraction:
        """The epsilon, rounded up to 16 significant digits."""
        return log_above(self.truth * (self.categories - 1) / (1 - self.truth))

    def _group(self, size: int) -> Event:
        return Pure(epsilon=size * self.pure_epsilon, neighbors=self.neighbors.group(size))


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class UnaryEncoding(Event):
    """One report of a value as `size` bits, one of them set, each bit randomized on its own.

    Parameters
    ----------
    keep : number
        The probability that a set bit is reported as 1.
    flip : number
        The probability that a clear bit is reported as 1; 0 < flip < keep < 1.
    size : int
        The number of bits, at least 2.
    neighbors : Neighbors
        A relation of the kind replace.
    """

    keep: Fraction
    flip: Fraction
    size: int
    neighbors: Neighbors = REPLACE_PERSON

    def __init__(
        self, *, keep: Number, flip: Number, size: int, neighbors: Neighbors = REPLACE_PERSON
    ) -> None:
        _check_local(neighbors)
        exact_keep, exact_flip = rational(keep, "keep"), rational(flip, "flip")
        if not 0 < exact_flip < 1:
            raise ParameterError("flip", "is out of range", "above 0 and below keep")
        if not exact_flip < exact_keep < 1:
            raise ParameterError("keep", "is out of range", "above flip and below 1")
        self._set(
            keep=exact_keep,
            flip=exact_flip,
            size=whole(size, "size", least=2),
            neighbors=check_relation(neighbors),
        )

    @property
    def epsilon(self) -> float:
        """log(keep (1 - flip) / ((1 - keep) flip)), rounded up: another value changes two bits."""
        return float_above(self.pure_epsilon)

    @property
    def pure_epsilon(self) -> Fraction:
        """The epsilon, rounded up to 16 significant digits."""
        return log_above(self.keep * (1 - self.flip) / ((1 - self.keep) * self.flip))

    def _group(self, size: int) -> Event:
        return Pure(epsilon=size * self.pure_epsilon, neighbors=self.neighbors.group(size))


def _check_local(neighbors: Neighbors) -> None:
    if not isinstance(neighbors, Neighbors) or neighbors.change is not Change.REPLACE:
        raise ParameterError(
            "neighbors", "adds or removes, which local reports do not hide", "REPLACE_PERSON or REPLACE_ROW"
        )


def log_above(ratio: Fraction) -> Fraction:
    """Return log(ratio), rounded up to 16 digits, so that an epsilon of 0.1 is charged as 0.1."""
    upper = log_interval(ratio)[1]
    place = len(str(upper.numerator)) - len(str(upper.denominator))  # of the first digit, or one more
    if Fraction(10) ** place > upper:
        place -= 1
    unit = Fraction(10) ** (place - 15)
    return math.ceil(upper / unit) * unit
