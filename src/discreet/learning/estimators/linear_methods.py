"""Which mechanism fits a linear classifier: by name, or by a rule over public numbers."""

from __future__ import annotations

from discreet.curator.request.learner import Learner
from discreet.errors import ParameterError
from discreet.learning.design.features import Features
from discreet.learning.design.targets import Classes
from discreet.learning.perturbation.objective_learner import ObjectiveLearner
from discreet.learning.perturbation.objective_perturbation import ObjectivePerturbation
from discreet.learning.perturbation.output_learner import OutputLearner
from discreet.learning.perturbation.output_perturbation import OutputPerturbation
from discreet.learning.training.budgets import PureBudget, TrainingBudget
from discreet.learning.training.newton_learner import NewtonLearner
from discreet.learning.training.noisy_newton import NoisyNewton
from discreet.learning.training.score_losses import MarginLoss, ScoreLoss
from discreet.privacy.rational import Number

__all__ = ["chosen_learner"]

_SAY = '"newton", "output" or "objective"'


def chosen_learner(
    features: Features,
    target: Classes,
    *,
    loss: ScoreLoss,
    budget: TrainingBudget,
    rows: int,
    method: str | None,
    regularization: Number | None,
) -> Learner:
    """Return the learner of a method, or of the rule.

    Without a name it is objective perturbation for pure epsilon and two classes, else Newton steps. On Adult
    the former is better by half a point or more at pure epsilon (`python -m benchmarks.learning`); at epsilon
    and delta both are alike, and the events of Newton steps add up more tightly to those of other questions.
    """
    if method is None:
        pure = isinstance(budget, PureBudget) and isinstance(loss, MarginLoss)
        method = "objective" if pure else "newton"
    if method == "newton":
        if regularization is not None:
            raise ParameterError("regularization", "is given for Newton steps", 'method="objective"')
        newton = NoisyNewton(grid=features.grid, loss=loss, budget=budget, rows=rows)
        return NewtonLearner(features=features, target=target, newton=newton)
    if method not in ("output", "objective"):
        raise ParameterError("method", "is not known", _SAY)
    if not isinstance(loss, MarginLoss):
        raise ParameterError("method", "is for two classes", 'method="newton" for more')
    if method == "output":
        output = OutputPerturbation(
            grid=features.grid, loss=loss, budget=budget, rows=rows, regularization=regularization
        )
        return OutputLearner(features=features, target=target, mechanism=output)
    objective = ObjectivePerturbation(
        grid=features.grid, loss=loss, budget=budget, rows=rows, regularization=regularization
    )
    return ObjectiveLearner(features=features, target=target, mechanism=objective)
