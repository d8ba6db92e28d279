"""discreet: differential privacy from end to end.

>>> import discreet as dp
>>> mechanism = dp.Laplace(sensitivity=1, epsilon=0.5)
>>> mechanism.event, mechanism.guarantee, mechanism.error.quantile(0.95)
(DiscreteLaplace(sensitivity=1, scale=2), PureDP(epsilon=0.5), 6.0)

Names load when they are first used, so that ``import discreet`` costs nothing. `dir` shows them all;
the packages beneath (`discreet.data`, `discreet.curator`, …) are reached in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exports import publish
from discreet.version import __version__ as __version__

if TYPE_CHECKING:
    from discreet import (
        accounting,
        audit,
        errors,
        learning,
        mechanisms,
        noise,
        privacy,
        stability,
        synthesis,
        workloads,
    )
    from discreet.curator import Budget
    from discreet.data import (
        AUTO,
        EACH_ROW,
        Bounds,
        Csv,
        Dates,
        Determined,
        FixedTable,
        Graph,
        Impossible,
        Keys,
        Limits,
        PublicTable,
        Table,
        coalesce,
        col,
        concat,
        correlation,
        count,
        count_persons,
        covariance,
        greatest,
        least,
        through,
        when,
    )
    from discreet.front import Curator, open
    from discreet.mechanisms import Gaussian, Laplace
    from discreet.privacy import Sensitivity, events, guarantees, neighbors, sensitivity
    from discreet.queries.counts import cdf, marginals, ranges
    from discreet.server.client import connect

__all__ = [
    "AUTO",
    "EACH_ROW",
    "Bounds",
    "Budget",
    "Csv",
    "Curator",
    "Dates",
    "Determined",
    "FixedTable",
    "Gaussian",
    "Graph",
    "Impossible",
    "Keys",
    "Laplace",
    "Limits",
    "PublicTable",
    "Sensitivity",
    "Table",
    "accounting",
    "audit",
    "cdf",
    "coalesce",
    "col",
    "concat",
    "connect",
    "correlation",
    "count",
    "count_persons",
    "covariance",
    "errors",
    "events",
    "greatest",
    "guarantees",
    "learning",
    "least",
    "marginals",
    "mechanisms",
    "neighbors",
    "noise",
    "open",
    "privacy",
    "ranges",
    "sensitivity",
    "stability",
    "synthesis",
    "through",
    "when",
    "workloads",
]

_HOMES = {
    "AUTO": "discreet.data",
    "EACH_ROW": "discreet.data",
    "Bounds": "discreet.data",
    "Budget": "discreet.curator",
    "Csv": "discreet.data",
    "Curator": "discreet.front",
    "Dates": "discreet.data",
    "Determined": "discreet.data",
    "FixedTable": "discreet.data",
    "Gaussian": "discreet.mechanisms",
    "Graph": "discreet.data",
    "Impossible": "discreet.data",
    "Keys": "discreet.data",
    "Laplace": "discreet.mechanisms",
    "Limits": "discreet.data",
    "PublicTable": "discreet.data",
    "Sensitivity": "discreet.privacy",
    "Table": "discreet.data",
    "cdf": "discreet.queries.counts",
    "coalesce": "discreet.data",
    "col": "discreet.data",
    "concat": "discreet.data",
    "connect": "discreet.server.client",
    "correlation": "discreet.data",
    "count": "discreet.data",
    "count_persons": "discreet.data",
    "covariance": "discreet.data",
    "events": "discreet.privacy",
    "greatest": "discreet.data",
    "guarantees": "discreet.privacy",
    "least": "discreet.data",
    "marginals": "discreet.queries.counts",
    "neighbors": "discreet.privacy",
    "open": "discreet.front",
    "ranges": "discreet.queries.counts",
    "sensitivity": "discreet.privacy",
    "through": "discreet.data",
    "when": "discreet.data",
}

publish(__name__, homes=_HOMES)
