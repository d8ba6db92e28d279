"""An audit of learners: one person more, and every release moves no farther than its noise is made for.

A run is private by adaptive composition if, given the same answers so far, the next release adds the same
noise to a value that the person moves no farther than that noise covers; if the noises together are those of
the event; and if the result is a function of the answers alone. All three can be seen: run on one set of
rows and keep the answers, then run on its neighbor and give the same answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from discreet.curator.request.learner import Learner
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.privacy.events import compose

LAW, SENSITIVITY, PUBLIC = "law", "sensitivity", "public"
"""What can be wrong: the noise that is drawn, how far a person moves it, what else is read of the rows."""

_RELEASE = {kind: kind.release for kind in (Laplace, Gaussian)}


def audited(learner: Learner, values: Sequence[Any], neighbor: Sequence[Any]) -> set[str]:
    """Return what is wrong with a learner on two sets of rows, columns of which differ by one person."""
    with _recorded() as first:
        drawn = learner.draw(values)
    with _recorded(answers=[answer for _, _, answer in first]) as second:
        again = learner.draw(neighbor)
    laws = [mechanism.event for mechanism, _, _ in first]
    wrong = set()
    if compose(laws) != compose([learner.event]) or laws != [one.event for one, _, _ in second]:
        wrong.add(LAW)
    for (mechanism, one, _), (_, other, _) in zip(first, second, strict=False):
        if np.shape(one) != np.shape(other):
            wrong.add(LAW)
            continue
        moved = [int(a) - int(b) for a, b in zip(np.ravel(one), np.ravel(other), strict=True)]
        if isinstance(mechanism, Laplace):
            far = sum(map(abs, moved)) > mechanism.event.sensitivity
        else:
            far = sum(step**2 for step in moved) > mechanism.event.squared_sensitivity
        if far:
            wrong.add(SENSITIVITY)
    if drawn != again:
        wrong.add(PUBLIC)
    return wrong


@contextmanager
def _recorded(answers: Sequence[Any] | None = None) -> Any:
    """Keep what is released, and by which noise; with answers, give those instead of new ones."""
    kept: list[tuple[Any, Any, Any]] = []

    def release(self: Any, value: Any) -> Any:
        known = answers is not None and len(kept) < len(answers)
        answer = answers[len(kept)] if known else _RELEASE[type(self)](self, value)
        kept.append((self, np.array(value, dtype=object), answer))
        return answer

    with mock.patch.object(Laplace, "release", release), mock.patch.object(Gaussian, "release", release):
        yield kept
