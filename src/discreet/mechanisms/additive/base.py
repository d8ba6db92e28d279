"""What mechanisms that add noise to a value have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.values import Lattice, Value, check_size
from discreet.noise import Source, current
from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.privacy.neighbors import Neighbors
from discreet.records import Record

__all__ = ["Additive"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Additive(Record, ABC):
    """A value enters a lattice, noise of one law is added, and the sum leaves."""

    event: DiscreteLaplace | DiscreteGaussian | RoundedGaussian
    """The law that `release` draws."""
    lattice: Lattice
    """The integers, or the grid of multiples, on which values and noise live."""

    @abstractmethod
    def _noise(self, count: int, source: Source) -> NDArray[np.int64]:
        """Draw noise for `count` values, in steps."""

    @property
    def grid(self) -> Fraction:
        """The step of which every output is a multiple."""
        return self.lattice.step

    @property
    def size(self) -> int | None:
        """How many values are released together; None if any number of integers may."""
        return self.event.size

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.event.neighbors

    @property
    def largest(self) -> int | float:
        """The largest magnitude that is not clamped."""
        return self.lattice.largest

    def release(self, value: Value) -> Value:
        """Return the value, or every value of an array, with fresh noise."""
        steps = self.lattice.enter(value)
        check_size(self.size, steps.size)
        source = current()
        noisy = self._noise(steps.size, source).reshape(steps.shape)
        noisy += steps
        return source.mark(self.lattice.leave(noisy))
