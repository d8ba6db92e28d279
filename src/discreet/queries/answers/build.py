"""From a statement and an offer to one request: how the offer is divided over its questions.

Each question gets a share in proportion to the number of its aggregates, of epsilon, delta and rho alike, so
that the shares add up to the offer in exact fractions. Within a question, `queries.noise` divides its share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from discreet.curator.request.compound_request import CompoundRequest
from discreet.curator.request.request import Request
from discreet.data import Table
from discreet.errors import ParameterError
from discreet.mechanisms.calibration import smallest
from discreet.privacy.offer import Offer
from discreet.privacy.rational import rational
from discreet.queries.answers.assembly import AssembledStatement, noises_counted
from discreet.queries.noise.build_request import build_request
from discreet.queries.outputs.quantiles_and_extremes import ChoiceOutput
from discreet.queries.question.query import Query
from discreet.queries.question.statement import Statement
from discreet.queries.question.terms import Terms

__all__ = ["build_statement", "offer_for_error", "shares_of_parts"]


def shares_of_parts(statement: Statement) -> tuple[Fraction, ...]:
    """Return the share of an offer that each question gets."""
    total = sum(len(part.outputs) for part in statement.parts)
    return tuple(Fraction(len(part.outputs), total) for part in statement.parts)


def build_statement(
    statement: Statement,
    parts: Sequence[Query],
    tables: Mapping[str, Table],
    offers: Sequence[Offer],
    terms: Terms,
) -> CompoundRequest:
    """Return the request for a statement, given an offer for each of its questions.

    Parameters
    ----------
    statement : Statement
        From `read`.
    parts : sequence of Query
        Its questions, with the keys that were chosen for them.
    tables : mapping of names to Table
        The declared tables; no data is read.
    offers : sequence of Offer
        For each question.
    terms : Terms
        The confidence and, for a statement of one question, the split.

    Guarantee
    ---------
    The event costs at most what the offers add up to, since each question's does (proof: statements, lemma
    1).
    """
    if terms.split is not None and len(parts) > 1:
        raise ParameterError(
            "split",
            "is given for a statement of several questions, whose shares are their numbers of aggregates",
            "no split, or one question at a time",
        )

    def requests(together: int) -> list[Request]:
        return [
            build_request(
                part, tables, offer, confidence=terms.confidence, split=terms.split, together=together
            )
            for part, offer in zip(parts, offers, strict=True)
        ]

    built = requests(1)
    table = noises_counted(statement.relation, built)
    most = max((table.columns[name].noises for name in statement.names), default=1)
    if most > 1 and any(isinstance(output, ChoiceOutput) for one in built for output in one.outputs):
        built = requests(most)  # quantiles are chosen for the confidence that all of them need together
    assembly = AssembledStatement.of(statement.relation, statement.keys, statement.names, table)
    return CompoundRequest(requests=tuple(built), assembly=assembly, confidence=terms.confidence)


def offer_for_error(terms: Terms, statement: Statement, request: Callable[[Offer], CompoundRequest]) -> Offer:
    """Return the smallest offer for which some columns are as accurate as wanted."""
    error = terms.error
    if not isinstance(error, Mapping) or not error or not set(error) <= set(statement.names):
        names = ", ".join(statement.names)
        raise ParameterError("error", "is empty, or names an unknown output", f"a margin for some of {names}")
    wanted = {name: rational(margin, "error", positive=True) for name, margin in error.items()}

    def suffices(parameter: Fraction) -> bool:
        expected = request(terms.of_the_kind(parameter)).expectations(terms.rows)
        return all(one.margin <= wanted[one.name] for one in expected if one.name in wanted)

    return terms.of_the_kind(smallest(suffices, "error"))
