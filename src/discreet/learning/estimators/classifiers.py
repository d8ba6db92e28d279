"""Linear classifiers with the face of scikit-learn: private fits of declared columns and declared classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.learning.design.features import LARGEST_KEY, FeatureFacts, Features, NumberColumn
from discreet.learning.training.budgets import TrainingBudget, stated_budget
from discreet.learning.training.noisy_newton import NoisyNewton
from discreet.learning.training.score_losses import (
    HUBER_HINGE,
    LOGISTIC,
    OneAgainstOthers,
    ScoreLoss,
    Softmax,
)
from discreet.privacy.events import Event
from discreet.privacy.rational import Number

__all__ = ["SEEN", "LinearSVC", "LogisticRegression"]

SEEN = "seen"
"""Take the classes from the labels: only where it is public which classes there are."""


class _LinearClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What the classifiers below share."""

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        classes: Sequence[Any] | str | None = None,
        rows: int = 1,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.columns = columns
        self.classes = classes
        self.rows = rows

    @abstractmethod
    def _loss(self, classes: int) -> ScoreLoss:
        """Return the loss for a number of classes."""

    def _planned(
        self, features: Features, values: Sequence[NDArray[Any]], loss: ScoreLoss, budget: TrainingBudget
    ) -> tuple[Features, NoisyNewton, Event]:
        """Return the coordinates that rows will have, what fits their weights, and what both cost."""
        del values
        newton = NoisyNewton(grid=features.grid, loss=loss, budget=budget, rows=self.rows)
        return features, newton, newton.event

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the weights, privately.

        Rows of a class that is not declared are left out. Whatever a row holds, the fit does not fail, and no
        message says anything about it.
        """
        values = self._columns_of(X, reset=True)
        labels = _labels_of(y, seen=isinstance(self.classes, str))
        features = Features.of(
            self.columns,
            list(getattr(self, "feature_names_in_", (f"x{place}" for place in range(len(values))))),
            by_name=hasattr(self, "feature_names_in_"),
        )
        if values and len(labels) != len(values[0]):
            raise ParameterError("y", "has another length than X", "one label for each row")
        classes = self._stated_classes(labels)
        loss = self._loss(len(classes))
        budget = stated_budget(epsilon=self.epsilon, delta=self.delta, rho=self.rho)
        numbers = _numbers(labels, classes)
        known = numbers >= 0
        features, newton, event = self._planned(features, [one[known] for one in values], loss, budget)
        weights = newton.release_steps(features.rows([one[known] for one in values]), numbers[known])
        self.features_ = features
        self.classes_ = classes
        self.weights_ = weights
        self.event_ = event
        self.guarantee_ = budget.guarantee
        self.n_iter_ = newton.plan.iterations
        self._set_coefficients()
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row: one for two classes (of the second), one for each of more."""
        check_is_fitted(self)
        scores: Floats = self.features_.encoded(self._columns_of(X, reset=False)) @ self.weights_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        found: NDArray[Any] = self.classes_[best]
        return found

    def _stated_classes(self, labels: NDArray[Any]) -> NDArray[Any]:
        if self.classes is None:
            raise ParameterError(
                "classes",
                "are not declared, and are never read from data",
                "a list of the labels, or SEEN where it is public which there are",
            )
        if isinstance(self.classes, str):
            if self.classes != SEEN:
                raise ParameterError("classes", "is text, not a list", f"a list of labels, or {SEEN!r}")
            check_classification_targets(labels)
            found = np.unique(labels)
        else:
            found = np.unique(np.asarray(self.classes))
        if any(isinstance(one, int) and abs(one) > LARGEST_KEY for one in found.tolist()):
            raise ParameterError("classes", "hold integers that floats do not hold", "integers up to 2^53")
        if len(found) < 2:
            raise ParameterError("classes", "are one class, or none", "two classes or more")
        return found

    def _columns_of(self, X: Any, *, reset: bool) -> list[NDArray[Any]]:
        """Return the columns of a design, each as an array; its type and shape are checked, and no value.

        NumPy would choose one type for all entries of a list, so that one entry could change all others. So
        lists become arrays of objects, each of which is read by itself.
        """
        if hasattr(X, "columns") and hasattr(X, "__getitem__"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return [np.asarray(X[name]) for name in X.columns]
        held = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else X
        if isinstance(held, np.ndarray) and held.dtype.kind in "OSU" and held.ndim == 2 and held.shape[1]:
            validate_data(self, held, reset=reset, skip_check_array=True)
            return list(held.T)
        # scikit-learn would print the values of what it refuses.
        if np.iscomplexobj(held):
            raise ParameterError("X", "is complex", "real numbers: Complex data not supported")
        if isinstance(held, np.ndarray) and held.ndim != 2:
            raise ParameterError("X", f"has {held.ndim} dimensions", "Expected 2D array: Reshape your data")
        checked = validate_data(
            self, held, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=0
        )
        return list(np.asarray(checked).T)

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

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the coordinates to which `coef_` belongs."""
        del input_features
        check_is_fitted(self)
        return np.asarray(self.features_.names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.non_deterministic = True
        return tags


def _labels_of(y: Any, *, seen: bool) -> NDArray[Any]:
    """Return labels in one dimension; those of a list are read one by one, unless classes are public."""
    if isinstance(y, list | tuple) and not seen:
        held = np.empty(len(y), dtype=object)
        held[:] = y
        return held
    return np.asarray(column_or_1d(y, warn=True))


def _numbers(labels: NDArray[Any], classes: NDArray[Any]) -> Integers:
    """Return the number of each label's class, or -1: of each label by itself."""
    known = {one: place for place, one in enumerate(classes.tolist())}
    return np.fromiter((_number_of(one, known) for one in labels.tolist()), np.int64, len(labels))


def _number_of(label: object, known: Mapping[Any, int]) -> int:
    try:
        return known.get(label, -1)
    except TypeError:  # not hashable, so not a class
        return -1


class LogisticRegression(_LinearClassifier):
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

    Notes
    -----
    Weights are found by noisy Newton steps (proof: docs/proofs/noisy_newton.md): no step size, no number of
    rounds and no regularization need to be chosen, and none is chosen by looking at data.
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


class LinearSVC(_LinearClassifier):
    """A linear support vector machine with a smooth hinge, under differential privacy.

    Parameters are those of `LogisticRegression`. The hinge max(0, 1 - z) has a parabola between 1/2 and 3/2,
    so that no single row decides where the surface is. Of several classes, each is set against the others.
    """

    def _loss(self, classes: int) -> ScoreLoss:
        return HUBER_HINGE if classes == 2 else OneAgainstOthers(HUBER_HINGE, classes)
