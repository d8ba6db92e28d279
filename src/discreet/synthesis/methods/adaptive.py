"""Adaptive selection: round by round, the table that the model gets most wrong is chosen and measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import pi, prod, sqrt
from typing import TypeVar

from discreet.array_types import Integers
from discreet.curator.ledger import JsonValue
from discreet.data.tables.row_facts import RowFact
from discreet.errors import ParameterError
from discreet.privacy.events import Event
from discreet.privacy.rational import Number, whole
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.measuring.column_noises import column_noises
from discreet.synthesis.measuring.exact_tables import ExactTables, FoldedTables
from discreet.synthesis.measuring.stated_rho import StatedRho
from discreet.synthesis.measuring.steps import SCORE_STEPS, TableChoice, TableNoise, distance, whole_scores
from discreet.synthesis.methods.base import (
    MOST_TABLE_CELLS,
    CheckedTerms,
    Synthesizer,
    all_pairs,
    checked_terms,
)
from discreet.synthesis.methods.model_facts import ModelFacts
from discreet.synthesis.models.fact_joins import FactJoins
from discreet.synthesis.models.folding import FoldedModel
from discreet.synthesis.models.growing_model import GrowingModel
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.release.synthetic_data import SyntheticData

__all__ = ["Adaptive", "WeightedSets"]

WeightedSets = Iterable[Sequence[str]] | Mapping[tuple[str, ...], int]
"""Sets of columns; or their weights, whole numbers."""

_Set = TypeVar("_Set")
_COLUMNS, _CHOICES = Fraction(2, 5), Fraction(1, 10)
"""The share of rho for the columns; of each round, for its choice."""
_MOST_SETS = 5_000
_MOST_WEIGHT = 1_000
_TREE_CELLS = 1 << 15
_STEPS, _LAST_STEPS = 40, 400


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Adaptive(Synthesizer):
    """Make synthetic rows from tables of columns that are chosen one after the other.

    Every column is measured. Then, in each round, one table of the workload is chosen: likely one from which
    the model of all measurements so far is far, in rows, beyond what noise would add. It is measured, and the
    model is fitted again (in the manner of AIM: McKenna, Mullins, Sheldon & Miklau 2022, with rounds that are
    fixed in advance).

    Parameters
    ----------
    columns, epsilon, delta, rho, rows, facts
        As for `Independent`.
    workload : iterable of sets of columns, or mapping of sets to whole numbers, optional
        The tables that should be right, perhaps with weights from 1 to 1,000; by default all pairs.
    rounds : int, optional
        How many tables are measured; by default twice as many as there are columns.
    tree_cells : int
        How many numbers the model may hold: a set that would need a larger junction tree is not chosen.

    Guarantee
    ---------
    rho-zCDP under add/remove of a person, and hence the stated (epsilon, delta): each choice is one of the
    exponential mechanism on whole scores, each measurement has discrete Gaussian noise, and which tables
    they are about depends on earlier answers only (proof: docs/proofs/synthesis.md).

    Finite precision
    ----------------
    As for `SpanningTree`. Weights are whole numbers, and multiply the sensitivity of scores by the largest.

    Error
    -----
    Each noisy count has the error of its `column_noises` or `table_noise`.

    Examples
    --------
    >>> import discreet as dp
    >>> from discreet.synthesis import Adaptive
    >>> columns = {"age": dp.Bounds(0, 99), "sex": dp.Keys(["f", "m"]), "city": dp.Keys(["Taipei", "Lagos"])}
    >>> weights = {("age", "sex"): 2, ("sex", "city"): 1}
    >>> mechanism = Adaptive(columns=columns, rho=1, workload=weights, rounds=4)
    >>> float(mechanism.event.concentrated_rho) <= 1
    True
    """

    domain: CodedColumns
    facts: ModelFacts
    rows: int
    stated: StatedRho
    workload: tuple[tuple[tuple[int, ...], int], ...]
    """The sets of columns that may be chosen, and their weights."""
    rounds: int
    tree_cells: int
    column_noises: tuple[TableNoise, ...]
    choice: TableChoice | None
    table_noise: TableNoise | None

    def __init__(
        self,
        *,
        columns: object,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        rows: int = 1,
        workload: WeightedSets | None = None,
        rounds: int | None = None,
        tree_cells: int = _TREE_CELLS,
        facts: Iterable[RowFact] | RowFact | None = None,
    ) -> None:
        terms = checked_terms(columns, facts, epsilon, delta, rho, rows)
        domain, held = terms.domain, terms.rows
        most = whole(tree_cells, "tree_cells", least=2, most=1 << 26)
        weighted = _weighted(terms, workload, most)
        times = 2 * len(domain.shape) if rounds is None else whole(rounds, "rounds", least=1, most=1000)
        times = times if weighted else 0
        first = terms.rho * _COLUMNS if times else terms.rho
        each = (terms.rho - first) / max(times, 1)
        largest = max((weight for _, weight in weighted), default=1)
        self._set(
            domain=domain,
            facts=terms.facts,
            rows=held,
            stated=terms.stated,
            workload=weighted,
            rounds=times,
            tree_cells=most,
            column_noises=column_noises(domain.shape, first, held),
            choice=TableChoice.costing(each * _CHOICES, held, largest) if times else None,
            table_noise=TableNoise.costing(each * (1 - _CHOICES), held) if times else None,
        )

    @property
    def event(self) -> Event:
        """All columns, and all rounds."""
        return self.with_rounds(self.choice, self.table_noise, self.rounds)

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Each column, and the workload."""
        single = tuple((column,) for column in range(len(self.domain.shape)))
        return (*single, *(chosen for chosen, _ in self.workload if len(chosen) > 1))

    @property
    def options(self) -> dict[str, JsonValue]:
        """The workload with its weights, rounds, and the size of the model."""
        listed: list[JsonValue] = [[list(chosen), weight] for chosen, weight in self.workload]
        stated: dict[str, JsonValue] = {"workload": listed, "rounds": self.rounds}
        return {**stated, "tree_cells": self.tree_cells, **self.facts.options}

    @property
    def steps(self) -> tuple[str, ...]:
        """What is measured and chosen."""
        first = self.columns_measured
        if self.table_noise is None:
            return (first, *self.facts.steps)
        return (
            first,
            f"in {self.rounds} rounds one of {len(self.workload):,} tables is chosen, by the model's error",
            f"it is measured, noise of deviation {self.table_noise.variance**0.5:.4g}; the model holds at "
            f"most {self.tree_cells:,} numbers",
            *self.facts.steps,
        )

    @property
    def variances(self) -> tuple[float, ...]:
        """Of the columns, and of the chosen tables."""
        later = () if self.table_noise is None else (self.table_noise.variance,) * self.rounds
        return tuple(noise.variance for noise in self.column_noises) + later + self.bought_variances

    def release(self, rows: object) -> SyntheticData:
        """Return a synthetic table for rows, unless all tables together have too many cells to be held."""
        self.check_cells()
        return Synthesizer.release(self, rows)

    def draw(self, tables: ExactTables) -> tuple[MeasuredTable, ...]:
        """Measure the columns; then choose and measure a table in each round."""
        found = list(self.measured_columns(tables))
        if self.choice is None or self.table_noise is None:
            return (*found, *self.measured_mappings(tables))
        folds = self.folds(found)
        folded = FoldedTables(tables=tables, folds=folds)
        exact = {chosen: folded.table(chosen) for chosen, _ in self.workload}
        model = self.begun(found, folds, _STEPS)
        for number in range(self.rounds):
            fits = self._fitting(model, number)
            scores = self.scores({chosen: exact[chosen] for chosen, _ in fits}, model, dict(fits))
            chosen, _ = fits[self.choice.chosen(scores)]
            measured = self.table_noise.measured(chosen, exact[chosen])
            found.append(measured)
            model = model.with_measured(measured, _STEPS)
        return (*found, *self.measured_mappings(tables))

    def scores(
        self,
        exact: Mapping[tuple[int, ...], Integers],
        model: GrowingModel,
        weights: Mapping[tuple[int, ...], int],
    ) -> Integers:
        """Return how far each table is from the model's, beyond the noise of measuring it. Private."""
        assert self.table_noise is not None  # noqa: S101
        noise = sqrt(self.table_noise.variance * 2 / pi)
        estimates = model.tables(exact)
        return whole_scores(
            [
                weights[chosen]
                * (distance(table, estimates[chosen]) - round(SCORE_STEPS * noise * table.size))
                for chosen, table in exact.items()
            ]
        )

    def _fitting(self, model: GrowingModel, number: int) -> list[tuple[tuple[int, ...], int]]:
        """Return what may be chosen in a round: what the model has room for, more of it in later rounds."""
        taken = model.possible.cells_with([]) if model.possible.zeros else 0  # by what facts join
        room = taken + (self.tree_cells - taken) * (number + 1) // self.rounds
        fits = [one for one in self.workload if model.holds(one[0]) or model.cells_with(one[0]) <= room]
        if fits:
            return fits
        least = min(self.workload, key=lambda one: model.cells_with(one[0]))
        return [least]

    def model(self, measured: Sequence[MeasuredTable]) -> FoldedModel:
        """Return the model that is closest to all measurements."""
        many = len(self.domain.shape)
        folds = self.folds(measured[:many])
        last = self.begun(measured[:many], folds, _STEPS).with_all(measured[many:], _LAST_STEPS)
        possible = self.facts.possible
        return FoldedModel(model=last.model, folds=folds, possible=possible if possible.zeros else None)


