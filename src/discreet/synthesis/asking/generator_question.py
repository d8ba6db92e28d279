"""Questions for a generator network: columns of a private table, and a network of the library.

PyTorch is loaded when a request is made, not before. Building a question reads no data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.curator.request.fit_request import FitRequest
from discreet.data import Axis, Relation, Table
from discreet.data.facts.limits import declared_limits
from discreet.data.language.plan import RowPlan
from discreet.data.row_values import rows_of_a_person
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number
from discreet.queries.counts.question import LinearQuestion
from discreet.synthesis.columns.coded_column import MOST_CELLS, CodedColumn, whole_axis
from discreet.synthesis.columns.domain import CodedColumns

if TYPE_CHECKING:
    from discreet.synthesis.generators.base import GeneratorSynthesizer
    from discreet.synthesis.generators.generator_learner import GeneratorLearner

__all__ = ["GENERATORS", "GeneratorQuestion"]

GENERATORS = ("PATE-GAN", "G-PATE")
"""The networks by name."""
_SAY = "epsilon with delta, such as epsilon=1, delta=1e-6"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeneratorQuestion(LinearQuestion):
    """A generator of some columns.

    Attributes
    ----------
    relation : Relation
        The rows.
    columns : tuple of str
        Columns with declared keys, or with bounds.
    method : str
        One of `GENERATORS`.
    widths : mapping of columns to numbers
        How wide a cell of a column of numbers is, if given.
    options : mapping of names to numbers
        What the network takes besides: teachers, rounds, and so on.
    """

    relation: Relation
    columns: tuple[str, ...]
    method: str
    widths: Mapping[str, Number]
    options: Mapping[str, Number | int]

    def __post_init__(self) -> None:
        if self.method not in GENERATORS:
            raise ParameterError("method", "is not a generator that is known", f"one of {list(GENERATORS)}")
        if not set(self.widths) <= set(self.columns):
            raise ParameterError("width", "is given for another column", f"one of {list(self.columns)}")

    def request(  # type: ignore[override]
        self, tables: Mapping[str, Table], offer: Offer, confidence: Fraction
    ) -> FitRequest:
        """Return the request that an offer buys; everything that can be refused is refused here."""
        if offer.epsilon is None or offer.delta is None:
            raise ParameterError("delta", "does not go with what is offered: votes get normal noise", _SAY)
        public = self.domain(tables)
        if declared_limits(public.source, tables).is_bought:
            raise UnsupportedQuery(
                "the limit of this table is bought by every question, and a generator buys none; have its "
                "owner declare one, such as limits=Limits(rows=1)"
            )
        axes = [public.table_axis(name, self.widths.get(name), None, MOST_CELLS) for name in self.columns]
        domain = CodedColumns(columns=tuple(CodedColumn(axis=whole_axis(axis)) for axis in axes))
        rows = rows_of_a_person(public.source, tables)
        learner = self._learner(domain, offer, rows)
        plan = RowPlan(
            source=public.source,
            columns=tuple(Axis(column=axis.column, values=axis.values) for axis in axes),
            rows=rows,
            reader=learner.kind,
            shards=learner.shards,
        )
        request = FitRequest(plan=plan, versions=public.versions, learner=learner)
        request.check(tables)
        return request

    def _learner(self, domain: CodedColumns, offer: Offer, rows: int) -> GeneratorLearner:
        from discreet.synthesis.generators.generator_learner import GeneratorLearner

        assert offer.epsilon is not None  # noqa: S101
        assert offer.delta is not None  # noqa: S101
        options = tuple(sorted((name, str(value)) for name, value in self.options.items()))
        made = _synthesizer(self.method, domain, offer.epsilon, offer.delta, (("rows", str(rows)), *options))
        return GeneratorLearner(synthesizer=made)

    def __repr__(self) -> str:
        return f"GeneratorQuestion(source {self.table}; {', '.join(self.columns)}; {self.method})"


@lru_cache(maxsize=16)
def _synthesizer(
    method: str,
    domain: CodedColumns,
    epsilon: Fraction,
    delta: Fraction,
    options: tuple[tuple[str, str], ...],
) -> GeneratorSynthesizer:
    """Return a synthesizer. Finding its noise takes seconds, and a request is made anew to read an answer."""
    from discreet.synthesis.generators.g_pate import GPATE
    from discreet.synthesis.generators.pate_gan import PateGAN

    kind = PateGAN if method == "PATE-GAN" else GPATE
    given = {name: value if name == "columns_share" else int(value) for name, value in options}
    try:
        return kind(columns=domain, epsilon=epsilon, delta=delta, **given)  # type: ignore[arg-type]
    except TypeError:
        raise ParameterError(
            "queries", f"is not what {method} takes", "none, for which it has a batch and directions"
        ) from None
