"""What no strategy can beat, with its certificate.

For Gaussian noise, whatever the strategy, the total variance at L2 sensitivity 1 and variance 1 is at least

    sum over cells j of (G^(1/2))[j, j]^2,

which is never below the singular-value bound (tr G^(1/2))^2 / n and has a closed form for ranges,
prefixes and products of them (docs/proofs/workloads.md, theorem 3). For Laplace noise the L1 norm
of a column is at least its L2 norm and the variance is 2 scale^2, so twice this is a bound; it is
loose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.workloads.marginal_workload import Marginals
from discreet.workloads.optimizer import optimize
from discreet.workloads.products import Product
from discreet.workloads.residual_basis import marginal_bound

if TYPE_CHECKING:
    from discreet.workloads.workload import Workload

__all__ = ["Bound", "lower_bound"]

LARGEST_REFINED = 512
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A total variance, at L2 sensitivity 1 and for noise of variance 1, that no strategy is below.

    Attributes
    ----------
    total : float
        The bound.
    certificate : str
        What proves it.
    """

    total: float
    certificate: str


def lower_bound(workload: Workload) -> Bound:
    """Return the best bound at hand: that of the fixed point for up to 512 cells, else the closed form."""
    if isinstance(workload, Marginals):
        return Bound(
            total=marginal_bound(workload) * (1 - _ROUNDING),
            certificate="the singular-value bound, attained by the residual basis",
        )
    total = float(np.square(workload.root_diagonal()).sum())
    if workload.size <= LARGEST_REFINED and not isinstance(workload, Product) and total > 0:
        dual = optimize(workload, steps=4).bound
        if dual > total:
            return Bound(total=dual, certificate="the dual of the fixed point, with its weights")
    return Bound(
        total=total * (1 - _ROUNDING),
        certificate="the sum of the squared diagonal of the Gram matrix's square root",
    )
