"""Statements made of several answers: one offer, one request and one charge for all their questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.curator import Door, Preview, Release
from discreet.curator.budget.checks import check_analyst
from discreet.curator.request.compound_request import CompoundRequest
from discreet.data import Keys
from discreet.errors import UnsupportedQuery
from discreet.privacy.offer import Offer
from discreet.queries.answers.build import build_statement, offer_for_error, shares_of_parts
from discreet.queries.asking.asked import Asked
from discreet.queries.asking.column_order import in_order
from discreet.queries.asking.unknown_keys import with_choices
from discreet.queries.explanation.statement import explain_statement
from discreet.queries.noise.unknown_keys import KeyChoice, hypothetical_keys, selection_for, unknown_keys
from discreet.queries.question.query import Query
from discreet.queries.question.statement import Statement
from discreet.queries.question.terms import IN_ROUNDS
from discreet.records import dataclass

__all__ = ["AskedStatement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedStatement(Asked):
    """A statement on its terms.

    Undeclared keys of its questions are chosen first, each choice a request of its own, as for a single
    question; all values are then one request with one charge.
    """

    statement: Statement

    def request(self) -> CompoundRequest:
        """Return the request that the offer buys, or that the wanted error needs."""
        return self._request_for(self._offer())

    def explain(self, *, sql: bool) -> str:
        """Describe every measured question, what is done with their answers and, if offered, the cost."""
        is_priced = self.terms.offer is not None or self.terms.error is not None
        offers = self._offers(self._offer()) if is_priced else None
        expected = self._supposed(offers).expectations(self.terms.rows) if offers else ()
        return explain_statement(self.statement, self.tables, offers, expected, self.terms, sql=sql)

    def preview(self, door: Door, *, analyst: str) -> Preview:
        """Return what the statement would cost, keys that must be chosen included, and how wrong it'd be."""
        offers = self._offers(self._offer())
        chosen = [request for choice in self._choices(offers) for _, request in choice.requests]
        found = [door.keys_chosen(request) for request in chosen]
        request = self._supposed(offers)
        if all(found):
            request = self._settled(offers, [keys or () for keys in found])
        return door.preview_request(request, analyst=analyst, rows=self.terms.rows, chosen=chosen)

    def answer(self, door: Door, *, analyst: str) -> Release:
        """Choose keys that nobody declared, then spend for all questions at once, and answer."""
        release = self._release(door, analyst)
        return in_order(release, self.statement.selected)

    def _release(self, door: Door, analyst: str) -> Release:
        offers = self._offers(self._offer())
        chosen = [request for choice in self._choices(offers) for _, request in choice.requests]
        if not chosen:
            return door.answer(self._supposed(offers), analyst=analyst)
        check_analyst(analyst)
        unpaid = [request.event for request in chosen if not door.is_charged(request)]
        if unpaid:
            door.account().check(analyst, *unpaid, self._supposed(offers).event)
        choices = [door.choose_keys(request, analyst=analyst) for request in chosen]
        keys = [choice.keys[request.plan.column] for request, choice in zip(chosen, choices, strict=True)]
        if not all(keys):
            raise UnsupportedQuery(
                "of some key that is not declared no value was shown, so that there is nothing to calculate "
                "with; the choice of keys is paid for, and asking again in this way costs and gives nothing "
                "more: offer more, or list the keys with WHERE key IN (...)"
            )
        release = door.answer(self._settled(offers, keys), analyst=analyst)
        return replace(release, chosen=tuple(chosen), label=with_choices(release, choices))

    def _offer(self) -> Offer:
        if self.terms.error is None:
            return self.terms.stated_offer()
        return offer_for_error(self.terms, self.statement, self._request_for)

    def _request_for(self, offer: Offer) -> CompoundRequest:
        offers = self._offers(offer)
        return build_statement(self.statement, self.statement.parts, self.tables, offers, self.terms)

    def _offers(self, offer: Offer) -> list[Offer]:
        return [_part(offer, share) for share in shares_of_parts(self.statement)]

    def _choices(self, offers: Sequence[Offer]) -> list[KeyChoice]:
        """Return how undeclared keys are chosen, of each question that has any."""
        return [
            selection_for(
                part,
                self.tables,
                offer,
                share=self.terms.key_share,
                rounds=self.terms.keys == IN_ROUNDS,
            )
            for part, offer in zip(self.statement.parts, offers, strict=True)
            if self._is_open(part)
        ]

    def _is_open(self, part: Query) -> bool:
        return self.terms.error is None and bool(unknown_keys(part, self.tables))

    def _supposed(self, offers: Sequence[Offer]) -> CompoundRequest:
        """Return the request, with made-up keys in place of those that will be chosen."""
        parts = [
            hypothetical_keys(part, self.tables) if self._is_open(part) else part
            for part in self.statement.parts
        ]
        return build_statement(self.statement, parts, self.tables, self._rests(offers), self.terms)

    def _rests(self, offers: Sequence[Offer]) -> list[Offer]:
        """Return what is left for the values of each question."""
        choices = iter(self._choices(offers))
        return [
            next(choices).rest if self._is_open(part) else offer
            for part, offer in zip(self.statement.parts, offers, strict=True)
        ]

    def _settled(self, offers: Sequence[Offer], keys: Sequence[Sequence[object]]) -> CompoundRequest:
        """Return the request for keys that were chosen, in the order in which they are."""
        listed = iter(keys)
        parts = [
            part.with_keys(**{name: Keys(next(listed)) for name in unknown_keys(part, self.tables)})
            if self._is_open(part)
            else part
            for part in self.statement.parts
        ]
        return build_statement(self.statement, parts, self.tables, self._rests(offers), self.terms)


def _part(offer: Offer, share: Fraction) -> Offer:
    """Return a share of an offer, in everything that it offers."""
    delta = None if offer.delta is None else offer.delta * share
    if offer.rho is not None:
        return Offer.concentrated(offer.rho * share, delta)
    assert offer.epsilon is not None  # noqa: S101
    return Offer(epsilon=offer.epsilon * share, delta=delta)
