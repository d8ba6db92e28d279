"""Answers for keys that nobody declared: chosen first, then asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.curator import Door, Preview, Release
from discreet.curator.door import check_analyst
from discreet.curator.request.key_request import KeyRequest
from discreet.curator.request.request import AnswerColumn
from discreet.data import Keys
from discreet.queries import Query, build_request
from discreet.queries.noise.unknown_keys import KeyChoice, hypothetical_keys

__all__ = ["answer_unknown", "label_of_chosen", "preview_unknown"]


def answer_unknown(
    door: Door, query: Query, selection: KeyChoice, options: dict[str, Any], *, analyst: str
) -> Release:
    """Choose the keys of a query, then answer for them.

    What does not fit the budget together is refused before the first charge.

    Parameters
    ----------
    door : Door
        Where to ask.
    query : Query
        The question.
    selection : Selection
        How its keys are chosen, and what is left for its values.
    options : dict
        What else `build_request` takes.
    analyst : str
        Who asks.
    """
    check_analyst(analyst)
    tables, chosen = door.tables, tuple(request for _, request in selection.requests)
    supposed = build_request(hypothetical_keys(query, tables), tables, selection.rest, **options)
    unpaid = [request.event for request in chosen if not door.is_charged(request)]
    if unpaid:
        door.account().check(analyst, *unpaid, supposed.event)
    choices = [door.choose_keys(request, analyst=analyst) for request in chosen]
    shown = {
        one.plan.column: choice.keys[one.plan.column] for one, choice in zip(chosen, choices, strict=True)
    }
    if not all(shown.values()):
        return _without_groups(query, choices)
    listed = {name: Keys(keys) for name, keys in shown.items()}
    request = build_request(query.with_keys(**listed), tables, selection.rest, **options)
    release = door.answer(request, analyst=analyst)
    return replace(release, chosen=chosen, label=_with_choices(release, choices))


def preview_unknown(
    door: Door, query: Query, selection: KeyChoice, options: dict[str, Any], *, analyst: str, rows: int
) -> Preview:
    """Return what the choice of keys and the values on them would cost together.

    The keys are those that were chosen before, where they were; before that, made-up ones stand for them. An
    answer for no key is made of the choice alone. Other parameters as above.
    """
    tables, requests = door.tables, [request for _, request in selection.requests]
    chosen = [door.keys_chosen(request) for request in requests]
    supposed = hypothetical_keys(query, tables)
    if all(chosen):
        names = (name for name, _ in selection.requests)
        supposed = query.with_keys(**{name: keys or () for name, keys in zip(names, chosen, strict=True)})
    request = build_request(supposed, tables, selection.rest, **options)
    found = door.preview_request(request, analyst=analyst, rows=rows, chosen=requests)
    settled = all(keys is not None for keys in chosen) and not all(chosen)
    return replace(found, answered=True) if settled else found


def _with_choices(release: Release, choices: Sequence[Release]) -> dict[str, object]:
    """Return the label of a release whose keys were chosen, with what was charged for that.

    It is as private as the least private of them: which keys there are is an answer too.
    """
    listed = [{name: choice.label[name] for name in ("loss", "event", "charge")} for choice in choices]
    private = all(one.label["private"] for one in (release, *choices))
    return {**release.label, "chosen_keys": listed, "private": private}


def label_of_chosen(label: Mapping[str, object], before: Mapping[str, object]) -> dict[str, object]:
    """Return the label of an answer for keys that were chosen for an earlier one, whose label it is."""
    chosen = {"chosen_keys": before["chosen_keys"]} if "chosen_keys" in before else {}
    return {**label, **chosen, "private": bool(label["private"]) and bool(before["private"])}


def _without_groups(query: Query, choices: Sequence[Release]) -> Release:
    """Return an answer without a group, since no key was shown. Only the choice of keys was paid for."""
    first, *others = choices
    nothing = np.zeros(0)
    return replace(
        first,
        keys={key.name: [] for key in query.keys},
        outputs=tuple(
            AnswerColumn(name=name, values=nothing, lower=nothing, upper=nothing) for name in query.names
        ),
        label=_with_choices(first, others),
        chosen=tuple(choice.request for choice in others if isinstance(choice.request, KeyRequest)),
    )
