"""Scalers: columns by their declared bounds, which costs nothing, or by noisy means and variances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from discreet.array_types import Floats
from discreet.curator.request.learner import Drawn, Learner
from discreet.data import Bounds, Keys
from discreet.errors import ParameterError
from discreet.learning.design.features import FeatureFact, FeatureFacts, Features
from discreet.learning.design.targets import Target
from discreet.learning.estimators.private_transformer import PrivateTransformer
from discreet.learning.moments.box_grid import BoxGrid
from discreet.learning.moments.declared_learner import DeclaredLearner
from discreet.learning.moments.moment_learner import MomentLearner
from discreet.learning.moments.noisy_moments import NoisyMoments
from discreet.learning.training.budgets import TrainingBudget
from discreet.privacy.rational import Number

__all__ = ["MinMaxScaler", "StandardScaler"]

_FAR = 4.0  # deviations: beyond, whoever reads scaled columns may clip them


class StandardScaler(OneToOneFeatureMixin, PrivateTransformer):  # type: ignore[misc]
    """Columns less their mean, over their standard deviation, under differential privacy.

    Parameters
    ----------
    epsilon, delta, rho, columns, rows
        The privacy of a fit, and what is public about the columns; see `PrivateEstimator`. All columns are
        numbers within bounds.

    Attributes
    ----------
    mean_, var_, scale_ : arrays
        Of each column; a variance is no less than what noise alone would show.
    n_samples_seen_ : float
        A noisy number of rows.

    Guarantee
    ---------
    That of the budget: one release of a count, sums and sums of squares (proof:
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
        del target
        grid = BoxGrid.of(features)
        moments = NoisyMoments(columns=grid.width, budget=budget, rows=rows)
        return MomentLearner(features=features, target=None, moments=moments)

    def _adopt(self, learner: Learner, drawn: Drawn) -> None:
        assert isinstance(learner, MomentLearner)  # noqa: S101
        grid = BoxGrid.of(learner.features)
        self.features_ = learner.features
        self.mean_ = grid.middles + grid.half_widths * np.asarray(drawn["means"][0])
        self.scale_ = grid.half_widths * np.sqrt(np.asarray(drawn["variances"][0]))
        self.var_ = self.scale_**2
        self.n_samples_seen_ = float(drawn["counts"][0])

    def _moved(self, rows: Floats) -> Floats:
        found: Floats = (rows - self.mean_) / self.scale_
        return found

    def inverse_transform(self, X: Any) -> Floats:
        """Return scaled rows in the units of the columns."""
        check_is_fitted(self)
        found: Floats = np.asarray(X, dtype=np.float64) * self.scale_ + self.mean_
        return found

    def _bounds_out(self) -> list[tuple[float, float]]:
        ends = np.array([[float(one.lower), float(one.upper)] for one in BoxGrid.of(self.features_).columns])
        low, high = ((ends - self.mean_[:, None]) / self.scale_[:, None]).clip(-_FAR, _FAR).T
        return list(zip(low.tolist(), np.maximum(high, low + 1e-6).tolist(), strict=True))


class MinMaxScaler(OneToOneFeatureMixin, PrivateTransformer):  # type: ignore[misc]
    """Columns moved from their declared bounds to a range. No data are read, so there is nothing to pay.

    Parameters
    ----------
    columns : declared columns
        Bounds of numbers; for each by name or in order, or one for all.
    feature_range : (number, number)
        What bounds become.

    Attributes
    ----------
    data_min_, data_max_, scale_, min_ : arrays
        The declared bounds, and what is multiplied and added.
    """

    _draws = False

    def __init__(
        self, *, columns: FeatureFacts | None = None, feature_range: tuple[float, float] = (0.0, 1.0)
    ) -> None:
        self.columns = columns
        self.feature_range = feature_range

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take the bounds that are declared; of X only its columns are looked at."""
        del y
        names = self._columns_of(X, reset=True)
        named = hasattr(self, "feature_names_in_")
        shown = list(self.feature_names_in_) if named else [f"x{place}" for place in range(len(names))]
        learner = self._learner(Features.of(self.columns, shown, by_name=named), None, None, 1)
        self._keep(learner, learner.draw([]))
        return self

    def _learner(
        self, features: Features, target: Target | None, budget: TrainingBudget | None, rows: int
    ) -> Learner:
        del target, budget
        BoxGrid.of(features)
        low, high = (float(one) for one in self.feature_range)
        if not low < high:
            raise ParameterError("feature_range", "has no room", "two numbers, the second larger")
        return DeclaredLearner(features=features, reach=(low, high), rows=rows)

    def _of_table(
        self,
        columns: Mapping[str, FeatureFact],
        target: tuple[str, Bounds | Keys] | None,
        *,
        epsilon: Number | None,
        delta: Number | None,
        rho: Number | None,
        rows: int,
    ) -> Any:
        del columns, target, epsilon, delta, rho, rows
        raise ParameterError(
            "model", "reads nothing of a table", "columns=… declared, and fit; or a stage of a Pipeline"
        )

    def _adopt(self, learner: Learner, drawn: Drawn) -> None:
        assert isinstance(learner, DeclaredLearner)  # noqa: S101
        del drawn
        low, high = learner.reach
        grid = BoxGrid.of(learner.features)
        self.features_ = learner.features
        self.data_min_ = np.array([float(one.lower) for one in grid.columns])
        self.data_max_ = np.array([float(one.upper) for one in grid.columns])
        self.data_range_ = 2 * grid.half_widths
        self.scale_ = (high - low) / self.data_range_
        self.min_ = low - self.data_min_ * self.scale_

    def _moved(self, rows: Floats) -> Floats:
        low, high = (float(one) for one in self.feature_range)
        return (rows * self.scale_ + self.min_).clip(low, high)

    def inverse_transform(self, X: Any) -> Floats:
        """Return scaled rows in the units of the columns."""
        check_is_fitted(self)
        found: Floats = (np.asarray(X, dtype=np.float64) - self.min_) / self.scale_
        return found

    def _bounds_out(self) -> list[tuple[float, float]]:
        low, high = (float(one) for one in self.feature_range)
        return [(low, high)] * len(self.scale_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        return tags
