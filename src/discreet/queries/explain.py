"""What a query does, step by step, in words: the plan with units, bounds, limits, sensitivities and cost.

It uses public facts only and shows no literal of the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from discreet.curator.choices import Choices
from discreet.curator.request import Request
from discreet.data import DROP, EACH_ROW, Filter, Limits, Measure, Statistic, Sum, Table
from discreet.data.description import describe_expression, describe_measure
from discreet.data.measures import CountNonNull
from discreet.data.relation import walk_relation
from discreet.mechanisms import Laplace
from discreet.privacy.rational import show, show_above
from discreet.queries.binding import BoundQuery, bind
from discreet.queries.budgeting import Offer, build_request, expectations
from discreet.queries.query import Query
from discreet.queries.splitting import CONCENTRATED, PURE, shares_of

__all__ = ["explain"]


def explain(query: Query, tables: Mapping[str, Table], offer: Offer | None = None) -> str:
    """Describe what a query computes, from the rows up to the answer.

    Parameters
    ----------
    query : Query
        From `parse` or a dataframe request.
    tables : mapping of names to Table
        The declared tables; no data is touched.
    offer : Offer, optional
        With it, the noise and the cost of each measure; without, their shares of any offer.
    """
    bound = bind(query, tables)
    letters = {one.measure: _letter(place) for place, one in enumerate(bound.statistics.statistics)}
    lines = [*_computed(bound, tables[query.table], query.table, letters)]
    if offer is None:
        lines += _shares(bound, letters)
    else:
        lines += _noise(build_request(query, tables, offer), letters)
    return "\n".join(lines)


def _computed(bound: BoundQuery, table: Table, name: str, letters: Mapping[Measure, str]) -> Iterator[str]:
    unit = (
        "each row is a person"
        if table.person is EACH_ROW
        else f"each person is one value of {table.person!r}"
    )
    yield f"rows of {name!r}, version {table.version!r}; {unit}"
    for node in walk_relation(bound.plan.source):
        if isinstance(node, Filter):
            yield f"where {describe_expression(node.condition)}"
    by = ", ".join(f"{key.column!r} ({len(key.values)} declared keys)" for key in bound.plan.keys)
    yield f"by {by}: {bound.plan.cells} groups" if by else "all rows together: 1 group"
    if table.person is not EACH_ROW:
        yield f"at most {_limits(table.limits)}, sampled by a keyed hash"
    yield "exact integers of every group, and the most that one person moves them all:"
    for statistic in bound.statistics.statistics:
        yield f"  {letters[statistic.measure]}  {_described(statistic.measure)}"
        yield f"     {_sensitivity(statistic)}"
    yield "the answer, by public arithmetic:"
    for output in bound.outputs:
        read = ", ".join(letters[measure] for measure in output.measures)
        yield f"  {output.name} = {output.formula}, from {read}"


def _limits(limits: Limits) -> str:
    if limits.rows is not None:
        return f"{limits.rows} rows of each person"
    return f"{limits.rows_per_group} rows of each person in each of {limits.groups} groups"


def _described(measure: Measure) -> str:
    text = describe_measure(measure)
    if not isinstance(measure, CountNonNull | Sum) or measure.bounds is None:
        return text
    bounds = measure.bounds
    rules = (("NaN", bounds.nan), ("infinity", bounds.infinity), ("NULL", bounds.null))
    words = [
        f"{name} {'left out' if rule == DROP else rule if isinstance(rule, str) else f'as {show(rule)}'}"
        for name, rule in rules
    ]
    return f"{text}; {', '.join(words)}"


def _sensitivity(statistic: Statistic) -> str:
    bound = statistic.sensitivity
    unit = f", in steps of {show(statistic.step)}" if isinstance(statistic.measure, Sum) else ""
    return (
        f"L0 {bound.l0}, L1 {show(bound.l1)}, L2 {bound.l2:.6g}, largest {show(bound.linf)}{unit} "
        f"({bound.neighbors})"
    )


def _shares(bound: BoundQuery, letters: Mapping[Measure, str]) -> Iterator[str]:
    yield "cost: what is offered, divided as"
    for words, power in (("epsilon", PURE), ("rho", CONCENTRATED)):
        shares = shares_of(bound, power)
        yield f"  {words}: " + ", ".join(
            f"{letters[one]} {float(share):.3g}" for one, share in shares.items()
        )


def _noise(request: Request, letters: Mapping[Measure, str]) -> Iterator[str]:
    yield "noise and cost:"
    for part in request.parts:
        mechanism = part.mechanism
        if isinstance(mechanism, Choices):
            pure, rho = mechanism.event.pure_epsilon, mechanism.event.concentrated_rho
            assert pure is not None  # noqa: S101
            assert rho is not None  # noqa: S101
            cost = f"epsilon {show_above(pure)}, rho {show_above(rho)}"
        elif isinstance(mechanism, Laplace):
            cost = f"epsilon {show_above(mechanism.guarantee.epsilon)}"
        else:
            cost = f"rho {show_above(mechanism.event.rho)}"
        yield f"  {letters[part.measure]}  {mechanism!r}, {cost}"
    yield f"expected margins at confidence {show(request.confidence)}:"
    for expected in expectations(request):
        note = f", {expected.note}" if expected.note else ""
        yield f"  {expected.name} ± {expected.margin:.4g}{note}"


def _letter(place: int) -> str:
    return f"m{place + 1}"
