"""What generators have in common: columns measured to begin with, teachers, paid votes, and the release."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import torch

from discreet.accounting.calibration import calibrate
from discreet.array_types import Floats
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.learning.teachers.aggregation import ConfidentGNMax, GNMax
from discreet.learning.teachers.shards import shard_numbers
from discreet.noise import current, is_private
from discreet.privacy.events import Event, compose
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import Number, probability, rational, whole
from discreet.records import Record
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.generators.discriminators import Discriminators
from discreet.synthesis.generators.generated_data import GeneratedData
from discreet.synthesis.generators.paid_votes import PaidVotes, QueryRecord
from discreet.synthesis.generators.table_network import TableNetwork
from discreet.synthesis.measuring.column_noises import column_noises
from discreet.synthesis.measuring.exact_tables import CountedRows
from discreet.synthesis.measuring.steps import TableNoise
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.simplex import nearest_counts, rows_counted

__all__ = ["Aggregator", "GeneratorSynthesizer", "Votes", "vote_deviation"]

Aggregator: TypeAlias = GNMax | ConfidentGNMax
Votes: TypeAlias = Callable[[Fraction], Aggregator]
"""Makes the noise of votes that cost a squared mu, all rounds together."""

_ASSUMED_ROWS = 10_000
"""How many rows are made where nothing was measured about their number."""
_LEAST_SHARE = 1e-5
"""No cell is impossible at first: votes may find that it is not."""
_ANCHOR = 10.0
_FINE = 2**40
_MOST_PADDED = 1 << 16
"""How many columns there may be, times the cells of the largest: a generated row takes so many numbers."""
_MOST_WEIGHTS = 1 << 24
"""How many teachers there may be, times the cells of all columns."""


class GeneratorSynthesizer(Record, ABC):
    """A mechanism from rows to a generator network. Subclasses are frozen dataclasses.

    Of rows it reads the counts of columns, with noise, and votes of teachers, with noise: `_learn` is given a
    network that holds public numbers, and a gate that answers.
    """

    __slots__ = ()

    domain: CodedColumns
    rows: int
    guarantee: ApproximateDP
    teachers: int
    rounds: int
    queries: int
    column_noises: tuple[TableNoise, ...]
    aggregation: Aggregator
    seed: int

    def _begin(
        self,
        *,
        columns: object,
        epsilon: Number,
        delta: Number,
        rows: int,
        teachers: int,
        rounds: int,
        queries: int,
        columns_share: Number,
        seed: int,
        votes: Votes,
        **others: object,
    ) -> None:
        domain = CodedColumns.declared(columns)  # type: ignore[arg-type]
        promise = ApproximateDP(
            epsilon=rational(epsilon, "epsilon", positive=True),
            delta=probability(delta, "delta", zero=False, one=False),
            neighbors=ADD_REMOVE_PERSON,
        )
        held = whole(rows, "rows", least=1, most=1 << 20)
        many = whole(rounds, "rounds", least=1, most=1 << 20)
        share = probability(columns_share, "columns_share", one=False)

        def noises(squared_mu: Fraction) -> tuple[tuple[TableNoise, ...], Aggregator]:
            first = _rounded_down(squared_mu * share / 2)
            measured = column_noises(domain.shape, first, held) if share else ()
            return measured, votes(squared_mu * (1 - share))

        def run(multiplier: float) -> Event:
            measured, aggregation = noises(1 / Fraction(multiplier) ** 2)
            return _event(measured, aggregation.event(queries) * many)

        shape = domain.shape
        if len(shape) * max(shape) > _MOST_PADDED or votes(Fraction(1)).teachers * sum(shape) > _MOST_WEIGHTS:
            raise UnsupportedQuery(
                f"networks of {len(shape):,} columns and {sum(shape):,} cells do not fit into memory; "
                "take fewer columns, wider cells or fewer teachers"
            )
        squared = 1 / Fraction(_calibrated(run, promise)) ** 2
        measured, aggregation = noises(squared)
        self._set(
            domain=domain,
            rows=held,
            guarantee=promise,
            teachers=aggregation.teachers,
            rounds=many,
            queries=queries,
            column_noises=measured,
            aggregation=aggregation,
            seed=whole(seed, "seed", least=0, most=2**62),
            **others,
        )

    @property
    def event(self) -> Event:
        """The laws of everything that is drawn: of the columns, and of all planned rounds of votes."""
        return self.event_of(self.rounds)

    def event_of(self, rounds: int) -> Event:
        """Return the laws of the columns and of so many rounds."""
        return _event(self.column_noises, self.aggregation.event(self.queries) * rounds)

    def release(
        self,
        rows: object,
        *,
        persons: Any = None,
        shards: Any = None,
        record: QueryRecord | None = None,
    ) -> GeneratedData:
        """Return a synthetic table for rows.

        Parameters
        ----------
        rows : frame, mapping of columns or two-dimensional array
            The rows. Private.
        persons : sequence, optional
            Whose each row is. By default every row is another person's.
        shards : array of int, optional
            Which teacher sees each row, where a public rule over persons settles that elsewhere. By default a
            secret hash of the person decides. Shards that share a person are refused.
        record : Permit, optional
            What is charged, for the columns and then for every round, before anything is drawn. A run stops
            at the round that it does not admit.
        """
        codes = self.domain.codes_of_all(rows)
        owners = list(range(len(codes))) if persons is None else list(persons)
        if len(owners) != len(codes):
            raise ParameterError("persons", "are not as many as rows", "one for each row")
        numbers = shard_numbers(owners, teachers=self.teachers) if shards is None else np.asarray(shards)
        shape = self.domain.shape
        panel = Discriminators(codes, numbers, owners, teachers=self.teachers, shape=shape, seed=self.seed)
        if self.column_noises and record is not None:
            record.charge(_event(self.column_noises))
        measured = self._measured(CountedRows(shape=shape, codes=codes[(codes >= 0).all(axis=1)]))
        gate = PaidVotes(self.aggregation, rounds=self.rounds, queries=self.queries, record=record)
        random = torch.Generator().manual_seed(self.seed)
        network = TableNetwork(shape, self._first_shares(measured), random)
        self._learn(network, panel, gate, random)
        total = rows_counted(measured) if measured else float(_ASSUMED_ROWS)
        return GeneratedData(
            domain=self.domain,
            measured=measured,
            model=network.model(total),
            method=type(self).__name__,
            private=is_private(current().mark(0)),
            guarantee=self.guarantee,
            event=self.event_of(gate.taken),
            rounds=gate.taken,
            planned=self.rounds,
        )

    @property
    def anchor(self) -> float:
        """How much it weighs that columns stay as they were measured; 0 if they were not."""
        return _ANCHOR if self.column_noises else 0.0

    @abstractmethod
    def _learn(
        self, network: TableNetwork, panel: Discriminators, gate: PaidVotes, random: torch.Generator
    ) -> None:
        """Train the network, with what the gate answers about the panel's votes."""

    def _measured(self, tables: CountedRows) -> tuple[MeasuredTable, ...]:
        return tuple(
            noise.measured((column,), tables.table((column,)))
            for column, noise in enumerate(self.column_noises)
        )

    def _first_shares(self, measured: tuple[MeasuredTable, ...]) -> list[Floats]:
        """Return what the columns look like at first: as measured, or all cells alike. Public."""
        if not measured:
            return [np.full(cells, 1 / cells) for cells in self.domain.shape]
        total = rows_counted(measured)
        near = [nearest_counts(one.counts.astype(np.float64), total) / total for one in measured]
        return [(one + _LEAST_SHARE) / (one + _LEAST_SHARE).sum() for one in near]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self.domain.columns)} columns, {self.teachers} teachers, "
            f"{self.rounds} rounds of {self.queries} queries, {self.guarantee!r})"
        )


def vote_deviation(squared_mu: Fraction, moved: int) -> Fraction:
    """Return the deviation of noise for which a squared distance costs a squared mu, rounded up."""
    variance = moved / squared_mu
    return max(Fraction(math.ceil(math.sqrt(variance) * (1 + 1e-12) * 1024), 1024), Fraction(1, 2))


def _event(measured: tuple[TableNoise, ...], *votes: Event) -> Event:
    return compose([*(noise.event for noise in measured), *votes])


def _calibrated(run: Callable[[float], Event], promise: ApproximateDP) -> float:
    try:
        return calibrate(run, epsilon=promise.epsilon, delta=promise.delta, between=(1e-2, 1e3))
    except ParameterError as error:
        if error.parameter != "between":
            raise
        raise ParameterError(
            "epsilon", "needs noise beyond what votes can bear, or hardly any", "another budget"
        ) from None


def _rounded_down(rho: Fraction) -> Fraction:
    """Return a fraction of few digits that is no larger."""
    return Fraction(int(rho * _FINE), _FINE)
