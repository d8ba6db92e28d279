"""Counts of the same groups that were released before: they say how wrong a mean will be, at no cost.

Nothing private is read: a count is looked up among the stored answers, by the noise that the ledger records
of each charge of the same analyst. They were given it, and looking at it again is post-processing (proof:
door, lemma 6).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.curator import Door, Preview, Request
from discreet.curator.budget.entries import CHARGE
from discreet.curator.release.release import unpack
from discreet.curator.request.request import Expectation, Part
from discreet.data import CountNonNull, CountRows, Measure, sensitivity
from discreet.mechanisms import Laplace
from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, Event, RoundedGaussian
from discreet.queries.outputs.counts_sums_means import CountOutput
from discreet.queries.question.terms import CONFIDENCE
from discreet.records import dataclass

__all__ = ["with_released_counts"]

_MOST_TRIED = 200
"""How many charges are looked at, the latest first: a preview should not take long."""

_Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecordedCount(Request):
    """A request for a count alone that was charged with a noise that the ledger records."""

    recorded: str

    @property
    def identity(self) -> bytes:
        """That of the request with the recorded noise."""
        content = json.loads(super().identity)
        content["events"] = [json.loads(self.recorded)]
        return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def with_released_counts(found: Preview, request: Request, door: Door, analyst: str) -> Preview:
    """Return a preview for the counts that were released before, where its errors depend on counts.

    Parameters
    ----------
    found : Preview
        For a hypothetical number of rows in every group.
    request : Request
        What it is about.
    door : Door
        Whose stored answers are looked up.
    analyst : str
        Whose.
    """
    if request.levels or not any(one.assumes for one in found.expectations):
        return found
    counts = released_counts(request, door, analyst)
    if counts is None:
        return found
    ordered = np.sort(np.maximum(counts, 1))
    least, median = int(ordered[0]), int(ordered[len(ordered) // 2])
    typical, worst = request.expectations(median), request.expectations(least)
    return replace(
        found,
        expectations=tuple(
            _for_counts(one, smallest, median, least) if one.assumes else one
            for one, smallest in zip(typical, worst, strict=True)
        ),
    )


def _for_counts(one: Expectation, smallest: Expectation, median: int, least: int) -> Expectation:
    place = "every group" if least == median else "the median group"
    said = one.assumes.replace("in every group", f"in {place}, as an earlier answer counted", 1)
    if least < median:
        said += f"; ± {smallest.margin:.3g} in the smallest group, of {least:,}"
    return replace(one, assumes=said)


def released_counts(request: Request, door: Door, analyst: str) -> _Counts | None:
    """Return a released number of values of every group, as it was stored, or None.

    Of the request itself, if it was answered before; else of the values that it counts; else of all rows, of
    which some may have no value.
    """
    counted = [one for one in request.plan.measures if isinstance(one, CountRows | CountNonNull)]
    stored = door.stored(request)
    if stored is not None and counted:
        place = request.plan.measures.index(counted[0])
        return np.asarray(unpack(request, stored)[place].steps)
    events = list(_recorded_events(request, door, analyst))
    if not events:
        return None
    for measure in dict.fromkeys([*counted, CountRows()]):
        for candidate in _candidates(request, measure, door, events):
            content = door.stored(candidate)
            if content is not None:
                return np.asarray(unpack(candidate, content)[0].steps)
    return None


def _recorded_events(request: Request, door: Door, analyst: str) -> Iterator[str]:
    """Return the noise of every charge of an analyst about the same data that may be of a count."""
    versions, seen = dict(request.versions), set[str]()
    charges = [entry for entry in door.ledger.entries() if entry.kind == CHARGE]
    for entry in charges[: -_MOST_TRIED - 1 : -1]:
        body = entry.body
        if body.get("analyst") != analyst or body.get("versions") != versions:
            continue
        written = json.dumps(body["event"])
        event = Event.from_object(body["event"])
        if isinstance(event, DiscreteLaplace | DiscreteGaussian | RoundedGaussian) and written not in seen:
            seen.add(written)
            yield written


def _candidates(
    request: Request, measure: Measure, door: Door, events: Sequence[str]
) -> Iterator[_RecordedCount]:
    """Return what requests for a count of the same groups would be, with each of some noises."""
    plan = replace(request.plan, measures=(measure,))
    (statistic,) = sensitivity(plan, door.tables).statistics
    # Any noise that covers the count: what was drawn is read from the ledger.
    mechanism = Laplace(sensitivity=statistic.sensitivity, epsilon=1, size=plan.size(measure))
    assert isinstance(measure, CountRows | CountNonNull)  # noqa: S101
    for confidence in dict.fromkeys([request.confidence, Fraction(CONFIDENCE)]):
        for recorded in events:
            yield _RecordedCount(
                plan=plan,
                versions=request.versions,
                parts=(Part(statistic=statistic, mechanism=mechanism),),
                outputs=(CountOutput(name="count", measure=measure),),
                confidence=confidence,
                recorded=recorded,
            )
