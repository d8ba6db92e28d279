"""What the learners by perturbation share: two classes, one score, and one answer for all weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from numpy.typing import NDArray

from discreet.array_types import Floats, Integers
from discreet.curator.ledger import JsonValue
from discreet.curator.request.learner import Drawn, Learner
from discreet.learning.design.features import Features
from discreet.learning.design.row_grid import GridRows, RowGrid
from discreet.learning.design.targets import Classes
from discreet.learning.perturbation.smooth_slopes import SmoothSlopes
from discreet.learning.training.newton_learner import rows_of_classes
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee

__all__ = ["DEVIATIONS", "MarginLearner", "Perturbation"]

DEVIATIONS = 3
"""How many standard deviations a margin has: 95% of any law with one peak (Vysochanskij and Petunin 1980)."""


class Perturbation(Protocol):
    """A mechanism that releases the weights of one score."""

    @property
    def grid(self) -> RowGrid:
        """That of the rows."""

    @property
    def slopes(self) -> SmoothSlopes:
        """Those of the loss."""

    @property
    def rows(self) -> int:
        """How many rows of a person it is made for."""

    @property
    def regularization(self) -> Fraction:
        """Lambda, of the sum over rows."""

    @property
    def event(self) -> Event:
        """What it costs."""

    @property
    def guarantee(self) -> Guarantee:
        """What it promises."""

    def release_steps(self, rows: GridRows, labels: Integers) -> Floats:
        """Return the weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginLearner(Learner):
    """A linear classifier of two classes whose weights are one answer. Rows of other classes are left out."""

    features: Features
    target: Classes
    mechanism: Perturbation

    @property
    def event(self) -> Event:
        """That of the mechanism."""
        return self.mechanism.event

    @property
    def guarantee(self) -> Guarantee:
        """That of the mechanism."""
        return self.mechanism.guarantee

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """Columns, classes, loss and regularization."""
        return {
            "features": self.features.parameters,
            "target": self.target.parameters,
            "loss": self.mechanism.slopes.loss.name,
            "coordinates": self.mechanism.grid.columns,
            "rows": self.mechanism.rows,
            "regularization": str(self.mechanism.regularization),
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The features, and the target."""
        return (*(column.name for column in self.features.columns), self.target.name)

    @property
    def rows(self) -> int:
        """Those of the mechanism."""
        return self.mechanism.rows

    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Return the weights: one for each coordinate of the features."""
        held, known, numbers = rows_of_classes(self.target, values)
        rows = self.features.rows(held, known=known)
        return {"weights": self.mechanism.release_steps(rows, numbers).tolist()}
