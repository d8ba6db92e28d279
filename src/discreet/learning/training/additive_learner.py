"""An additive classifier as a learner: bins are bought first, and then the weights of all steps together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.curator.ledger import JsonValue
from discreet.curator.request.learner import Drawn, Learner
from discreet.curator.request.request import Expectation
from discreet.learning.design.bins import CELLS, cell_counts, chosen_edges, most_bins
from discreet.learning.design.features import BinnedColumn, Features, NumberColumn
from discreet.learning.design.indicator_rows import IndicatorRows
from discreet.learning.design.row_grid import RowGrid
from discreet.learning.design.targets import Classes
from discreet.learning.training.budgets import TrainingBudget
from discreet.learning.training.newton_learner import (
    newton_expectations,
    newton_parameters,
    newton_words,
    rows_of_classes,
)
from discreet.learning.training.noisy_newton import NoisyNewton
from discreet.learning.training.score_losses import ScoreLoss
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise import current
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record

__all__ = ["AdditiveLearner", "indicator_rows"]

_BINS_SHARE = Fraction(1, 20)


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class AdditiveLearner(Learner, Record):
    """Buy bins of the columns of numbers, then fit a weight for each bin and each key.

    Parameters
    ----------
    features : Features
        Some of them numbers.
    target : Classes
    loss : ScoreLoss
    budget : TrainingBudget
        A twentieth is for the bins.
    rows : int
        How many rows a person has at most.
    bins : int
        How many bins a column of numbers has, about.

    Guarantee
    ---------
    That of the budget. A row adds 1 to one cell of each of c columns, so a person with r rows moves the
    histogram by r c in L1 and r sqrt(c) in L2. Then come the Newton steps of rows whose coordinates are a
    function of what was released. They are made for as many coordinates as bins can have, `most_bins`, so
    that the event is known before any bin is (proof: docs/proofs/noisy_newton.md, proposition 5).

    Finite precision
    ----------------
    That of `NoisyNewton`; the histogram is one of integers.

    Error
    -----
    See `expectations`.
    """

    kind: ClassVar[str] = "additive_steps"

    features: Features
    target: Classes
    bins: int
    histogram: Laplace | Gaussian
    """The noise on the cells of all columns of numbers."""
    newton: NoisyNewton
    guarantee: Guarantee

    def __init__(
        self,
        *,
        features: Features,
        target: Classes,
        loss: ScoreLoss,
        budget: TrainingBudget,
        rows: int,
        bins: int,
    ) -> None:
        held = whole(rows, "rows", least=1, most=2**20)
        wanted = whole(bins, "bins", least=2, most=CELLS)
        count = sum(isinstance(one, NumberColumn) for one in features.columns)
        sensitivity = Sensitivity(
            l0=count * held,
            l1=count * held,
            squared_l2=count * held**2,
            linf=held,
            neighbors=ADD_REMOVE_PERSON,
        )
        width = len(features.names) - count + count * most_bins(wanted)
        self._set(
            features=features,
            target=target,
            bins=wanted,
            histogram=budget.share(_BINS_SHARE).noise(sensitivity, count * CELLS),
            newton=NoisyNewton(
                grid=features.grid_of(width + 1), loss=loss, budget=budget.share(1 - _BINS_SHARE), rows=held
            ),
            guarantee=budget.guarantee,
        )

    @property
    def event(self) -> Event:
        """The release of the histogram, and that of the Newton steps."""
        return self.histogram.event + self.newton.event

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """Columns, classes, bins, loss and plan."""
        return {
            "features": self.features.parameters,
            "target": self.target.parameters,
            "bins": self.bins,
            **newton_parameters(self.newton),
        }

    @property
    def words(self) -> str:
        """What it runs."""
        return f"bins from a noisy histogram of {CELLS} cells, then {newton_words(self.newton)}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The features, and the target."""
        return (*(column.name for column in self.features.columns), self.target.name)

    @property
    def rows(self) -> int:
        """Those of the Newton steps."""
        return self.newton.rows

    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Return the edges of bins of each column of numbers, and the weights of all coordinates."""
        held, known, numbers = rows_of_classes(self.target, values)
        edges = self._bought_edges(held, known)
        rows = indicator_rows(self.binned(edges), held, self.newton.grid, known)
        return {"edges": edges, "weights": self.newton.release_steps(rows, numbers).tolist()}

    def _bought_edges(self, held: Sequence[NDArray[Any]], known: NDArray[np.bool_]) -> list[list[float]]:
        every = zip(self.features.columns, held, strict=True)
        numbers = [(column, one) for column, one in every if isinstance(column, NumberColumn)]
        columns = [column for column, _ in numbers]
        exact = cell_counts(columns, (one[known] for _, one in numbers))
        released = self.histogram.release(exact.ravel())
        counts = current().mark(np.asarray(released, dtype=np.float64)).reshape(len(columns), CELLS)
        pairs = zip(columns, counts, strict=True)
        return [chosen_edges(column, of_column, self.bins).tolist() for column, of_column in pairs]

    def binned(self, edges: Sequence[Sequence[float]]) -> Features:
        """Return the features with the bins that were bought."""
        bought = iter(edges)
        return Features(
            columns=tuple(
                BinnedColumn(column=one, edges=np.asarray(next(bought), dtype=np.float64))
                if isinstance(one, NumberColumn)
                else one
                for one in self.features.columns
            )
        )

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return the noise in the means that the weights are computed from."""
        return newton_expectations(self.newton, rows)


def indicator_rows(
    features: Features, values: Sequence[NDArray[Any]], grid: RowGrid, known: NDArray[np.bool_]
) -> IndicatorRows:
    """Return the rows of `Features.rows` by their places: every coordinate of bins and keys is 0 or one step.

    A row has one place in each column, or none, and the intercept; its step is the longest row divided by the
    root of as many, rounded, and `RowGrid.row_steps` leaves room for that: no row is too long.
    """
    columns = [one for one in features.columns if not isinstance(one, NumberColumn)]
    width = features.coordinates.width
    places = np.full((int(known.sum()), len(columns) + 1), width, dtype=np.int16)
    first = 0
    for number, (column, held) in enumerate(zip(columns, values, strict=True)):
        found = column.places(held[known])
        places[:, number] = np.where(found < 0, width + 1, found + first)
        first += column.width
    return IndicatorRows(places, width + 1, int(np.rint(grid.row_steps / float(grid.largest))))
