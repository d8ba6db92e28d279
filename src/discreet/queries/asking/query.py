"""Questions in SQL or like dataframes, for keys that are declared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from discreet.curator import Door, Preview, Release, Request
from discreet.privacy.offer import Offer
from discreet.queries.asking.asked import Asked
from discreet.queries.asking.column_order import columns_shown, in_order
from discreet.queries.asking.released_counts import with_released_counts
from discreet.queries.explanation.query import explain
from discreet.queries.noise.build_request import build_request, for_error
from discreet.queries.noise.unknown_keys import unknown_keys
from discreet.queries.question.post_processing import shown_groups
from discreet.queries.question.query import Query
from discreet.queries.question.terms import ASSUMED_ROWS
from discreet.records import dataclass

__all__ = ["AskedQuery"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuery(Asked):
    """A query on its terms."""

    query: Query

    def request(self) -> Request:
        """Return the request that the offer buys, or that the wanted error needs."""
        return self._request_for(self.query, self._offer())

    def explain(self, *, sql: bool) -> str:
        """Describe the plan and, if anything is offered, its noise and cost."""
        is_priced = self.terms.offer is not None or self.terms.error is not None
        return explain(self.query, self.tables, self._offer() if is_priced else None, self.terms, sql=sql)

    def preview(self, door: Door, *, analyst: str) -> Preview:
        """Return what the answer would cost and how wrong it would be, by counts that were released before.

        A stated number of rows is taken instead of them.
        """
        request = self.request()
        found = door.preview_request(request, analyst=analyst, rows=self.terms.rows)
        if self.terms.rows != ASSUMED_ROWS:
            return found
        return with_released_counts(found, request, door, analyst)

    def answer(self, door: Door, *, analyst: str) -> Release:
        """Spend, answer, and show the groups that HAVING, ORDER BY and LIMIT ask for."""
        if not self.query.after.chooses_groups:
            release = self._release(door, analyst)
            return in_order(release, columns_shown(release, self.query.selected))
        release = replace(self, query=self.query.showing_all())._release(door, analyst)
        order = columns_shown(release, self.query.selected)
        columns: dict[str, Any] = {**release.keys, **{one.name: one.values for one in release.outputs}}
        unknown = {one.name: one.unknown for one in release.outputs if one.unknown is not None}
        places = shown_groups(self.query.after, columns, unknown, self._absent(release))
        return in_order(release.at(places).showing(self.query.shown), order)

    def _absent(self, release: Release) -> list[bool] | None:
        """Return which groups may have no rows, if only others are listed; a key that was chosen has some."""
        counts = [one for one in release.outputs if one.name == self.query.after.present]
        if not counts or (len(self.query.keys) == 1 and unknown_keys(self.query, self.tables)):
            return None
        return [bool(low <= 0) for one in counts if one.lower is not None for low in one.lower]

    def _release(self, door: Door, analyst: str) -> Release:
        return door.answer(self.request(), analyst=analyst)

    def _offer(self) -> Offer:
        if self.terms.error is None:
            return self.terms.stated_offer()
        return for_error(
            self.query,
            self.tables,
            error=self.terms.error,
            offer=self.terms.of_the_kind,
            confidence=self.terms.confidence,
            rows=self.terms.rows,
            split=self.terms.split,
        )

    def _request_for(self, query: Query, offer: Offer) -> Request:
        return build_request(
            query, self.tables, offer, confidence=self.terms.confidence, split=self.terms.split
        )
