"""What mechanisms that add noise to a value have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.additive.laws import log_probabilities
from discreet.mechanisms.values import Lattice, Value, check_size
from discreet.noise import Source, current
from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.privacy.neighbors import Neighbors
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from discreet.figures import Axes, Panels
    from discreet.mechanisms.error.base import ErrorLaw
    from discreet.mechanisms.plot import NeighboringLaws
    from discreet.privacy.guarantees import Guarantee

__all__ = ["Additive"]

_SHOWN = Fraction(9999, 10000)
"""The probability of the outputs that a figure shows, at least."""
_LEAST_TAIL = 2
_MOST_OUTPUTS = 601
"""So many outputs are shown one by one; of more, the density at so many places."""


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

    if TYPE_CHECKING:  # a property here would become the default of a field of that name

        @property
        def guarantee(self) -> Guarantee:
            """What is promised."""

        @property
        def error(self) -> ErrorLaw:
            """The law of the error of each value."""

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

    def plot(
        self,
        value: int | float = 0,
        neighbor: int | float | None = None,
        *,
        ax: Panels | None = None,
        label: str | None = None,
    ) -> Axes:
        """Draw the law of the output, a neighbor's law, and the logarithm of their ratio with its bound.

        Parameters
        ----------
        value : number
            A hypothetical value: the figure shows it.
        neighbor : number, optional
            The value of a neighbor; by default one sensitivity above.
        ax : axes, or two axes, optional
            Where to draw the laws, or the laws and the ratio; by default a new figure with both.
        label : str, optional
            What the mechanism is called in the legend.

        Returns
        -------
        axes
            Of the laws; its ``figure.axes`` are both.
        """
        from discreet.mechanisms.plot import plot_laws

        here = self._steps_of(value, "value")
        there = here + self.event.shift if neighbor is None else self._steps_of(neighbor, "neighbor")
        return plot_laws(self._laws(here, there), ax, label)

    def _steps_of(self, value: int | float, name: str) -> int:
        steps = self.lattice.enter(value, name)
        if steps.ndim:
            raise ParameterError(name, "is an array", "one number")
        return int(steps)

    def _laws(self, here: int, there: int) -> NeighboringLaws:
        from discreet.mechanisms.plot import NeighboringLaws

        step = self.lattice.step
        tail = max(_LEAST_TAIL, ceil(Fraction(self.error.quantile(_SHOWN)) / step))
        first, last = min(here, there) - tail, max(here, there) + tail
        density = last - first >= _MOST_OUTPUTS
        outputs = np.unique(np.linspace(0, last - first, min(last - first + 1, _MOST_OUTPUTS)).round())
        per_step = log(step) if density else 0.0
        laws = [log_probabilities(self.event, outputs + (first - at)) - per_step for at in (here, there)]
        shown = [self.lattice.leave(np.array(at, np.int64)) for at in (here, there)]
        near = abs(there - here) <= self.event.shift
        return NeighboringLaws(
            outputs=np.array([float((first + int(k)) * step) for k in outputs]),
            here=laws[0],
            there=laws[1],
            names=(f"value {shown[0]:g}", f"{'neighbor' if near else 'value'} {shown[1]:g}"),
            guarantee=self.guarantee,
            neighbors=near,
            apart=f"{float(abs(there - here) * step):g} apart",
            of=repr(self),
            density=density,
        )
