"""Clusters with the face of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin

from discreet.array_types import Floats, Integers
from discreet.curator.request.learner import Drawn, Learner
from discreet.learning.design.features import FeatureFacts, Features
from discreet.learning.design.targets import Target
from discreet.learning.estimators.private_transformer import PrivateTransformer
from discreet.learning.moments.box_grid import BoxGrid
from discreet.learning.moments.cluster_learner import ClusterLearner
from discreet.learning.moments.noisy_clusters import NoisyClusters
from discreet.learning.training.budgets import TrainingBudget
from discreet.privacy.rational import Number, whole

__all__ = ["KMeans"]


class KMeans(ClassNamePrefixFeaturesOutMixin, ClusterMixin, PrivateTransformer):  # type: ignore[misc]
    """Centers to which rows are near, under differential privacy.

    Parameters
    ----------
    n_clusters : int
        How many centers there are.
    epsilon, delta, rho, columns, rows
        The privacy of a fit, and what is public about the columns; see `PrivateEstimator`. At most 1,000
        columns, all of them numbers within bounds. Distances are in the units of the columns: scale them
        first if these differ.

    Attributes
    ----------
    cluster_centers_ : array (clusters, columns)
    n_iter_ : int

    Notes
    -----
    Which rows are in which cluster, and how near they are (`labels_`, `inertia_` of scikit-learn), is not
    released; `predict` says where a row that you hold belongs, and `score` how near.

    Guarantee
    ---------
    That of the budget (proof: docs/proofs/private_clusters.md).

    Finite precision
    ----------------
    Values are clipped and rounded to 2^12 steps from the middle of their bounds to an end.

    Error
    -----
    See `discreet.learning.moments.noisy_clusters.NoisyClusters`.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        rows: int = 1,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, rho=rho, columns=columns, rows=rows)
        self.n_clusters = n_clusters

    def _learner(
        self, features: Features, target: Target | None, budget: TrainingBudget, rows: int
    ) -> Learner:
        del target
        count = whole(self.n_clusters, "n_clusters", least=1, most=1000)
        grid = BoxGrid.of(features)
        return ClusterLearner(
            features=features, clusters=NoisyClusters(grid=grid, clusters=count, budget=budget, rows=rows)
        )

    def _adopt(self, learner: Learner, drawn: Drawn) -> None:
        assert isinstance(learner, ClusterLearner)  # noqa: S101
        self.features_ = learner.features
        self.cluster_centers_ = np.asarray(drawn["centers"], dtype=np.float64)
        self.n_iter_ = learner.clusters.plan.iterations

    def predict(self, X: Any) -> Integers:
        """Return the number of the nearest center, for each row."""
        found: Integers = self.transform(X).argmin(axis=1)
        return found

    def fit_predict(self, X: Any, y: Any = None) -> Integers:
        """Fit, and return the number of the nearest center for each row, which only who holds X may see."""
        return self.fit(X, y).predict(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the sum of squared distances to the nearest centers, negative."""
        del y
        return -float((self.transform(X).min(axis=1) ** 2).sum())

    def _moved(self, rows: Floats) -> Floats:
        found = np.zeros((len(rows), len(self.cluster_centers_)))
        for column, centers in zip(rows.T, self.cluster_centers_.T, strict=True):
            found += (column[:, None] - centers) ** 2
        return np.sqrt(found)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _names_out(self, names: list[str]) -> list[str]:
        del names
        return [f"kmeans{place}" for place in range(whole(self.n_clusters, "n_clusters", least=1))]

    def _bounds_out(self) -> list[tuple[float, float]]:
        grid = BoxGrid.of(self.features_)
        far = np.abs(self.cluster_centers_ - grid.middles) + grid.half_widths
        return [(0.0, float(one)) for one in np.linalg.norm(far, axis=1)]
