"""Stability: how much a statistic of the data at hand can move, and how far they are from where it moves.

Everything here is exact and private: local sensitivities, smooth sensitivities and distances
are functions of the data, and leave only through a mechanism. A statistic returns a `Profile`;
distances are integers.
"""

from discreet.stability.distances import NEVER, distance_to_sensitive, distance_to_unstable_mode, mode
from discreet.stability.order_statistics.extremes import maximum, minimum
from discreet.stability.order_statistics.interquartile_range import interquartile_range
from discreet.stability.order_statistics.quantile import median, quantile
from discreet.stability.order_statistics.trimmed_mean import trimmed_mean
from discreet.stability.order_statistics.winsorized_mean import winsorized_mean
from discreet.stability.profile import Profile

__all__ = [
    "NEVER",
    "Profile",
    "distance_to_sensitive",
    "distance_to_unstable_mode",
    "interquartile_range",
    "maximum",
    "median",
    "minimum",
    "mode",
    "quantile",
    "trimmed_mean",
    "winsorized_mean",
]
