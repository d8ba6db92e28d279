"""Means and variances of columns, of all rows or of each class, as a learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.curator.ledger import JsonValue
from discreet.curator.request.learner import Drawn, Learner
from discreet.curator.request.request import Expectation
from discreet.learning.design.features import Features
from discreet.learning.design.targets import Classes
from discreet.learning.moments.box_grid import BoxGrid
from discreet.learning.moments.noisy_moments import NoisyMoments
from discreet.mechanisms.additive.laplace import Laplace
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee

__all__ = ["MomentLearner", "moment_expectations", "noise_words"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentLearner(Learner):
    """Draw the count, the means and the variances of columns: of all rows, or of those of each class.

    Guarantee
    ---------
    That of `NoisyMoments`: a row is read by itself, and is in one class or left out (proof:
    docs/proofs/moment_models.md).

    Finite precision
    ----------------
    That of `NoisyMoments`.

    Error
    -----
    See `expectations`.
    """

    kind: ClassVar[str] = "moments"

    features: Features
    target: Classes | None
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
        """Columns, classes and the grid."""
        return {
            "features": self.features.parameters,
            "target": None if self.target is None else self.target.parameters,
            "steps": self.moments.steps,
            "weight": self.moments.weight,
            "rows": self.moments.rows,
        }

    @property
    def words(self) -> str:
        """What it runs."""
        of = "" if self.target is None else " of each class"
        return f"counts, sums and sums of squares{of}, released once with {noise_words(self.moments)} noise"

    @property
    def columns(self) -> tuple[str, ...]:
        """The features, and the target if there is one."""
        names = tuple(column.name for column in self.features.columns)
        return names if self.target is None else (*names, self.target.name)

    @property
    def rows(self) -> int:
        """Those of the release."""
        return self.moments.rows

    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Return counts, shares, means and variances, the latter in half widths of the columns."""
        grid = BoxGrid.of(self.features)
        if self.target is None:
            found = self.moments.release(grid.rounded(values))
        else:
            *held, labels = values
            numbers = self.target.numbers(labels)
            known = numbers >= 0
            rows = grid.rounded(held)
            if not known.all():
                rows, numbers = rows[known], numbers[known]
            found = self.moments.release(rows, numbers)
        return {
            "counts": found.counts.tolist(),
            "shares": found.shares.tolist(),
            "means": found.means.tolist(),
            "variances": found.variances.tolist(),
        }

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return the noise in a mean, and in a count."""
        return moment_expectations(self.moments, rows, "of a class" if self.target else "")


def noise_words(moments: NoisyMoments) -> str:
    """Say which noise it is."""
    return "Laplace" if isinstance(moments.noise, Laplace) else "normal"


def moment_expectations(moments: NoisyMoments, rows: int, of: str) -> tuple[Expectation, ...]:
    """Return the noise in a mean and in a count, in half widths of a column."""
    found = []
    for name, deviation, means in (
        ("mean", moments.deviation / max(rows, 1), "noise in half widths of its column"),
        ("count", moments.deviation / moments.weight, "noise"),
    ):
        found.append(
            Expectation(
                name=f"{name} {of}".strip(),
                margin=float(np.ceil(1.959964 * deviation * 1e12) / 1e12),
                standard_deviation=deviation,
                assumes=f"{rows:,} rows {of}".strip(),
                means=means,
            )
        )
    return tuple(found)
