"""Keys that are shown with their counts: where a question asks for counts alone, one measurement answers it.

Keys that are chosen by their noisy numbers, and counted again, pay twice. A noisy count that reaches the
threshold may be shown as it is (`CountedKeys`), for the whole offer. Whether a question is answered so
follows from the question, the limits and the offer, which are public:

- Its outputs are COUNT(*), COUNT(DISTINCT person), or COUNT(key).
- If one person has at most one row of each key, all of these are the number of its persons.
- Else COUNT(*) alone may be asked, and rows are counted, if that shows keys of no more persons than a choice
  by persons would, even if every person had a single row of each key (proof: counted_keys, proposition 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from discreet.curator.request.counted_keys_request import CountedKeysRequest
from discreet.curator.request.request import Output
from discreet.data import CountNonNull, CountPersons, CountRows, GroupKey, Measure, Table
from discreet.data.facts.limits import limits_of
from discreet.data.key_counts import keys_of_a_person
from discreet.data.language.declarations import Limits
from discreet.data.language.expressions import columns_of
from discreet.data.language.plan import KeyCountPlan
from discreet.data.language.relations import Project
from discreet.errors import ParameterError
from discreet.mechanisms.keys.counted_keys import CountedKeys, Reach
from discreet.mechanisms.keys.key_selection import KeySelection
from discreet.mechanisms.keys.keys_in_rounds import KeysInRounds
from discreet.privacy.offer import Offer
from discreet.queries.binding.bind import BoundQuery, bind
from discreet.queries.noise.unknown_keys import hypothetical_keys, selection_for, unknown_keys
from discreet.queries.outputs.calculated import CalculatedOutput
from discreet.queries.outputs.counts_sums_means import CountOutput
from discreet.queries.outputs.key_functions import key_schema, separated
from discreet.queries.outputs.shown_counts import ShownCountOutput
from discreet.queries.question.query import Query, key_facts, key_of

__all__ = ["counted_request", "moves_of_a_person"]


def counted_request(
    query: Query, tables: Mapping[str, Table], offer: Offer, *, confidence: Fraction, chosen: bool = False
) -> CountedKeysRequest | None:
    """Return the request that answers a question for counts by its chosen keys at once; None if none does.

    Parameters
    ----------
    query, tables, offer
        The question, whose keys are not all known; what is declared; what may be spent, with a delta.
    confidence : Fraction
        Of the intervals.
    chosen : bool
        Whether keys are chosen even where they are known.
    """
    if offer.delta is None or not query.keys:
        return None
    unknown = unknown_keys(query, tables)
    bound = bind(hypothetical_keys(query, tables), tables)
    if _reads_all_groups(query, bound):
        return None
    reach = moves_of_a_person(query, bound, tables)
    if reach is None:
        return None
    try:
        mechanism = CountedKeys.best(epsilon=offer.epsilon, rho=offer.rho, delta=offer.delta, reach=reach)
    except ParameterError:  # noise out of range: the other way says what is
        return None
    if reach.rows > 1 and not chosen and not _shows_as_much(mechanism, query, tables, offer):
        return None
    plain = all(key == key_of(key.name) for key in query.keys)
    source = query.relation if plain else Project(source=query.relation, columns=query.keys)
    facts, listed = key_facts(query, tables), dict(query.listed)
    known = tuple(
        GroupKey(column=key.name, values=values)
        for key in query.keys
        if key.name not in unknown and (values := listed.get(key.name) or facts[key.name].keys) is not None
    )
    plan = KeyCountPlan(
        source=source,
        columns=tuple(key.name for key in query.keys),
        listed=known,
        keys=reach.keys,
        rows=reach.rows,
        total=reach.total,
    )
    return CountedKeysRequest(
        plan=plan,
        versions=bound.versions,
        mechanism=mechanism,
        statistics=bound.statistics.statistics,
        outputs=_columns(query, bound),
        level=confidence,
    )


def moves_of_a_person(query: Query, bound: BoundQuery, tables: Mapping[str, Table]) -> Reach | None:
    """Return how far one person moves the counts that a question asks for; None if these are not all one."""
    limits = limits_of(query.relation, tables)
    keys = keys_of_a_person(limits)
    names = set(unknown_keys(query, tables))
    kinds = {
        _kind(output.measure, names) if isinstance(output, CountOutput) else None for output in bound.outputs
    }
    if None in kinds:
        return None
    if kinds == {CountPersons} or _rows_of_a_key(limits) == 1:
        return Reach(keys=keys)
    if kinds == {CountRows}:
        return Reach(keys=keys, rows=_rows_of_a_key(limits), total=limits.rows)
    return None


def _rows_of_a_key(limits: Limits) -> int:
    rows = limits.rows if limits.rows is not None else limits.rows_per_group
    assert rows is not None  # noqa: S101
    return rows


def _kind(measure: Measure, keys: set[str]) -> type[CountRows] | type[CountPersons] | None:
    """Return what a measure of rows that have keys counts: rows, persons, or something else."""
    if isinstance(measure, CountNonNull) and measure.bounds is None and measure.column in keys:
        return CountRows  # of a chosen key: rows without it are in no group
    if isinstance(measure, CountRows):
        return CountRows
    return CountPersons if isinstance(measure, CountPersons) else None


def _shows_as_much(mechanism: CountedKeys, query: Query, tables: Mapping[str, Table], offer: Offer) -> bool:
    """Return whether keys are shown at no more rows than a choice by persons needs persons."""
    chosen = selection_for(query, tables, offer)
    return _usual_size(mechanism) <= max(_usual_size(request.mechanism) for _, request in chosen.requests)


@lru_cache(maxsize=256)
def _usual_size(mechanism: CountedKeys | KeySelection | KeysInRounds) -> int:
    """Return how large a key is that is shown half the time."""
    return mechanism.size_for(Fraction(1, 2))


def _reads_all_groups(query: Query, bound: BoundQuery) -> bool:
    """Return whether the answer has totals, windows or functions of keys, which read all groups at once."""
    schema = key_schema(bound.plan.keys)
    functions = any(separated(one.expression, schema)[1] for one in query.after.calculated)
    return bool(query.after.levels or query.after.windows) or functions


def _columns(query: Query, bound: BoundQuery) -> tuple[Output, ...]:
    """Return the columns of the answer."""
    counts = {
        output.name: ShownCountOutput(name=output.name, measure=output.measure)
        for output in bound.outputs
        if isinstance(output, CountOutput)
    }
    columns: dict[str, Output] = dict(counts)
    for one in query.after.calculated:
        read = columns_of(one.expression)
        columns[one.name] = CalculatedOutput(
            name=one.name,
            expression=one.expression,
            reads=tuple(output for name, output in counts.items() if name in read),
            keys=bound.plan.keys,
        )
    return tuple(columns[name] for name in query.shown)
