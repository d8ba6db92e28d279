"""What every estimator shares: declared columns, a budget, and a fit that is made of public numbers alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet.curator.request.learner import Drawn, Learner
from discreet.data import Bounds, Keys
from discreet.errors import ParameterError
from discreet.learning.design.features import FeatureFact, FeatureFacts, Features
from discreet.learning.design.targets import Target
from discreet.learning.training.budgets import TrainingBudget, stated_budget
from discreet.privacy.rational import Number, whole

__all__ = ["PrivateEstimator", "read_one_by_one"]


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose fit is a `Learner`: made from public facts, run once on rows, kept as numbers.

    Subclasses say which learner (`_learner`), and what its numbers are (`_adopt`); those with a target also
    what may be declared of it (`_declared_target`), and read it in their `fit`.

    Parameters
    ----------
    epsilon, delta : number, optional
        The privacy of a fit; or give
    rho : number, optional
        its zero-concentrated privacy loss.
    columns : declared columns
        What is public about the columns of X: bounds of numbers, keys of texts; for each by name or in order,
        or one for all. Values beyond are clipped; bounds are never read from data.
    rows : int
        How many rows a person has at most.

    Attributes
    ----------
    event_, guarantee_
        The law of everything that was drawn, and what it promises to a person.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        rows: int = 1,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.columns = columns
        self.rows = rows

    @abstractmethod
    def _learner(
        self, features: Features, target: Target | None, budget: TrainingBudget, rows: int
    ) -> Learner:
        """Return what a fit runs, from public facts alone."""

    @abstractmethod
    def _adopt(self, learner: Learner, drawn: Drawn) -> None:
        """Set the fitted attributes, from what was drawn and other public numbers."""

    def _read_target(self, y: Any) -> tuple[Target, NDArray[Any]]:
        """Return what is declared of the target, and y as one value for each row."""
        del y
        raise ParameterError("y", "is not what this model predicts", "no y")

    def _declared_target(self, name: str, declared: Bounds | Keys) -> tuple[Target, dict[str, Any]]:
        """Return what is declared of the column of a table as a target, and the parameters that say it."""
        del name, declared
        raise ParameterError("target", "is not what this model predicts", "no target")

    def _fitted(
        self,
        values: Sequence[NDArray[Any]],
        target: Target | None = None,
        targets: NDArray[Any] | None = None,
    ) -> Self:
        """Fit columns of a design, and a target for each row, if there is one."""
        named = hasattr(self, "feature_names_in_")
        names = list(self.feature_names_in_) if named else [f"x{place}" for place in range(len(values))]
        features = Features.of(self.columns, names, by_name=named).refuse_extremes()
        if targets is not None and values and len(targets) != len(values[0]):
            raise ParameterError("y", "has another length than X", "one for each row")
        budget = stated_budget(epsilon=self.epsilon, delta=self.delta, rho=self.rho)
        rows = whole(self.rows, "rows", least=1, most=2**20)
        learner = self._learner(features, target, budget, rows)
        self._keep(learner, learner.draw([*values, *(() if targets is None else (targets,))]))
        return self

    def _keep(self, learner: Learner, drawn: Drawn) -> None:
        """Become the model that was drawn."""
        self.event_ = learner.event
        self.guarantee_ = learner.guarantee
        self._adopt(learner, drawn)

    @property
    def _has_classes(self) -> bool:
        """Whether its target is a class, not a number."""
        return bool(is_classifier(self))

    def _of_table(
        self,
        columns: Mapping[str, FeatureFact],
        target: tuple[str, Bounds | Keys] | None,
        *,
        epsilon: Number | None,
        delta: Number | None,
        rho: Number | None,
        rows: int,
    ) -> tuple[Self, Learner]:
        """Return an unfitted copy for columns of a table, and the learner that fits it."""
        stated: dict[str, Any] = {"columns": dict(columns), "rows": rows}
        stated |= {"epsilon": epsilon, "delta": delta, "rho": rho}
        found, of_target = (None, {}) if target is None else self._declared_target(*target)
        copy = clone(self).set_params(**stated, **of_target)
        features = Features.of(columns, list(columns), by_name=True).refuse_extremes()
        budget = stated_budget(epsilon=epsilon, delta=delta, rho=rho)
        learner = copy._learner(features, found, budget, rows)
        copy.feature_names_in_ = np.asarray(list(columns), dtype=object)
        copy.n_features_in_ = len(columns)
        return copy, learner

    def _columns_of(self, X: Any, *, reset: bool) -> list[NDArray[Any]]:
        """Return the columns of a design, each as an array; its type and shape are checked, and no value.

        NumPy would choose one type for all entries of a list, so that one entry could change all others. So
        lists become arrays of objects, each of which is read by itself.
        """
        if hasattr(X, "columns") and hasattr(X, "__getitem__"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return [np.asarray(X[name]) for name in X.columns]
        held = _entries(X) if isinstance(X, list | tuple) else X
        if hasattr(held, "__array__") and not hasattr(held, "toarray"):
            held = np.asarray(held)
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

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the coordinates to which the fitted numbers belong."""
        del input_features
        check_is_fitted(self)
        return np.asarray(self.features_.names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.non_deterministic = True
        return tags


def read_one_by_one(values: Any, name: str) -> NDArray[Any]:
    """Return one value for each row. For those of a list NumPy would choose one type, by looking at all."""
    if isinstance(values, list | tuple):
        return np.fromiter(values, dtype=object, count=len(values))
    held = np.asarray(values)
    if np.iscomplexobj(held):  # scikit-learn would print the values
        raise ParameterError(name, "is complex", "real numbers, or names")
    return held


def _entries(rows: Sequence[Any]) -> NDArray[Any]:
    """Return rows of a list as an array of objects: its shape is that of the rows, whatever entries are."""
    if not any(map(_is_row, rows)):
        return read_one_by_one(rows, "X")
    width = len(rows[0]) if _is_row(rows[0]) else 0
    if not all(_is_row(row) and len(row) == width for row in rows):
        raise ParameterError("X", "has rows of several lengths", "one entry for each column")
    held = np.empty((len(rows), width), dtype=object)
    for place in range(width):
        held[:, place] = read_one_by_one([row[place] for row in rows], "X")
    return held


def _is_row(row: object) -> bool:
    return isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim == 1)
