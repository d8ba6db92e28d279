"""Independent columns: every column is measured by itself, and rows are drawn from their product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.privacy.events import Event, compose
from discreet.privacy.rational import Number
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.measuring.column_noises import column_noises
from discreet.synthesis.measuring.exact_tables import ExactTables
from discreet.synthesis.measuring.stated_rho import StatedRho
from discreet.synthesis.measuring.steps import TableNoise
from discreet.synthesis.methods.base import Synthesizer, checked_terms
from discreet.synthesis.models.folding import FoldedModel, unfolded_column
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.tree_fit import fitted_tree

__all__ = ["Independent"]


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
    ) -> None:
        domain, spent, held = checked_terms(columns, epsilon, delta, rho, rows)
        noises = column_noises(domain.shape, spent.rho, held)
        self._set(domain=domain, rows=held, stated=spent, column_noises=noises)

    @property
    def event(self) -> Event:
        """One table of counts for each column."""
        return compose([noise.event for noise in self.column_noises])

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Each column by itself."""
        return tuple((column,) for column in range(len(self.domain.columns)))

    @property
    def steps(self) -> tuple[str, ...]:
        """What is measured."""
        return (self.columns_measured,)

    @property
    def variances(self) -> tuple[float, ...]:
        """Of the columns."""
        return tuple(noise.variance for noise in self.column_noises)

    def draw(self, tables: ExactTables) -> tuple[MeasuredTable, ...]:
        """Measure every column."""
        return self.measured_columns(tables)

    def model(self, measured: Sequence[MeasuredTable]) -> FoldedModel:
        """Return the product of the columns' tables."""
        plain = tuple(map(unfolded_column, self.domain.shape))
        return FoldedModel(model=fitted_tree(self.domain.shape, measured), folds=plain)
