"""The planner: of all strategies and both kinds of noise, the one whose exact error is least.

Nothing is spent and no data is seen: errors are computed from the workload and the budget alone.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import field
from functools import partial
from math import log2, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.calibration import least_error
from discreet.noise import is_private
from discreet.noise.replayed import mark_replayed
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, whole
from discreet.records import dataclass
from discreet.workloads.algebra.sealing import make_read_only
from discreet.workloads.error.expected_error import ExpectedError, expected_error
from discreet.workloads.planning.candidates import LARGEST_ENTRY_BITS, candidates
from discreet.workloads.planning.lower_bound import (
    Bound,
    check_size_of,
    laplace_lower_bound,
    lower_bound,
)
from discreet.workloads.planning.marginals import MarginalPlan, plan_marginals
from discreet.workloads.planning.noise import Loss, PersonReach, allowed_noise, mechanism_for, unit_variance
from discreet.workloads.queries.base import Workload
from discreet.workloads.queries.cells import Matrix, Total
from discreet.workloads.queries.marginals import Marginals
from discreet.workloads.queries.products import Product
from discreet.workloads.released import ReleasedCells

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.mechanisms import Gaussian, Laplace
    from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
    from discreet.workloads.queries.base import Workload
    from discreet.workloads.strategies.base import Strategy

__all__ = ["Candidate", "Plan", "plan"]

_BOUNDS = {"Gaussian": lower_bound, "Laplace": laplace_lower_bound}
_LARGEST_SCALE_BITS = 39
_LEAST_SQUARE, _LARGEST_SQUARE = 1e-200, 1e200


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A strategy that was compared, and its error."""

    name: str
    noise: str
    rmse: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """What to measure, with which noise, how wrong the answers will be, and how wrong they must be.

    Attributes
    ----------
    workload : Workload
        What was asked.
    strategy : Strategy
        What will be measured.
    mechanism : Laplace or Gaussian
        With which noise.
    expected_error : ExpectedError
        Of the workload's answers: exact.
    considered : tuple of Candidate
        All that was compared, best first.
    """

    workload: Workload
    strategy: Strategy
    mechanism: Laplace | Gaussian
    expected_error: ExpectedError
    considered: tuple[Candidate, ...] = field(repr=False)
    _noise: str = field(repr=False)
    _unit: float = field(repr=False)

    @property
    def event(self) -> DiscreteLaplace | DiscreteGaussian | RoundedGaussian:
        """What a release is charged."""
        return self.mechanism.event

    @property
    def name(self) -> str:
        """The chosen strategy and noise, in words."""
        return f"the {self.considered[0].name} strategy with {self.considered[0].noise} noise"

    @property
    def lower_bound(self) -> float:
        """A root mean square error that no strategy is below, with this kind of noise and at this budget.

        A strategy is an integer matrix of full column rank. The bound is sought when it is first asked for,
        which may take longer than planning, and remembered for the workload.
        """
        return _limit(self.workload, self._unit, _BOUNDS[self._noise](self.workload))

    @property
    def certificate(self) -> str:
        """What proves the bound."""
        return _BOUNDS[self._noise](self.workload).certificate

    @property
    def gap(self) -> float:
        """By which fraction the error is above the lower bound."""
        return self.expected_error.rmse / self.lower_bound - 1

    def release(self, x: NDArray[np.int64]) -> ReleasedCells:
        """Measure counts x with noise, once, and estimate all cells; this is what `event` charges."""
        measured = self.mechanism.release(self.strategy.measure(x))
        return self.finish(measured)

    def finish(self, measured: Any) -> ReleasedCells:
        """Estimate the cells from noisy measurements: public, and free."""
        cells = self.strategy.reconstruct(measured).reshape(self.strategy.shape)
        cells = cells if is_private(measured) else mark_replayed(cells)
        return ReleasedCells(cells=cells, strategy=self.strategy, mechanism=self.mechanism, measured=measured)


