"""Noise beyond the range of the samplers: totals are rounded to a wider step, and get noise in such steps.

Fine grids, as those of products of decimals, call for noise of more than 2^40 steps. No one can tell such
totals apart by single steps, so that they are rounded first: to a power of two, about 2^-39 of the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.curator.request.histogram import HistogramMechanism
from discreet.data import Statistic
from discreet.data.language.measures import width
from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.error.gaussian import GaussianError
from discreet.mechanisms.error.laplace import LaplaceError
from discreet.mechanisms.error.rounded_gaussian import RoundedGaussianError
from discreet.noise import is_private
from discreet.noise.replayed import mark_replayed
from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record, dataclass

__all__ = ["CoarseNoise", "drawable_noise", "rounded_sensitivity"]

LARGEST_STEP_BITS = 16
"""The widest step: with it the noise reaches 2^56 steps, and 2^62, where totals end, is 64 times that."""
_LARGEST_TOTAL = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class CoarseNoise(Record, HistogramMechanism):
    """Totals rounded to multiples of a step, halves upward, with noise in such multiples.

    Guarantee
    ---------
    That of the noise, which is made for totals that move as far as rounded ones do: two integers that differ
    by d are rounded to multiples that differ by at most ceil(d / step) steps (proof: coarse_noise).

    Error
    -----
    `step` times that of the noise, and half a step for the rounding.

    Attributes
    ----------
    noise : Laplace or Gaussian
        In steps.
    step : int
        A power of two.
    cells : int
        How many groups there are.
    """

    noise: Laplace | Gaussian
    step: int
    cells: int

    def __post_init__(self) -> None:
        step = whole(self.step, "step", least=2, most=1 << LARGEST_STEP_BITS)
        if step & (step - 1):
            raise ParameterError("step", "is not a power of two", "such as 1024")
        if not isinstance(self.noise, Laplace | Gaussian) or not self.noise.lattice.integers:
            raise ParameterError("noise", "has another type", "Laplace or Gaussian noise of integers")
        if self.noise.size != whole(self.cells, "cells", least=1):
            raise ParameterError("noise", "is for another number of values", "one for each group")

    @property
    def size(self) -> int:
        """One integer for each group."""
        return self.cells

    @property
    def event(self) -> DiscreteLaplace | DiscreteGaussian | RoundedGaussian:
        """The law of the noise, in steps."""
        return self.noise.event

    @property
    def identity(self) -> dict[str, object]:
        """The step."""
        return {"rounded to": self.step}

    @property
    def error(self) -> LaplaceError | GaussianError | RoundedGaussianError:
        """The law of the error of each total: multiples of the step, and half a step for the rounding."""
        law, step = self.noise.error, Fraction(self.step)
        if isinstance(law, LaplaceError):
            return replace(law, scale=law.scale * step, step=step, rounding=step / 2)
        return replace(law, squared_sigma=law.squared_sigma * step**2, step=step, rounding=step / 2)

    def covers(self, statistic: Statistic) -> bool:
        """Return whether the noise suffices for totals that move so far before they are rounded."""
        if width(statistic.measure) != 1 or self.noise.neighbors != statistic.sensitivity.neighbors:
            return False
        moved = rounded_sensitivity(statistic.sensitivity, self.step)
        if isinstance(self.noise, Laplace):
            return self.noise.event.sensitivity >= moved.l1
        return self.noise.event.squared_sensitivity >= moved.squared_l2

    def release(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Round, add noise, and return to the units that totals have; what is beyond 2^62 is clamped."""
        totals = np.asarray(counts, np.int64)
        noisy = self.noise.release((totals + self.step // 2) // self.step)
        most = _LARGEST_TOTAL // self.step
        steps = np.asarray(noisy, np.int64).clip(-most, most) * self.step
        return steps if is_private(noisy) else mark_replayed(steps)

    def may_draw(self, steps: NDArray[np.int64]) -> bool:
        """Multiples of the step may be drawn."""
        return len(steps) == self.size and not bool((steps % self.step).any())

    def __repr__(self) -> str:
        return f"{self.noise!r}, of totals rounded to {self.step} steps"


def rounded_sensitivity(bound: Sensitivity, step: int) -> Sensitivity:
    """Return how far integers move between neighbors once they are rounded to multiples of a step, in these.

    At most ceil(d / step) <= (d + step - 1) / step for each that moves by d, and at most l0 of them move.
    """
    most = -(-int(bound.linf) // step)
    l1 = min((int(bound.l1) + bound.l0 * (step - 1)) // step, bound.l0 * most)
    squares = bound.squared_l2 + 2 * (step - 1) * bound.l1 + bound.l0 * (step - 1) ** 2
    return Sensitivity(
        l0=bound.l0,
        l1=l1,
        squared_l2=min(Fraction(squares) / step**2, Fraction(l1 * most)),
        linf=most,
        neighbors=bound.neighbors,
        integers=True,
    )


def drawable_noise(
    make: Callable[[Sensitivity], Laplace | Gaussian], bound: Sensitivity, cells: int
) -> Laplace | Gaussian | CoarseNoise:
    """Return the noise for totals that move so far; beyond the range of the samplers, of rounded totals.

    The step is the least for which noise can be drawn, so that it is decided by public facts.
    """
    try:
        return make(bound)
    except ParameterError:
        for bits in range(1, LARGEST_STEP_BITS + 1):
            try:
                noise = make(rounded_sensitivity(bound, 1 << bits))
            except ParameterError:
                continue
            return CoarseNoise(noise=noise, step=1 << bits, cells=cells)
        raise
