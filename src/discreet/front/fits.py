"""Fits of models by a curator: what they cost, and paying for them.

Facts come from declarations, rows from the same plans as those of questions, the budget from the call. So a
model says only what it is: ``clinic.fit(LogisticRegression(), "visits", features=[…], target=…, epsilon=1)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from discreet.curator.request.fit_request import FitRequest
from discreet.data import Bounds, Keys, Limits, Table, Type
from discreet.data.facts.inferred import completed
from discreet.data.facts.limits import declared_limits
from discreet.data.facts.persons import person_columns
from discreet.data.facts.question_tables import QuestionTables
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.column_facts import ColumnFacts, types_of
from discreet.data.language.first_table import with_limits
from discreet.data.language.measures import Axis
from discreet.data.language.plan import RowPlan
from discreet.data.language.relations import Relation, public_tables, sources_of
from discreet.data.language.types import column_type
from discreet.data.row_values import rows_of_a_person
from discreet.errors import ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.privacy.offer import Offer
from discreet.queries import TableRequest

if TYPE_CHECKING:
    from discreet.curator import Preview
    from discreet.front.curator import Curator
    from discreet.learning.estimators.private_estimator import PrivateEstimator
    from discreet.privacy.rational import Number

__all__ = ["fit", "preview_fit"]

Model = TypeVar("Model", bound="PrivateEstimator")
_ASSUMED_ROWS = 1000
_PROVEN = "discreet.learning."


def fit(
    curator: Curator,
    model: Model,
    table: str | TableRequest,
    *,
    features: Sequence[str],
    target: str | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    limits: Limits | None = None,
    analyst: str = "",
) -> Model:
    """Spend, then fit: return a fitted copy of a model, with a `label_`.

    Bounds, keys and classes are those that the tables declare, and at most as many rows of a person are read
    as the limits say. What was drawn is stored, so that the same fit of the same data costs nothing.

    Parameters
    ----------
    model : estimator
        One of `discreet.learning`, such as ``LogisticRegression()``. Its own budget, columns, classes and
        rows are not used.
    table : str or TableRequest
        A table's name, or rows as a question has them: ``clinic.table("visits").filter(…)``.
    features : names
        The columns to learn from, with declared or implied bounds or keys.
    target : str, optional
        The column to predict. Rows without a declared value of it are left out.
    epsilon, delta, rho : number, optional
        The offer: epsilon, epsilon with delta, or rho.
    limits : Limits, optional
        For this fit, narrower than declared: fewer rows of a person take less noise.
    analyst : str
        Who asks, for caps per analyst.

    Raises
    ------
    BudgetExceeded, UnsupportedQuery, UndeclaredColumn
        Before anything is charged.
    EngineFailed
        After the charge; fitting again computes without another.
    """
    offer = {"epsilon": epsilon, "delta": delta, "rho": rho}
    made, request = _request(curator, model, table, features, target, limits, offer)
    release = curator.answer_fit(request, analyst=analyst)
    made._keep(request.learner, release.drawn)
    made.label_ = dict(release.label)
    return made


def preview_fit(
    curator: Curator,
    model: PrivateEstimator,
    table: str | TableRequest,
    *,
    features: Sequence[str],
    target: str | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    limits: Limits | None = None,
    rows: int = _ASSUMED_ROWS,
    analyst: str = "",
) -> Preview:
    """Return what a fit would cost, and what its noise does. Spends nothing.

    Takes what `fit` takes, and `rows`, a hypothetical number of rows: how many there are is private.
    """
    offer = {"epsilon": epsilon, "delta": delta, "rho": rho}
    _, request = _request(curator, model, table, features, target, limits, offer)
    return curator.preview_request(request, analyst=analyst, rows=rows)


def _request(  # noqa: PLR0917
    curator: Curator,
    model: Model,
    table: str | TableRequest,
    features: Sequence[str],
    target: str | None,
    limits: Limits | None,
    offer: Mapping[str, Number | None],
) -> tuple[Model, FitRequest]:
    """Return an unfitted copy of a model, and the request that fits it, or refuse; nothing is charged."""
    from discreet.learning.estimators.private_estimator import PrivateEstimator

    if not isinstance(model, PrivateEstimator):
        raise ParameterError(
            "model",
            "is not one whose fit is private",
            "one of discreet.learning, such as LogisticRegression()",
        )
    if not all(type(one).__module__.startswith(_PROVEN) for one in _models(model)):
        raise ParameterError(
            "model", "is not proven, or has a part that is not", "models of discreet.learning, unchanged"
        )
    curator.budget.check_offer(Offer(**offer))
    tables = QuestionTables(curator.tables)
    source = _rows(curator, table, limits, tables)
    columns = columns_of_relation(source, tables)
    persons = person_columns(source, tables)
    names = _names(features, target)
    for name in (*names, *(() if target is None else (target,))):
        column_type(name, types_of(columns))
        if name in persons:
            raise UndeclaredColumn(
                f"{name!r} is the person column, from which nothing general can be learned; leave it out"
            )
    facts = {name: _fact(name, columns[name]) for name in names}
    of_target = (
        None if target is None else (target, _target_fact(target, columns[target], model._has_classes))
    )
    rows = rows_of_a_person(source, tables)
    made, learner = model._of_table(facts, of_target, rows=rows, **offer)
    read = [*facts.items(), *(() if of_target is None else (of_target,))]
    plan = RowPlan(
        source=source,
        columns=tuple(Axis(column=name, values=values) for name, values in read),
        target=target,
        rows=rows,
        reader=learner.kind,
        shards=learner.shards,
    )
    sources = (*sources_of(source), *public_tables(source))
    versions = tuple((name, tables[name].version) for name in sources)
    request = FitRequest(plan=plan, versions=versions, learner=learner)
    request.check(tables)
    return made, request


def _models(model: PrivateEstimator) -> Iterator[PrivateEstimator]:
    """Give a model and all that it is made of."""
    from discreet.learning.estimators.composite import CompositeEstimator, named_parts

    yield model
    if isinstance(model, CompositeEstimator):
        for _, part in named_parts(getattr(model, model._parts_name), model._parts_name):
            yield from _models(part)


def _rows(
    curator: Curator, table: str | TableRequest, limits: Limits | None, tables: Mapping[str, Table]
) -> Relation:
    """Return the rows that are meant, with limits of their own if there are any."""
    asked = curator.table(table) if isinstance(table, str) else table
    if not isinstance(asked, TableRequest):
        raise ParameterError("table", "is not rows of a table", "a table's name, or table(…).filter(…)")
    relation = asked._rows()
    if limits is not None:
        if not isinstance(limits, Limits) or limits.is_bought:
            raise ParameterError("limits", "are not a number of rows", "such as Limits(rows=1)")
        return with_limits(relation, limits)
    columns_of_relation(relation, tables)
    if declared_limits(relation, tables).is_bought:
        raise UnsupportedQuery(
            "the limit of this table is bought by every question, and a fit buys none; state one, such as "
            "limits=Limits(rows=1)"
        )
    return relation


def _names(features: Sequence[str], target: str | None) -> tuple[str, ...]:
    listed = () if isinstance(features, str) else tuple(features)
    if not listed or not all(isinstance(name, str) for name in listed):
        raise ParameterError("features", "are not a list of columns", "such as features=['age', 'city']")
    if len(set(listed)) != len(listed):
        raise ParameterError("features", "name a column twice", "each column once")
    if target is not None and target in listed:
        raise ParameterError("target", "is one of the features", "another column")
    return listed


def _fact(name: str, facts: ColumnFacts) -> Bounds | Keys:
    """Return the bounds of numbers, or else the keys of a column, or refuse it with what to write."""
    if facts.type is Type.BOOLEAN:
        return Keys([False, True])
    if facts.type.is_number and (bounds := facts.bounds or facts.usual) is not None:
        return bounds
    if facts.keys is not None:
        return facts.keys
    raise _undeclared(f"the feature {name!r}", name, facts, Bounds if facts.type.is_number else Keys)


def _target_fact(name: str, facts: ColumnFacts, classes: bool) -> Bounds | Keys:
    """Return the keys of a column that is classified, or the bounds of one that is predicted as a number."""
    if classes:
        known = completed(facts).keys
        labels = () if known is None else tuple(key for key in known.values if key is not None)
        if not labels:
            raise _undeclared(f"the target {name!r}", name, facts, Keys)
        return Keys(labels)
    bounds = facts.bounds or facts.usual
    if bounds is None:
        raise _undeclared(f"the target {name!r}", name, facts, Bounds)
    return bounds


def _undeclared(
    what: str, name: str, facts: ColumnFacts, needs: type[Keys] | type[Bounds]
) -> UndeclaredColumn:
    if needs is Bounds:
        calculated = f"bound it, as in derive({name}=col({name!r}).clip(0, 100)), "
        written = f"columns={{{name!r}: Bounds(lower, upper, step=...)}}"
        return UndeclaredColumn(
            f"{what} needs bounds, which were never declared; {calculated}or have its owner declare {written}"
        )
    calculated = "derive a number from it, such as its year, " if facts.dates is not None else ""
    return UndeclaredColumn(
        f"{what} needs keys, which were never declared; {calculated}or have its owner declare "
        f"columns={{{name!r}: Keys([...])}}".replace("; or", ";")
    )
