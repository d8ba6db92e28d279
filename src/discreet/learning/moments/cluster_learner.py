"""Centers of clusters, as a learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

from numpy.typing import NDArray

from discreet.curator.ledger import JsonValue
from discreet.curator.request.learner import Drawn, Learner
from discreet.curator.request.request import Expectation
from discreet.learning.design.features import Features
from discreet.learning.moments.moment_learner import noise_words
from discreet.learning.moments.noisy_clusters import NoisyClusters
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee

__all__ = ["ClusterLearner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLearner(Learner):
    """Draw the centers of clusters. Which rows are in which cluster is not released.

    Guarantee
    ---------
    That of `NoisyClusters` (proof: docs/proofs/private_clusters.md).

    Finite precision
    ----------------
    That of `NoisyClusters`.

    Error
    -----
    See `expectations`.
    """

    kind: ClassVar[str] = "clusters"

    features: Features
    clusters: NoisyClusters

    @property
    def event(self) -> Event:
        """The release of moments and those of all improvements."""
        return self.clusters.event

    @property
    def guarantee(self) -> Guarantee:
        """That of all releases."""
        return self.clusters.guarantee

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """Columns, clusters and plan."""
        return {
            "features": self.features.parameters,
            "clusters": self.clusters.clusters,
            "steps": self.clusters.grid.steps,
            "rows": self.clusters.rows,
            "iterations": self.clusters.plan.iterations,
            "moments_share": str(self.clusters.plan.moments_share),
        }

    @property
    def words(self) -> str:
        """What it runs."""
        return (
            f"moments of the columns, then {self.clusters.plan.iterations} times the counts and sums of all "
            f"clusters, each with {noise_words(self.clusters.moments)} noise"
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The features."""
        return tuple(column.name for column in self.features.columns)

    @property
    def rows(self) -> int:
        """Those of the releases."""
        return self.clusters.rows

    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Return the centers, in the units of the columns."""
        grid = self.clusters.grid
        found = self.clusters.release(grid.rounded(values))
        return {"centers": (grid.middles + grid.half_widths * found).tolist()}

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return how far noise moves a center of as many rows, in radii of all rows."""
        deviation = self.clusters.deviation / max(rows, 1)
        return (
            Expectation(
                name="center",
                margin=1.959964 * deviation * sqrt(self.clusters.components),
                standard_deviation=deviation,
                assumes=f"{rows:,} rows in its cluster",
                means="noise in the last step, in radii of the plane in which clusters are looked for",
            ),
        )
