"""A private linear fit: coefficients and intervals from released statistics alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.privacy.rational import Number, rational

__all__ = ["LinearFit", "Noise", "Units"]

Floats = NDArray[np.float64]

_RIDGE_FAILURE = 0.005
_PARTS = 8  # the bounds that an interval takes for granted, each missing with an eighth of what is allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """The public grid of a regression."""

    steps: int
    """How many steps the longest row has."""
    largest: Fraction
    """The length of the longest row."""
    response: Fraction
    """The largest absolute response."""

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
        return float(self.response * self.steps / (self.response_steps * self.largest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The scales of the noise, in steps."""

    eigenvalue: float
    matrix: float
    moments: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearFit:
    """What a `LinearRegression` released. All of it is public.

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
        return np.asarray(design, dtype=np.float64) @ self.coefficients

    def intervals(self, confidence: Number = 0.95, *, largest_norm: Number | None = None) -> Floats:
        """Return an interval for each coefficient, of shape (columns, 2).

        Each holds its coefficient of the linear model y = X beta + u with probability of at least
        `confidence`, over the errors and the noise together, if the errors u are independent and normal with
        one variance and neither rows nor responses are beyond their bounds. (Rounding to the grid is not
        covered; it is far below the noise at the default resolution.) Where the released
        statistics bound nothing, an end is infinite.

        Parameters
        ----------
        confidence : number
            Between 0 and 1.
        largest_norm : number, optional
            A public bound on the Euclidean norm of beta, in the units of the data. Without it the norm is
            bounded by the fit, which takes data that are rich in every direction.
        """
        level = rational(confidence, "confidence")
        if not 0 < level < 1:
            raise ParameterError("confidence", "is not between 0 and 1", "such as 0.95")
        known = None if largest_norm is None else rational(largest_norm, "largest_norm", positive=True)
        half = self._half_widths(float(1 - level) / _PARTS, None if known is None else float(known))
        center = self.coefficients
        return np.stack([center - half, center + half], axis=1)

    def _half_widths(self, failure: float, known: float | None) -> Floats:
        width = len(self.matrix)
        solution, inverse, shrinkage = self._solved()
        chance = log(1 / failure)
        normal = sqrt(2 * log(2 / failure))
        spectral = self._spectral(failure)
        # The noise in X^T X, applied to one fixed direction; the noise in X^T y.
        directed = self.noise.matrix * sqrt(width + 2 * sqrt(2 * width * chance) + 4 * chance)
        shifted = self.noise.moments * sqrt(width + 2 * sqrt(width * chance) + 2 * chance)
        deviation = self._error_deviation(solution, spectral, shifted, normal, chance)
        trace = max(float(np.trace(self.matrix)) + width * spectral, 0.0)
        errors = deviation * sqrt(trace + 2 * trace * sqrt(chance) + 2 * trace * chance)
        lengths = np.linalg.norm(inverse, axis=1)
        norm = self._norm(solution, inverse, shrinkage + directed, errors + shifted)
        if known is not None:
            norm = min(norm, known / self.units.coefficient)
        spread = np.einsum("ij,jk,ik->i", inverse, self.matrix, inverse) + spectral * lengths**2
        half = (shrinkage + directed) * norm * lengths + normal * np.sqrt(
            (self.noise.moments * lengths) ** 2 + deviation**2 * np.maximum(spread, 0.0)
        )
        return np.asarray(half * self.units.coefficient, dtype=np.float64)

    @staticmethod
    def _norm(solution: Floats, inverse: Floats, pull: float, other: float) -> float:
        """Bound the norm of beta = theta + M (ridge beta + E beta - X^T u - e)."""
        stretch = float(np.linalg.norm(inverse, 2))
        left = 1 - stretch * pull
        return (float(np.linalg.norm(solution)) + stretch * other) / left if left > 0 else inf

    def _error_deviation(
        self, solution: Floats, spectral: float, shifted: float, normal: float, chance: float
    ) -> float:
        """Bound the standard deviation of the errors by the residuals of the fit."""
        width = len(self.matrix)
        length = float(np.linalg.norm(solution))
        products, squares, count = self.moments[:width], self.moments[width], self.moments[width + 1]
        residuals = float(squares - 2 * solution @ products + solution @ self.matrix @ solution)
        residuals += self.noise.moments * normal + 2 * length * shifted + length**2 * spectral
        free = float(count - self.noise.moments * normal) / self.units.weight - width
        surely = free - 2 * sqrt(max(free, 0.0) * chance)  # chi-square is rarely less
        return sqrt(max(residuals, 0.0) / surely) if surely > 0 else inf

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