def plan(
    workload: Workload | NDArray[Any],
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    rows: int = 1,
    groups: int = 1,
    tables: int = 1,
) -> Plan | MarginalPlan:
    """Choose the strategy and the noise whose exact error is least.

    Parameters
    ----------
    workload : Workload or array
        The queries; of an array, each row holds the coefficients of one, as in `Matrix`.
    epsilon : number, optional
        Alone: pure privacy, which only Laplace noise gives.
    delta : number, optional
        With epsilon: Laplace and Gaussian noise are compared.
    rho : number, optional
        Zero-concentrated privacy: both are compared, Laplace noise at epsilon = sqrt(2 rho).
    rows : int
        How many rows one person may have in a table.
    groups : int
        In how many tables one person may have this many rows, where the workload is asked of several.
    tables : int
        How many tables there are, each to be measured by itself with the noise of the plan.

    Examples
    --------
    >>> from discreet.workloads import AllRanges, plan
    >>> chosen = plan(AllRanges(256), rho=0.5)
    >>> f"{chosen.expected_error.rmse:.3f}, no strategy below {chosen.lower_bound:.3f}"
    '2.902, no strategy below 2.901'
    >>> released = chosen.release([7] * 256)
    >>> low, high = released.range(10, 99).interval(0.95)
    """
    workload = _as_workload(workload)
    tables = whole(tables, "tables", least=1)
    reach = PersonReach(
        rows=whole(rows, "rows", least=1),
        groups=whole(groups, "groups", least=1, most=tables),
        tables=tables,
    )
    losses = allowed_noise(Offer(epsilon=epsilon, delta=delta, rho=rho))
    if isinstance(workload, Marginals):
        return plan_marginals(workload, losses, reach)
    check_size_of(workload)
    _check_coefficients(workload)
    best: Plan | None = None
    considered: list[Candidate] = []
    for noise in ("Gaussian", "Laplace"):
        if noise in losses:
            best = _best(workload, noise, losses[noise], reach=reach, best=best, considered=considered)
    if best is None:
        raise ParameterError(
            "epsilon" if rho is None else "rho",
            "calls for noise that is out of range, for every strategy",
            "a budget for which noise on single cells has a scale from 1/100 to 2^40",
        )
    make_read_only(best.strategy)
    make_read_only(workload)
    ranking = tuple(sorted(considered, key=lambda candidate: candidate.rmse))
    return Plan(
        workload=workload,
        strategy=best.strategy,
        mechanism=best.mechanism,
        expected_error=best.expected_error,
        considered=ranking,
        _noise=best._noise,
        _unit=best._unit,
    )


def _as_workload(workload: object) -> Workload:
    """Return a workload; an array is a matrix of queries."""
    if isinstance(workload, Workload):
        return workload
    if isinstance(workload, np.ndarray):
        return Matrix(workload)
    raise ParameterError(
        "workload",
        f"is a {type(workload).__name__}",
        "a workload such as AllRanges(64), or an array with a row for each query",
    )


def _best(
    workload: Workload,
    noise: str,
    loss: Loss,
    *,
    reach: PersonReach,
    best: Plan | None,
    considered: list[Candidate],
) -> Plan | None:
    """Return the better of the best plan so far and the best with one kind of noise; skip what cannot win."""
    try:
        unit = unit_variance(noise, loss, reach, single=workload.size == 1)
    except ParameterError:
        return best
    if best is not None and _limit(workload, unit, _BOUNDS[noise](workload)) >= best.expected_error.rmse:
        return best
    norm = 1 if noise == "Laplace" else 2
    bits = min(LARGEST_ENTRY_BITS, int(_LARGEST_SCALE_BITS - log2(max(1.0, sqrt(unit)))))
    planned = _by_axes(workload)

    def made(name: str, build: Callable[[], Strategy]) -> Plan:
        """Refuse a strategy that so few bits cannot hold, and noise that cannot be drawn."""
        strategy = build()
        size = reach.tables * strategy.measurements
        mechanism = mechanism_for(noise, loss, reach.sensitivity(strategy), size)
        if strategy.largest_entry > 1 << LARGEST_ENTRY_BITS:
            raise ParameterError("strategy", "has an entry that is out of range", "smaller entries")
        error = expected_error(planned, strategy, mechanism)
        considered.append(Candidate(name=name, noise=noise, rmse=error.rmse))
        return Plan(
            workload=workload,
            strategy=strategy,
            mechanism=mechanism,
            expected_error=error,
            considered=(),
            _noise=noise,
            _unit=unit,
        )

    makers = (partial(made, name, build) for name, build in candidates(planned, norm, bits))
    with suppress(ParameterError):
        return least_error(makers, lambda found: found.expected_error.total, built=best)
    return None


def _limit(workload: Workload, unit: float, bound: Bound) -> float:
    """Return the root mean square error that a bound on all strategies implies for some noise."""
    return sqrt(unit * bound.total / workload.queries)


def _by_axes(workload: Workload) -> Workload:
    """Write the total of a product domain as the product of its axes' totals, which has more strategies."""
    if isinstance(workload, Total) and len(workload.shape) > 1:
        return Product(*[Total(size) for size in workload.shape])
    return workload


def _check_coefficients(workload: Workload) -> None:
    """Refuse queries that are all 0, or whose squares are beyond what floating-point numbers hold."""
    if isinstance(workload, Product):
        for factor in workload.factors:
            _check_coefficients(factor)
        return
    with np.errstate(over="ignore", under="ignore"):
        largest = float(workload.gram_diagonal().max())
    if not _LEAST_SQUARE <= largest <= _LARGEST_SQUARE:
        raise ParameterError(
            "workload",
            "asks nothing, or has coefficients that are too small or too large",
            "coefficients of which the largest is from 1e-100 to 1e100",
        )
