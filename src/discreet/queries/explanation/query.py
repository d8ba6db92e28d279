"""A description of what a query does: the plan with units, bounds, limits, sensitivities and cost.

It uses public facts only and, except for the statement of the engine where that is wanted, repeats no
literal of the query. Where one decides the bounds of a calculation, these are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from discreet.curator.release.preview import about_many_groups
from discreet.curator.request.histogram import HistogramMechanism
from discreet.curator.request.request import Request
from discreet.data import DROP, GroupKey, Keys, Measure, Statistic, Sum, Table, engine_sql
from discreet.data.facts.limits import limits_of
from discreet.data.key_counts import key_counts_sql, keys_of_a_person
from discreet.data.language.description import describe_expression, describe_measure
from discreet.data.language.measures import CountNonNull
from discreet.mechanisms import Laplace
from discreet.privacy.decimals import show_above
from discreet.privacy.offer import Offer
from discreet.privacy.rational import show
from discreet.queries.binding.bind import BoundQuery, bind
from discreet.queries.explanation.rows import bounding, rows_in_words
from discreet.queries.noise.build_request import build_request, expectations
from discreet.queries.noise.split import CONCENTRATED, PURE, shares_of
from discreet.queries.noise.unknown_keys import (
    KeyChoice,
    check_unknown,
    hypothetical_keys,
    key_plans,
    key_share_of,
    selection_for,
    unknown_keys,
)
from discreet.queries.question.post_processing import PostProcessing
from discreet.queries.question.query import Query
from discreet.queries.question.terms import IN_ROUNDS, Terms

__all__ = ["afterwards", "explain"]

_USUAL = Terms()


def explain(
    query: Query,
    tables: Mapping[str, Table],
    offer: Offer | None = None,
    terms: Terms = _USUAL,
    *,
    sql: bool = False,
) -> str:
    """Describe what a query computes, from the rows up to the answer.

    Parameters
    ----------
    query : Query
        From `parse` or a dataframe request.
    tables : mapping of names to Table
        The declared tables; no data is read.
    offer : Offer, optional
        With it, the noise and the cost of each measure; without, their shares of any offer.
    terms : Terms
        What is stated beside the question: confidence, split, and the share of undeclared keys. Its offer or
        wanted error is not looked at.
    sql : bool
        Whether to show the engine's statement too. It contains the literals of the query, and the lot of the
        draw, shown as three dots.
    """
    unknown = unknown_keys(query, tables)
    if unknown:
        check_unknown(query, tables)
    selection = None
    if unknown and offer:
        rounds = terms.keys == IN_ROUNDS
        selection = selection_for(query, tables, offer, share=terms.key_share, rounds=rounds)
    settled = hypothetical_keys(query, tables) if unknown else query
    bound = bind(settled, tables)
    letters = {one.measure: _letter(place) for place, one in enumerate(bound.statistics.statistics)}
    lines = [*_computed(query, bound, tables, letters, unknown)]
    if selection is not None:
        lines += _choice(selection)
    if offer is None:
        lines += _shares(bound, letters, _key_shares(query, tables, terms) if unknown else None)
    else:
        rest = offer if selection is None else selection.rest
        request = build_request(settled, tables, rest, confidence=terms.confidence, split=terms.split)
        if request.plan != bound.plan:
            letters = {part.measure: _letter(len(letters)) for part in request.parts}
            lines += _together(request, letters)
        lines += [request.remark] if request.remark else []
        lines += _noise(request, letters)
    lines += afterwards(query.after)
    if sql:
        lines += _statements(query, bound, tables, unknown)
    return "\n".join(lines)


def _computed(
    query: Query,
    bound: BoundQuery,
    tables: Mapping[str, Table],
    letters: Mapping[Measure, str],
    unknown: tuple[str, ...],
) -> Iterator[str]:
    source = bound.plan.source
    yield from rows_in_words(source, tables)
    by = ", ".join(
        f"{key.column!r} ({'keys to be chosen' if key.column in unknown else _keys(query, key, tables)})"
        for key in bound.plan.keys
    )
    if unknown:
        count = keys_of_a_person(limits_of(query.relation, tables))
        yield f"by {by}: as many groups as keys are shown"
        yield (
            f"  keys are chosen by their numbers of persons, each of whom counts for at most {count}; "
            "a key of one person is almost never shown"
        )
    else:
        yield f"by {by}: {bound.plan.cells} groups" if by else "all rows together: 1 group"
        if many := about_many_groups(bound.plan.cells):
            yield f"  {many}"
    yield from bounding(source, tables, bound.statistics.limits)
    yield "exact integers of every group, and how far one person can move all of them:"
    for statistic in bound.statistics.statistics:
        yield f"  {letters[statistic.measure]}  {_described(statistic.measure)}"
        yield f"     {_sensitivity(statistic)}"
    yield "the answer, by public arithmetic:"
    for output in bound.outputs:
        read = ", ".join(letters[measure] for measure in output.measures)
        yield f"  {output.name} = {output.formula}, from {read}"


def _keys(query: Query, key: GroupKey, tables: Mapping[str, Table]) -> str:
    """Say how many keys there are, and where they come from."""
    if key.column in dict(query.listed):
        return f"{len(key.values)} listed keys"
    declared = [
        one
        for table in tables.values()
        if isinstance(table, Table)
        for name, one in table.columns.items()
        if isinstance(one, Keys) and (one == key.values or (name == key.column and one.contains(key.values)))
    ]
    if not declared:
        return f"{len(key.values)} possible keys"
    most = min(map(len, declared))
    narrowed = "" if most == len(key.values) else f"of {most} "
    return f"{len(key.values)} {narrowed}declared keys"


def _choice(selection: KeyChoice) -> Iterator[str]:
    yield "the choice of keys, first:"
    for name, request in selection.requests:
        half, most = (request.mechanism.size_for(chance) for chance in (0.5, 0.95))
        yield (
            f"  {name!r}  {request.mechanism!r}: a key is shown with probability 50% at {half:,} persons, "
            f"95% at {most:,}"
        )


def afterwards(after: PostProcessing) -> Iterator[str]:
    """Say what is done with the released values, which costs nothing."""
    for one in after.calculated:
        yield f"afterwards, from released values: {one.name} = {describe_expression(one.expression)}"
    if after.having is not None:
        yield f"afterwards, by released values: only groups having {describe_expression(after.having)}"
    if after.order:
        order = ", ".join(f"{part.column!r}{' descending' * part.descending}" for part in after.order)
        yield f"afterwards, by released values: sorted by {order}"
    if after.limit is not None or after.offset:
        yield "afterwards: cut to the first groups"


def _statements(
    query: Query, bound: BoundQuery, tables: Mapping[str, Table], unknown: tuple[str, ...]
) -> Iterator[str]:
    """Yield what the engine runs. For keys that must be chosen there is no second statement yet."""
    if not unknown:
        yield "the engine's statement, with … for the lots:"
        yield engine_sql(bound.plan, tables)
        return
    for name, plan in key_plans(query, tables):
        yield f"the engine's statement for the keys of {name!r}, with … for the lots:"
        yield key_counts_sql(plan, tables)


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


def _key_shares(query: Query, tables: Mapping[str, Table], terms: Terms) -> tuple[Fraction, Fraction]:
    """Return the shares of epsilon and of rho that choose keys."""
    if terms.key_share is not None:
        return terms.key_share, terms.key_share
    offers = Offer.pure(1), Offer.concentrated(1)
    pure, concentrated = (key_share_of(query, tables, offer) for offer in offers)
    return pure, concentrated


def _shares(
    bound: BoundQuery, letters: Mapping[Measure, str], key_shares: tuple[Fraction, Fraction] | None
) -> Iterator[str]:
    if key_shares is None:
        yield "cost: what is offered, divided as"
    else:
        pure, concentrated = map(show, key_shares)
        yield (
            f"cost: epsilon and delta, or rho and delta; {pure} of epsilon and half of delta, or "
            f"{concentrated} of rho and all of delta, choose the keys, the rest is divided as"
        )
    for words, power in (("epsilon", PURE), ("rho", CONCENTRATED)):
        shares = shares_of(bound, power)
        yield f"  {words}: " + ", ".join(
            f"{letters[one]} {float(share):.3g}" for one, share in shares.items()
        )


def _noise(request: Request, letters: Mapping[Measure, str]) -> Iterator[str]:
    yield "noise and cost:"
    for part in request.parts:
        mechanism = part.mechanism
        if isinstance(mechanism, HistogramMechanism):
            pure, rho = mechanism.event.pure_epsilon, mechanism.event.concentrated_rho
            assert rho is not None  # noqa: S101
            cost = f"rho {show_above(rho)}"
            if pure is not None:
                cost = f"epsilon {show_above(pure)}, {cost}"
        elif isinstance(mechanism, Laplace):
            cost = f"epsilon {show_above(mechanism.guarantee.epsilon)}"
        else:
            cost = f"rho {show_above(mechanism.event.rho)}"
        yield f"  {letters[part.measure]}  {mechanism!r}, {cost}"
    yield f"expected margins at confidence {show(request.confidence)}:"
    for expected in expectations(request):
        note = f", {expected.note}" if expected.note else ""
        yield f"  {expected.name} ± {expected.margin:.4g}{note}"


def _together(request: Request, letters: Mapping[Measure, str]) -> Iterator[str]:
    """Describe what is measured instead, if all counts together have less error than one by one."""
    yield "measured instead, because all counts together then have less error:"
    for part in request.parts:
        yield f"  {letters[part.measure]}  {_described(part.measure)}, which of the conditions a row meets"
        yield f"     {_sensitivity(part.statistic)}"


def _letter(place: int) -> str:
    return f"m{place + 1}"
