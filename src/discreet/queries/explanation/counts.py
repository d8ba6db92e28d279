"""A description of how many counts at once are answered, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from discreet.curator.request.request import Request
from discreet.data import Table, engine_sql, sensitivity
from discreet.data.language.description import describe_measure
from discreet.privacy.offer import Offer
from discreet.privacy.rational import show
from discreet.queries.counts.marginals import MarginalsOutput
from discreet.queries.counts.question import LinearQuestion
from discreet.queries.counts.ranges import RangesOutput
from discreet.queries.explanation.rows import bounding, rows_in_words
from discreet.queries.noise.build_request import expectations
from discreet.queries.question.terms import CONFIDENCE

__all__ = ["explain_counts"]

_SHOWN = 12


def explain_counts(
    question: LinearQuestion,
    tables: Mapping[str, Table],
    offer: Offer | None = None,
    *,
    confidence: Fraction = CONFIDENCE,
    sql: bool = False,
) -> str:
    """Describe what a question computes and measures, from the rows up to the answer.

    Parameters
    ----------
    question : LinearQuestion
        What is asked.
    tables : mapping of names to Table
        The declared tables; no data is read.
    offer : Offer, optional
        What may be spent; without it, an epsilon of 1 is assumed.
    confidence : Fraction
        Of the intervals.
    sql : bool
        Whether to show the engine's statement too, which holds the literals of the question.
    """
    request = question.request(tables, offer or Offer.pure(1), confidence)
    lines = [*_computed(request, tables), *_measured(request, supposed=offer is None)]
    if sql:
        lines += ["the engine's statement, with … for the lots:", engine_sql(request.plan, tables)]
    return "\n".join(lines)


def _computed(request: Request, tables: Mapping[str, Table]) -> Iterator[str]:
    plan = request.plan
    yield from rows_in_words(plan.source, tables)
    by = ", ".join(f"{key.column!r} ({len(key.values)} keys)" for key in plan.keys)
    yield f"by {by}: {plan.cells} groups" if by else "all rows together: 1 group"
    yield from bounding(plan.source, tables, sensitivity(plan, tables).limits)
    if plan.present:
        yield f"only rows with a cell in each of {', '.join(repr(axis.column) for axis in plan.present)}"
    yield "exact counts of every group, and how far one person can move all of them:"
    for part in request.parts[:_SHOWN]:
        bound = part.statistic.sensitivity
        yield f"  {describe_measure(part.measure)}: L1 {show(bound.l1)}, L2 {bound.l2:.6g}"
    if len(request.parts) > _SHOWN:
        yield f"  … {len(request.parts) - _SHOWN:,} more"


def _measured(request: Request, *, supposed: bool) -> Iterator[str]:
    (output,) = request.outputs
    assert isinstance(output, RangesOutput | MarginalsOutput)  # noqa: S101
    design = output.design
    yield f"measured instead of them, and charged{' if epsilon = 1 is offered' if supposed else ''}:"
    yield f"  {design.name}: {design.mechanism!r}"
    if isinstance(output, RangesOutput):
        yield "compared, by root mean square error:"
        for one in output.design.considered:
            yield f"  {one.rmse:.6g}  {one.name}, {one.noise} noise"
    yield f"no strategy with this noise is below {design.lower_bound:.6g}: {design.certificate}"
    for expected in expectations(request):
        yield f"expected margin at confidence {show(request.confidence)}: ± {expected.margin:.4g}"