def _weighted(
    terms: CheckedTerms, workload: WeightedSets | None, most: int
) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Return sets of columns and their weights; refuse what no model of the size could hold.

    Facts join columns in the model, too: a pair that does not fit beside them is never chosen.
    """
    domain, possible = terms.domain, terms.facts.possible
    if possible.zeros and possible.cells_with([]) > most:
        raise ParameterError(
            "facts",
            f"need a model of {possible.cells_with([]):,} numbers",
            f"at most {most:,}; take wider cells, facts about fewer columns, or a larger tree_cells",
        )
    if workload is None:
        pairs = _few(all_pairs(domain.shape))
        if possible.zeros:
            joins = FactJoins.of(possible)
            pairs = tuple(pair for pair in pairs if joins.size_with(pair) <= most)
        return tuple((pair, 1) for pair in pairs)
    if not isinstance(workload, Mapping):
        workload = dict.fromkeys((tuple([one] if isinstance(one, str) else one) for one in workload), 1)
    found: dict[tuple[int, ...], int] = {}
    for names, weight in workload.items():
        chosen = terms.facts.places(domain, names)
        found[chosen] = whole(weight, "workload", least=1, most=_MOST_WEIGHT)
        cells = prod(domain.shape[column] for column in chosen)
        joined = possible.cells_with([chosen]) if possible.zeros and cells <= most else 0
        if max(cells, joined) > min(MOST_TABLE_CELLS, most):
            beside = f", which needs a model of {joined:,} beside the facts" if joined else ""
            raise ParameterError(
                "workload",
                f"has a table of {cells:,} cells{beside}",
                f"tables of at most {min(MOST_TABLE_CELLS, most):,}; take fewer columns, or wider cells",
            )
    return _few(found.items())


def _few(sets: Iterable[_Set]) -> tuple[_Set, ...]:
    """Return sets of columns, or refuse them if they are too many."""
    listed = tuple(sets)
    if len(listed) > _MOST_SETS:
        raise ParameterError(
            "workload",
            f"has {len(listed):,} tables, each of which is compared with the model in every round",
            f"at most {_MOST_SETS:,}; name the pairs that matter, or take SpanningTree",
        )
    return listed
