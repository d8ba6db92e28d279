"""A private fidelity report: how far tables of the data are from those of a released model, with noise."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import log, prod, sqrt

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.curator.ledger import JsonValue
from discreet.curator.request.request import AnswerColumn, Expectation
from discreet.curator.request.statistics.base import AnswerKeys
from discreet.curator.request.tabulated_request import TableMechanism
from discreet.errors import UnsupportedQuery
from discreet.privacy.events import Event
from discreet.privacy.sensitivity import Sensitivity
from discreet.synthesis.measuring.steps import SCORE_STEPS, TableNoise, distance
from discreet.synthesis.methods.base import MOST_CELLS_AT_ONCE, MOST_TABLE_CELLS
from discreet.synthesis.release.synthetic_data import SyntheticData

__all__ = ["MEAN", "TableDistances", "compared_sets"]

MEAN = "mean of all"
"""What the first line of a report is called."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableDistances(TableMechanism):
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
    """

    data: SyntheticData = field(repr=False)
    sets: tuple[tuple[int, ...], ...]
    rows: int
    noise: TableNoise

    @classmethod
    def costing(cls, data: SyntheticData, rho: Fraction, rows: int, ways: int) -> TableDistances:
        """Return the report on all tables of so many columns that costs a rho."""
        sets = compared_sets(data.domain.shape, ways)
        noise = TableNoise.costing(rho / len(sets), SCORE_STEPS * rows)
        return cls(data=data, sets=sets, rows=rows, noise=noise)

    @property
    def output(self) -> str:
        """What the values are called."""
        return "total_variation"

    @property
    def event(self) -> Event:
        """One distance for each table."""
        return self.noise.event * len(self.sets)

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """What was released, by a hash of the measured counts, and which tables are compared with it."""
        measured = [[list(one.columns), one.counts.reshape(-1).tolist()] for one in self.data.measured]
        content = json.dumps([self.data.method, measured], separators=(",", ":")).encode()
        listed: list[JsonValue] = [list(one) for one in self.sets]
        return {"compared": hashlib.sha256(content).hexdigest(), "sets": listed}

    @property
    def remark(self) -> str:
        """What is compared."""
        return f"{len(self.sets):,} tables of the data are compared with those of a released model"

    def covers(self, bound: Sensitivity) -> bool:
        """Return whether one person moves a table by no more rows than the noise was made for."""
        return bound.l1 <= self.rows

    def draw(self, tables: Sequence[Integers]) -> JsonValue:
        """Measure each distance."""
        found: list[JsonValue] = []
        for chosen, table in zip(self.sets, tables, strict=True):
            estimate = self.estimate(chosen)
            apart = distance(table.reshape(estimate.shape), estimate)
            noisy = self.noise.measured((0,), np.array([apart], np.int64)).counts
            found.append(int(noisy[0]))
        return found

    def estimate(self, columns: tuple[int, ...]) -> Floats:
        """Return the model's table of some columns: public."""
        return self.data.model.table(columns)

    def finish(self, drawn: object, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return the total variation of every table with its interval; that of all on average first."""
        if not isinstance(drawn, list) or len(drawn) != len(self.sets):
            raise ValueError("not one distance for each table")
        steps = np.array(drawn, np.int64).astype(np.float64)
        scale, margin = self._scale, self._margin(confidence)
        values = np.concatenate([[steps.mean()], steps]) / scale
        widths = np.full(len(values), margin)
        widths[0] = margin / sqrt(len(self.sets))
        names = self.data.domain.names
        tables = [", ".join(names[column] for column in chosen) for chosen in self.sets]
        column = AnswerColumn(name=self.output, values=values, lower=values - widths, upper=values + widths)
        return {"table": [MEAN, *tables]}, column

    def expectations(self, confidence: Fraction, rows: int) -> tuple[Expectation, ...]:
        """Return the margin of each total variation."""
        return (
            Expectation(
                name=self.output,
                margin=self._margin(confidence),
                standard_deviation=sqrt(self.noise.variance) / self._scale,
                assumes=f"{self.data.total:,} rows, as the released model says",
                means=f"of each of {len(self.sets):,} tables; that of their mean is the "
                f"{sqrt(len(self.sets)):.3g}th part",
            ),
        )

    @property
    def _scale(self) -> float:
        """How many steps are a total variation of 1."""
        return 2.0 * SCORE_STEPS * self.data.total

    def _margin(self, confidence: Fraction) -> float:
        """Return half the width of an interval: noise of variance v is sub-Gaussian with it."""
        return sqrt(2 * self.noise.variance * log(2 / float(1 - confidence))) / self._scale


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
