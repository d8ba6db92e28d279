"""Two related synthetic tables of a curator: persons, and events of each, in one charge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from discreet.curator import Preview
from discreet.front.arguments import refuse_others
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, confidence_level
from discreet.queries.counts.question import relation_of
from discreet.queries.question.terms import ASSUMED_ROWS, CONFIDENCE

if TYPE_CHECKING:
    from discreet.curator.request.tabulated_request import TabulatedRequest
    from discreet.data import Limits
    from discreet.front.curator import Curator
    from discreet.queries import TableRequest
    from discreet.synthesis.asking.related_release import RelatedRelease

__all__ = ["preview_related", "synthesize_related"]


def synthesize_related(
    curator: Curator,
    persons: str | TableRequest,
    columns: Sequence[str],
    *unnamed: NoReturn,
    events: str | TableRequest,
    event_columns: Sequence[str],
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    limits: Limits | None = None,
    rows: int | None = None,
    width: Mapping[str, Number] | None = None,
    confidence: Number = CONFIDENCE,
    analyst: str = "",
    **unknown: NoReturn,
) -> RelatedRelease:
    """Spend, then return synthetic persons, and synthetic events for each of them.

    Both tables are paid for at once, before anything is read, and a person is protected with their row and
    all their events. Events depend on columns of their person, and persons without events are persons with
    none; events of persons who are not in the table of persons are left out. What is missing or not declared
    is a value of its own. The same question with the same offer on the same data returns the same tables, at
    no cost.

    Parameters
    ----------
    persons : str or TableRequest
        The table with a row for each person, by name; or its rows, filtered or calculated. Of a person with
        several rows, one counts as a person, by lot. Each of their events is beside each of these rows, and
        of these pairs as many count as the limit of events says: an event may count more than once.
    columns : sequence of str
        Its columns with declared keys, or with bounds.
    events : str or TableRequest
        The table of events, which has the same persons; or its rows.
    event_columns : sequence of str
        Its columns with declared keys, or with bounds.
    epsilon, delta, rho : number, optional
        The offer: epsilon with delta, or rho.
    limits : Limits, optional
        How many events of a person count, fewer than declared and at most 2^20: the noise on events grows
        with it, and no synthetic person has more.
    rows : int, optional
        How many persons to draw; by default as many as the measurements say there are.
    width : mapping of columns to numbers, optional
        How wide a cell of a column of numbers is; by default one that leaves at most 64 cells.
    confidence : number
        Of the intervals of measured counts.
    analyst : str
        Who asks, for caps per analyst.

    Raises
    ------
    BudgetExceeded, UnsupportedQuery, UndeclaredColumn
        Before anything is charged.
    EngineFailed
        After the charge; asking again computes without another.
    """
    from discreet.synthesis.asking.related_release import RelatedRelease
    from discreet.synthesis.release.synthetic_data import rows_to_draw

    refuse_others(unnamed, unknown)
    wanted = rows_to_draw(rows)
    offer = Offer(epsilon=epsilon, delta=delta, rho=rho)
    request = _request(curator, persons, columns, events, event_columns, offer, limits, width, confidence)
    answer = curator.answer(request, analyst=analyst)
    content = curator.stored(request)
    assert content is not None  # noqa: S101
    return RelatedRelease.of(answer, content, wanted)


def preview_related(
    curator: Curator,
    persons: str | TableRequest,
    columns: Sequence[str],
    *unnamed: NoReturn,
    events: str | TableRequest,
    event_columns: Sequence[str],
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    limits: Limits | None = None,
    rows: int = ASSUMED_ROWS,
    width: Mapping[str, Number] | None = None,
    confidence: Number = CONFIDENCE,
    analyst: str = "",
    **unknown: NoReturn,
) -> Preview:
    """Return what two related synthetic tables would cost, what would be measured, and how wrong.

    Spends nothing. Takes what `synthesize_related` takes; `rows` is a hypothetical number of persons.
    """
    refuse_others(unnamed, unknown)
    offer = Offer(epsilon=epsilon, delta=delta, rho=rho)
    request = _request(curator, persons, columns, events, event_columns, offer, limits, width, confidence)
    return curator.preview_request(request, analyst=analyst, rows=rows)


def _request(  # noqa: PLR0917
    curator: Curator,
    persons: str | TableRequest,
    columns: Sequence[str],
    events: str | TableRequest,
    event_columns: Sequence[str],
    offer: Offer,
    limits: Limits | None,
    width: Mapping[str, Number] | None,
    confidence: Number,
) -> TabulatedRequest:
    from discreet.synthesis.asking.related_question import RelatedQuestion

    curator.budget.check_synthesis()
    curator.budget.check_offer(offer)
    question = RelatedQuestion(
        relation=relation_of(persons),
        events=relation_of(events),
        columns=(columns,) if isinstance(columns, str) else tuple(columns),
        event_columns=(event_columns,) if isinstance(event_columns, str) else tuple(event_columns),
        widths=dict(width or {}),
        limits=limits,
    )
    return question.request(curator.tables, offer, confidence_level(confidence))
