"""Independent columns: every column is measured by itself, and rows are drawn from their product."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from discreet.data.tables.row_facts import RowFact
from discreet.privacy.events import Event
from discreet.privacy.rational import Number
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.measuring.column_noises import column_noises
from discreet.synthesis.measuring.exact_tables import ExactTables
from discreet.synthesis.measuring.stated_rho import StatedRho
from discreet.synthesis.measuring.steps import TableNoise
from discreet.synthesis.methods.base import Synthesizer, checked_terms
from discreet.synthesis.methods.model_facts import ModelFacts
from discreet.synthesis.models.folding import FoldedModel, folded_kinds, unfolded_column
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.simplex import nearest_whole_counts, whole_rows_counted
from discreet.synthesis.models.tree_fit import fitted_tree

__all__ = ["Independent"]

_STEPS = 400


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Independent(Synthesizer):
    """Make synthetic rows whose columns have the right counts and nothing to do with each other.

    Parameters
    ----------
    columns : mapping of names to Bounds, Keys or Dates
        What is public about each column. Numbers and days are put in at most 64 cells of equal width; what is
        missing or not declared has a cell of its own.
    epsilon, delta : number, optional
        The privacy of everything together.
    rho : number, optional
        Instead: zero-concentrated.
    rows : int
        How many rows a person has at most. That the data keep to it is the caller's promise.
    facts : Impossible, Determined or several of them, optional
        What is declared about rows: combinations that no synthetic row has, and columns that follow from
        others. Rows of the data that break them are counted as any others.

    Guarantee
    ---------
    rho-zCDP under add/remove of a person, and hence the stated (epsilon, delta): one table of counts for each
    column, each with discrete Gaussian noise of its share of rho (proof: docs/proofs/synthesis.md).

    Finite precision
    ----------------
    Each value is put in its cell by itself, counts are integers, and noise is exact. Models and rows are
    made of noisy counts.

    Error
    -----
    Each noisy count has the error of its column's noise. A column of c cells gets a share of rho in
    proportion to c^(2/3), which makes the sum of all errors smallest. Nothing is measured about pairs.

    Examples
    --------
    >>> import discreet as dp
    >>> from discreet.synthesis import Independent
    >>> mechanism = Independent(columns={"age": dp.Bounds(0, 99), "year": dp.Bounds(0, 99)}, rho=1)
    >>> mechanism.event
    DiscreteGaussian(squared_sensitivity=1, variance=1) * 2
    """

    domain: CodedColumns
    facts: ModelFacts
    rows: int
    stated: StatedRho
    column_noises: tuple[TableNoise, ...]
    """What is added to the counts of each column."""

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
        noises = column_noises(terms.domain.shape, terms.rho, terms.rows)
        self._set(
            domain=terms.domain, facts=terms.facts, rows=terms.rows, stated=terms.stated, column_noises=noises
        )

    @property
    def event(self) -> Event:
        """One table of counts for each column."""
        return self.with_bought([noise.event for noise in self.column_noises])

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Each column by itself."""
        return tuple((column,) for column in range(len(self.domain.columns)))

    @property
    def steps(self) -> tuple[str, ...]:
        """What is measured."""
        return (self.columns_measured, *self.facts.steps)

    @property
    def variances(self) -> tuple[float, ...]:
        """Of the columns."""
        return tuple(noise.variance for noise in self.column_noises) + self.bought_variances

    def draw(self, tables: ExactTables) -> tuple[MeasuredTable, ...]:
        """Measure every column."""
        return (*self.measured_columns(tables), *self.measured_mappings(tables))

    def model(self, measured: Sequence[MeasuredTable]) -> FoldedModel:
        """Return the product of the columns' tables; under declared facts, the nearest to it.

        Facts depend on the kinds of cells alone, so that a model of kinds is one of all cells.
        """
        possible = self.facts.possible
        if not possible.zeros:
            plain = tuple(map(unfolded_column, self.domain.shape))
            return FoldedModel(model=fitted_tree(self.domain.shape, measured), folds=plain)
        total = whole_rows_counted(measured)
        folds = tuple(
            folded_kinds(nearest_whole_counts(one.counts, total), possible.kinds(column))
            for column, one in enumerate(measured)
        )
        model = self.begun(measured, folds, _STEPS).model
        return FoldedModel(model=model, folds=folds, possible=possible)
