"""Workloads: many linear queries at once, at the least error that is possible, and saying so.

A workload is a set of linear queries over a public domain; a strategy is what is measured instead
of the queries themselves; the planner picks strategy and noise by their exact error and reports a
bound that no strategy can beat. `inference` fits noisy answers to what is known of them, `data_release`
makes cells that stand in for the data.

>>> from discreet.workloads import AllRanges, plan
>>> plan(AllRanges(64), rho=0.5).gap < 0.001
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exports import publish

if TYPE_CHECKING:
    from discreet.workloads import data_release, inference
    from discreet.workloads.continual import ContinualCounter
    from discreet.workloads.error.expected_error import ExpectedError, direct_error, expected_error
    from discreet.workloads.error.intervals import LinearAnswer
    from discreet.workloads.planning.lower_bound import Bound, laplace_lower_bound, lower_bound
    from discreet.workloads.planning.marginals import MarginalPlan, ReleasedMarginals
    from discreet.workloads.planning.optimizer import Optimum, optimize
    from discreet.workloads.planning.planner import Candidate, Plan, plan
    from discreet.workloads.queries.base import Workload
    from discreet.workloads.queries.cells import Identity, Matrix, Total
    from discreet.workloads.queries.marginals import Marginals
    from discreet.workloads.queries.products import Product, WeightedUnion
    from discreet.workloads.queries.ranges import AllRanges, Prefixes, RangesOfWidth
    from discreet.workloads.released import ReleasedCells
    from discreet.workloads.strategies.base import Strategy
    from discreet.workloads.strategies.dense import DenseStrategy
    from discreet.workloads.strategies.fourier import Fourier
    from discreet.workloads.strategies.hierarchy import Hierarchy
    from discreet.workloads.strategies.identity import MeasureCells
    from discreet.workloads.strategies.kronecker import Kronecker
    from discreet.workloads.strategies.p_identity import p_identity
    from discreet.workloads.strategies.residual_basis import ResidualBasis
    from discreet.workloads.strategies.square_root import SquareRoot
    from discreet.workloads.strategies.toeplitz import ToeplitzRoot
    from discreet.workloads.strategies.wavelet import Wavelet
    from discreet.workloads.strategies.weighted_tree import weighted_tree

__all__ = [
    "AllRanges",
    "Bound",
    "Candidate",
    "ContinualCounter",
    "DenseStrategy",
    "ExpectedError",
    "Fourier",
    "Hierarchy",
    "Identity",
    "Kronecker",
    "LinearAnswer",
    "MarginalPlan",
    "Marginals",
    "Matrix",
    "MeasureCells",
    "Optimum",
    "Plan",
    "Prefixes",
    "Product",
    "RangesOfWidth",
    "ReleasedCells",
    "ReleasedMarginals",
    "ResidualBasis",
    "SquareRoot",
    "Strategy",
    "ToeplitzRoot",
    "Total",
    "Wavelet",
    "WeightedUnion",
    "Workload",
    "data_release",
    "direct_error",
    "expected_error",
    "inference",
    "laplace_lower_bound",
    "lower_bound",
    "optimize",
    "p_identity",
    "plan",
    "weighted_tree",
]

_HOMES = {
    "AllRanges": "discreet.workloads.queries.ranges",
    "Bound": "discreet.workloads.planning.lower_bound",
    "Candidate": "discreet.workloads.planning.planner",
    "ContinualCounter": "discreet.workloads.continual",
    "DenseStrategy": "discreet.workloads.strategies.dense",
    "ExpectedError": "discreet.workloads.error.expected_error",
    "Fourier": "discreet.workloads.strategies.fourier",
    "Hierarchy": "discreet.workloads.strategies.hierarchy",
    "Identity": "discreet.workloads.queries.cells",
    "Kronecker": "discreet.workloads.strategies.kronecker",
    "LinearAnswer": "discreet.workloads.error.intervals",
    "MarginalPlan": "discreet.workloads.planning.marginals",
    "Marginals": "discreet.workloads.queries.marginals",
    "Matrix": "discreet.workloads.queries.cells",
    "MeasureCells": "discreet.workloads.strategies.identity",
    "Optimum": "discreet.workloads.planning.optimizer",
    "Plan": "discreet.workloads.planning.planner",
    "Prefixes": "discreet.workloads.queries.ranges",
    "Product": "discreet.workloads.queries.products",
    "RangesOfWidth": "discreet.workloads.queries.ranges",
    "ReleasedCells": "discreet.workloads.released",
    "ReleasedMarginals": "discreet.workloads.planning.marginals",
    "ResidualBasis": "discreet.workloads.strategies.residual_basis",
    "SquareRoot": "discreet.workloads.strategies.square_root",
    "Strategy": "discreet.workloads.strategies.base",
    "ToeplitzRoot": "discreet.workloads.strategies.toeplitz",
    "Total": "discreet.workloads.queries.cells",
    "Wavelet": "discreet.workloads.strategies.wavelet",
    "WeightedUnion": "discreet.workloads.queries.products",
    "Workload": "discreet.workloads.queries.base",
    "direct_error": "discreet.workloads.error.expected_error",
    "expected_error": "discreet.workloads.error.expected_error",
    "laplace_lower_bound": "discreet.workloads.planning.lower_bound",
    "lower_bound": "discreet.workloads.planning.lower_bound",
    "optimize": "discreet.workloads.planning.optimizer",
    "p_identity": "discreet.workloads.strategies.p_identity",
    "plan": "discreet.workloads.planning.planner",
    "weighted_tree": "discreet.workloads.strategies.weighted_tree",
}

publish(__name__, homes=_HOMES)
