"""A linear classifier by output perturbation, as a learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.curator.request.request import Expectation
from discreet.learning.perturbation.margin_learner import DEVIATIONS, MarginLearner
from discreet.learning.perturbation.output_perturbation import OutputPerturbation

__all__ = ["OutputLearner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputLearner(MarginLearner):
    """Fit by noise on the minimizer.

    Guarantee
    ---------
    That of `OutputPerturbation`, for a person with as many rows as it is made for.

    Finite precision
    ----------------
    That of `OutputPerturbation`.

    Error
    -----
    See `expectations`.
    """

    kind: ClassVar[str] = "output_perturbation"

    mechanism: OutputPerturbation

    @property
    def words(self) -> str:
        """What it runs."""
        return (
            f"output perturbation: the weights of the least {self.mechanism.slopes.loss.name} loss with "
            f"regularization {float(self.mechanism.regularization):g}, and noise on them"
        )

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return the noise in a score, which does not depend on the number of rows."""
        del rows
        spread = float(self.mechanism.deviation)
        return (
            Expectation(
                name="score",
                margin=DEVIATIONS * spread,
                standard_deviation=spread,
                assumes="the longest row",
                means=f"{DEVIATIONS} standard deviations of the noise",
            ),
        )
