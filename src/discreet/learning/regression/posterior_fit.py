"""What a posterior regression released: samples, each on the scale that those before it allowed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet.array_types import Floats
from discreet.records import dataclass
from discreet.stability.entries import reals

__all__ = ["PosteriorFit"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PosteriorFit:
    """What a `PosteriorRegression` released. All of it is public.

    Attributes
    ----------
    samples : array
        The coefficients of every round, one row each, in the units of the data; the last is the finest.
    steps : array
        The step of the grid of every round: the faster it falls, the richer the data.
    eigenvalue : float
        The smallest eigenvalue of X^T X with noise, in steps.
    """

    samples: Floats
    steps: Floats
    eigenvalue: float

    @property
    def coefficients(self) -> Floats:
        """The last sample."""
        return np.asarray(self.samples[-1], dtype=np.float64)

    def predict(self, design: ArrayLike) -> Floats:
        """Return the predictions for rows of a design."""
        return np.asarray(reals(design, "design") @ self.coefficients, dtype=np.float64)
