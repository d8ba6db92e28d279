"""An audit of learners: one person more, and every release moves no farther than its noise is made for.

A run is private by adaptive composition if, given the same answers so far, the next release adds the same
noise to a value that the person moves no farther than that noise covers; if the noises together are those of
the event; and if the result is a function of the answers alone. All three can be seen: run on one set of
rows and keep the answers, then run on its neighbor and give the same answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

from discreet.curator.request.learner import Learner
from discreet.learning.perturbation import euclidean_noise
from discreet.learning.perturbation.euclidean_noise import EuclideanNoise
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.privacy.events import compose

LAW, SENSITIVITY, PUBLIC = "law", "sensitivity", "public"
"""What can be wrong: the noise that is drawn, how far a person moves it, what else is read of the rows."""

_RELEASE = {kind: kind.release for kind in (Laplace, Gaussian, EuclideanNoise)}


@dataclass(frozen=True)
class Release:
    """What was released: by which noise, what it was before, and what left."""

    noise: Any
    value: Any
    answer: Any
    scale: Fraction | None
    """What the length of Euclidean noise was divided by, where it was drawn."""


def audited(learner: Learner, values: Sequence[Any], neighbor: Sequence[Any]) -> set[str]:
    """Return what is wrong with a learner on two sets of rows, columns of which differ by one person."""
    with recorded() as first:
        drawn = learner.draw(values)
    with recorded(answers=[one.answer for one in first]) as second:
        again = learner.draw(neighbor)
    laws = [one.noise.event for one in first]
    wrong = set()
    if compose(laws) != compose([learner.event]) or laws != [one.noise.event for one in second]:
        wrong.add(LAW)
    for one, other in zip(first, second, strict=False):
        wrong |= _compared(one, other)
    if drawn != again:
        wrong.add(PUBLIC)
    return wrong


def _compared(one: Release, other: Release) -> set[str]:
    """Return what is wrong with one release of each of two neighbors."""
    noise = one.noise
    if np.shape(one.value) != np.shape(other.value):
        return {LAW}
    pairs = zip(np.ravel(one.value), np.ravel(other.value), strict=True)
    moved = [int(a) - int(b) for a, b in pairs]
    squared = sum(step**2 for step in moved)
    if isinstance(noise, EuclideanNoise):
        wrong = set() if one.scale == noise.sensitivity / noise.event.epsilon else {LAW}
        return wrong | ({SENSITIVITY} if squared > noise.sensitivity**2 else set())
    if isinstance(noise, Laplace):
        return {SENSITIVITY} if sum(map(abs, moved)) > noise.event.sensitivity else set()
    return {SENSITIVITY} if squared > noise.event.squared_sensitivity else set()


@contextmanager
def recorded(answers: Sequence[Any] | None = None) -> Iterator[list[Release]]:
    """Keep what is released, and by which noise; with answers, give those instead of new ones."""
    kept: list[Release] = []
    scales: list[Fraction] = []
    sampled = euclidean_noise.sample_euclidean

    def sample(scale: Fraction, *rest: Any) -> Any:
        scales.append(scale)
        return sampled(scale, *rest)

    def release(self: Any, value: Any) -> Any:
        known = answers is not None and len(kept) < len(answers)
        answer = answers[len(kept)] if known else _RELEASE[type(self)](self, value)
        kept.append(Release(self, np.array(value, dtype=object), answer, scales.pop() if scales else None))
        return answer

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(euclidean_noise, "sample_euclidean", sample))
        for kind in _RELEASE:
            stack.enter_context(mock.patch.object(kind, "release", release))
        yield kept
