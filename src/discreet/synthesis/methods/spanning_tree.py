"""Maximum spanning tree: the pairs of columns that depend on each other most are chosen and measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats, Integers
from discreet.data.tables.row_facts import RowFact
from discreet.privacy.events import Event
from discreet.privacy.rational import Number
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.measuring.column_noises import column_noises
from discreet.synthesis.measuring.exact_tables import ExactTables, FoldedTables
from discreet.synthesis.measuring.stated_rho import StatedRho
from discreet.synthesis.measuring.steps import TableChoice, TableNoise, distance, whole_scores
from discreet.synthesis.methods.base import Synthesizer, all_pairs, checked_terms
from discreet.synthesis.methods.model_facts import ModelFacts
from discreet.synthesis.models.fact_joins import FactJoins, merged
from discreet.synthesis.models.folding import FoldedModel, JoinedCells, folded_measured
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.tree_fit import column_tables, fitted_tree

__all__ = ["SpanningTree"]

_COLUMNS, _CHOICES = Fraction(2, 5), Fraction(1, 10)
"""The shares of rho for the columns and for the choices; the rest is for the pairs."""
_TREE_CELLS = 1 << 18
"""How many numbers a model under declared facts holds: pairs that need more are not chosen."""
_STEPS, _LAST_STEPS = 40, 400


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class SpanningTree(Synthesizer):
    """Make synthetic rows from a tree of pairs of columns, chosen privately.

    Every column is measured. A pair's score is how far its table is from that of independent columns; pairs
    are chosen one after the other, each joining columns that were not joined before, until all are (McKenna,
    Miklau & Sheldon 2021, as MST). The chosen pairs are measured. The model is in closed form.

    Parameters
    ----------
    columns, epsilon, delta, rho, rows, facts
        As for `Independent`.

    Guarantee
    ---------
    rho-zCDP under add/remove of a person, and hence the stated (epsilon, delta): the columns' tables and the
    chosen pairs' with discrete Gaussian noise, and each choice by the exponential mechanism on whole scores
    that a row moves by one row at most (proof: docs/proofs/synthesis.md). Two fifths of rho are for the
    columns, a tenth for the choices, and half for the pairs.

    Finite precision
    ----------------
    As for `Independent`. Scores are whole multiples of 1/64 of a row: the public estimate is rounded before
    it meets the exact table.

    Error
    -----
    Each noisy count has the error of its `column_noises` or `pair_noise`. What pairs outside the tree have in
    common beyond the tree is not measured.

    Examples
    --------
    >>> import discreet as dp
    >>> from discreet.synthesis import SpanningTree
    >>> columns = {"age": dp.Bounds(0, 99), "sex": dp.Keys(["f", "m"]), "city": dp.Keys(["Taipei", "Lagos"])}
    >>> SpanningTree(columns=columns, epsilon=1, delta=1e-9).guarantee
    ApproximateDP(epsilon=1, delta=1e-9)
    """

    domain: CodedColumns
    facts: ModelFacts
    rows: int
    stated: StatedRho
    pairs: tuple[tuple[int, int], ...]
    """The pairs that may be chosen: those with small enough tables."""
    edges: int
    """How many are chosen."""
    column_noises: tuple[TableNoise, ...]
    choice: TableChoice | None
    pair_noise: TableNoise | None

    def __init__(
        self,
        *,
        columns: object,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        rows: int = 1,
        facts: Iterable[RowFact] | RowFact | None = None,
    ) -> None:
        terms = checked_terms(columns, facts, epsilon, delta, rho, rows)
        domain, held = terms.domain, terms.rows
        pairs = all_pairs(domain.shape)
        possible = terms.facts.possible
        if possible.zeros:
            pairs = _beside_facts(FactJoins.of(possible), pairs)
        edges = _joins(len(domain.shape), pairs)
        first = terms.rho * _COLUMNS if edges else terms.rho
        rest = terms.rho * (1 - _COLUMNS - _CHOICES)
        self._set(
            domain=domain,
            facts=terms.facts,
            rows=held,
            stated=terms.stated,
            pairs=pairs,
            edges=edges,
            column_noises=column_noises(domain.shape, first, held),
            choice=TableChoice.costing(terms.rho * _CHOICES / edges, held) if edges else None,
            pair_noise=TableNoise.costing(rest / edges, held) if edges else None,
        )

    @property
    def event(self) -> Event:
        """All columns, all choices, and all chosen pairs."""
        return self.with_rounds(self.choice, self.pair_noise, self.edges)

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Each column, and the pairs that may be chosen."""
        return (*((column,) for column in range(len(self.domain.shape))), *self.pairs)

    @property
    def steps(self) -> tuple[str, ...]:
        """What is measured and chosen."""
        first = self.columns_measured
        if self.pair_noise is None:
            return (first, *self.facts.steps)
        return (
            first,
            f"{self.edges} of {len(self.pairs):,} pairs are chosen, by how far they are from independent",
            f"their tables are measured, noise of deviation {self.pair_noise.variance**0.5:.4g}",
            *self.facts.steps,
        )

    @property
    def variances(self) -> tuple[float, ...]:
        """Of the columns, and of the pairs."""
        pairs = () if self.pair_noise is None else (self.pair_noise.variance,) * self.edges
        return tuple(noise.variance for noise in self.column_noises) + pairs + self.bought_variances

    def draw(self, tables: ExactTables) -> tuple[MeasuredTable, ...]:
        """Measure the columns, choose pairs, and measure them."""
        columns = self.measured_columns(tables)
        if self.choice is None or self.pair_noise is None:
            return (*columns, *self.measured_mappings(tables))
        folds = self.folds(columns)
        folded = FoldedTables(tables=tables, folds=folds)
        chosen = self._chosen(self.scores(folded, columns), self.choice, self._joins(folds))
        pairs = [self.pair_noise.measured(pair, folded.table(pair)) for pair in chosen]
        return (*columns, *pairs, *self.measured_mappings(tables))

    def scores(self, tables: FoldedTables, columns: Sequence[MeasuredTable]) -> Integers:
        """Return for every pair how far its table is from that of independent columns. Private.

        Under declared facts it is that of columns which are as independent as the facts permit.
        """
        joins = self._joins(tables.folds)
        joint: dict[tuple[int, ...], Floats] = {}
        if joins is None:
            joined = [folded_measured(one, tables.folds) for one in columns]
            alone, total = column_tables([fold.cells for fold in tables.folds], joined)
        else:
            model = self.begun(columns, tables.folds, _STEPS)
            alone, total = [model.model.table((column,)) for column in range(len(columns))], model.model.total
            joint = model.tables(pair for pair in self.pairs if joins.parts[pair[0]] == joins.parts[pair[1]])
        estimates = {
            (one, other): joint.get((one, other), np.outer(alone[one], alone[other]) / total)
            for one, other in self.pairs
        }
        return whole_scores([distance(tables.table(pair), estimates[pair]) for pair in self.pairs])

    def _joins(self, folds: Sequence[JoinedCells]) -> FactJoins | None:
        """Return what declared facts join in the model, if there are any."""
        possible = self.facts.possible
        return FactJoins.of(possible.joined([fold.places for fold in folds])) if possible.zeros else None

    def _chosen(
        self, scores: Integers, choice: TableChoice, joins: FactJoins | None
    ) -> list[tuple[int, int]]:
        """Choose pairs that join what was not joined, one after the other.

        Columns that facts join are joined already, and only pairs within a fact are chosen among them. Where
        no other pair is left, or has room in the model, one of those before is chosen again: how often
        something is chosen and measured is fixed in advance.
        """
        part: Sequence[int] = range(len(self.domain.shape))
        room = None if joins is None else Room.of(joins, self.pairs)
        found: list[int] = []
        for _ in range(self.edges):
            places = [place for place, (one, other) in enumerate(self.pairs) if part[one] != part[other]]
            if room is not None:
                fits = room.has()
                places = [place for place in places if fits[place]] or [*dict.fromkeys(found)] or places
            place = places[choice.chosen(scores[places])]
            found.append(place)
            part = merged(part, *self.pairs[place])
            room = None if room is None else room.after(place)
        return [self.pairs[place] for place in found]

    def model(self, measured: Sequence[MeasuredTable]) -> FoldedModel:
        """Return the tree of the chosen pairs, in closed form; under declared facts, by descent."""
        many = len(self.domain.shape)
        folds = self.folds(measured[:many])
        possible = self.facts.possible
        if possible.zeros:
            grown = self.begun(measured[:many], folds, _STEPS).with_all(measured[many:], _LAST_STEPS)
            return FoldedModel(model=grown.model, folds=folds, possible=possible)
        joined = [folded_measured(one, folds) for one in measured[:many]]
        model = fitted_tree([fold.cells for fold in folds], [*joined, *measured[many:]])
        return FoldedModel(model=model, folds=folds)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Room:
    """What a model of facts and of pairs chosen so far has room for.

    Attributes
    ----------
    pairs : array of integers
        The pairs, one in each line.
    within : array of truth values
        Whether a pair lies within a clique of facts, and needs no room.
    sizes : array of integers
        How many numbers it needs otherwise.
    parts : array of integers
        For each column, its part: columns of one part are joined.
    left : int
        How many numbers there is still room for.
    """

    pairs: Integers
    within: NDArray[np.bool_]
    sizes: Integers
    parts: Integers
    left: int

    @classmethod
    def of(cls, joins: FactJoins, pairs: Sequence[tuple[int, int]]) -> Room:
        """Return what a model of facts alone has room for."""
        listed = np.array(pairs, np.int64).reshape(-1, 2)
        shape = np.array(joins.possible.shape)
        return cls(
            pairs=listed,
            within=np.array([joins.together(one, other) for one, other in pairs], bool),
            sizes=shape[listed[:, 0]] * shape[listed[:, 1]],
            parts=np.array(joins.parts),
            left=_TREE_CELLS - joins.cells,
        )

    def has(self) -> NDArray[np.bool_]:
        """Return for each pair whether it lies within a fact, or joins two parts and is small enough."""
        apart = self.parts[self.pairs[:, 0]] != self.parts[self.pairs[:, 1]]
        return np.asarray(self.within | (apart & (self.sizes <= self.left)), bool)

    def after(self, place: int) -> Room:
        """Return what is left after a pair was chosen."""
        one, other = self.parts[self.pairs[place]]
        more = 0 if self.within[place] else int(self.sizes[place])
        parts = np.where(self.parts == other, one, self.parts)
        return replace(self, parts=parts, left=self.left - more)


def _beside_facts(joins: FactJoins, pairs: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the pairs that may be chosen beside facts: within one, or of two parts and small enough."""
    return tuple(pair for pair, fits in zip(pairs, Room.of(joins, pairs).has(), strict=True) if fits)


def _joins(columns: int, pairs: Sequence[tuple[int, int]]) -> int:
    """Return how many pairs a spanning forest of columns has."""
    part: Sequence[int] = range(columns)
    for one, other in pairs:
        if part[one] != part[other]:
            part = merged(part, one, other)
    return columns - len(set(part))
