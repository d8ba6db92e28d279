"""How wrong the answers of a workload will be, before anything is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.records import dataclass

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
    noise : float
        The variance of the noise of a measurement.
    """

    total: float
    queries: int
    noise: float = field(default=0.0, repr=False, compare=False)
    _worst: Callable[[], float | None] | None = field(default=None, repr=False, compare=False)

    @property
    def mean_square(self) -> float:
        """The expected squared error of a query, averaged over the queries."""
        return self.total / self.queries

    @property
    def rmse(self) -> float:
        """The root mean square error of a query."""
        return sqrt(self.mean_square)

    @property
    def largest(self) -> float | None:
        """The largest standard error of a query, which `rmse` may hide; None if there are too many queries.

        It is worked out when it is asked for: planning compares the sums alone.
        """
        worst = None if self._worst is None else self._worst()
        return None if worst is None else sqrt(self.noise * worst)


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
    noise = mechanism.error.variance
    return ExpectedError(
        total=noise * strategy.trace(workload),
        queries=workload.queries,
        noise=noise,
        _worst=partial(strategy.largest_variance, workload),
    )


def direct_error(workload: Workload, mechanism: Laplace | Gaussian) -> ExpectedError:
    """Return the error when each query of the workload gets its own noise, and nothing is estimated."""
    noise = mechanism.error.variance
    return ExpectedError(
        total=noise * workload.queries, queries=workload.queries, noise=noise, _worst=partial(float, 1)
    )
