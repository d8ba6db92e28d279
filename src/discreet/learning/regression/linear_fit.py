"""A private linear fit: coefficients and intervals from released statistics alone."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isqrt, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from discreet.array_types import Floats
from discreet.learning.design.row_grid import public_bound
from discreet.privacy.rational import Number, confidence_level, float_above, rational, whole
from discreet.records import dataclass
from discreet.stability.entries import reals

__all__ = ["LinearFit", "Noise", "Units"]


_RIDGE_FAILURE = 0.005
_ROUNDED = 0.501  # how far rounding moves an entry, in steps, what floats are off before it included
_PARTS = 8  # the bounds that an interval assume, each missing with an eighth of what is allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """The public grid of a regression."""

    steps: int
    """How many steps a row has at most, after rounding."""
    row_steps: int
    """How many steps the longest row has, before rounding."""
    largest: Fraction
    """The length of the longest row."""
    response: Fraction
    """The largest absolute response."""

    @classmethod
    def of(cls, columns: int, largest: Number, response: Number, resolution: int) -> Units:
        """Return the grid for public bounds, in an even number of steps up to the resolution.

        Rounding moves each of d entries by half a step at most, so a row by at most ceil(sqrt(d) / 2) steps:
        so many fewer has the longest row before it.
        """
        steps = 2 * (whole(resolution, "resolution", least=2**4, most=2**16) // 2)
        return cls(
            steps=steps,
            row_steps=steps - (isqrt(columns - 1) // 2 + 1),
            largest=public_bound(largest, "largest"),
            response=public_bound(response, "response"),
        )

    @property
    def response_steps(self) -> int:
        """How many steps the largest response has: half as many."""
        return self.steps // 2

    @property
    def weight(self) -> int:
        """What one row adds to the count that is released."""
        return self.steps * self.response_steps // 2

    @property
    def coefficient(self) -> float:
        """What a coefficient of 1, in steps of y per step of x, is worth."""
        return float(self.response * self.row_steps / (self.response_steps * self.largest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The scales of the noise, in steps."""

    eigenvalue: float
    matrix: float
    moments: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearFit:
    """What an `AdaptiveRidge` released. All of it is public.

    Attributes
    ----------
    eigenvalue : float
        The smallest eigenvalue of X^T X with noise, in steps.
    matrix : array
        X^T X with noise, in steps.
    moments : array
        X^T y, y^T y and the weighted number of rows with noise, in steps.
    """

    units: Units
    noise: Noise
    eigenvalue: float
    matrix: Floats
    moments: Floats

    @property
    def ridge(self) -> float:
        """What was added to the diagonal, in steps: 2 eta - (a lower bound on the eigenvalue), or nothing.

        eta bounds the spectral norm of the noise in X^T X; both bounds hold with probability 99%.
        """
        least = max(self.eigenvalue - self.noise.eigenvalue * sqrt(2 * log(1 / _RIDGE_FAILURE)), 0.0)
        return max(2 * self._spectral(_RIDGE_FAILURE) - least, 0.0)

    @property
    def coefficients(self) -> Floats:
        """The coefficients, in the units of the data."""
        return self._solved()[0] * self.units.coefficient

    def predict(self, design: ArrayLike) -> Floats:
        """Return the predictions for rows of a design."""
        return np.asarray(reals(design, "design") @ self.coefficients, dtype=np.float64)

    def intervals(self, confidence: Number = 0.95, *, largest_norm: Number | None = None) -> Floats:
        """Return an interval for each coefficient, of shape (columns, 2).

        Each holds its coefficient of the linear model y = X beta + u with probability of at least
        `confidence`, over the errors and the noise together, if the errors u are independent and normal with
        one variance and neither rows nor responses are beyond their bounds. Rounding to the grid is covered:
        it adds about half a step to each half width, however many rows there are. Where the released
        statistics bound nothing, an end is infinite.

        Parameters
        ----------
        confidence : number
            Between 0 and 1.
        largest_norm : number, optional
            A public bound on the Euclidean norm of beta, in the units of the data. Without it the norm is
            bounded by the fit, which takes data that are rich in every direction.
        """
        level = confidence_level(confidence)
        known = None if largest_norm is None else rational(largest_norm, "largest_norm", positive=True)
        half = self._half_widths(float(1 - level) / _PARTS, None if known is None else float_above(known))
        center = self.coefficients
        return np.stack([center - half, center + half], axis=1)

    def _half_widths(self, failure: float, known: float | None) -> Floats:
        """Bound each |theta - beta|, in the units of the data: theorem 4 of the proof page."""
        width = len(self.matrix)
        solution, inverse, shrinkage = self._solved()
        chance = log(1 / failure)
        normal = sqrt(2 * log(2 / failure))
        spectral = self._spectral(failure)
        # The noise in X^T X, applied to one fixed direction; the noise in X^T y.
        directed = self.noise.matrix * sqrt(width + 2 * sqrt(2 * width * chance) + 4 * chance)
        shifted = self.noise.moments * sqrt(width + 2 * sqrt(width * chance) + 2 * chance)
        rounding, free = self._rounding(normal), self._free(normal, chance)
        if not free:
            return np.full(width, inf)
        deviation = sqrt(self._residuals(solution, spectral, shifted, normal) / free)
        trace = max(float(np.trace(self.matrix)) + width * spectral, 0.0)
        errors = sqrt(trace + 2 * trace * sqrt(chance) + 2 * trace * chance)
        largest = sqrt(max(float(np.linalg.eigvalsh(self.matrix)[-1]) + spectral, 0.0))
        # What rounding adds to |X^T u|, through the deviation, and to X^T y, for each unit of `stretched`.
        rounded = rounding * (errors / sqrt(free) + largest)
        norm = self._norm(
            solution,
            inverse,
            shrinkage + directed + sqrt(width) * rounded,
            deviation * errors + shifted + rounded,
        )
        if known is not None:
            norm = min(norm, known / self.units.coefficient)
        stretched = 1 + sqrt(width) * norm
        deviation += rounding * stretched / sqrt(free)
        lengths = np.linalg.norm(inverse, axis=1)
        quadratic = np.einsum("ij,jk,ik->i", inverse, self.matrix, inverse) + spectral * lengths**2
        spread = np.sqrt(np.maximum(quadratic, 0.0))
        with np.errstate(invalid="ignore"):
            half = (shrinkage + directed) * norm * lengths + rounding * stretched * spread
            half += normal * np.hypot(self.noise.moments * lengths, deviation * spread)
            half = half * self.units.coefficient
        return np.where(np.isnan(half), inf, half)

    @staticmethod
    def _norm(solution: Floats, inverse: Floats, pull: float, other: float) -> float:
        """Bound the norm of beta, given |beta| <= |theta| + |M| (pull |beta| + other)."""
        stretch = float(np.linalg.norm(inverse, 2))
        left = 1 - stretch * pull
        return (float(np.linalg.norm(solution)) + stretch * other) / left if left > 0 else inf

    def _rounding(self, normal: float) -> float:
        """Bound the root of the number of rows, times what rounding moves an entry by."""
        count = float(self.moments[-1] + self.noise.moments * normal) / self.units.weight
        return _ROUNDED * sqrt(max(count, 0.0))

    def _free(self, normal: float, chance: float) -> float:
        """Bound the sum of squares of independent normal errors, in their variance, from below; or 0."""
        count = float(self.moments[-1] - self.noise.moments * normal) / self.units.weight
        free = count - len(self.matrix)
        return max(free - 2 * sqrt(max(free, 0.0) * chance), 0.0)  # chi-square is rarely less

    def _residuals(self, solution: Floats, spectral: float, shifted: float, normal: float) -> float:
        """Bound the sum of squares of the residuals of the fit."""
        width = len(self.matrix)
        length = float(np.linalg.norm(solution))
        products, squares = self.moments[:width], self.moments[width]
        residuals = float(squares - 2 * solution @ products + solution @ self.matrix @ solution)
        residuals += self.noise.moments * normal + 2 * length * shifted + length**2 * spectral
        return max(residuals, 0.0)

    def _spectral(self, failure: float) -> float:
        """Bound the spectral norm of the noise in X^T X."""
        width = len(self.matrix)
        return self.noise.matrix * sqrt(2 * width * log(2 * width / failure))

    def _solved(self) -> tuple[Floats, Floats, float]:
        """Return the coefficients in steps, the inverse that they were made with, and what was added at most.

        Eigenvalues below the scale of the noise, which are rare with the ridge, are raised to it.
        """
        ridge, least = self.ridge, self.noise.matrix
        values, vectors = np.linalg.eigh(np.asarray(self.matrix) + ridge * np.eye(len(self.matrix)))
        inverse = (vectors / np.maximum(values, least)) @ vectors.T
        raised = max(least - float(values[0]), 0.0)
        return inverse @ self.moments[: len(self.matrix)], inverse, ridge + raised
