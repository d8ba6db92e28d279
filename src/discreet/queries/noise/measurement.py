"""A strategy in a request: the counts of a table become noisy linear measurements, and only these leave."""

from __future__ import annotations

from dataclasses import field
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

import numpy as np

from discreet.curator.request.histogram import HistogramMechanism
from discreet.data import ContingencyTable, Histogram, Statistic
from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.rational import whole
from discreet.records import Record, dataclass
from discreet.workloads.algebra.sealing import make_read_only
from discreet.workloads.strategies.base import Strategy
from discreet.workloads.strategies.marginal_tables import TablePart
from discreet.workloads.strategies.residual_part import ResidualPart

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, RoundedGaussian

__all__ = ["Measurable", "StrategyMeasurement"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_PROBE_BITS = np.uint64(40)


class Measurable(Protocol):
    """An integer matrix that is applied to counts: a `Strategy`, or a part of one."""

    @property
    def size(self) -> int:
        """The number of its columns."""
        ...

    @property
    def measurements(self) -> int:
        """The number of its rows."""
        ...

    @property
    def column_norm1(self) -> int:
        """The largest sum of magnitudes in a column."""
        ...

    @property
    def squared_column_norm2(self) -> int:
        """The largest sum of squares in a column."""
        ...

    def measure(self, x: NDArray[Any], /) -> NDArray[np.int64]:
        """Return the product with counts."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StrategyMeasurement(Record, HistogramMechanism):
    """A strategy A applied to the table of every group, with independent noise on every integer.

    Guarantee
    ---------
    Let one person have n_b rows in the table of group b. A x then moves there by at most n_b times the
    largest column of A, in either norm. If the n_b add up to at most L1 and their squares to at most L2^2,
    all measurements together move by at most column_norm1 L1, and by at most squared_column_norm2 L2^2 in
    squared distance; noise for this much is what `covers` demands (proof: measurement).

    Attributes
    ----------
    strategy : Measurable
        The matrix.
    noise : Laplace or Gaussian
        Made for all groups together.
    cells : int
        How many groups there are.
    """

    strategy: Measurable
    noise: Laplace | Gaussian
    cells: int = 1
    _fingerprint: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        whole(self.cells, "cells", least=1)
        if not isinstance(self.strategy, Strategy | ResidualPart | TablePart):
            raise ParameterError("strategy", "is not one whose norms are proven", "one of `workloads`")
        if not isinstance(self.noise, Laplace | Gaussian):
            raise ParameterError("noise", "has another type", "Laplace or Gaussian")
        if not self.noise.lattice.integers or self.noise.size != self.cells * self.strategy.measurements:
            raise ParameterError(
                "noise", "is for another number of values", "integers, one for each measurement"
            )
        make_read_only(self.strategy)
        self._amend(_fingerprint=_fingerprint(self.strategy))

    @property
    def size(self) -> int:
        """How many integers are drawn: as many as A has rows, for each group."""
        return self.cells * self.strategy.measurements

    @property
    def event(self) -> DiscreteLaplace | DiscreteGaussian | RoundedGaussian:
        """The law of the noise."""
        return self.noise.event

    @property
    def identity(self) -> dict[str, object]:
        """A digest of the matrix, by its product with a fixed vector: another matrix is another request."""
        return {"strategy": self._fingerprint, "cells": self.cells}

    def covers(self, statistic: Statistic) -> bool:
        """Return whether the noise suffices for a table that moves so far."""
        measure, bound = statistic.measure, statistic.sensitivity
        if not isinstance(measure, ContingencyTable | Histogram) or measure.width != self.strategy.size:
            return False
        if self.noise.neighbors != bound.neighbors:
            return False
        if isinstance(self.noise, Laplace):
            return self.noise.event.sensitivity >= self.strategy.column_norm1 * bound.l1
        needed = self.strategy.squared_column_norm2 * bound.squared_l2
        return self.noise.event.squared_sensitivity >= needed

    def release(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Measure the table of each group, and add noise."""
        tables = np.asarray(counts, np.int64).reshape(self.cells, self.strategy.size)
        measured = np.concatenate([self.strategy.measure(table) for table in tables])
        return np.asanyarray(self.noise.release(measured), np.int64)

    def may_draw(self, steps: NDArray[np.int64]) -> bool:
        """Any integers may be drawn."""
        return len(steps) == self.size

    def __repr__(self) -> str:
        return f"{self.strategy!r} with {self.noise!r}"


def _fingerprint(strategy: Measurable) -> str:
    probe = (np.arange(1, strategy.size + 1, dtype=np.uint64) * _GOLDEN) >> _PROBE_BITS
    measured = strategy.measure(probe.astype(np.int64))
    return sha256(measured.astype("<i8").tobytes()).hexdigest()
