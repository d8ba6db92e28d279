"""An additive classifier: a step function of each column, all of them fitted together, privately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet.array_types import Floats
from discreet.curator.request.learner import Learner
from discreet.errors import ParameterError
from discreet.learning.design.bins import CELLS
from discreet.learning.design.features import BinnedColumn, FeatureFacts, Features, KeyColumn, NumberColumn
from discreet.learning.design.targets import Classes, Target
from discreet.learning.estimators.classifiers import LogisticRegression
from discreet.learning.training.additive_learner import AdditiveLearner
from discreet.learning.training.budgets import TrainingBudget
from discreet.privacy.rational import Number, whole

__all__ = ["AdditiveClassifier", "ShapeFunction"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShapeFunction:
    """The function of one column of an additive model: a number for each of its steps and each score.

    Attributes
    ----------
    names : tuple of str
        The keys, or the bins, in words.
    ends : array or None
        Of a column of numbers: where its bins begin, and where the last one ends.
    values : array (steps, scores)
        What each step adds.
    """

    names: tuple[str, ...]
    ends: Floats | None
    values: Floats


class AdditiveClassifier(LogisticRegression):
    """Logistic regression on step functions of the columns, under differential privacy.

    The score of a class is a sum of one function for each column: the columns of keys have a number for each
    key, those of numbers one for each of a few bins. Everybody can read such a model: `shapes` gives the
    functions. All steps of all functions are fitted together, which takes far less noise than boosting them
    one by one, as explainable boosting machines do.

    Parameters
    ----------
    epsilon, delta, rho, columns, classes, rows
        As of `LogisticRegression`.
    bins : int
        How many bins a column of numbers has, about. Their edges are bought with a twentieth of the budget,
        from a noisy histogram of 256 cells.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        classes: Sequence[Any] | str | None = None,
        rows: int = 1,
        bins: int = 8,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, rho=rho, columns=columns, classes=classes, rows=rows)
        self.bins = bins

    def _learner(
        self, features: Features, target: Target | None, budget: TrainingBudget, rows: int
    ) -> Learner:
        bins = whole(self.bins, "bins", least=2, most=CELLS)
        if not any(isinstance(one, NumberColumn) for one in features.columns):
            return super()._learner(features, target, budget, rows)
        if not isinstance(target, Classes):
            raise ParameterError("target", "is not a column of classes", "a column of declared keys")
        return AdditiveLearner(
            features=features,
            target=target,
            loss=self._loss(len(target.labels)),
            budget=budget,
            rows=rows,
            bins=bins,
        )

    def shapes(self) -> dict[str, ShapeFunction]:
        """Return the function of each column: what a value adds to the scores, 0 on average over steps."""
        check_is_fitted(self)
        found, start = {}, 0
        for column in self.features_.columns:
            steps = self.weights_[start : start + len(column.names)]
            start += len(column.names)
            ends = None
            if isinstance(column, BinnedColumn):
                ends = np.array([float(column.column.lower), *column.edges, float(column.column.upper)])
            names = tuple(map(str, column.keys.values)) if isinstance(column, KeyColumn) else column.names
            found[column.name] = ShapeFunction(names=names, ends=ends, values=steps - steps.mean(axis=0))
        return found
