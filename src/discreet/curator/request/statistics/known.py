"""The statistics that a request may be for: those that were proven, and no subclass of them."""

from __future__ import annotations

from discreet.curator.request.statistics.base import ReleasedStatistic
from discreet.curator.request.statistics.by_profile import ByBoughtBound, ByProposal, BySmoothSensitivity
from discreet.curator.request.statistics.cell_estimates import LearnedCells, SmallDatabaseCells
from discreet.curator.request.statistics.fixed_counts import CellCounts, ColumnMean, RowCount
from discreet.curator.request.statistics.graph_counts import DegreeCounts, EdgeCount
from discreet.curator.request.statistics.profiled import QuantileStatistic, TriangleStatistic
from discreet.curator.request.statistics.stable_mode import StableMode

__all__ = ["is_known"]

_KNOWN = (
    ByBoughtBound,
    ByProposal,
    BySmoothSensitivity,
    CellCounts,
    ColumnMean,
    DegreeCounts,
    EdgeCount,
    LearnedCells,
    RowCount,
    SmallDatabaseCells,
    StableMode,
)


def is_known(statistic: ReleasedStatistic) -> bool:
    """Return whether a statistic is one of those that were proven."""
    profiled = getattr(statistic, "statistic", None)
    return type(statistic) in _KNOWN and (
        profiled is None or type(profiled) in {QuantileStatistic, TriangleStatistic}
    )
