"""Spending more on an answer that was given: the average of all its measurements."""

from __future__ import annotations

from dataclasses import replace

from discreet.curator import Door, Release, Request
from discreet.curator.release.averaging import check_combined
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.queries.asking.unknown_keys import label_of_chosen
from discreet.queries.noise.build_request import remeasuring_request

__all__ = ["remeasure"]


def remeasure(door: Door, release: Release, offer: Offer, *, analyst: str) -> Release:
    """Measure again what a release measured, and average; see `Curator.remeasure`."""
    before = (*release.before, release.request)
    requests = [one for one in before if isinstance(one, Request)]
    if len(requests) < len(before):
        raise ParameterError(
            "release",
            "has keys only, counts that were shown because they passed a threshold, or several answers",
            "an answer with values on known keys; key_share= gives one",
        )
    check_combined(requests[0].parts)
    request = remeasuring_request(requests[0], door.tables, offer, repetition=len(requests))
    again = door.remeasure_request(requests, request, analyst=analyst)
    label = label_of_chosen(again.label, release.label)
    return replace(again, chosen=release.chosen, bought=release.bought, label=label)
