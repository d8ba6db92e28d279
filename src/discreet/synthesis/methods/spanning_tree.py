"""Maximum spanning tree: the pairs of columns that depend on each other most are chosen and measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.array_types import Integers
from discreet.privacy.events import Event, compose
from discreet.privacy.rational import Number
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.measuring.column_noises import column_noises
from discreet.synthesis.measuring.exact_tables import ExactTables, FoldedTables
from discreet.synthesis.measuring.stated_rho import StatedRho
from discreet.synthesis.measuring.steps import TableChoice, TableNoise, distance, whole_scores
from discreet.synthesis.methods.base import Synthesizer, all_pairs, checked_terms
from discreet.synthesis.models.folding import FoldedModel, folded_measured
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.tree_fit import column_tables, fitted_tree

__all__ = ["SpanningTree"]

_COLUMNS, _CHOICES = Fraction(2, 5), Fraction(1, 10)
"""The shares of rho for the columns and for the choices; the rest is for the pairs."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class SpanningTree(Synthesizer):
    """Make synthetic rows from a tree of pairs of columns, chosen privately.

    Every column is measured. A pair's score is how far its table is from that of independent columns; pairs
    are chosen one after the other, each joining columns that were not joined before, until all are (McKenna,
    Miklau & Sheldon 2021, as MST). The chosen pairs are measured. The model is in closed form.

    Parameters
    ----------
    columns, epsilon, delta, rho, rows
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
    ) -> None:
        domain, spent, held = checked_terms(columns, epsilon, delta, rho, rows)
        pairs = all_pairs(domain.shape)
        edges = _joins(len(domain.shape), pairs)
        first = spent.rho * _COLUMNS if edges else spent.rho
        rest = spent.rho * (1 - _COLUMNS - _CHOICES)
        self._set(
            domain=domain,
            rows=held,
            stated=spent,
            pairs=pairs,
            edges=edges,
            column_noises=column_noises(domain.shape, first, held),
            choice=TableChoice.costing(spent.rho * _CHOICES / edges, held) if edges else None,
            pair_noise=TableNoise.costing(rest / edges, held) if edges else None,
        )

    @property
    def event(self) -> Event:
        """All columns, all choices, and all chosen pairs."""
        columns = compose([noise.event for noise in self.column_noises])
        if self.choice is None or self.pair_noise is None:
            return columns
        return compose([columns, self.choice.event * self.edges, self.pair_noise.event * self.edges])

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Each column, and the pairs that may be chosen."""
        return (*((column,) for column in range(len(self.domain.shape))), *self.pairs)

    @property
    def steps(self) -> tuple[str, ...]:
        """What is measured and chosen."""
        first = self.columns_measured
        if self.pair_noise is None:
            return (first,)
        return (
            first,
            f"{self.edges} of {len(self.pairs):,} pairs are chosen, by how far they are from independent",
            f"their tables are measured, noise of deviation {self.pair_noise.variance**0.5:.4g}",
        )

    @property
    def variances(self) -> tuple[float, ...]:
        """Of the columns, and of the pairs."""
        pairs = () if self.pair_noise is None else (self.pair_noise.variance,) * self.edges
        return tuple(noise.variance for noise in self.column_noises) + pairs

    def draw(self, tables: ExactTables) -> tuple[MeasuredTable, ...]:
        """Measure the columns, choose pairs, and measure them."""
        columns = self.measured_columns(tables)
        if self.choice is None or self.pair_noise is None:
            return columns
        folds = self.folds(columns)
        folded = FoldedTables(tables=tables, folds=folds)
        chosen = self._chosen(self.scores(folded, columns), self.choice)
        return (*columns, *(self.pair_noise.measured(pair, folded.table(pair)) for pair in chosen))

    def scores(self, tables: FoldedTables, columns: Sequence[MeasuredTable]) -> Integers:
        """Return for every pair how far its table is from that of independent columns. Private."""
        joined = [folded_measured(one, tables.folds) for one in columns]
        estimates, total = column_tables([fold.cells for fold in tables.folds], joined)
        return whole_scores(
            [
                distance(tables.table((one, other)), np.outer(estimates[one], estimates[other]) / total)
                for one, other in self.pairs
            ]
        )

    def _chosen(self, scores: Integers, choice: TableChoice) -> list[tuple[int, int]]:
        """Choose pairs that join what was not joined, one after the other."""
        part = list(range(len(self.domain.shape)))
        found: list[tuple[int, int]] = []
        for _ in range(self.edges):
            places = [place for place, (one, other) in enumerate(self.pairs) if part[one] != part[other]]
            one, other = self.pairs[places[choice.chosen(scores[places])]]
            found.append((one, other))
            joined, gone = part[one], part[other]
            part = [joined if place == gone else place for place in part]
        return found

    def model(self, measured: Sequence[MeasuredTable]) -> FoldedModel:
        """Return the tree of the chosen pairs, in closed form."""
        many = len(self.domain.shape)
        folds = self.folds(measured[:many])
        joined = [folded_measured(one, folds) for one in measured[:many]]
        model = fitted_tree([fold.cells for fold in folds], [*joined, *measured[many:]])
        return FoldedModel(model=model, folds=folds)


def _joins(columns: int, pairs: Sequence[tuple[int, int]]) -> int:
    """Return how many pairs a spanning forest of columns has."""
    part = list(range(columns))
    for one, other in pairs:
        joined, gone = part[one], part[other]
        if joined != gone:
            part = [joined if place == gone else place for place in part]
    return columns - len(set(part))
