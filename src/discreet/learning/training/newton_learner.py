"""A linear classifier as a learner: rows in, the weights of noisy Newton steps out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Integers
from discreet.curator.ledger import JsonValue
from discreet.curator.request.learner import Drawn, Learner
from discreet.curator.request.request import Expectation
from discreet.learning.design.features import Features
from discreet.learning.design.targets import Classes
from discreet.learning.training.noisy_newton import NoisyNewton
from discreet.learning.training.score_losses import SLOPE_STEPS
from discreet.mechanisms.additive.laplace import Laplace
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee

__all__ = [
    "CONFIDENCE",
    "NewtonLearner",
    "newton_expectations",
    "newton_parameters",
    "newton_words",
    "rows_of_classes",
]


CONFIDENCE = Fraction(95, 100)
"""Of the margins that are stated before a fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewtonLearner(Learner):
    """Fit the weights of declared columns for declared classes. Rows of other classes are left out.

    Guarantee
    ---------
    That of `NoisyNewton`, for a person with as many rows as it is made for: a row is read by itself, so those
    of a person are theirs alone (proof: docs/proofs/noisy_newton.md).

    Finite precision
    ----------------
    That of `NoisyNewton`.

    Error
    -----
    See `expectations`.
    """

    kind: ClassVar[str] = "noisy_newton"

    features: Features
    target: Classes
    newton: NoisyNewton

    @property
    def event(self) -> Event:
        """That of the Newton steps."""
        return self.newton.event

    @property
    def guarantee(self) -> Guarantee:
        """That of the Newton steps."""
        return self.newton.guarantee

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """Columns, classes, loss and plan."""
        return {
            "features": self.features.parameters,
            "target": self.target.parameters,
            **newton_parameters(self.newton),
        }

    @property
    def words(self) -> str:
        """What it runs."""
        return newton_words(self.newton)

    @property
    def columns(self) -> tuple[str, ...]:
        """The features, and the target."""
        return (*(column.name for column in self.features.columns), self.target.name)

    @property
    def rows(self) -> int:
        """Those of the Newton steps."""
        return self.newton.rows

    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Return the weights: for each coordinate of the features, one for each score."""
        held, known, numbers = rows_of_classes(self.target, values)
        weights = self.newton.release_steps(self.features.rows(held, known=known), numbers)
        return {"weights": weights.tolist()}

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return the noise in the means that the weights are computed from."""
        return newton_expectations(self.newton, rows)


def rows_of_classes(
    target: Classes, values: Sequence[NDArray[Any]]
) -> tuple[list[NDArray[Any]], NDArray[np.bool_], Integers]:
    """Return the features, which of their rows are of a declared class, and the numbers of those classes.

    The features are not copied: `Features.rows` leaves rows out, and its rows take a quarter of the memory.
    """
    *held, labels = values
    numbers = target.numbers(labels)
    known: NDArray[np.bool_] = numbers >= 0
    return held, known, numbers[known]


def newton_parameters(newton: NoisyNewton) -> dict[str, JsonValue]:
    """Return what else a run depends on, as plain JSON values."""
    plan = newton.plan
    return {
        "loss": newton.loss.name,
        "coordinates": newton.grid.columns,
        "rows": newton.rows,
        "iterations": plan.iterations,
        "matrix_share": str(plan.matrix_share),
        "ridge": repr(plan.ridge),
    }


def newton_words(newton: NoisyNewton) -> str:
    """Say what a run releases."""
    noise = "Laplace" if isinstance(newton.gradient, Laplace) else "normal"
    return (
        f"{newton.plan.iterations} Newton steps on the {newton.loss.name} loss with {noise} noise: the "
        "matrix of second moments is released once, and a gradient in each step"
    )


def newton_expectations(newton: NoisyNewton, rows: int) -> tuple[Expectation, ...]:
    """Return the noise in a mean gradient and a mean second moment, where the longest row has length 1."""
    steps = newton.grid.steps
    found = []
    for name, noise, unit, means in (
        ("mean slope", newton.gradient, steps * SLOPE_STEPS, "in each step, each coordinate"),
        ("mean second moment", newton.matrix, steps**2, "once, each pair of coordinates"),
    ):
        found.append(
            Expectation(
                name=name,
                margin=noise.error.quantile(CONFIDENCE) / unit / rows,
                standard_deviation=sqrt(noise.error.variance) / unit / rows,
                assumes=f"{rows:,} rows, none longer than 1",
                means=f"noise {means}",
            )
        )
    return tuple(found)
