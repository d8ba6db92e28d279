"""Questions whose limits or bounds are bought first, with a part of the offer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from discreet.curator import Door, Preview, Release, Request
from discreet.curator.budget.checks import check_analyst
from discreet.curator.release.preview import including
from discreet.data import Limits, Relation
from discreet.data.language.first_table import with_bounds, with_limits
from discreet.errors import ParameterError
from discreet.privacy.rational import show
from discreet.queries.asking.asked import Asked
from discreet.queries.counts.question import LinearQuestion
from discreet.queries.fitting.buying import Purchase, Wanted, purchase
from discreet.queries.fitting.fits import SUPPOSED_BOUNDS
from discreet.queries.question.query import Query
from discreet.queries.question.terms import Terms
from discreet.records import dataclass

__all__ = ["AskedToFit", "Fittable", "asking_about"]

Fittable: TypeAlias = Query | LinearQuestion
"""A question about the rows of a relation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedToFit(Asked):
    """A question on its terms, of which a part buys what it lacks.

    Attributes
    ----------
    question : Query or LinearQuestion
        What is asked.
    wanted : Wanted
        What has to be bought.
    settled : callable
        Settles a question that lacks nothing.
    """

    question: Fittable
    wanted: Wanted
    settled: Callable[[Fittable, Terms], Asked]

    def request(self) -> Request:
        """Refuse: the request depends on what is bought."""
        raise ParameterError(
            "question",
            "needs limits or bounds that are bought first, and has no request before",
            "ask; or suggest_limits and suggest_bounds, and limits=…, bounds=… of what they find",
        )

    def explain(self, *, sql: bool) -> str:
        """Describe what is bought, and how the question would be answered after that."""
        share = show(self.terms.fit_share)
        if self.terms.offer is None:
            words = [f"{share} of the offer buys, as noisy counts by size, what the question lacks:"]
            words += ["  the limit on rows of each person"] * (self.wanted.most is not None)
            words += [f"  the bounds of {column!r}" for column in self.wanted.columns]
            inner = self.settled(self._supposed(), self._rest(None))
            return "\n".join([*words, inner.explain(sql=sql)])
        bought = self._purchase()
        words = [f"{share} of the offer is spent first, on noisy counts by size:"]
        words += [f"  {fit.announced}" for fit in bought.fits]
        inner = self.settled(self._supposed(), self._rest(bought))
        return "\n".join([*words, inner.explain(sql=sql)])

    def preview(self, door: Door, *, analyst: str) -> Preview:
        """Return what is bought and the question together would cost.

        What was bought before is applied; else the question is previewed under what stands for it.
        """
        bought = self._purchase()
        paid = all(door.is_charged(fit.request) for fit in bought.fits)
        question, words = self._supposed(), [fit.announced for fit in bought.fits]
        if paid:
            releases = [door.answer(fit.request, analyst=analyst) for fit in bought.fits]
            question = self._applied(bought, releases)
            words = [fit.found(one) for fit, one in zip(bought.fits, releases, strict=True)]
        found = self.settled(question, self._rest(bought)).preview(door, analyst=analyst)
        events = [fit.request.event for fit in bought.fits]
        answered = paid and found.answered
        return including(found, events, words, door.account(), analyst, answered=answered)

    def answer(self, door: Door, *, analyst: str) -> Release:
        """Buy what is lacking, then answer; what does not fit together is refused before any charge."""
        check_analyst(analyst)
        bought = self._purchase()
        rest = self._rest(bought)
        unpaid = [fit.request.event for fit in bought.fits if not door.is_charged(fit.request)]
        if unpaid:
            supposed = self.settled(self._supposed(), rest).preview(door, analyst=analyst)
            door.account().check(analyst, *unpaid, supposed.event)
        releases = [door.answer(fit.request, analyst=analyst) for fit in bought.fits]
        release = self.settled(self._applied(bought, releases), rest).answer(door, analyst=analyst)
        found = [fit.found(one) for fit, one in zip(bought.fits, releases, strict=True)]
        listed = [
            {"what": words, **{name: one.label[name] for name in ("loss", "event", "charge")}}
            for words, one in zip(found, releases, strict=True)
        ]
        private = all(one.label["private"] for one in (release, *releases))
        return replace(
            release,
            bought=tuple(fit.request for fit in bought.fits),
            label={**release.label, "bought": listed, "private": private},
        )

    def _purchase(self) -> Purchase:
        if self.terms.error is not None:
            raise ParameterError(
                "error",
                "is wanted under limits or bounds that are still to be bought",
                "an offer; or first suggest_limits and suggest_bounds, and limits=…, bounds=… from them",
            )
        offer, share = self.terms.stated_offer(), self.terms.fit_share
        return purchase(self.question.relation, self.tables, self.wanted, offer, share)

    def _rest(self, bought: Purchase | None) -> Terms:
        offer = None if bought is None else bought.rest
        return replace(self.terms, offer=offer, limits=None, bounds=None)

    def _supposed(self) -> Fittable:
        relation = self.question.relation
        if self.wanted.most is not None:
            relation = with_limits(relation, Limits(rows=self.wanted.most))
        for column in self.wanted.columns:
            relation = with_bounds(relation, column, SUPPOSED_BOUNDS)
        return asking_about(self.question, relation)

    def _applied(self, bought: Purchase, releases: list[Release]) -> Fittable:
        relation = self.question.relation
        for fit, release in zip(bought.fits, releases, strict=True):
            relation = fit.applied(relation, release)
        return asking_about(self.question, relation)


def asking_about(question: Fittable, relation: Relation) -> Fittable:
    """Return the same question about other rows."""
    return replace(question, relation=relation)  # type: ignore[type-var]
