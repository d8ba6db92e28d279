"""An audit of output and objective perturbation: besides releases, where a solver stops, and how it is asked.

Output perturbation is one release, which `learner_audit` compares; the solver is compared here with the
gradient at its answer, by fractions.

Objective perturbation hides a linear term b. For every point w, each of two neighbors has one term whose
minimizer is w, so the law of w is known from those of both terms and from the volumes around w; and given w,
the answers of the solver for either of them must be as near to each other as the noise on them covers. Both
can be seen at any point: here at those where a person matters most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise
from math import exp, sqrt
from typing import Any
from unittest import mock

import numpy as np
from scipy.stats import norm

from discreet.learning.perturbation import linear_terms, objective_perturbation, output_perturbation
from discreet.learning.perturbation.linear_terms import EuclideanTerm
from discreet.learning.perturbation.margin_learner import MarginLearner
from discreet.learning.perturbation.objective_learner import ObjectiveLearner
from discreet.learning.perturbation.smooth_slopes import signs_of
from discreet.learning.training.newton_learner import rows_of_classes
from discreet.privacy.events import Pure

from .learner_audit import LAW, PUBLIC, SENSITIVITY, audited, recorded
from .perturbation.test_smooth_slopes import plain_sum

SOLVER = "solver"
"""What else can be wrong: where the solver stopped is farther from the minimizer than noise is made for."""

_MARGINS = (Fraction(-6), Fraction(257, 512), Fraction(0), Fraction(3))
"""Of the person, at the points that are tried: slopes of 1, of 1 at a bend of the hinge, of 1/2, and of 0."""


def audited_perturbation(learner: MarginLearner, values: Sequence[Any], neighbor: Sequence[Any]) -> set[str]:
    """Return what is wrong on two sets of rows; the second one ends with the rows of one person more."""
    if isinstance(learner, ObjectiveLearner):
        return _audited_objective(learner, values, neighbor)
    with _asked() as ridges, recorded() as one:
        learner.draw(values)
    with _asked(ridges), recorded() as other:
        learner.draw(neighbor)
    wrong = audited(learner, values, neighbor) | _misasked(learner, ridges)
    for held, (release,) in ((values, one), (neighbor, other)):
        steps = [int(step) for step in release.value]
        if not _may_be_near(learner, held, steps):
            wrong.add(SOLVER)
    return wrong


def _may_be_near(learner: MarginLearner, values: Sequence[Any], steps: list[int]) -> bool:
    """Whether an answer may be as near to the minimizer as is assumed: its gradient is not too long."""
    mechanism = learner.mechanism
    rows, signs = _read(learner, values)
    point = [one * mechanism.step for one in steps]
    total = plain_sum(mechanism.slopes, rows, signs, point)
    gradient = [mechanism.regularization * one - more for one, more in zip(point, total, strict=True)]
    away = mechanism.tolerance / mechanism.regularization + mechanism.step * Fraction(sqrt(len(point)))
    steepest = mechanism.regularization + mechanism.slopes.curvature * len(rows)
    return sum(one**2 for one in gradient) <= (steepest * away) ** 2


def _audited_objective(learner: ObjectiveLearner, values: Sequence[Any], neighbor: Sequence[Any]) -> set[str]:
    wrong = _laws(learner, values)
    pure = isinstance(learner.event, Pure)
    # Epsilon and delta are kept row by row: a person is a chain of their rows.
    ends = [len(values[0]), len(neighbor[0])]
    if not pure and ends[1] - ends[0] > learner.rows:
        wrong.add(SENSITIVITY)  # a longer chain than is paid for
    parts = ends if pure else range(ends[0], ends[1] + 1)
    chain = [[one[:end] for one in neighbor] for end in parts]
    for point in _points(learner, neighbor, ends[0]):
        for one, other in pairwise(chain):
            wrong |= _at(learner, one, other, point)
    return wrong


def _laws(learner: ObjectiveLearner, values: Sequence[Any]) -> set[str]:
    """Return what is wrong with the noise that a usual run draws."""
    mechanism, seen = learner.mechanism, []
    laws = {name: getattr(linear_terms, name) for name in ("sample_euclidean", "sample_rounded_gaussian")}

    def watching(name: str) -> Any:
        return mock.patch.object(
            linear_terms, name, lambda scale, *rest: (seen.append((name, scale)), laws[name](scale, *rest))[1]
        )

    with watching("sample_euclidean"), watching("sample_rounded_gaussian"), recorded() as answers:
        learner.draw(values)
    scale = mechanism.term.scale / mechanism.term_step
    expected = (
        ("sample_euclidean", scale)
        if isinstance(mechanism.term, EuclideanTerm)
        else ("sample_rounded_gaussian", scale**2)
    )
    (answer,) = answers
    right = seen == [expected] and answer.scale == answer.noise.sensitivity / answer.noise.event.epsilon
    return set() if right else {LAW}


def _points(learner: ObjectiveLearner, neighbor: Sequence[Any], own: int) -> Iterator[list[Fraction]]:
    """Give points at which the margin of the person, or of anybody if they have no class, is as wished."""
    for start in (own, 0):
        rows, signs = _read(learner, [one[start:] for one in neighbor])
        if len(rows):
            row = [Fraction(int(one), 2**12) for one in rows[0].tolist()]
            length = sum(one**2 for one in row)
            for margin in _MARGINS:
                yield [int(signs[0]) * margin * one / length for one in row]
            return


def _at(
    learner: ObjectiveLearner, values: Sequence[Any], neighbor: Sequence[Any], point: list[Fraction]
) -> set[str]:
    """Return what is wrong where the ideal minimizer of both is a point."""
    mechanism, wrong = learner.mechanism, set()
    terms = [_term(learner, held, point) for held in (values, neighbor)]
    ridges: list[Fraction] = []
    with _asked(ridges), recorded() as first:
        drawn = _drawn(learner, values, terms[0])
    with _asked(ridges), recorded([one.answer for one in first]) as second:
        again = _drawn(learner, neighbor, terms[1])
    (one,), (other,) = first, second
    if drawn != again:
        wrong.add(PUBLIC)
    near = [at / mechanism.step for at in point]
    far = one.noise.sensitivity**2
    if _squared(one.value, other.value) > far or any(
        4 * _squared(held.value, near) > far for held in (one, other)
    ):
        wrong.add(SOLVER)
    moved = sqrt(_squared(*terms))
    volume = _log_volume(learner, neighbor, point) - _log_volume(learner, values, point)
    if not _covered(learner, moved, abs(volume), float(one.noise.event.epsilon)):
        wrong.add(SENSITIVITY)
    return wrong | _misasked(learner, ridges)


def _covered(learner: ObjectiveLearner, moved: float, volume: float, answer: float) -> bool:
    """Whether the event pays for a term that moves so far, volumes that differ so much, and the answer."""
    event, scale = learner.event, float(learner.mechanism.term.scale)
    epsilon = float(event.epsilon)
    if isinstance(event, Pure):
        return moved / scale + volume + answer <= epsilon * (1 + 1e-9)
    row = epsilon / learner.rows
    delta = float(event.delta) * (exp(row) - 1) / (exp(epsilon) - 1)
    left, mu = row - answer - volume, moved / scale
    if mu == 0:
        return left >= -1e-9
    lost = norm.cdf(mu / 2 - left / mu) - exp(left) * norm.cdf(-mu / 2 - left / mu)
    return bool(lost <= delta * (1 + 1e-6))


def _term(learner: ObjectiveLearner, values: Sequence[Any], point: list[Fraction]) -> list[Fraction]:
    """Return the linear term whose minimizer is a point."""
    mechanism = learner.mechanism
    total = plain_sum(mechanism.slopes, *_read(learner, values), point)
    return [one - mechanism.regularization * at for one, at in zip(total, point, strict=True)]


def _drawn(learner: ObjectiveLearner, values: Sequence[Any], term: list[Fraction]) -> Any:
    """Return what is drawn where the linear term is a stated one."""
    steps = [round(one / learner.mechanism.term_step) for one in term]
    with mock.patch.object(type(learner.mechanism.term), "draw", return_value=steps):
        return learner.draw(values)


def _log_volume(learner: ObjectiveLearner, values: Sequence[Any], point: list[Fraction]) -> float:
    """Return the logarithm of the determinant of second derivatives, over that of the regularization."""
    slopes = learner.mechanism.slopes
    rows, signs = _read(learner, values)
    parts = rows / 2.0**12
    margins = signs * (parts @ np.array([float(one) for one in point]))
    last = len(slopes.table) - 1
    lines = np.floor(margins * 2**10 + last // 2).clip(0, last - 1).astype(np.int64)
    bent = (slopes.table[lines] - slopes.table[lines + 1]) / 2.0**20
    matrix = (parts * bent[:, None]).T @ parts / float(learner.mechanism.regularization)
    return float(np.linalg.slogdet(np.eye(len(matrix)) + matrix)[1])


def _read(learner: MarginLearner, values: Sequence[Any]) -> tuple[Any, Any]:
    """Return the rows of declared classes, in steps, and their signs."""
    held, known, numbers = rows_of_classes(learner.target, values)
    return learner.features.rows(held)[known], signs_of(numbers)


def _squared(one: Sequence[Any], other: Sequence[Any]) -> Fraction:
    return sum(((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(one, other, strict=True)), Fraction(0))


@contextmanager
def _asked(ridges: list[Fraction] | None = None) -> Iterator[list[Fraction]]:
    """Keep the regularization with which solvers are asked."""
    kept: list[Fraction] = [] if ridges is None else ridges

    def watching(module: Any) -> Any:
        solver = module.certified_minimum
        return mock.patch.object(
            module,
            "certified_minimum",
            lambda *held, ridge, **named: (kept.append(ridge), solver(*held, ridge=ridge, **named))[1],
        )

    with watching(output_perturbation), watching(objective_perturbation):
        yield kept


def _misasked(learner: MarginLearner, ridges: list[Fraction]) -> set[str]:
    """Return what is wrong where a solver was asked with another regularization than the public one."""
    return set() if set(ridges) == {Fraction(learner.parameters["regularization"])} else {PUBLIC}
