"""Workloads: many linear queries at once, at the least error that is possible, and saying so.

A workload is a set of linear queries over a public domain; a strategy is what is measured instead
of the queries themselves; the planner picks strategy and noise by their exact error and reports a
bound that no strategy can beat.

>>> from discreet.workloads import AllRanges, plan
>>> plan(AllRanges(64), rho=0.5).gap < 0.001
True
"""

from discreet.workloads.cells import Identity, Matrix, Total
from discreet.workloads.continual import ContinualCounter
from discreet.workloads.dense import DenseStrategy
from discreet.workloads.expected_error import ExpectedError, direct_error, expected_error
from discreet.workloads.fourier import Fourier
from discreet.workloads.hierarchy import Hierarchy
from discreet.workloads.identity import MeasureCells
from discreet.workloads.intervals import LinearAnswer
from discreet.workloads.kronecker import Kronecker
from discreet.workloads.lower_bound import Bound, lower_bound
from discreet.workloads.marginal_plan import MarginalPlan, ReleasedMarginals
from discreet.workloads.marginal_workload import Marginals
from discreet.workloads.optimizer import Optimum, optimize
from discreet.workloads.p_identity import p_identity
from discreet.workloads.planner import Candidate, Plan, plan
from discreet.workloads.products import Product, WeightedUnion
from discreet.workloads.ranges import AllRanges, Prefixes, RangesOfWidth
from discreet.workloads.released import ReleasedCells
from discreet.workloads.residual_basis import ResidualBasis
from discreet.workloads.square_root import SquareRoot
from discreet.workloads.strategy import Strategy
from discreet.workloads.toeplitz import ToeplitzRoot
from discreet.workloads.wavelet import Wavelet
from discreet.workloads.weighted_tree import weighted_tree
from discreet.workloads.workload import Workload

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
    "direct_error",
    "expected_error",
    "lower_bound",
    "optimize",
    "p_identity",
    "plan",
    "weighted_tree",
]
