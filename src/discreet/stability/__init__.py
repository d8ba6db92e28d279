"""Stability: how much a statistic of the data at hand can move, and how far they are from where it moves.

Everything here is exact and private: local sensitivities, smooth sensitivities and distances
are functions of the data, and leave only through a mechanism. A statistic returns a `Profile`;
distances are integers. `graphs` has more for networks, `per_instance` says what a release reveals about
each person, from the shifts of `instance_shifts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exports import publish

if TYPE_CHECKING:
    from discreet.stability import graphs, instance_shifts, per_instance, plot
    from discreet.stability.distances import (
        NEVER,
        distance_to_sensitive,
        distance_to_unstable_mode,
        mode,
        slow_bound,
    )
    from discreet.stability.graphs import stars, triangles, truncated_triangles
    from discreet.stability.majorities import majorities
    from discreet.stability.order_statistics.extremes import maximum, minimum
    from discreet.stability.order_statistics.interquartile_range import interquartile_range
    from discreet.stability.order_statistics.quantile import median, quantile
    from discreet.stability.order_statistics.trimmed_mean import trimmed_mean
    from discreet.stability.order_statistics.winsorized_mean import winsorized_mean
    from discreet.stability.prediction_variance import prediction_variance
    from discreet.stability.profile import Profile
    from discreet.stability.ratio import ratio
    from discreet.stability.reciprocal import reciprocal
    from discreet.stability.variance import variance
    from discreet.stability.vector_profile import VectorProfile

__all__ = [
    "NEVER",
    "Profile",
    "VectorProfile",
    "distance_to_sensitive",
    "distance_to_unstable_mode",
    "graphs",
    "instance_shifts",
    "interquartile_range",
    "majorities",
    "maximum",
    "median",
    "minimum",
    "mode",
    "per_instance",
    "plot",
    "prediction_variance",
    "quantile",
    "ratio",
    "reciprocal",
    "slow_bound",
    "stars",
    "triangles",
    "trimmed_mean",
    "truncated_triangles",
    "variance",
    "winsorized_mean",
]

_HOMES = {
    "NEVER": "discreet.stability.distances",
    "Profile": "discreet.stability.profile",
    "VectorProfile": "discreet.stability.vector_profile",
    "distance_to_sensitive": "discreet.stability.distances",
    "distance_to_unstable_mode": "discreet.stability.distances",
    "interquartile_range": "discreet.stability.order_statistics.interquartile_range",
    "majorities": "discreet.stability.majorities",
    "maximum": "discreet.stability.order_statistics.extremes",
    "median": "discreet.stability.order_statistics.quantile",
    "minimum": "discreet.stability.order_statistics.extremes",
    "mode": "discreet.stability.distances",
    "prediction_variance": "discreet.stability.prediction_variance",
    "quantile": "discreet.stability.order_statistics.quantile",
    "ratio": "discreet.stability.ratio",
    "reciprocal": "discreet.stability.reciprocal",
    "slow_bound": "discreet.stability.distances",
    "stars": "discreet.stability.graphs",
    "triangles": "discreet.stability.graphs",
    "trimmed_mean": "discreet.stability.order_statistics.trimmed_mean",
    "truncated_triangles": "discreet.stability.graphs",
    "variance": "discreet.stability.variance",
    "winsorized_mean": "discreet.stability.order_statistics.winsorized_mean",
}

publish(__name__, homes=_HOMES)
