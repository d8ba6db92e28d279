"""How wrong the answers of a workload will be, before anything is measured."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.mechanisms import Gaussian, Laplace
    from discreet.workloads.queries.base import Workload
    from discreet.workloads.strategies.base import Strategy

__all__ = ["ExpectedError", "direct_error", "expected_error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedError:
    """The expected squared error of a workload's answers; they are unbiased, so it is their variance.

    Attributes
    ----------
    total : float
        Summed over all queries.
    queries : int
        How many there are.
    """

    total: float
    queries: int

    @property
    def mean_square(self) -> float:
        """The expected squared error of a query, averaged over the queries."""
        return self.total / self.queries

    @property
    def rmse(self) -> float:
        """The root mean square error of a query."""
        return sqrt(self.mean_square)


def expected_error(workload: Workload, strategy: Strategy, mechanism: Laplace | Gaussian) -> ExpectedError:
    """Return the error of the workload's answers from a strategy measured by a mechanism.

    Exact: the variance of the discrete noise times tr(W (A^T A)^-1 W^T), for the integer matrix A.

    Parameters
    ----------
    workload : Workload
        The queries.
    strategy : Strategy
        What is measured.
    mechanism : Laplace or Gaussian
        How: on integers. Its sensitivity must be at least the strategy's.
    """
    if mechanism.grid != 1:
        raise ParameterError(
            "mechanism", "works on reals", "one for integers: give it strategy.sensitivity()"
        )
    return ExpectedError(total=mechanism.error.variance * strategy.trace(workload), queries=workload.queries)


def direct_error(workload: Workload, mechanism: Laplace | Gaussian) -> ExpectedError:
    """Return the error when each query of the workload gets its own noise, and nothing is estimated."""
    return ExpectedError(total=mechanism.error.variance * workload.queries, queries=workload.queries)
