"""Questions for counts by chosen keys: the noisy counts that pass the threshold are the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from discreet.curator import Door, Preview, Release
from discreet.curator.request.counted_keys_request import CountedKeysRequest
from discreet.data import Table
from discreet.errors import UnsupportedQuery
from discreet.queries.asking.asked import Asked
from discreet.queries.asking.query import AskedQuery
from discreet.queries.asking.unknown_keys import AskedByUnknownKeys, was_chosen_before
from discreet.queries.explanation.counted_keys import explain_counted
from discreet.queries.noise.counted_keys import counted_request
from discreet.queries.noise.unknown_keys import check_unknown, unknown_keys
from discreet.queries.question.query import Query
from discreet.queries.question.terms import CHOSEN, IN_ROUNDS, Terms
from discreet.records import dataclass

__all__ = ["AskedByCountedKeys"]

_CHARGED = ("loss", "event", "charge")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedByCountedKeys(AskedQuery):
    """A question for counts by keys that are chosen, on an offer with a delta: one request."""

    counted: CountedKeysRequest

    @classmethod
    def settle(cls, query: Query, tables: Mapping[str, Table], terms: Terms) -> Asked:
        """Return the question in this way if it is for counts alone; else keys are chosen first, by persons.

        Whoever states a share or a split, or wants keys in rounds, gets two measurements.
        """
        two = AskedByUnknownKeys(tables=tables, terms=terms, query=query)
        if not query.keys:
            raise _not_counted(query, terms)
        check_unknown(query, tables)
        stated = terms.key_share is not None or terms.split is not None or terms.keys == IN_ROUNDS
        if terms.offer is not None and not stated:
            counted = counted_request(
                query, tables, terms.offer, confidence=terms.confidence, chosen=terms.keys == CHOSEN
            )
            if counted is not None:
                return cls(tables=tables, terms=terms, query=query, counted=counted)
        if terms.keys == CHOSEN:
            raise _not_counted(query, terms)
        return two

    def explain(self, *, sql: bool) -> str:
        """Describe what is counted, the noise and the threshold."""
        return explain_counted(self.query, self.counted, self.tables, sql=sql)

    def preview(self, door: Door, *, analyst: str) -> Preview:
        """Return what the counts would cost, and from which size on keys are shown."""
        if self._before(door) is not None:
            return self._two.preview(door, analyst=analyst)
        return door.preview_request(self.counted, analyst=analyst, rows=self.terms.rows)

    def _release(self, door: Door, analyst: str) -> Release:
        two = self._before(door)
        if two is not None:
            return two._release(door, analyst)
        shown = [output.name for output in self.counted.columns]
        counted = self.counted if tuple(shown) == self.query.shown else self._counted_anew()
        release = door.choose_keys(counted, analyst=analyst)
        return replace(release, label=_with_threshold(release.label, counted))

    def _counted_anew(self) -> CountedKeysRequest:
        """Return the request for the columns that are shown now."""
        offer = self.terms.stated_offer()
        made = counted_request(
            self.query, self.tables, offer, confidence=self.terms.confidence, chosen=self.terms.keys == CHOSEN
        )
        assert made is not None  # noqa: S101
        return made

    @property
    def _two(self) -> AskedByUnknownKeys:
        return AskedByUnknownKeys(tables=self.tables, terms=self.terms, query=self.query)

    def _before(self, door: Door) -> AskedByUnknownKeys | None:
        """Return the question in two measurements, if it was paid for in that way before."""
        offer = self.terms.stated_offer()
        if offer.rho is not None or not unknown_keys(self.query, self.tables):
            return None
        return self._two if was_chosen_before(self.query, self.tables, offer, door) else None


def _not_counted(query: Query, terms: Terms) -> UnsupportedQuery:
    """Return the refusal of keys that cannot be chosen with their counts, by what is in the way."""
    if not query.keys:
        return UnsupportedQuery("keys='chosen' chooses what is grouped by, and there is no GROUP BY; add one")
    if terms.offer is not None and terms.offer.delta is None:
        return UnsupportedQuery(
            "keys='chosen' shows keys that enough persons have, which takes a delta; offer one beside "
            "epsilon or rho, as in epsilon=1, delta=1e-6"
        )
    if terms.key_share is not None or terms.split is not None:
        return UnsupportedQuery(
            "keys='chosen' measures keys and counts at once, so that there is nothing to divide; leave out "
            "key_share and split"
        )
    return UnsupportedQuery(
        "keys='chosen' shows keys with their counts, and here something else is asked; ask for COUNT(*) or "
        "COUNT(DISTINCT person) alone, or list the keys: in SQL with WHERE key IN (...), else with "
        "with_keys(...)"
    )


def _with_threshold(label: Mapping[str, object], counted: CountedKeysRequest) -> dict[str, object]:
    """Return the label of counts that are shown because they reached a threshold, which it states."""
    stated = {
        "threshold": counted.mechanism.threshold,
        "counts": "rows" if counted.plan.rows > 1 else "persons",
        "means": "the noisy count that reached the threshold is shown: near it a count lies above the true "
        "one on average; the intervals cover given that it is shown",
    }
    return {**label, "chosen_keys": [{**{name: label[name] for name in _CHARGED}, **stated}]}
