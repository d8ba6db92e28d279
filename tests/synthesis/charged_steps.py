"""What a synthesizer really draws, by watching its mechanisms, and the faults that this must notice."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

from discreet.data import Bounds, Keys
from discreet.mechanisms import Exponential, Gaussian
from discreet.privacy.events import compose

COLUMNS = {
    "age": Bounds(0, 9),
    "city": Keys(["a", "b", "c"]),
    "sex": Keys(["f", "m"]),
    "score": Bounds(0, 20),
}


def made_up(rows=400, seed=0):
    """Rows in which all columns depend on the first."""
    random = np.random.default_rng(seed)
    age = random.integers(0, 10, rows)
    return {
        "age": age,
        "city": np.array(["a", "b", "c"])[np.minimum(age // 3, 2)],
        "sex": np.array(["f", "m"])[random.integers(0, 2, rows)],
        "score": 2 * age + random.integers(0, 3, rows),
    }


@contextmanager
def watched():
    """Collect the event of everything that is drawn."""
    drawn = []
    releases = {kind: kind.release for kind in (Gaussian, Exponential)}

    def spy(release):
        def watching(self, *arguments, **named):
            drawn.append(self.event)
            return release(self, *arguments, **named)

        return watching

    for kind, release in releases.items():
        kind.release = spy(release)
    try:
        yield drawn
    finally:
        for kind, release in releases.items():
            kind.release = release


def is_charged(mechanism, drawn):
    """Whether what was drawn is what the event says, step by step, and keeps the promise."""
    event = mechanism.event
    return compose(drawn) == event and event.concentrated_rho <= mechanism.stated.rho
