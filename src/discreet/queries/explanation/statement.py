"""A description of a statement of several answers: its measured questions, and what is done with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from discreet.curator.request.request import Expectation
from discreet.data import Table
from discreet.data.language.description import describe_expression
from discreet.privacy.offer import Offer
from discreet.privacy.rational import show
from discreet.queries.answers.build import shares_of_parts
from discreet.queries.explanation.query import explain
from discreet.queries.question.answer_relations import (
    AnswerRelation,
    Combined,
    Cut,
    Extended,
    Joined,
    Kept,
    Regrouped,
    walk_answer,
)
from discreet.queries.question.statement import Statement
from discreet.queries.question.terms import Terms

__all__ = ["explain_statement"]


def explain_statement(
    statement: Statement,
    tables: Mapping[str, Table],
    offers: Sequence[Offer] | None,
    expected: Sequence[Expectation],
    terms: Terms,
    *,
    sql: bool = False,
) -> str:
    """Describe what a statement measures, and what it calculates from the released tables.

    Parameters
    ----------
    statement : Statement
        From `read`.
    tables : mapping of names to Table
        The declared tables; no data is read.
    offers : sequence of Offer, optional
        For each question; without them, their shares of any offer.
    expected : sequence of Expectation
        How wrong the answer will be, if anything is offered.
    terms : Terms
        What is stated beside the question.
    sql : bool
        Whether to show the engine's statements too.
    """
    lines = []
    count = len(statement.parts)
    for place, (part, share) in enumerate(zip(statement.parts, shares_of_parts(statement), strict=True)):
        lines.append(f"question {place + 1} of {count}, for {show(share)} of what is offered:")
        offer = None if offers is None else offers[place]
        lines += [f"  {line}" for line in explain(part, tables, offer, terms, sql=sql).splitlines()]
    lines.append("one charge for all of them; afterwards, from released tables alone:")
    lines += [f"  {line}" for line in _steps(statement.relation)]
    if expected:
        lines.append(f"expected margins at confidence {show(terms.confidence)}:")
    for one in expected:
        note = f", {one.note}" if one.note else ""
        lines.append(f"  {one.name} ± {one.margin:.4g}{note}")
    return "\n".join(lines)


def _steps(relation: AnswerRelation) -> Iterator[str]:
    """Yield what is done with the answers, in order."""
    for node in walk_answer(relation):
        if isinstance(node, Extended):
            for one in node.columns:
                yield f"{one.name} = {describe_expression(one.expression)}"
        elif isinstance(node, Kept):
            yield f"only rows with {describe_expression(node.condition)}"
        elif isinstance(node, Joined):
            on = " and ".join(f"{pair.left!r} = {pair.right!r}" for pair in node.on)
            yield f"joined by {on}" if on else "joined in all pairs"
        elif isinstance(node, Regrouped):
            by = ", ".join(map(repr, node.keys))
            aggregates = ", ".join(f"{name} = {one.described}" for name, one in node.columns)
            yield f"by {by or 'nothing'}: {aggregates or 'each once'}"
        elif isinstance(node, Combined):
            yield str(node.kind.value)
        elif isinstance(node, Cut):
            order = ", ".join(f"{part.column!r}{' descending' * part.descending}" for part in node.order)
            yield "; ".join(
                words
                for words in (
                    f"sorted by {order}" if order else "",
                    "cut to the first rows, by released values"
                    if node.limit is not None or node.offset
                    else "",
                )
                if words
            )
