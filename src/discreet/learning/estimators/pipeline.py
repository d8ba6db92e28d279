"""Stages one after another, under one budget."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discreet.array_types import Floats
from discreet.curator.request.learner import Drawn, Learner
from discreet.data import Bounds, Keys
from discreet.errors import ParameterError
from discreet.learning.design.features import FeatureFacts, Features
from discreet.learning.design.targets import Target
from discreet.learning.estimators.composite import CompositeEstimator, named_parts
from discreet.learning.estimators.pipeline_learner import PipelineLearner, Stage
from discreet.learning.estimators.private_estimator import PrivateEstimator
from discreet.learning.estimators.private_transformer import PrivateTransformer
from discreet.learning.training.budgets import TrainingBudget
from discreet.privacy.rational import Number, rational

__all__ = ["Pipeline"]

_PREPARING = Fraction(1, 10)


def _last_has(name: str) -> Any:
    return available_if(lambda self: hasattr(self.steps[-1][1], name))


class Pipeline(CompositeEstimator):
    """Stages one after another, each with its share of one budget; the whole is charged as one event.

    Parameters
    ----------
    steps : list of (name, estimator)
        Estimators of `discreet.learning`: transformers, and any of them last. They state neither budget nor
        columns nor rows: the pipeline does. Bounds of what a stage makes are known to the next one.
    epsilon, delta, rho, columns, rows
        The privacy of a fit, and what is public about the columns; see `PrivateEstimator`.
    shares : list of numbers, optional
        How the budget is divided, in the order of the steps. By default a tenth is for each stage before the
        last that costs anything, but no more than half for all of them; the last one has the rest.

    Attributes
    ----------
    steps_ : list of (name, estimator)
        The fitted stages.
    event_, guarantee_
        Of the whole.

    Guarantee
    ---------
    That of the budget (proof: docs/proofs/model_selection.md, theorem 1).

    Finite precision
    ----------------
    That of each stage.

    Error
    -----
    That of each stage.
    """

    _parts_name = "steps"

    def __init__(
        self,
        steps: Sequence[tuple[str, PrivateEstimator]],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        rows: int = 1,
        shares: Sequence[Number] | None = None,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, rho=rho, columns=columns, rows=rows)
        self.steps = steps
        self.shares = shares

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit all stages, privately."""
        steps = named_parts(self.steps, "steps")
        values = self._columns_of(X, reset=True)
        if isinstance(steps[-1][1], PrivateTransformer):
            return self._fitted(values)
        return self._fitted(values, *steps[-1][1]._read_target(y))

    def _read_target(self, y: Any) -> tuple[Target, NDArray[Any]]:
        found: tuple[Target, NDArray[Any]] = self.steps[-1][1]._read_target(y)
        return found

    def _learner(
        self, features: Features, target: Target | None, budget: TrainingBudget, rows: int
    ) -> Learner:
        steps = named_parts(self.steps, "steps")
        if not all(isinstance(model, PrivateTransformer) for _, model in steps[:-1]):
            raise ParameterError("steps", "has a stage in between that changes no columns", "scalers, or PCA")
        stages = [
            Stage(name=name, model=model, share=share)
            for (name, model), share in zip(steps, self._divided(steps), strict=True)
        ]
        return PipelineLearner(stages=stages, features=features, target=target, budget=budget, rows=rows)

    def _divided(self, steps: Sequence[tuple[str, PrivateEstimator]]) -> list[Fraction]:
        """Return the share of each stage."""
        draws = [getattr(model, "_draws", True) for _, model in steps]
        if self.shares is None:
            before = sum(draws[:-1])
            each = min(_PREPARING, Fraction(1, 2 * max(before, 1)))
            weights = [each if paid else Fraction(0) for paid in draws[:-1]]
            weights.append(1 - sum(weights, Fraction(0)) if draws[-1] else Fraction(0))
        else:
            if len(self.shares) != len(steps):
                raise ParameterError("shares", "are not one for each step", f"{len(steps)} numbers")
            stated = [rational(one, "shares") for one in self.shares]
            weights = [one if paid else Fraction(0) for one, paid in zip(stated, draws, strict=True)]
            if any(one <= 0 for one, paid in zip(weights, draws, strict=True) if paid):
                raise ParameterError("shares", "leave a stage that costs something without budget", "above 0")
        total = sum(weights, Fraction(0))
        return [one / total if total else one for one in weights]

    def _adopt(self, learner: Learner, drawn: Drawn) -> None:
        assert isinstance(learner, PipelineLearner)  # noqa: S101
        self.features_ = learner.features
        names = [stage.name for stage in learner.stages]
        self.steps_ = list(zip(names, learner.fitted(drawn), strict=True))
        if hasattr(self.steps_[-1][1], "classes_"):
            self.classes_ = self.steps_[-1][1].classes_

    def _declared_target(self, name: str, declared: Bounds | Keys) -> tuple[Target, dict[str, Any]]:
        last, model = named_parts(self.steps, "steps")[-1]
        target, stated = model._declared_target(name, declared)
        return target, {f"{last}__{key}": value for key, value in stated.items()}

    def _last(self, name: str, X: Any, *more: Any) -> Any:
        """Call the last stage on what the stages before it make of rows."""
        check_is_fitted(self)
        values = self._columns_of(X, reset=False)
        for _, model in self.steps_[:-1]:
            values = model._next_columns(values)
        held = np.empty((len(values[0]), len(values)), dtype=np.float64 if len(self.steps_) > 1 else object)
        for place, column in enumerate(values):
            held[:, place] = column
        return getattr(self.steps_[-1][1], name)(held, *more)

    @_last_has("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """Return what the last stage predicts of each row."""
        found: NDArray[Any] = self._last("predict", X)
        return found

    @_last_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the last stage."""
        found: Floats = self._last("predict_proba", X)
        return found

    @_last_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the last stage."""
        found: Floats = self._last("decision_function", X)
        return found

    @_last_has("transform")  # type: ignore[untyped-decorator]
    def transform(self, X: Any) -> Floats:
        """Return what all stages make of each row."""
        found: Floats = self._last("transform", X)
        return found

    @_last_has("transform")  # type: ignore[untyped-decorator]
    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit, and return what all stages make of each row."""
        found: Floats = self.fit(X, y).transform(X)
        return found

    @_last_has("score")  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None) -> float:
        """Return the score of the last stage."""
        return float(self._last("score", X, y))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that the last stage makes, or reads."""
        del input_features
        check_is_fitted(self)
        return np.asarray(self.steps_[-1][1].get_feature_names_out(), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags, last = super().__sklearn_tags__(), get_tags(self.steps[-1][1])
        tags.estimator_type = last.estimator_type
        tags.classifier_tags, tags.regressor_tags = last.classifier_tags, last.regressor_tags
        tags.transformer_tags, tags.target_tags = last.transformer_tags, last.target_tags
        return tags
