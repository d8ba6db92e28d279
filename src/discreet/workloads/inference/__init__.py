"""Constrained inference: the closest point to noisy answers inside a convex set, which costs nothing.

`project` takes noisy answers to a set, `fit_cells` takes the answers of a strategy to cells. The sets are
`NonNegative`, `KnownTotal`, `Simplex`, `Ordered`, `Equalities` and `ImplicitEqualities`, alone or
together. Trees of sums have their own: `consistent_tree` and `non_negative_tree`. `Cumulative` is a
distribution function with its quantiles. Every result is an `Estimate`: what is unbiased and what is
constrained, apart, and how optimal the latter is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exports import publish

if TYPE_CHECKING:
    from discreet.workloads.inference.cumulative import (
        Cumulative,
        cumulative_from_prefixes,
        cumulative_from_ranges,
    )
    from discreet.workloads.inference.estimate import Estimate
    from discreet.workloads.inference.fitting import fit_cells, project
    from discreet.workloads.inference.sets.equalities import Equalities, ImplicitEqualities
    from discreet.workloads.inference.sets.isotonic import Ordered
    from discreet.workloads.inference.sets.simplex import KnownTotal, NonNegative, Simplex
    from discreet.workloads.inference.trees.least_squares import consistent_tree
    from discreet.workloads.inference.trees.nonnegative import non_negative_tree
    from discreet.workloads.inference.trees.tree import Tree

__all__ = [
    "Cumulative",
    "Equalities",
    "Estimate",
    "ImplicitEqualities",
    "KnownTotal",
    "NonNegative",
    "Ordered",
    "Simplex",
    "Tree",
    "consistent_tree",
    "cumulative_from_prefixes",
    "cumulative_from_ranges",
    "fit_cells",
    "non_negative_tree",
    "project",
]

_HOMES = {
    "Cumulative": "discreet.workloads.inference.cumulative",
    "Equalities": "discreet.workloads.inference.sets.equalities",
    "Estimate": "discreet.workloads.inference.estimate",
    "ImplicitEqualities": "discreet.workloads.inference.sets.equalities",
    "KnownTotal": "discreet.workloads.inference.sets.simplex",
    "NonNegative": "discreet.workloads.inference.sets.simplex",
    "Ordered": "discreet.workloads.inference.sets.isotonic",
    "Simplex": "discreet.workloads.inference.sets.simplex",
    "Tree": "discreet.workloads.inference.trees.tree",
    "consistent_tree": "discreet.workloads.inference.trees.least_squares",
    "cumulative_from_prefixes": "discreet.workloads.inference.cumulative",
    "cumulative_from_ranges": "discreet.workloads.inference.cumulative",
    "fit_cells": "discreet.workloads.inference.fitting",
    "non_negative_tree": "discreet.workloads.inference.trees.nonnegative",
    "project": "discreet.workloads.inference.fitting",
}

publish(__name__, homes=_HOMES)
