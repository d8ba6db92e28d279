"""A linear classifier by objective perturbation, as a learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.curator.request.request import Expectation
from discreet.learning.perturbation.linear_terms import NormalTerm
from discreet.learning.perturbation.margin_learner import DEVIATIONS, MarginLearner
from discreet.learning.perturbation.objective_perturbation import ObjectivePerturbation

__all__ = ["ObjectiveLearner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveLearner(MarginLearner):
    """Fit by noise on what is minimized.

    Guarantee
    ---------
    That of `ObjectivePerturbation`, for a person with as many rows as it is made for.

    Finite precision
    ----------------
    That of `ObjectivePerturbation`.

    Error
    -----
    See `expectations`.
    """

    kind: ClassVar[str] = "objective_perturbation"

    mechanism: ObjectivePerturbation

    @property
    def words(self) -> str:
        """What it runs."""
        noise = "normal noise" if isinstance(self.mechanism.term, NormalTerm) else "noise of Gamma length"
        return (
            f"objective perturbation: the weights of the least {self.mechanism.slopes.loss.name} loss with "
            f"regularization {float(self.mechanism.regularization):g} and a random linear term of {noise}, "
            "which moves weights less the more data say about them"
        )

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return the noise in a mean slope: what is added to each coordinate of the mean gradient."""
        spread = float(self.mechanism.term.deviation(self.mechanism.grid.columns)) / rows
        return (
            Expectation(
                name="mean slope",
                margin=DEVIATIONS * spread,
                standard_deviation=spread,
                assumes=f"{rows:,} rows, none longer than 1",
                means=f"noise once, each coordinate, {DEVIATIONS} standard deviations",
            ),
        )
