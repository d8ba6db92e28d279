"""Principal components of a noisy covariance matrix, as a learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats
from discreet.curator.ledger import JsonValue
from discreet.curator.request.learner import Drawn, Learner
from discreet.curator.request.request import Expectation
from discreet.learning.design.features import Features
from discreet.learning.moments.box_grid import BoxGrid
from discreet.learning.moments.moment_learner import moment_expectations, noise_words
from discreet.learning.moments.noisy_moments import NoisyMoments
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee

__all__ = ["ComponentLearner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentLearner(Learner):
    """Draw the first principal components of columns, and the variance along each.

    Guarantee
    ---------
    That of `NoisyMoments` with products: components are those of the covariance matrix that was released
    (proof: docs/proofs/moment_models.md).

    Finite precision
    ----------------
    That of `NoisyMoments`.

    Error
    -----
    See `expectations`: noise moves no variance along a component by much more than the norm of the noise in
    the matrix, and a component by that norm over the gap to the next variance (Davis & Kahan 1970).
    """

    kind: ClassVar[str] = "components"

    features: Features
    components: int
    moments: NoisyMoments

    @property
    def event(self) -> Event:
        """One release of all moments."""
        return self.moments.event

    @property
    def guarantee(self) -> Guarantee:
        """That of the release."""
        return self.moments.guarantee

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """Columns, components and the grid."""
        return {
            "features": self.features.parameters,
            "components": self.components,
            "steps": self.moments.steps,
            "weight": self.moments.weight,
            "rows": self.moments.rows,
        }

    @property
    def words(self) -> str:
        """What it runs."""
        return f"sums of products of all columns, released once with {noise_words(self.moments)} noise"

    @property
    def columns(self) -> tuple[str, ...]:
        """The features."""
        return tuple(column.name for column in self.features.columns)

    @property
    def rows(self) -> int:
        """Those of the release."""
        return self.moments.rows

    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Return the count, the mean, components and variances along them, in the units of the columns."""
        grid = BoxGrid.of(self.features)
        found = self.moments.release(grid.rounded(values))
        widths = grid.half_widths
        # A common unit keeps squares of huge or tiny bounds within what floats hold.
        unit = float(widths.max())
        scaled = widths / unit
        spread, axes = np.linalg.eigh(found.covariances[0] * np.outer(scaled, scaled))
        kept = np.maximum(spread[::-1], 0.0)
        return {
            "count": float(found.counts[0]),
            "mean": (grid.middles + widths * found.means[0]).tolist(),
            "components": _turned(axes.T[::-1][: self.components]).tolist(),
            "deviations": (np.sqrt(kept) * unit).tolist(),
        }

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return the noise in a mean and a count, and its norm in the covariance matrix."""
        deviation = self.moments.deviation * 2 * sqrt(self.moments.columns) / max(rows, 1)
        return (
            *moment_expectations(self.moments, rows, ""),
            Expectation(
                name="variance",
                margin=deviation,
                standard_deviation=self.moments.deviation / max(rows, 1),
                assumes=f"{rows:,} rows",
                means="about the norm of the noise in the covariance matrix, for half widths of 1",
            ),
        )


def _turned(axes: Floats) -> Floats:
    """Return axes that point to where their largest coordinate is positive."""
    largest = np.abs(axes).argmax(axis=1)
    signs = np.where(axes[np.arange(len(axes)), largest] < 0, -1.0, 1.0)
    return axes * signs[:, None]
