"""Counts of rows under several conditions, measured together if that has less error than one by one.

Counts with conditions share rows: ranges overlap, and a row that is in no other range moves one count only.
Rows fall into classes by which of the conditions they meet; the counts are sums of classes, and the
best strategy for those sums is measured once, instead of each count for a share of the offer.

The class of a row is a number with one binary digit for each condition, calculated by the engine with the
very conditions of the query; which numbers are possible is known from `data.facts.condition_regions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, sqrt

import numpy as np

from discreet.curator.release.release import as_drawn
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part, Request
from discreet.data import (
    Aggregate,
    AggregateFunction,
    Group,
    Histogram,
    Keys,
    Measure,
    Table,
    Type,
    literal,
    sensitivity,
    to_object,
)
from discreet.data.facts.condition_regions import possible_truths
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.column_facts import types_of
from discreet.data.language.expressions import Arithmetic, Case, Cast, Expression, Literal, When
from discreet.data.language.relations import Named, Project
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.offer import Offer
from discreet.queries.binding.bind import BoundQuery
from discreet.queries.noise.counts_plan import plan_counts
from discreet.queries.noise.measurement import StrategyMeasurement
from discreet.queries.outputs.base import QueryOutput
from discreet.queries.question.per_person import take_name
from discreet.queries.question.query import Query
from discreet.workloads import Matrix, Plan
from discreet.workloads.error.intervals import half_width

__all__ = ["JointCountOutput", "request_joint_counts"]

_MOST_CONDITIONS = 50
"""Classes are numbered in binary, within what doubles hold exactly."""
_MOST_CLASSES = 512
_STORED_KIND = "TogetherOutput"
"""The kind under which ledgers store such answers: another word would charge for them a second time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointCountOutput(QueryOutput):
    """A count as the sum of estimated classes, rounded to an integer.

    Error
    -----
    The interval is the exact margin of the linear combination of noises, and one half for the rounding.
    """

    name: str
    histogram: Histogram
    design: Plan
    row: int

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The numbers of rows in each class."""
        return (self.histogram,)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """A step is a row."""
        return (Fraction(1),)

    @property
    def formula(self) -> str:
        """In words."""
        return f"a sum of {self.histogram.width} classes of rows, measured together by {self.design.name}"

    @property
    def identity(self) -> dict[str, object]:
        """What kind of output it is, its classes, and which of them it adds up."""
        measures = [to_object(self.histogram)]
        return {"kind": _STORED_KIND, "measures": measures, "row": self.row}

    @property
    def empty_is_null(self) -> bool:
        """A group without rows has a count of 0."""
        return False

    def supposed(self, rows: int) -> float:
        """All rows."""
        return float(rows)

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return integers."""
        strategy = self.design.strategy
        cells = strategy.reconstruct(np.asarray(draws[0].steps).reshape(-1, strategy.measurements))
        values = as_drawn(np.rint(cells @ self._coefficients).astype(np.int64), draws)
        margin = self._margin(confidence)
        lower, upper = np.maximum(values - margin, 0), np.maximum(values + margin, 0)
        excess = (sqrt(self._variance) + 1) / 2
        return AnswerColumn(name=self.name, values=values, lower=lower, upper=upper, excess=excess)

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return the margin of the noise, for any counts."""
        del parts, rows
        return Expectation(
            name=self.name,
            margin=float(self._margin(confidence)),
            standard_deviation=sqrt(self._variance),
            means=f"measured together in {self.histogram.width} classes of rows",
        )

    @property
    def _coefficients(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return self.design.workload.row(self.row)

    @property
    def _factor(self) -> float:
        return max(0.0, self.design.strategy.variance(self._coefficients))

    @property
    def _variance(self) -> float:
        return self._factor * self.design.mechanism.error.variance

    def _margin(self, confidence: Fraction) -> int:
        return ceil(half_width(self.design.mechanism, self._factor, confidence) + 0.5)


def request_joint_counts(
    query: Query, bound: BoundQuery, tables: Mapping[str, Table], offer: Offer, confidence: Fraction
) -> Request | None:
    """Return the request that measures all counts of a query together; None if there is none.

    There is one for two or more counts of rows, under conditions that compare columns with constants.
    """
    conditions = [_condition(aggregate) for _, aggregate in query.outputs]
    known = [condition for condition in conditions if condition is not None]
    if len(known) != len(conditions) or not 2 <= len(known) <= _MOST_CONDITIONS:
        return None
    schema = types_of(columns_of_relation(query.relation, tables))
    truths = _truths(tuple(known), tuple(schema.items()))
    if truths is None or not 1 < len(truths) <= _MOST_CLASSES:
        return None
    try:
        return _request(query, bound, tables, offer, confidence=confidence, conditions=known, truths=truths)
    except (ParameterError, UnsupportedQuery):
        return None


def _request(
    query: Query,
    bound: BoundQuery,
    tables: Mapping[str, Table],
    offer: Offer,
    *,
    confidence: Fraction,
    conditions: Sequence[Expression],
    truths: Sequence[tuple[bool, ...]],
) -> Request:
    name = take_name("class", {key.name.lower() for key in query.keys})
    numbered = Named(name=name, expression=_class_of(conditions))
    source = Project(source=query.relation, columns=(*query.keys, numbered))
    codes = [sum(1 << place for place, true in enumerate(row) if true) for row in truths]
    histogram = Histogram(column=name, values=Keys(codes))
    plan = Group(source=source, keys=bound.plan.keys, measures=(histogram,))
    statistic = sensitivity(plan, tables).of(histogram)
    design = plan_counts(_workload(tuple(truths)), offer, statistic, plan.cells)
    assert isinstance(design, Plan)  # noqa: S101
    mechanism = StrategyMeasurement(strategy=design.strategy, noise=design.mechanism, cells=plan.cells)
    return Request(
        plan=plan,
        versions=bound.versions,
        parts=(Part(statistic=statistic, mechanism=mechanism),),
        outputs=tuple(
            JointCountOutput(name=output, histogram=histogram, design=design, row=row)
            for row, (output, _) in enumerate(query.outputs)
        ),
        confidence=confidence,
    )


def _condition(aggregate: Aggregate) -> Expression | None:
    """Return under which condition an aggregate counts rows; None if it is not such a count."""
    if aggregate.function is AggregateFunction.COUNT and not aggregate.operands:
        return literal(True)
    if aggregate.function not in {AggregateFunction.COUNT, AggregateFunction.SUM}:
        return None
    case = aggregate.operand
    if not isinstance(case, Case) or len(case.branches) != 1:
        return None
    value, rest = case.branches[0].value, case.otherwise
    if not isinstance(value, Literal) or not isinstance(rest, Literal):
        return None
    nothing = (None,) if aggregate.function is AggregateFunction.COUNT else (None, 0)
    one = value.value == 1 and value.type is Type.INTEGER
    return case.branches[0].condition if one and rest.value in nothing else None


def _class_of(conditions: Sequence[Expression]) -> Expression:
    """Return the number of a row's class: 2^i for each condition i that is TRUE, added up."""
    terms: list[Expression] = [
        Case(branches=(When(condition=condition, value=literal(1 << place)),), otherwise=literal(0))
        for place, condition in enumerate(conditions)
    ]
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        left = [terms[-1]] if len(terms) % 2 else []
        terms = [*(Arithmetic(operator="+", left=one, right=other) for one, other in pairs), *left]  # type: ignore[arg-type]
    return Cast(operand=terms[0], type=Type.INTEGER)


@lru_cache(maxsize=64)
def _truths(
    conditions: tuple[Expression, ...], schema: tuple[tuple[str, Type], ...]
) -> list[tuple[bool, ...]] | None:
    return possible_truths(conditions, dict(schema))


@lru_cache(maxsize=64)
def _workload(truths: tuple[tuple[bool, ...], ...]) -> Matrix:
    return Matrix(np.array(truths, np.float64).T)
