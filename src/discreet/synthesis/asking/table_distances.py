"""A private fidelity report: how far tables of the data are from those of a released model, with noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import log, prod, sqrt

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.curator.ledger import JsonValue
from discreet.curator.request.request import AnswerColumn, Expectation
from discreet.curator.request.statistics.base import AnswerKeys
from discreet.curator.request.tabulated_request import TableMechanism
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.events import Event
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record
from discreet.synthesis.asking.compared_model import model_digest
from discreet.synthesis.measuring.steps import SCORE_STEPS, TableNoise, distance
from discreet.synthesis.methods.base import MOST_CELLS_AT_ONCE, MOST_TABLE_CELLS
from discreet.synthesis.release.synthetic_data import SyntheticData

__all__ = ["MEAN", "TableDistances", "compared_sets"]

MEAN = "mean of all"
"""What the first line of a report is called."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableDistances(Record, TableMechanism):
    """The total variation of tables of the data from those of a model that was released before.

    Guarantee
    ---------
    rho-zCDP under add/remove of a person: of each table the L1 distance from a public one is an integer that
    a person moves by at most `SCORE_STEPS` times their rows; each is measured with discrete Gaussian noise of
    an equal share of rho (proof: docs/proofs/synthesis.md, Lemma 5).

    Finite precision
    ----------------
    Distances are whole multiples of 1/64 of a row: the model's table is rounded before it meets the exact
    one.

    Error
    -----
    That of `noise`, in steps, divided by twice the rows that the model says there are.

    Attributes
    ----------
    data : SyntheticData
        What was released.
    sets : tuple of tuples of int
        The columns of each table that is compared.
    rows : int
        How many rows of a person count.
    noise : TableNoise
        What is added to each distance, in steps.
    beside : tuple of SyntheticData
        Others of the same columns, each of which is compared with the data as well.
    """

    data: SyntheticData = field(repr=False)
    sets: tuple[tuple[int, ...], ...]
    rows: int
    noise: TableNoise
    beside: tuple[SyntheticData, ...] = field(default=(), repr=False)
    digests: tuple[str, ...] = field(init=False, repr=False)
    """What each compared model is, by a hash."""

    def __post_init__(self) -> None:
        found = tuple(
            model_digest(
                [one.method, one.total], one.measured, (one.model.table(chosen) for chosen in self.sets)
            )
            for one in self.compared
        )
        self._amend(digests=found)

    @classmethod
    def costing(
        cls,
        data: SyntheticData,
        rho: Fraction,
        rows: int,
        ways: int,
        beside: tuple[SyntheticData, ...] = (),
    ) -> TableDistances:
        """Return the report on all tables of so many columns that costs a rho."""
        if any(one.domain != data.domain for one in beside):
            raise ParameterError("beside", "has other columns or cells", "synthetic tables of the same cells")
        sets = compared_sets(data.domain.shape, ways)
        noise = TableNoise.costing(rho / (len(sets) * (1 + len(beside))), SCORE_STEPS * rows)
        return cls(data=data, sets=sets, rows=rows, noise=noise, beside=beside)

    @property
    def compared(self) -> tuple[SyntheticData, ...]:
        """All that are compared with the data, in order."""
        return (self.data, *self.beside)

    @property
    def output(self) -> str:
        """What the values are called."""
        return "total_variation"

    @property
    def event(self) -> Event:
        """One distance for each table of each model."""
        return self.noise.event * (len(self.sets) * len(self.compared))

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """What was released, by a hash of each model, and which tables are compared with it."""
        listed: list[JsonValue] = [list(one) for one in self.sets]
        first, *others = self.digests
        found: dict[str, JsonValue] = {"compared": first, "sets": listed}
        return found | ({"beside": [*others]} if others else {})

    @property
    def remark(self) -> str:
        """What is compared."""
        models = "a released model" if not self.beside else f"{len(self.compared)} released models"
        return f"{len(self.sets):,} tables of the data are compared with those of {models}"

    def covers(self, bound: Sensitivity) -> bool:
        """Return whether one person moves a table by no more rows than the noise was made for."""
        return bound.l1 <= self.rows

    def draw(self, tables: Sequence[Integers]) -> JsonValue:
        """Measure each distance."""
        found: list[JsonValue] = []
        listed = list(zip(self.sets, tables, strict=True))
        for place, (chosen, table) in product(range(len(self.compared)), listed):
            estimate = self.estimate(chosen, place)
            apart = distance(table.reshape(estimate.shape), estimate)
            noisy = self.noise.measured((0,), np.array([apart], np.int64)).counts
            found.append(int(noisy[0]))
        return found

    def estimate(self, columns: tuple[int, ...], place: int = 0) -> Floats:
        """Return a model's table of some columns: public."""
        return self.compared[place].model.table(columns)

    def finish(self, drawn: object, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return the total variation of every table with its interval; that of all on average first."""
        many = len(self.sets)
        if not isinstance(drawn, list) or len(drawn) != many * len(self.compared):
            raise ValueError("not one distance for each table")
        steps = np.array(drawn, np.int64).astype(np.float64).reshape(-1, many)
        values = np.hstack([steps.mean(axis=1, keepdims=True), steps])
        values /= np.array([[_scale(one)] for one in self.compared])
        widths = np.array([[self._margin(one, confidence)] for one in self.compared]) * np.ones(many + 1)
        widths[:, 0] /= sqrt(many)
        names = self.data.domain.names
        tables = [MEAN, *(", ".join(names[column] for column in chosen) for chosen in self.sets)]
        flat, margins = values.reshape(-1), widths.reshape(-1)
        column = AnswerColumn(name=self.output, values=flat, lower=flat - margins, upper=flat + margins)
        if not self.beside:
            return {"table": tables}, column
        methods = [one.method for one in self.compared for _ in tables]
        return {"method": methods, "table": tables * len(self.compared)}, column

    def expectations(self, confidence: Fraction, rows: int) -> tuple[Expectation, ...]:
        """Return the margin of each total variation."""
        return (
            Expectation(
                name=self.output,
                margin=self._margin(self.data, confidence),
                standard_deviation=sqrt(self.noise.variance) / _scale(self.data),
                assumes=f"{self.data.total:,} rows, as the released model says",
                means=f"of each of {len(self.sets):,} tables; that of their mean is the "
                f"{sqrt(len(self.sets)):.3g}th part",
            ),
        )

    def _margin(self, data: SyntheticData, confidence: Fraction) -> float:
        """Return half the width of an interval: noise of variance v is sub-Gaussian with it."""
        return sqrt(2 * self.noise.variance * log(2 / float(1 - confidence))) / _scale(data)


def _scale(data: SyntheticData) -> float:
    """Return how many steps are a total variation of 1."""
    return 2.0 * SCORE_STEPS * data.total


def compared_sets(shape: Sequence[int], ways: int) -> tuple[tuple[int, ...], ...]:
    """Return the sets of so many columns whose tables are small enough to be counted."""
    found = tuple(
        chosen
        for chosen in combinations(range(len(shape)), min(ways, len(shape)))
        if prod(shape[column] for column in chosen) <= MOST_TABLE_CELLS
    )
    cells = sum(prod(shape[column] for column in chosen) for chosen in found)
    if not found or cells > MOST_CELLS_AT_ONCE:
        raise UnsupportedQuery(
            f"{len(found):,} tables of {cells:,} cells cannot be compared at once; at most "
            f"{MOST_CELLS_AT_ONCE:,} cells can: take ways=1, fewer columns or wider cells"
        )
    return found
