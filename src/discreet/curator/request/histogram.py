"""Mechanisms on a whole histogram: not each count with its own noise, but results from all counts."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from discreet.data import Statistic
from discreet.privacy.events import Event

__all__ = ["HistogramMechanism"]


class HistogramMechanism(ABC):
    """A mechanism on the counts of every group's histogram.

    Attributes
    ----------
    cells : int
        How many groups there are.
    """

    __slots__ = ()

    cells: int

    @property
    @abstractmethod
    def size(self) -> int:
        """How many integers are drawn in all."""

    @property
    @abstractmethod
    def event(self) -> Event:
        """The law of everything that is drawn."""

    @property
    @abstractmethod
    def identity(self) -> object:
        """What makes it differ from others of the same event, as plain JSON values."""

    @abstractmethod
    def covers(self, statistic: Statistic) -> bool:
        """Return whether it is made for such a histogram, and for counts that move this far."""

    @abstractmethod
    def release(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the integers drawn, from the counts of one group after the other."""

    @abstractmethod
    def may_draw(self, steps: NDArray[np.int64]) -> bool:
        """Return whether integers are such as `release` returns."""
