"""Principal components with the face of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from discreet.array_types import Floats
from discreet.curator.request.learner import Drawn, Learner
from discreet.errors import ParameterError
from discreet.learning.design.features import FeatureFacts, Features
from discreet.learning.design.row_sums import row_sums
from discreet.learning.design.targets import Target
from discreet.learning.estimators.private_transformer import PrivateTransformer
from discreet.learning.moments.box_grid import BoxGrid
from discreet.learning.moments.component_learner import ComponentLearner
from discreet.learning.moments.noisy_moments import NoisyMoments
from discreet.learning.training.budgets import TrainingBudget
from discreet.privacy.rational import Number, whole

__all__ = ["PCA"]

_FAR = 4.0  # deviations: beyond, whoever reads components may clip them


class PCA(ClassNamePrefixFeaturesOutMixin, PrivateTransformer):  # type: ignore[misc]
    """Principal components of columns of numbers, under differential privacy.

    Parameters
    ----------
    n_components : int, optional
        How many components to keep; by default all.
    epsilon, delta, rho, columns, rows
        The privacy of a fit, and what is public about the columns; see `PrivateEstimator`. At most 1,000
        columns, all of them numbers within bounds.

    Attributes
    ----------
    components_ : array (components, columns)
        The directions, in the units of the columns; each points to where its largest coordinate is positive.
    explained_variance_, explained_variance_ratio_, singular_values_ : arrays
        The variance along each, its share in that of all, and the root of its sum over rows.
    mean_ : array
    noise_variance_ : float
        The mean variance along what is left out.
    n_samples_ : float
        A noisy number of rows.

    Guarantee
    ---------
    That of the budget: one release of a count, and sums of all columns and of all products of two (proof:
    docs/proofs/moment_models.md).

    Finite precision
    ----------------
    Values are clipped and rounded to 2^12 steps from the middle of their bounds to an end.

    Error
    -----
    See `discreet.learning.moments.component_learner.ComponentLearner`.
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        rows: int = 1,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, rho=rho, columns=columns, rows=rows)
        self.n_components = n_components

    def _learner(
        self, features: Features, target: Target | None, budget: TrainingBudget, rows: int
    ) -> Learner:
        del target
        width = BoxGrid.of(features).width
        kept = width if self.n_components is None else whole(self.n_components, "n_components", least=1)
        if kept > width:
            raise ParameterError("n_components", "are more than there are columns", f"at most {width}")
        return ComponentLearner(
            features=features,
            components=kept,
            moments=NoisyMoments(columns=width, budget=budget, products=True, rows=rows),
        )

    def _adopt(self, learner: Learner, drawn: Drawn) -> None:
        assert isinstance(learner, ComponentLearner)  # noqa: S101
        self.features_ = learner.features
        self.n_components_ = kept = learner.components
        self.n_samples_ = float(drawn["count"])
        self.mean_ = np.asarray(drawn["mean"], dtype=np.float64)
        self.components_ = np.asarray(drawn["components"], dtype=np.float64)
        deviations = np.asarray(drawn["deviations"], dtype=np.float64)
        unit = float(deviations.max()) or 1.0
        shares = (deviations / unit) ** 2
        self.explained_variance_ = deviations[:kept] ** 2
        self.explained_variance_ratio_ = shares[:kept] / max(float(shares.sum()), 1e-300)
        self.singular_values_ = deviations[:kept] * np.sqrt(max(self.n_samples_ - 1, 0.0))
        self.noise_variance_ = float(np.mean(deviations[kept:] ** 2)) if kept < len(deviations) else 0.0

    def _moved(self, rows: Floats) -> Floats:
        return row_sums(rows - self.mean_, self.components_.T)

    def inverse_transform(self, X: Any) -> Floats:
        """Return rows of components as rows of columns."""
        check_is_fitted(self)
        found: Floats = np.asarray(X, dtype=np.float64) @ self.components_ + self.mean_
        return found

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def _names_out(self, names: list[str]) -> list[str]:
        count = len(names) if self.n_components is None else whole(self.n_components, "n_components", least=1)
        return [f"pca{place}" for place in range(count)]

    def _bounds_out(self) -> list[tuple[float, float]]:
        grid = BoxGrid.of(self.features_)
        lower, upper = grid.middles - grid.half_widths, grid.middles + grid.half_widths
        reach = np.abs(self.components_) @ np.maximum(upper - self.mean_, self.mean_ - lower)
        ends = np.minimum(_FAR * np.sqrt(self.explained_variance_), reach)
        ends = np.maximum(ends, reach * 2.0**-10)
        return [(-float(one), float(one)) for one in ends]
