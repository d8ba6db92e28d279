"""Events of selection: only the index of a candidate, or of a question, is released."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.privacy.events.event import Event, stored
from discreet.privacy.events.generic import Pure, PureEvent
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors, check_relation
from discreet.privacy.rational import non_negative, whole
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["AboveThreshold", "ExponentialChoice", "NoisyMax", "PermuteAndFlip"]


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class ExponentialChoice(PureEvent):
    """The exponential mechanism's choice; also the largest score after Gumbel noise.

    The privacy loss, over all candidates, lies in an interval of length epsilon (bounded
    range), which is more than pure epsilon says.

    Parameters
    ----------
    epsilon : number
        The length of the interval, 0 or greater.
    neighbors : Neighbors
        The relation.
    """

    @property
    def concentrated_rho(self) -> Fraction:
        """epsilon^2 / 8, from the bounded range (Cesar & Rogers 2021)."""
        return self.epsilon**2 / 8

    def _group(self, size: int) -> Event:
        # Losses add up along the chain, and so do the lengths of their intervals.
        return ExponentialChoice(epsilon=size * self.epsilon, neighbors=self.neighbors.group(size))


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class PermuteAndFlip(PureEvent):
    """The choice of permute-and-flip; also the largest score after exponential noise.

    Parameters
    ----------
    epsilon : number
        Its pure epsilon, 0 or greater.
    neighbors : Neighbors
        The relation.
    """


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class NoisyMax(PureEvent):
    """The index of the largest score after discrete Laplace noise; the noisy scores stay hidden.

    Parameters
    ----------
    epsilon : number
        Its pure epsilon, 0 or greater.
    neighbors : Neighbors
        The relation.
    """


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class AboveThreshold(Event):
    """A run of the sparse vector technique: which questions lie above a noisy threshold.

    Parameters
    ----------
    epsilon : number
        The pure epsilon of the whole run, all its positive answers included, 0 or greater.
    positives : int
        After how many positive answers the run stops.
    neighbors : Neighbors
        The relation.
    """

    epsilon: Fraction
    positives: int
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(self, *, epsilon: Number, positives: int, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        self._set(
            epsilon=non_negative(epsilon, "epsilon"),
            positives=whole(positives, "positives", least=1),
            neighbors=check_relation(neighbors),
        )

    @property
    def pure_epsilon(self) -> Fraction:
        """The epsilon itself."""
        return self.epsilon

    def _group(self, size: int) -> Event:
        return Pure(epsilon=size * self.epsilon, neighbors=self.neighbors.group(size))
