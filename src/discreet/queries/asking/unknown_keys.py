"""Questions by keys that nobody declared: these are chosen first, then asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.curator import Door, Preview, Release
from discreet.curator.budget.checks import check_analyst
from discreet.curator.request.key_request import KeyRequest
from discreet.curator.request.request import AnswerColumn
from discreet.data import Keys, Table
from discreet.privacy.offer import Offer
from discreet.queries.asking.query import AskedQuery
from discreet.queries.noise.unknown_keys import KeyChoice, hypothetical_keys, selection_for
from discreet.queries.question.query import Query
from discreet.queries.question.terms import EARLIER_KEY_SHARE, IN_ROUNDS
from discreet.records import dataclass

__all__ = ["AskedByUnknownKeys", "label_of_chosen", "was_chosen_before", "with_choices"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedByUnknownKeys(AskedQuery):
    """A query by undeclared keys, on an offer of epsilon and delta.

    A part of the offer chooses the keys; the values on them are paid for with the rest.
    """

    def preview(self, door: Door, *, analyst: str) -> Preview:
        """Return what the choice of keys and the values on them would cost together.

        The keys are those that were chosen before, if they were; before that, made-up ones stand for
        them. An answer for no key is made of the choice alone.
        """
        selection = self._selection(door)
        requests = [request for _, request in selection.requests]
        chosen = [door.keys_chosen(request) for request in requests]
        supposed = hypothetical_keys(self.query, self.tables)
        if all(chosen):
            names = (name for name, _ in selection.requests)
            listed = {name: keys or () for name, keys in zip(names, chosen, strict=True)}
            supposed = self.query.with_keys(**listed)
        request = self._request_for(supposed, selection.rest)
        found = door.preview_request(request, analyst=analyst, rows=self.terms.rows, chosen=requests)
        settled = all(keys is not None for keys in chosen) and not all(chosen)
        return replace(found, answered=True) if settled else found

    def _release(self, door: Door, analyst: str) -> Release:
        """Choose the keys, then answer for them; what does not fit together is refused before any charge."""
        check_analyst(analyst)
        selection = self._selection(door)
        chosen = tuple(request for _, request in selection.requests)
        supposed = self._request_for(hypothetical_keys(self.query, self.tables), selection.rest)
        unpaid = [request.event for request in chosen if not door.is_charged(request)]
        if unpaid:
            door.account().check(analyst, *unpaid, supposed.event)
        choices = [door.choose_keys(request, analyst=analyst) for request in chosen]
        shown = {
            one.plan.column: choice.keys[one.plan.column] for one, choice in zip(chosen, choices, strict=True)
        }
        if not all(shown.values()):
            return _without_groups(self.query, choices)
        listed = {name: Keys(keys) for name, keys in shown.items()}
        request = self._request_for(self.query.with_keys(**listed), selection.rest)
        release = door.answer(request, analyst=analyst)
        return replace(release, chosen=chosen, label=with_choices(release, choices))

    def _selection(self, door: Door) -> KeyChoice:
        """Return how the offer is divided: as stated, as it was before, or by what is asked."""
        offer, share = self.terms.stated_offer(), self.terms.key_share
        if self.terms.keys == IN_ROUNDS:
            return selection_for(self.query, self.tables, offer, share=share, rounds=True)
        if share is None and offer.rho is None and was_chosen_before(self.query, self.tables, offer, door):
            share = EARLIER_KEY_SHARE
        return selection_for(self.query, self.tables, offer, share=share)


def was_chosen_before(query: Query, tables: Mapping[str, Table], offer: Offer, door: Door) -> bool:
    """Return whether keys were chosen for this question when their share did not depend on it.

    Then that choice is used again, so that a question that was paid for is not paid for twice.
    """
    earlier = selection_for(query, tables, offer, share=EARLIER_KEY_SHARE)
    return all(door.is_charged(request) for _, request in earlier.requests)


def with_choices(release: Release, choices: Sequence[Release]) -> dict[str, object]:
    """Return the label of a release whose keys were chosen, including what was charged for that.

    It is as private as the least private of them: which keys there are is an answer too.
    """
    listed = [{name: choice.label[name] for name in ("loss", "event", "charge")} for choice in choices]
    private = all(one.label["private"] for one in (release, *choices))
    return {**release.label, "chosen_keys": listed, "private": private}


def label_of_chosen(label: Mapping[str, object], before: Mapping[str, object]) -> dict[str, object]:
    """Return the label of an answer for keys, limits or bounds that were found for an earlier one."""
    chosen = {name: before[name] for name in ("chosen_keys", "bought") if name in before}
    return {**label, **chosen, "private": bool(label["private"]) and bool(before["private"])}


def _without_groups(query: Query, choices: Sequence[Release]) -> Release:
    """Return an answer without groups, because no key was shown. Only the choice of keys was paid for."""
    first, *others = choices
    nothing = np.zeros(0)
    return replace(
        first,
        keys={key.name: [] for key in query.keys},
        outputs=tuple(
            AnswerColumn(name=name, values=nothing, lower=nothing, upper=nothing) for name in query.shown
        ),
        label=with_choices(first, others),
        chosen=tuple(choice.request for choice in others if isinstance(choice.request, KeyRequest)),
    )
