"""What no strategy can beat, with its certificate.

For Gaussian noise and any strategy, the total variance at L2 sensitivity 1 and variance 1 is at least

    sum over cells j of (G^(1/2))[j, j]^2,

which is never below the singular-value bound (tr G^(1/2))^2 / n and has a closed form for ranges,
prefixes and products of them (docs/proofs/workloads.md, theorem 3). For Laplace noise the L1 norm
of a column is at least its L2 norm, so this is a bound at L1 norm 1, too; for ranges and prefixes that of
`laplace_bound` is larger.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.records import dataclass
from discreet.workloads.algebra.cache import remembered
from discreet.workloads.planning.laplace_bound import laplace_bound
from discreet.workloads.planning.optimizer import LARGEST_OPTIMIZED, optimize
from discreet.workloads.queries.base import LARGEST_DOMAIN, Workload
from discreet.workloads.queries.marginals import Marginals
from discreet.workloads.queries.products import Product, WeightedUnion
from discreet.workloads.queries.ranges import RangesOfWidth
from discreet.workloads.strategies.residual_basis import marginal_bound

if TYPE_CHECKING:
    pass

__all__ = ["Bound", "check_size_of", "laplace_lower_bound", "lower_bound"]

LARGEST_REFINED = 512
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A total variance, at sensitivity 1 and for noise of variance 1, that no strategy is below.

    Attributes
    ----------
    total : float
        The bound.
    certificate : str
        What proves it.
    """

    total: float
    certificate: str


@remembered(256)
def lower_bound(workload: Workload) -> Bound:
    """Return the best bound at hand.

    That of the fixed point for up to 512 cells, else the closed form or, up to 4096 cells, the square
    root of the Gram matrix; a product has the product of its factors' bounds. Beyond, a simple one.
    """
    if isinstance(workload, Marginals):
        return Bound(
            total=marginal_bound(workload) * (1 - _ROUNDING),
            certificate="the singular-value bound, attained by the residual basis",
        )
    check_size_of(workload)
    if isinstance(workload, Product):
        parts = [lower_bound(factor) for factor in workload.factors]
        return Bound(
            total=prod(part.total for part in parts),
            certificate=f"the product over axes of {' and of '.join(sorted({p.certificate for p in parts}))}",
        )
    if workload.size <= LARGEST_REFINED and workload.gram_diagonal().max() > 0:
        return _better(_by_root(workload), optimize(workload).bound)
    if workload.size <= LARGEST_OPTIMIZED or _has_closed_root(workload):
        return _by_root(workload)
    return _simple(workload)


def laplace_lower_bound(workload: Workload) -> Bound:
    """Return the best bound at hand for columns of L1 norm 1: that of the L2 norm, or that of a chain."""
    general = lower_bound(workload)
    total = laplace_bound(workload)
    if total <= general.total:
        return general
    return Bound(total=total, certificate="a chain of coarser domains, whose scales share each column's norm")


def check_size_of(workload: Workload) -> None:
    """Refuse a domain whose cells do not fit in memory."""
    if workload.size > LARGEST_DOMAIN:
        raise ParameterError(
            "workload",
            f"has a domain of {workload.size} cells",
            f"at most {LARGEST_DOMAIN} cells: coarsen its axes, or ask for Marginals, which need no cells",
        )


def _has_closed_root(workload: Workload) -> bool:
    return type(workload).root_diagonal is not Workload.root_diagonal


def _by_root(workload: Workload) -> Bound:
    """Return the sum of the squared diagonal of G^(1/2)."""
    return Bound(
        total=float(np.square(workload.root_diagonal()).sum()) * (1 - _ROUNDING),
        certificate="the sum of the squared diagonal of the Gram matrix's square root",
    )


def _better(closed: Bound, dual: float) -> Bound:
    if dual <= closed.total:
        return closed
    return Bound(total=dual, certificate="the dual of the fixed point, with its weights")


def _simple(workload: Workload) -> Bound:
    """Return a bound for domains whose Gram matrix is too large to take a root of.

    A union is at least as hard as each of its parts. Windows of width w have singular values of at most
    w, so tr G^(1/2) >= tr G / w. And each query q has q^T X^-1 q >= q_j^2 for every cell j, by Cauchy's
    inequality, so that the total is at least G[j, j].
    """
    if isinstance(workload, WeightedUnion):
        parts = zip(workload.parts, workload.weights, strict=True)
        total, certificate = max(
            (weight**2 * (part := lower_bound(own)).total, part.certificate) for own, weight in parts
        )
        return Bound(total=total, certificate=f"that of one part of the union: {certificate}")
    diagonal = workload.gram_diagonal()
    if isinstance(workload, RangesOfWidth):
        return Bound(
            total=float(diagonal.sum() / workload.width) ** 2 / workload.size * (1 - _ROUNDING),
            certificate="the singular-value bound, with singular values of at most the width",
        )
    return Bound(
        total=float(diagonal.max()) * (1 - _ROUNDING),
        certificate="the error of the largest coefficients of a single cell",
    )
