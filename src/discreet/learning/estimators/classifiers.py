"""Linear classifiers with the face of scikit-learn: private fits of declared columns and declared classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.array_types import Floats
from discreet.curator.request.learner import Drawn, Learner
from discreet.errors import ParameterError
from discreet.learning.design.features import FeatureFacts, Features, NumberColumn
from discreet.learning.design.row_sums import row_sums
from discreet.learning.design.targets import Classes, Target
from discreet.learning.estimators.linear_methods import chosen_learner
from discreet.learning.estimators.private_classifier import SEEN, PrivateClassifier
from discreet.learning.perturbation.margin_learner import MarginLearner
from discreet.learning.training.additive_learner import AdditiveLearner
from discreet.learning.training.budgets import TrainingBudget
from discreet.learning.training.newton_learner import NewtonLearner
from discreet.learning.training.score_losses import (
    HUBER_HINGE,
    LOGISTIC,
    OneAgainstOthers,
    ScoreLoss,
    Softmax,
)
from discreet.privacy.rational import Number

__all__ = ["SEEN", "LinearClassifier", "LinearSVC", "LogisticRegression"]


class LinearClassifier(PrivateClassifier):
    """What the classifiers below share: a linear score for each class, or one for two."""

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        classes: Sequence[Any] | str | None = None,
        rows: int = 1,
        method: str | None = None,
        regularization: Number | None = None,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, rho=rho, columns=columns, classes=classes, rows=rows)
        self.method = method
        self.regularization = regularization

    @abstractmethod
    def _loss(self, classes: int) -> ScoreLoss:
        """Return the loss for a number of classes."""

    def _learner(
        self, features: Features, target: Target | None, budget: TrainingBudget, rows: int
    ) -> Learner:
        if not isinstance(target, Classes):
            raise ParameterError("target", "is not a column of classes", "a column of declared keys")
        loss = self._loss(len(target.labels))
        return chosen_learner(
            features,
            target,
            loss=loss,
            budget=budget,
            rows=rows,
            method=self.method,
            regularization=self.regularization,
        )

    def _adopt(self, learner: Learner, drawn: Drawn) -> None:
        assert isinstance(learner, NewtonLearner | AdditiveLearner | MarginLearner)  # noqa: S101
        bought = learner.binned(drawn["edges"]) if isinstance(learner, AdditiveLearner) else None
        self.features_ = bought or learner.features
        self.classes_ = learner.target.array
        self.weights_ = np.asarray(drawn["weights"], dtype=np.float64)
        if not isinstance(learner, MarginLearner):
            self.n_iter_ = learner.newton.plan.iterations
        self._set_coefficients()

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row: one for two classes (of the second), one for each of more."""
        check_is_fitted(self)
        scores = row_sums(self.features_.encoded(self._columns_of(X, reset=False)), self.weights_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        found: NDArray[Any] = self.classes_[best]
        return found

    def _set_coefficients(self) -> None:
        """State the weights in the units of the columns, where each column is a number."""
        scale, shift = [], []
        for column in self.features_.columns:
            if isinstance(column, NumberColumn):
                scale.append(1 / column.half_width)
                shift.append(column.middle / column.half_width)
            else:
                scale += [1.0] * len(column.names)
                shift += [0.0] * len(column.names)
        inner = self.weights_[:-1]
        self.coef_ = (inner * np.array(scale)[:, None]).T
        self.intercept_ = self.weights_[-1] - np.array(shift) @ inner


class LogisticRegression(LinearClassifier):
    """Logistic regression under differential privacy, for two classes or more.

    Parameters
    ----------
    epsilon, delta : number, optional
        The privacy of a fit; or give
    rho : number, optional
        its zero-concentrated privacy loss.
    columns : declared columns
        What is public about the columns of X: bounds of numbers, keys of texts; for each by name or in order,
        or one for all. Values beyond are clipped; bounds are never read from data.
    classes : list, or SEEN
        The labels that y may hold.
    rows : int
        How many rows a person has at most.
    method : "newton", "output" or "objective", optional
        How: noisy Newton steps; noise on the minimizer of a regularized loss; or noise on the loss itself.
        The last two are for two classes. By default "objective" for pure epsilon and two classes, where it
        errs less, and "newton" else.
    regularization : number, optional
        For "output" and "objective": Lambda in sum of losses + Lambda |w|^2 / 2, where the longest row has
        length 1. By default a rule over the number of coordinates and the budget.

    Notes
    -----
    No step size, no number of rounds and no regularization need to be chosen, and none is chosen by looking
    at data (proofs: docs/proofs/noisy_newton.md, output_perturbation.md and objective_perturbation.md).
    """

    def _loss(self, classes: int) -> ScoreLoss:
        return LOGISTIC if classes == 2 else Softmax(classes)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class LinearSVC(LinearClassifier):
    """A linear support vector machine with a smooth hinge, under differential privacy.

    Parameters are those of `LogisticRegression`. The hinge max(0, 1 - z) has a parabola between 1/2 and 3/2,
    so that no single row decides where the surface is. Of several classes, each is set against the others.
    """

    def _loss(self, classes: int) -> ScoreLoss:
        return HUBER_HINGE if classes == 2 else OneAgainstOthers(HUBER_HINGE, classes)
