"""An audit of model selection: one person more is fitted or held out, and pays for the one or for the other.

Coins say who is held out. They are drawn apart from the data, so they can be given: the same to everybody
else, and either one to the person. Given them, and the same answers so far, a person who is fitted moves the
releases of fits, as `learner_audit` compares them, and no score; one who is held out moves no release, and
all scores in one direction, no farther than the choice is made for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

from discreet.learning.estimators import selection_learner
from discreet.learning.estimators.selection_learner import SelectionLearner
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.privacy.events import Parallel, compose

from .learner_audit import LAW, PUBLIC, SENSITIVITY, Release, _compared, recorded

BOTH = "both"
"""What else can be wrong: a person takes part in fits and in the choice, and pays for one of them."""

_RELEASE = {kind: kind.release for kind in (Exponential, PermuteAndFlip)}


def audited_selection(
    learner: SelectionLearner, values: Sequence[Any], people: Sequence[Any], person: Sequence[Any]
) -> set[str]:
    """Return what is wrong if a person has rows more; `person` has columns as `values` has."""
    mine = np.full(len(person[0]), -1)
    more = [np.concatenate([one, two]) for one, two in zip(values, person, strict=True)]
    return {
        fault
        for held_out in (False, True)
        for fault in _audited(learner, values, np.asarray(people), more, mine, held_out=held_out)
    }


def _audited(
    learner: SelectionLearner, values: Any, people: Any, more: Any, mine: Any, *, held_out: bool
) -> set[str]:
    with _coins(learner, held_out=held_out), recorded() as fits, _choices() as chosen:
        drawn = learner.draw_people(values, people)
    answers = [one.answer for one in fits]
    with _coins(learner, held_out=held_out), recorded(answers) as others, _choices(chosen) as again:
        repeated = learner.draw_people(more, np.concatenate([people, mine]))
    wrong = set()
    laws = compose([one.noise.event for one in fits])
    ((choice, scores, _),) = chosen
    if Parallel(laws, choice.event) != learner.event:
        wrong.add(LAW)
    if any(np.shape(one.value) != np.shape(other.value) for one, other in zip(fits, others, strict=True)):
        return wrong | {LAW}
    moved = [int(two) - int(one) for one, two in zip(scores, again[0][1], strict=True)]
    if held_out:
        same = all(map(_same, fits, others))
        wrong |= set() if same else {BOTH}
        wrong |= set() if _covered(choice, moved) else {SENSITIVITY}
    else:
        for one, other in zip(fits, others, strict=True):
            wrong |= _compared(one, other)
        wrong |= {BOTH} if any(moved) else set()
    return wrong | (set() if drawn == repeated else {PUBLIC})


def _same(one: Release, other: Release) -> bool:
    return bool((np.asarray(one.value) == np.asarray(other.value)).all())


def _covered(choice: Exponential | PermuteAndFlip, moved: list[int]) -> bool:
    """Whether scores moved in one direction, by what the law and its epsilon allow: epsilon / rate."""
    one_way = min(moved) >= 0 or max(moved) <= 0
    return one_way and max(map(abs, moved)) * choice.rate <= Fraction(choice.event.epsilon)


@contextmanager
def _coins(learner: SelectionLearner, *, held_out: bool) -> Iterator[None]:
    """Give coins: those of people in order by their number, and of the last one of more as is said."""

    def coins(sides: int, count: int, source: Any) -> Any:
        del source
        assert sides == learner.held_out
        found = np.arange(count) % sides
        found[_EVERYBODY:] = 0 if held_out else 1
        return found

    with mock.patch.object(selection_learner, "uniform_below", coins):
        yield


_EVERYBODY = 40
"""How many people there are without the person; each has the number of its first row."""


@contextmanager
def _choices(known: list[Any] | None = None) -> Iterator[list[Any]]:
    """Keep what is chosen, by which mechanism, from which scores; or give what is known."""
    kept: list[Any] = []

    def release(self: Any, scores: Any) -> int:
        answer = known[len(kept)][2] if known else _RELEASE[type(self)](self, scores)
        kept.append((self, list(scores), answer))
        return answer

    with (
        mock.patch.object(Exponential, "release", release),
        mock.patch.object(PermuteAndFlip, "release", release),
    ):
        yield kept
