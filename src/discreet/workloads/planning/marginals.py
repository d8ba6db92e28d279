"""Plans for marginals: the residual basis or the marginals themselves, with the better kind of noise."""

from __future__ import annotations

from dataclasses import field
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError
from discreet.mechanisms.calibration import least_error
from discreet.noise import is_private
from discreet.noise.replayed import mark_replayed
from discreet.records import dataclass
from discreet.workloads.algebra.modular import clamped_counts
from discreet.workloads.error.expected_error import ExpectedError
from discreet.workloads.error.intervals import half_width
from discreet.workloads.planning.noise import Loss, PersonReach, mechanism_for, unit_variance
from discreet.workloads.queries.base import about
from discreet.workloads.strategies.marginal_tables import MarginalTables
from discreet.workloads.strategies.residual_basis import ResidualBasis, Set, marginal_bound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from discreet.mechanisms import Gaussian, Laplace
    from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
    from discreet.privacy.rational import Number
    from discreet.workloads.queries.base import Vector
    from discreet.workloads.queries.marginals import Marginals

__all__ = ["MarginalPlan", "ReleasedMarginals", "plan_marginals"]

_ROUNDING = 1e-9
LARGEST_TABLE = 1 << 33


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReleasedMarginals:
    """Noisy marginals that agree with each other on what they share.

    Attributes
    ----------
    tables : dict from a set of attributes to an array
        Estimates, real and possibly negative: unbiased while no cell of a marginal exceeds 2^29 - 1, and no
        table holds more than `basis.largest_total` rows.
    """

    tables: dict[Set, Vector] = field(repr=False)
    basis: ResidualBasis | MarginalTables
    mechanism: Laplace | Gaussian

    def marginal(self, *attributes: int) -> Vector:
        """Return the marginal over some attributes, by their places."""
        return self.tables[self._set(attributes)]

    def variance(self, *attributes: int) -> float:
        """Return the variance of each cell of a marginal."""
        return self.basis.cell_variance(self._set(attributes)) * self.mechanism.error.variance

    def half_width(self, *attributes: int, confidence: Number = 0.95) -> float:
        """Return how far the exact count of a cell lies from the estimate, with at least this probability."""
        return half_width(self.mechanism, self.basis.cell_variance(self._set(attributes)), confidence)

    def _set(self, attributes: tuple[int, ...]) -> Set:
        chosen = tuple(sorted(attributes))
        if chosen not in self.tables:
            raise ParameterError(
                "attributes", "is not a set of the workload", "one of the sets that were asked for"
            )
        return chosen


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MarginalPlan:
    """What to measure for a workload of marginals; as `Plan`, for domains that are too large to hold.

    Attributes
    ----------
    lower_bound : float
        A root mean square error that no strategy with this kind of noise is below.
    """

    workload: Marginals
    strategy: ResidualBasis | MarginalTables
    mechanism: Laplace | Gaussian
    expected_error: ExpectedError
    lower_bound: float
    certificate: str = "the singular-value bound, which the residual basis attains for Gaussian noise"

    @property
    def event(self) -> DiscreteLaplace | DiscreteGaussian | RoundedGaussian:
        """What a release is charged."""
        return self.mechanism.event

    @property
    def name(self) -> str:
        """The chosen strategy and noise, in words."""
        tables = isinstance(self.strategy, MarginalTables)
        measured = "the marginals themselves" if tables else "the residual basis"
        return f"{measured} with {type(self.mechanism).__name__} noise"

    @property
    def gap(self) -> float:
        """By which fraction the error is above the lower bound."""
        return self.expected_error.rmse / self.lower_bound - 1

    def release(self, data: NDArray[Any] | Mapping[Set, NDArray[Any]]) -> ReleasedMarginals:
        """Measure exact marginals, one for each set of the workload, or all cells, with noise, once."""
        if not hasattr(data, "keys"):
            data = _marginals(self.workload, data)
        measured: Any = self.mechanism.release(self.strategy.measure(data))  # type: ignore[arg-type]
        tables = self.strategy.reconstruct(measured)
        if not is_private(measured):
            tables = {chosen: mark_replayed(table) for chosen, table in tables.items()}
        return ReleasedMarginals(tables=tables, basis=self.strategy, mechanism=self.mechanism)


def plan_marginals(workload: Marginals, losses: Mapping[str, Loss], reach: PersonReach) -> MarginalPlan:
    """Return the best of Gaussian and Laplace noise on the residual basis, and on the marginals themselves.

    For Gaussian noise no strategy is better than the residual basis.
    """
    makers = []
    for noise, loss in losses.items():
        strategies: list[ResidualBasis | MarginalTables] = [
            ResidualBasis(workload, norm=1 if noise == "Laplace" else 2)
        ]
        if noise == "Laplace":
            strategies.append(MarginalTables(workload))
        makers += [partial(_planned, strategy, noise, loss, reach) for strategy in strategies]
    return least_error(makers, lambda found: found.expected_error.total)


def _planned(
    strategy: ResidualBasis | MarginalTables, noise: str, loss: Loss, reach: PersonReach
) -> MarginalPlan:
    workload = strategy.workload
    size = reach.tables * strategy.measurements
    mechanism = mechanism_for(noise, loss, reach.sensitivity(strategy), size)
    unit = unit_variance(noise, loss, reach, single=strategy.measurements == 1) * (1 - _ROUNDING)
    variance = mechanism.error.variance
    return MarginalPlan(
        workload=workload,
        strategy=strategy,
        mechanism=mechanism,
        expected_error=ExpectedError(
            total=variance * strategy.trace(),
            queries=workload.queries,
            noise=variance,
            _worst=partial(_largest_variance, strategy),
        ),
        lower_bound=sqrt(unit * marginal_bound(workload) / workload.queries),
    )


def _largest_variance(strategy: ResidualBasis | MarginalTables) -> float:
    """Return the largest variance of a cell, for noise of variance 1: those of one marginal are alike."""
    return max(strategy.cell_variance(chosen) for chosen in strategy.workload.sets)


def _marginals(workload: Marginals, cells: Any) -> dict[Set, NDArray[Any]]:
    """Sum a table of all cells to the marginals of a workload.

    Cells are clamped to 2^29 - 1 first, so that no sum over at most 2^33 of them wraps around.
    """
    if workload.size > LARGEST_TABLE:
        raise ParameterError(
            "x",
            f"would be a table of {about(workload.size)} cells",
            f"at most {LARGEST_TABLE} cells; else the marginals, one table for each set",
        )
    table = clamped_counts(cells, workload.size).reshape(workload.shape)
    places = range(len(workload.shape))
    return {chosen: table.sum(axis=tuple(p for p in places if p not in chosen)) for chosen in workload.sets}
