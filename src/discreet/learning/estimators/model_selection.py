"""The best of several candidates, under one budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discreet.array_types import Floats
from discreet.curator.request.learner import Drawn, Learner
from discreet.data import Bounds, Keys
from discreet.errors import ParameterError
from discreet.learning.design.features import FeatureFact, FeatureFacts, Features
from discreet.learning.design.targets import Classes, Target
from discreet.learning.estimators.composite import CompositeEstimator, named_parts
from discreet.learning.estimators.private_estimator import PrivateEstimator, read_one_by_one
from discreet.learning.estimators.selection_learner import SelectionLearner
from discreet.learning.training.budgets import TrainingBudget, stated_budget
from discreet.privacy.rational import Number, whole

__all__ = ["ModelSelection"]


def _all_have(name: str) -> Any:
    return available_if(lambda self: all(hasattr(model, name) for _, model in self.candidates))


class ModelSelection(ClassifierMixin, CompositeEstimator):  # type: ignore[misc]
    """The classifier that predicts others best, of several candidates, under differential privacy.

    All candidates are fitted to most people, sharing the budget; one is chosen by how well it predicts the
    people who were held out. A person is among the former or the latter, so trying and choosing together cost
    no more than the budget.

    Parameters
    ----------
    candidates : list of (name, estimator)
        Classifiers of `discreet.learning`, pipelines included, at most 100. They state neither budget nor
        columns nor rows; all of them have the same classes.
    epsilon, delta, rho, columns, rows
        The privacy of a fit, and what is public about the columns; see `PrivateEstimator`.
    held_out : int
        One person of so many is held out.

    Attributes
    ----------
    chosen_ : str
        The name of the candidate that was chosen.
    best_estimator_ : estimator
        The candidate, as it was fitted to those who were not held out.

    Guarantee
    ---------
    That of the budget (proof: docs/proofs/model_selection.md, theorem 2).

    Finite precision
    ----------------
    Right predictions are counted, and the choice is exact.

    Error
    -----
    See `discreet.learning.estimators.selection_learner.SelectionLearner`.
    """

    _parts_name = "candidates"

    def __init__(
        self,
        candidates: Sequence[tuple[str, PrivateEstimator]],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        rows: int = 1,
        held_out: int = 4,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, rho=rho, columns=columns, rows=rows)
        self.candidates = candidates
        self.held_out = held_out

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Fit all candidates and choose one, privately.

        Parameters
        ----------
        X, y
            Rows and their labels.
        groups : array, optional
            Whose each row is; needed where a person may have more than one row, since people are held out,
            not rows.
        """
        candidates = named_parts(self.candidates, "candidates")
        values = self._columns_of(X, reset=True)
        target, labels = candidates[0][1]._read_target(y)
        held = whole(self.rows, "rows", least=1, most=2**20)
        if (groups is None) != (held == 1):
            raise ParameterError(
                "groups", "do not go with rows", "groups where a person has several rows, and only there"
            )
        if groups is None:
            return self._fitted(values, target, labels)
        named = hasattr(self, "feature_names_in_")
        names = list(self.feature_names_in_) if named else [f"x{place}" for place in range(len(values))]
        people = read_one_by_one(groups, "groups")
        if len(labels) != len(values[0]) or people.shape != labels.shape:
            raise ParameterError("groups", "or y have another length than X", "one for each row")
        learner = self._learner(
            Features.of(self.columns, names, by_name=named),
            target,
            stated_budget(epsilon=self.epsilon, delta=self.delta, rho=self.rho),
            held,
        )
        assert isinstance(learner, SelectionLearner)  # noqa: S101
        self._keep(learner, learner.draw_people([*values, labels], people))
        return self

    def _learner(
        self, features: Features, target: Target | None, budget: TrainingBudget, rows: int
    ) -> Learner:
        candidates = named_parts(self.candidates, "candidates")
        if not isinstance(target, Classes):
            raise ParameterError("target", "is not a column of classes", "a column of declared keys")
        if len(candidates) > 100:
            raise ParameterError("candidates", "are too many", "at most 100")
        return SelectionLearner(
            candidates=candidates,
            features=features,
            target=target,
            budget=budget,
            rows=rows,
            held_out=self.held_out,
        )

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
        if rows > 1:
            raise ParameterError(
                "rows",
                "of a person are several, and people are held out, not rows",
                "limits=dp.Limits(rows=1)",
            )
        return super()._of_table(columns, target, epsilon=epsilon, delta=delta, rho=rho, rows=rows)

    def _adopt(self, learner: Learner, drawn: Drawn) -> None:
        assert isinstance(learner, SelectionLearner)  # noqa: S101
        number = int(drawn["chosen"])
        self.features_ = learner.features
        self.classes_ = learner.target.array
        self.chosen_ = learner.candidates[number][0]
        self.best_estimator_ = learner.model(drawn["drawn"], number)

    def _declared_target(self, name: str, declared: Bounds | Keys) -> tuple[Target, dict[str, Any]]:
        found: dict[str, Any] = {}
        for own, model in named_parts(self.candidates, "candidates"):
            target, stated = model._declared_target(name, declared)
            found |= {f"{own}__{key}": value for key, value in stated.items()}
        return target, found

    def _rows_of(self, X: Any) -> NDArray[Any]:
        """Return rows as an array in which each entry is read by itself."""
        check_is_fitted(self)
        values = self._columns_of(X, reset=False)
        held = np.empty((len(values[0]), len(values)), dtype=object)
        for place, column in enumerate(values):
            held[:, place] = column
        return held

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        rows = self._rows_of(X)
        found: NDArray[Any] = self.best_estimator_.predict(rows)
        return found

    @_all_have("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, if all candidates have one."""
        rows = self._rows_of(X)
        found: Floats = self.best_estimator_.predict_proba(rows)
        return found
