"""Questions for many counts at once: ranges, distribution functions and marginals."""

from __future__ import annotations

from discreet.curator import Request
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.queries.asking.asked import Asked
from discreet.queries.counts.question import LinearQuestion
from discreet.records import dataclass

__all__ = ["AskedCounts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCounts(Asked):
    """Many counts at once, on their terms."""

    question: LinearQuestion

    def request(self) -> Request:
        """Return the request for the table of counts that the offer buys, or that the wanted error needs."""
        if self.terms.split is not None:
            raise ParameterError("split", "is given for a question of one output", "no split")
        return self.question.request(self.tables, self._offer(), self.terms.confidence)

    def explain(self, *, sql: bool) -> str:
        """Describe the strategy that is measured, its noise and its error."""
        from discreet.queries.explanation.counts import explain_counts

        is_priced = self.terms.offer is not None or self.terms.error is not None
        offer = self._offer() if is_priced else None
        return explain_counts(self.question, self.tables, offer, confidence=self.terms.confidence, sql=sql)

    def _offer(self) -> Offer:
        if self.terms.error is None:
            return self.terms.stated_offer()
        return self.question.offer_for(
            self.tables, self.terms.error, self.terms.confidence, self.terms.of_the_kind
        )
