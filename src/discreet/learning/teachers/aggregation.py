"""How votes are answered: the class with most of them, with noise; perhaps only where teachers agree.

One person is in the shard of one teacher. Adding or removing the person may turn this teacher's vote, in
every query: in each, at most one count falls by one and one rises by one, and the largest count, or that of
votes beyond public numbers, moves by at most one. Proof: docs/proofs/private_teachers.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.learning.teachers.vote_counts import checked_counts
from discreet.learning.teachers.vote_noise import GaussianVoteNoise, LaplaceVoteNoise, VoteNoise
from discreet.noise import current
from discreet.privacy.events import Event, RoundedGaussian
from discreet.privacy.rational import Number, probability, whole
from discreet.records import Record, dataclass

__all__ = [
    "NO_ANSWER",
    "Aggregation",
    "Answers",
    "ConfidentGNMax",
    "GNMax",
    "InteractiveGNMax",
    "LNMax",
]

NO_ANSWER = -1
"""The label of a query that is not answered."""
_MOST_TEACHERS = 2**20
_MOST_CLASSES = 2**16
_MOST_QUERIES = 2**24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """What was answered. All of it is public.

    Attributes
    ----------
    labels : array of int
        The number of a class for each query, or `NO_ANSWER`.
    voted : array of bool
        Which queries were answered by a vote.
    checks : int
        How many queries were checked for agreement: the first ones.
    """

    labels: Integers
    voted: NDArray[np.bool_]
    checks: int


class Aggregation(Record, ABC):
    """What all ways to answer have in common: so many teachers, so many classes, and noise on counts."""

    __slots__ = ()

    teachers: int
    classes: int
    noise: VoteNoise

    def _begin(self, teachers: int, classes: int, noise: VoteNoise, **others: object) -> None:
        self._set(
            teachers=whole(teachers, "teachers", least=2, most=_MOST_TEACHERS),
            classes=whole(classes, "classes", least=2, most=_MOST_CLASSES),
            noise=noise,
            **others,
        )

    @abstractmethod
    def event(self, queries: int) -> Event:
        """Return the law of all answers to so many queries, at most: it does not depend on votes."""

    def _winners(self, counts: Integers) -> Integers:
        """Return the class with most votes after noise; of equals the first."""
        noisy = counts + self.noise.draw(counts.size).reshape(counts.shape)
        return np.asarray(np.argmax(noisy, axis=1), dtype=np.int64)


class _AnswersAll(Aggregation):
    """Answers every query."""

    __slots__ = ()

    def event(self, queries: int) -> Event:
        """Return the law of all answers: one release of noisy counts each."""
        return self.noise.event(self.classes) * _queries(queries)

    def answer(self, counts: Any) -> Answers:
        """Return the class with most votes after noise, for every query.

        Parameters
        ----------
        counts : array of int (queries, classes)
            Private: how many teachers vote for each class.
        """
        held = checked_counts(counts, teachers=self.teachers, classes=self.classes)
        labels = current().mark(self._winners(held))
        return Answers(labels=labels, voted=np.ones(len(held), dtype=bool), checks=0)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False)
class LNMax(_AnswersAll):
    """The class with most votes after Laplace noise of scale 1/gamma (Papernot et al. 2017).

    Parameters
    ----------
    gamma : number
        The inverse of the scale.
    teachers, classes : int
        How many teachers vote, for how many classes.

    Guarantee
    ---------
    Each answer is private with epsilon = 2 gamma under add/remove of a person: one teacher changes a vote, so
    that two counts change by one (proof: docs/proofs/private_teachers.md, theorem 2).

    Finite precision
    ----------------
    Counts and noise are integers; the law is drawn exactly, and of equals the first class wins.

    Error
    -----
    See `discreet.learning.teachers.vote_noise.LaplaceVoteNoise`.
    """

    teachers: int
    classes: int
    noise: VoteNoise

    def __init__(self, *, gamma: Number, teachers: int, classes: int) -> None:
        self._begin(teachers, classes, LaplaceVoteNoise(gamma))


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False)
class GNMax(_AnswersAll):
    """The class with most votes after normal noise (Papernot et al. 2018).

    Parameters
    ----------
    sigma : number
        The standard deviation of the noise on each count.
    teachers, classes : int
        How many teachers vote, for how many classes.

    Guarantee
    ---------
    Each answer is mu-Gaussian private with mu^2 = 2 / sigma^2 under add/remove of a person, and squares of mu
    add up (proof: docs/proofs/private_teachers.md, theorem 2).

    Finite precision
    ----------------
    The noise is rounded to integers and drawn exactly; of equals the first class wins.

    Error
    -----
    See `discreet.learning.teachers.vote_noise.GaussianVoteNoise`.
    """

    teachers: int
    classes: int
    noise: VoteNoise

    def __init__(self, *, sigma: Number, teachers: int, classes: int) -> None:
        self._begin(teachers, classes, GaussianVoteNoise(sigma))


class _AnswersChecked(Aggregation):
    """Answers a query only if a noisy number, which a person moves by at most one, reaches a threshold."""

    __slots__ = ()

    check: GaussianVoteNoise
    threshold: int
    most_answers: int | None

    def event(self, queries: int) -> Event:
        """Return the law of so many checks, and of as many answers as there may be."""
        number = _queries(queries)
        answers = number if self.most_answers is None else min(number, self.most_answers)
        checked = RoundedGaussian(squared_sensitivity=1, variance=self.check.sigma**2, grid=1, size=1)
        return checked * number + self.noise.event(self.classes) * answers

    def _answer(self, counts: Integers, surprise: Integers) -> Answers:
        passed = surprise + self.check.draw(len(surprise)) >= self.threshold
        checks = len(passed)
        if self.most_answers is not None:
            spent = np.flatnonzero(passed)[self.most_answers - 1 :]
            checks = int(spent[0]) + 1 if len(spent) else checks
            passed[checks:] = False
        labels = np.full(len(counts), NO_ANSWER, dtype=np.int64)
        labels[passed] = self._winners(counts[passed])
        return Answers(labels=current().mark(labels), voted=passed, checks=checks)

    def _begin_checked(
        self,
        *,
        sigma: Number,
        check_sigma: Number,
        threshold: int,
        most_answers: int | None,
        teachers: int,
        classes: int,
        **others: object,
    ) -> None:
        if most_answers is not None:
            most_answers = whole(most_answers, "most_answers", least=1, most=_MOST_QUERIES)
        self._begin(
            teachers,
            classes,
            GaussianVoteNoise(sigma),
            check=GaussianVoteNoise(check_sigma),
            threshold=whole(threshold, "threshold", least=0, most=_MOST_TEACHERS),
            most_answers=most_answers,
            **others,
        )


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False)
class ConfidentGNMax(_AnswersChecked):
    """The class with most votes after normal noise, where the largest count with noise reaches a threshold.

    Parameters
    ----------
    sigma : number
        The standard deviation of the noise on each count of a query that is answered.
    check_sigma : number
        That of the noise on the largest count, for the check.
    threshold : int
        What it has to reach.
    most_answers : int, optional
        After so many answers no query is checked any more.
    teachers, classes : int
        How many teachers vote, for how many classes.

    Guarantee
    ---------
    Under add/remove of a person a check is mu-Gaussian private with mu^2 = 1 / check_sigma^2, an answer with
    mu^2 = 2 / sigma^2, and all together with the sum over all checks and at most `most_answers` answers,
    although which queries are answered depends on checks (proof: docs/proofs/private_teachers.md, theorem 2).

    Finite precision
    ----------------
    The noise is rounded to integers and drawn exactly.

    Error
    -----
    See `discreet.learning.teachers.vote_noise.GaussianVoteNoise`.
    """

    teachers: int
    classes: int
    noise: VoteNoise
    check: GaussianVoteNoise
    threshold: int
    most_answers: int | None

    def __init__(
        self,
        *,
        sigma: Number,
        check_sigma: Number,
        threshold: int,
        teachers: int,
        classes: int,
        most_answers: int | None = None,
    ) -> None:
        self._begin_checked(
            sigma=sigma,
            check_sigma=check_sigma,
            threshold=threshold,
            most_answers=most_answers,
            teachers=teachers,
            classes=classes,
        )

    def answer(self, counts: Any) -> Answers:
        """Return the class with most votes after noise, for queries on which teachers seem to agree."""
        held = checked_counts(counts, teachers=self.teachers, classes=self.classes)
        return self._answer(held, self.checked(held))

    def checked(self, counts: Integers) -> Integers:
        """Return what is checked: the largest count. Private."""
        return np.asarray(counts.max(axis=1, initial=0), dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False)
class InteractiveGNMax(_AnswersChecked):
    """Votes where they contradict the student by more than a threshold, its own prediction where it is sure.

    Parameters
    ----------
    sigma, check_sigma, threshold, most_answers, teachers, classes
        As for `ConfidentGNMax`; what is checked is the largest of count less teachers times the probability
        that the student gives the class, rounded to votes.
    sure : number
        The student keeps its prediction where the check fails and its probability is at least this.

    Guarantee
    ---------
    That of `ConfidentGNMax`: predictions are public.

    Finite precision
    ----------------
    The noise is rounded to integers and drawn exactly.

    Error
    -----
    See `discreet.learning.teachers.vote_noise.GaussianVoteNoise`.
    """

    teachers: int
    classes: int
    noise: VoteNoise
    check: GaussianVoteNoise
    threshold: int
    most_answers: int | None
    sure: Fraction

    def __init__(
        self,
        *,
        sigma: Number,
        check_sigma: Number,
        threshold: int,
        sure: Number,
        teachers: int,
        classes: int,
        most_answers: int | None = None,
    ) -> None:
        likely = probability(sure, "sure")
        self._begin_checked(
            sigma=sigma,
            check_sigma=check_sigma,
            threshold=threshold,
            most_answers=most_answers,
            teachers=teachers,
            classes=classes,
            sure=likely,
        )

    def answer(self, counts: Any, predictions: Any) -> Answers:
        """Return votes that contradict the student, and what it is sure of.

        Parameters
        ----------
        counts : array of int (queries, classes)
            Private: how many teachers vote for each class.
        predictions : array (queries, classes)
            Public: the probability that the student gives each class.
        """
        held = checked_counts(counts, teachers=self.teachers, classes=self.classes)
        likely = self._read(predictions, len(held))
        found = self._answer(held, self.checked(held, likely))
        kept = ~found.voted & (likely.max(axis=1, initial=0) >= float(self.sure))
        labels = np.where(kept, likely.argmax(axis=1), found.labels).astype(np.int64)
        return Answers(labels=current().mark(labels), voted=found.voted, checks=found.checks)

    def checked(self, counts: Integers, predictions: Any) -> Integers:
        """Return what is checked: the most votes of a class beyond what the student expects. Private."""
        expected = np.rint(self.teachers * self._read(predictions, len(counts))).astype(np.int64)
        return np.asarray(np.max(counts - expected, axis=1, initial=-self.teachers), dtype=np.int64)

    def _read(self, predictions: Any, queries: int) -> Floats:
        found = np.asarray(predictions, dtype=np.float64)
        good = found.shape == (queries, self.classes) and bool(((found >= 0) & (found <= 1)).all())
        if not good:
            raise ParameterError(
                "predictions", "are not probabilities", "one from 0 to 1 for each query and class"
            )
        return found


def _queries(queries: int) -> int:
    return whole(queries, "queries", least=0, most=_MOST_QUERIES)
