"""Counts under several conditions are measured together if that has less error than one by one.

Where a query asks for other aggregates too, the offer is divided between the counts, as one table of
classes, and the rest. All divisions are compared by the error that `split` uses: the sum, over outputs, of
the variance of the noise in units of what one row can move. What is chosen never has more of it than noise
on every measure by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.curator.request.request import Part, Request
from discreet.data import Group, Histogram, Measure, Statistic, Statistics, Table, sensitivity
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.column_facts import types_of
from discreet.data.language.expressions import And, Column, Expression
from discreet.data.language.measures import columns_read
from discreet.data.language.relations import Filter, Named, Project, Relation
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.offer import Offer
from discreet.queries.binding.bind import BoundQuery
from discreet.queries.noise.counted_classes import CountedClasses, classes_of, counted_condition
from discreet.queries.noise.counts_plan import plan_counts, reach_of
from discreet.queries.noise.parts import Spending, fitted_noise, variance_in_rows, ways_of
from discreet.queries.noise.split import PURE
from discreet.queries.outputs.base import QueryOutput, of_several
from discreet.queries.question.per_person import take_name
from discreet.queries.question.query import Query
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.queries.noise.joint_counts import JointCountOutput
    from discreet.workloads import Plan

__all__ = ["least_joint", "share_of_counts"]

_TOGETHER, _ONE_BY_ONE = "counts are measured together", "counts are measured one by one"
_MOST_SHOWN = 1000
"""Larger ratios are not shown: where there is hardly any noise they say nothing."""
_GRAIN = 1000
"""Shares are rounded to so many parts; the error grows by less than a millionth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A query over declared tables and an offer, with the request that has noise on every measure."""

    query: Query
    bound: BoundQuery
    tables: Mapping[str, Table]
    offer: Offer
    alone: Request

    def classes(self, conditions: Mapping[int, Expression]) -> CountedClasses | str:
        """Return the classes of rows under the conditions of some outputs, or why there are none."""
        schema = types_of(columns_of_relation(self.query.relation, self.tables))
        return classes_of([*conditions.values()], schema, [*_filters(self.query.relation)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Joint:
    """Counts of a query to be measured together, and what is left.

    Attributes
    ----------
    classes : CountedClasses
        Of rows, under the conditions of the counts.
    places : tuple of int
        Which outputs of the query they are.
    plan : Group
        The classes, then what the rest measures.
    statistics : Statistics
        How far one person moves these.
    """

    classes: CountedClasses
    places: tuple[int, ...]
    plan: Group
    statistics: Statistics

    @property
    def counted(self) -> Statistic:
        """The counts of classes."""
        return self.statistics.statistics[0]


def least_joint(
    query: Query, bound: BoundQuery, tables: Mapping[str, Table], offer: Offer, *, alone: Request
) -> Request:
    """Return the request of the least error: with noise on every measure, or with counts measured together.

    Its `remark` says which, and how much less error it has.

    Parameters
    ----------
    query, bound : Query and BoundQuery
        The question.
    tables : mapping of names to Table
        The declared tables.
    offer : Offer
        What may be spent.
    alone : Request
        The request with noise on every measure by itself.
    """
    asked = _Asked(query=query, bound=bound, tables=tables, offer=offer, alone=alone)
    conditions = {
        place: condition
        for place, ((_, aggregate), output) in enumerate(zip(query.outputs, bound.outputs, strict=True))
        if (condition := counted_condition(aggregate, output)) is not None
    }
    if len(conditions) < 2:
        return alone
    if isinstance(why := asked.classes(conditions), str):
        return replace(alone, remark=f"{_ONE_BY_ONE}: {why}")
    found = [(_error(request), request) for request in _requests(asked, conditions)]
    if not found:
        return replace(alone, remark=f"{_ONE_BY_ONE}: the noise of their classes is out of range")
    before, (error, joint) = _error(alone), min(found, key=lambda one: one[0])
    beside = " of all that is asked" if len(conditions) < len(bound.outputs) else ""
    if error < before:
        ratio = f"{before / error:.3g}" if before < _MOST_SHOWN * error else f"more than {_MOST_SHOWN}"
        gain = f"{ratio} times less squared error{beside} than one by one"
        return replace(joint, remark=f"{_TOGETHER}: {gain}")
    loss = f"together the squared error{beside} would be {error / before:.3g} times as large"
    return replace(alone, remark=f"{_ONE_BY_ONE}: {loss}")


def _requests(asked: _Asked, conditions: Mapping[int, Expression]) -> Iterator[Request]:
    """Yield the requests that measure counts together: all of them, or those that nothing else reads."""
    outputs = asked.bound.outputs
    read = {
        measure
        for place, output in enumerate(outputs)
        if place not in conditions
        for measure in output.measures
    }
    own = {place: one for place, one in conditions.items() if not read & {*outputs[place].measures}}
    for several in (conditions, own) if len(own) < len(conditions) else (conditions,):
        classes = asked.classes(several) if len(several) > 1 else ""
        if isinstance(classes, str):
            continue
        with suppress(ParameterError, UnsupportedQuery):
            joint = _joint(asked, classes, tuple(several))
            if len(joint.plan.measures) > 1:
                yield from _beside_others(joint, asked)
            else:
                yield _request(joint, _planned(joint, asked.offer), (), asked.alone)


def _joint(asked: _Asked, classes: CountedClasses, places: tuple[int, ...]) -> _Joint:
    query, bound = asked.query, asked.bound
    rest = [output for place, output in enumerate(bound.outputs) if place not in places]
    measures = tuple(dict.fromkeys(measure for output in rest for measure in output.measures))
    columns = (*query.keys, *_read_columns(query, bound, measures))
    name = take_name("class", {column.name.lower() for column in columns})
    source = Project(source=query.relation, columns=(*columns, Named(name=name, expression=classes.number)))
    plan = Group(source=source, keys=bound.plan.keys, measures=(classes.histogram(name), *measures))
    return _Joint(classes=classes, places=places, plan=plan, statistics=sensitivity(plan, asked.tables))


def _filters(relation: Relation) -> Iterator[Expression]:
    """Yield what is TRUE of all rows of a relation."""
    while isinstance(relation, Filter):
        condition, relation = relation.condition, relation.source
        yield from condition.operands if isinstance(condition, And) else (condition,)


def _read_columns(query: Query, bound: BoundQuery, measures: Sequence[Measure]) -> Iterator[Named]:
    """Yield the columns that some measures read, except for keys, as calculated from those of the query."""
    keys = {key.name for key in query.keys}
    source = bound.plan.source
    calculated = {}
    if source != query.relation:
        assert isinstance(source, Project)  # noqa: S101
        calculated = {column.name: column for column in source.columns}
    names = dict.fromkeys(name for measure in measures for name in columns_read(measure))
    for name in names:
        if name not in keys:
            yield calculated.get(name) or Named(name=name, expression=Column(name=name))


def _planned(joint: _Joint, offer: Offer) -> Plan:
    """Return the strategy of the least error for the counts alone."""
    from discreet.workloads import Plan

    design = plan_counts(joint.classes.workload, offer, joint.counted, joint.plan.cells)
    assert isinstance(design, Plan)  # noqa: S101
    return design


def _beside_others(joint: _Joint, asked: _Asked) -> Iterator[Request]:
    """Yield, for each way to spend the offer, the request whose shares have the least error."""
    bound, alone = asked.bound, asked.alone
    rest = replace(
        bound,
        plan=replace(joint.plan, measures=joint.plan.measures[1:]),
        outputs=tuple(output for place, output in enumerate(bound.outputs) if place not in joint.places),
        statistics=replace(joint.statistics, statistics=joint.statistics.statistics[1:]),
    )
    confidence = of_several(alone.confidence, bound.together)
    choosing = any(isinstance(measure, Histogram) for measure in rest.plan.measures)
    for way in ways_of(asked.offer, choosing=choosing):
        with suppress(ParameterError):
            design, reference = _planned(joint, way.offer), _reference(way)
            counts = _counts(joint, _bought_by(reference, design, joint), alone)
            of_counts = sum(output.variance for output in counts.values())
            of_rest = _error_of(rest.outputs, reference.parts(rest, None, confidence, fitted_noise))
            share = share_of_counts(of_counts, of_rest, way)
            others = way.share(1 - share).parts(rest, None, confidence, fitted_noise)
            yield _request(joint, _bought_by(way.share(share), design, joint), others, alone)


def _reference(way: Spending) -> Spending:
    """Return an amount that buys noise in proportion to its scale, which integers have unless it is small."""
    return way if way.amount <= 1 else way.share(1 / way.amount)


def share_of_counts(one: float, other: float, way: Spending) -> Fraction:
    """Return the share of an offer that one of two parts gets, whose errors for the same amount are known.

    At a share s of a pure epsilon variances are 1 / s^2 as large, else 1 / s. So errors A and B add up to the
    least, A / s^2 + B / (1 - s)^2 or A / s + B / (1 - s), where s and 1 - s are in proportion to their cubic
    roots, or to their square roots.
    """
    root = 1 / 3 if way.power == PURE else 1 / 2
    part = round(_GRAIN * one**root / (one**root + other**root))
    return Fraction(min(max(part, 1), _GRAIN - 1), _GRAIN)


def _bought_by(way: Spending, design: Plan, joint: _Joint) -> Plan:
    """Return a strategy with the noise that is bought in one way."""
    from discreet.workloads.error.expected_error import expected_error

    rows, groups = reach_of(joint.counted)
    moved = design.strategy.sensitivity(rows, groups=groups)
    noise = way.noise(moved, joint.plan.cells * design.strategy.measurements)
    return replace(
        design, mechanism=noise, expected_error=expected_error(design.workload, design.strategy, noise)
    )


def _counts(joint: _Joint, design: Plan, alone: Request) -> dict[int, JointCountOutput]:
    from discreet.queries.noise.joint_counts import JointCountOutput

    histogram, names = joint.counted.measure, [output.name for output in alone.outputs]
    assert isinstance(histogram, Histogram)  # noqa: S101
    return {
        place: JointCountOutput(name=names[place], histogram=histogram, design=design, row=row)
        for row, place in enumerate(joint.places)
    }


def _request(joint: _Joint, design: Plan, others: Sequence[Part], alone: Request) -> Request:
    from discreet.queries.noise.measurement import StrategyMeasurement

    counts, cells = _counts(joint, design, alone), joint.plan.cells
    mechanism = StrategyMeasurement(strategy=design.strategy, noise=design.mechanism, cells=cells)
    part = Part(statistic=joint.counted, mechanism=mechanism)
    outputs = tuple(counts.get(place, output) for place, output in enumerate(alone.outputs))
    return replace(alone, plan=joint.plan, parts=(part, *others), outputs=outputs)


def _error(request: Request) -> float:
    """Return the sum of the variances of all outputs, in units of what a row can move."""
    outputs = [output for output in request.outputs if isinstance(output, QueryOutput)]
    return _error_of(outputs, request.parts)


def _error_of(outputs: Sequence[QueryOutput], parts: Sequence[Part]) -> float:
    from discreet.queries.noise.joint_counts import JointCountOutput

    by_measure, total = {part.measure: part for part in parts}, 0.0
    for output in outputs:
        if isinstance(output, JointCountOutput):
            total += output.variance
            continue
        for measure, weight in zip(output.measures, output.weights, strict=True):
            total += float(weight**2) * variance_in_rows(by_measure[measure])
    return total
