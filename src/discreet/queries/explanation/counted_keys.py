"""A description of counts by chosen keys: what is counted, with which noise, and when it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from discreet.curator.request.counted_keys_request import CountedKeysRequest
from discreet.data import Table
from discreet.data.combination_counts import combination_counts_sql
from discreet.privacy.rational import show
from discreet.queries.explanation.query import afterwards
from discreet.queries.explanation.rows import rows_in_words
from discreet.queries.question.query import Query

__all__ = ["explain_counted"]


def explain_counted(
    query: Query, request: CountedKeysRequest, tables: Mapping[str, Table], *, sql: bool
) -> str:
    """Describe a request for keys with their counts, from the rows up to the answer."""
    return "\n".join(_lines(query, request, tables, sql=sql))


def _lines(
    query: Query, request: CountedKeysRequest, tables: Mapping[str, Table], *, sql: bool
) -> Iterator[str]:
    plan, mechanism = request.plan, request.mechanism
    yield from rows_in_words(plan.source, tables)
    listed = {key.column: len(key.values) for key in plan.listed}
    by = ", ".join(
        f"{name!r} ({f'of {listed[name]} known keys' if name in listed else 'keys to be chosen'})"
        for name in plan.columns
    )
    yield f"by {by}: as many groups as combinations are shown"
    counted = "persons" if plan.rows == 1 else f"rows, at most {plan.rows} of a person for one key"
    yield (
        f"  one measurement: combinations that occur are counted by {counted}, at most {plan.total} for a "
        "person in all, and shown with the noisy count if that reaches the threshold"
    )
    half, most = (mechanism.size_for(chance) for chance in (0.5, 0.95))
    yield "noise and cost, with the whole offer:"
    yield f"  {mechanism!r}"
    yield f"  a key is shown with probability 50% at a count of {half:,}, 95% at {most:,}"
    yield f"expected margins at confidence {show(request.confidence)}:"
    for output in request.columns:
        parts = [request.part_of(measure) for measure in output.measures]
        expected = output.expect(parts, request.confidence, 1000)
        note = f", {expected.note}" if expected.note else ""
        yield f"  {expected.name} ± {expected.margin:.4g}{note}"
    yield from afterwards(query.after)
    if sql:
        yield "the engine's statement, with … for the lots:"
        yield combination_counts_sql(plan, tables)
