"""Gaussian naive Bayes with the face of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.array_types import Floats
from discreet.curator.request.learner import Drawn, Learner
from discreet.errors import ParameterError
from discreet.learning.design.features import Features
from discreet.learning.design.targets import Classes, Target
from discreet.learning.estimators.private_classifier import PrivateClassifier
from discreet.learning.moments.box_grid import BoxGrid
from discreet.learning.moments.moment_learner import MomentLearner
from discreet.learning.moments.noisy_moments import NoisyMoments
from discreet.learning.training.budgets import TrainingBudget

__all__ = ["GaussianNB"]


class GaussianNB(PrivateClassifier):
    """Classes by independent normal laws of the columns, under differential privacy.

    Parameters
    ----------
    epsilon, delta, rho, columns, classes, rows
        The privacy of a fit, and what is public about columns and labels; see `LogisticRegression`. All
        columns are numbers within bounds.

    Attributes
    ----------
    class_count_, class_prior_ : arrays
        A noisy number of rows of each class, and its share.
    theta_, var_ : arrays (classes, columns)
        Means and variances. A class of few rows has those of an even spread over the bounds, more or less;
        no variance is less than what noise alone would show.

    Guarantee
    ---------
    That of the budget: one release of counts, sums and sums of squares of each class (proof:
    docs/proofs/moment_models.md).

    Finite precision
    ----------------
    Values are clipped and rounded to 2^12 steps from the middle of their bounds to an end.

    Error
    -----
    See `discreet.learning.moments.noisy_moments.NoisyMoments`.
    """

    def _learner(
        self, features: Features, target: Target | None, budget: TrainingBudget, rows: int
    ) -> Learner:
        if not isinstance(target, Classes):
            raise ParameterError("target", "is not a column of classes", "a column of declared keys")
        moments = NoisyMoments(
            columns=BoxGrid.of(features).width, groups=len(target.labels), budget=budget, rows=rows
        )
        return MomentLearner(features=features, target=target, moments=moments)

    def _adopt(self, learner: Learner, drawn: Drawn) -> None:
        assert isinstance(learner, MomentLearner)  # noqa: S101
        assert learner.target is not None  # noqa: S101
        grid = BoxGrid.of(learner.features)
        self.features_ = learner.features
        self.classes_ = learner.target.array
        self.class_count_ = np.asarray(drawn["counts"], dtype=np.float64)
        self.class_prior_ = np.asarray(drawn["shares"], dtype=np.float64)
        self.theta_ = grid.middles + grid.half_widths * np.asarray(drawn["means"])
        self._deviations = grid.half_widths * np.sqrt(np.asarray(drawn["variances"]))
        self.var_ = self._deviations**2

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the density of each row and class together."""
        check_is_fitted(self)
        rows = BoxGrid.of(self.features_).clipped(self._columns_of(X, reset=False))
        constant = np.log(self.class_prior_) - np.log(self._deviations * np.sqrt(2 * np.pi)).sum(axis=1)
        found = np.tile(constant, (len(rows), 1))
        for column, means, wide in zip(rows.T, self.theta_.T, self._deviations.T, strict=True):
            found -= ((column[:, None] - means) / wide) ** 2 / 2  # by columns, as `row_sums` says
        return found

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class."""
        joint = self.predict_joint_log_proba(X)
        found: Floats = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
        return found

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of each row."""
        best = self.predict_joint_log_proba(X).argmax(axis=1)
        found: NDArray[Any] = self.classes_[best]
        return found
