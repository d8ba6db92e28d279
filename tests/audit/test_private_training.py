"""The one-run audit of `learning.private`: never above the claim, and above it when a part is broken.

Each canary is a row with one coordinate, whose gradient is that coordinate: all of what it adds is seen.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
import torch
from torch import nn

from discreet.audit import check_model
from discreet.learning import private
from discreet.learning.deep import released_parts
from discreet.learning.deep.clipping import FlatClipping
from discreet.learning.deep.plan import TrainingPlan
from discreet.learning.deep.sampling import PeopleSampler
from discreet.privacy.guarantees import GaussianDP, PureDP

pytestmark = [pytest.mark.slow, pytest.mark.statistical]
ALARM = 1e-3
"""Of the audit. Training that is right fails far less often: one run proves about half of its mu."""


def training(canaries, *, steps, batch, epsilon, loss=1.0):
    """Train with the canaries that take part; return the weights after every step."""
    rows = torch.eye(canaries)

    def train(included):
        model = nn.Linear(canaries, 1, bias=False)
        nn.init.zeros_(model.weight)
        optimizer = private(
            torch.optim.SGD(model.parameters(), lr=1.0),
            model,
            (rows[torch.from_numpy(included)],),
            epsilon=epsilon,
            delta=1e-6,
            batch=batch,
            steps=steps,
            population=canaries,
        )
        kept = [np.zeros(canaries)]
        for (batch_rows,) in optimizer.batches():
            optimizer.step(-loss * model(batch_rows)[:, 0])
            if optimizer.has_updated:
                kept.append(model.weight.detach().numpy()[0].astype(np.float64))
        return np.array(kept)

    return train


def held_to_mu(canaries=3000, steps=2, loss=1.0):
    """Audit runs in which everybody takes part in every step: exactly normal noise, of a known mu."""
    stated = {"steps": steps, "batch": canaries, "epsilon": 4}
    public = {"delta": 1e-6, "population": canaries, "size": canaries, "clipping": FlatClipping(1.0)}
    claim = GaussianDP(mu=sqrt(steps) / TrainingPlan(**stated, **public).noise_multiplier * (1 + 1e-9))
    train = training(canaries, loss=loss, **stated)
    return check_model(
        train, lambda kept: kept[-1], claim, canaries=canaries, sides=("both",), false_alarm=ALARM
    )


def test_private_training_keeps_its_claim():
    report = held_to_mu()
    assert report.passed
    assert report.bound > 0.2


def test_noise_of_a_third_of_the_scale_fails(monkeypatch):
    class Third:
        def __init__(self, draws):
            self._draws = draws

        def next(self, count):
            return self._draws.next(count) // 3

    parts = released_parts.one_word_parts
    monkeypatch.setattr(
        released_parts,
        "one_word_parts",
        lambda size, source: [(start, Third(draws)) for start, draws in parts(size, source)],
    )
    assert not held_to_mu().passed


def test_gradients_that_are_not_clipped_fail(monkeypatch):
    monkeypatch.setattr(
        FlatClipping, "factors", lambda self, norms, groups, bound: torch.full_like(norms, 1 / bound)
    )
    assert not held_to_mu(loss=10.0).passed


def never_drawn(canaries=1000, steps=4):
    """Audit guesses that somebody did not take part, which sampling bounds whatever the noise."""
    train = training(canaries, steps=steps, batch=canaries // steps, epsilon=40)
    claim = PureDP(epsilon=round(-steps * log(1 - 1 / steps), 9) + 1e-9)
    return check_model(
        train,
        lambda kept: np.diff(kept, axis=0).max(axis=0),
        claim,
        canaries=canaries,
        sides=("out",),
        false_alarm=1e-9,
    )


def test_samples_hide_who_was_never_drawn():
    assert never_drawn().passed


def test_batches_that_are_shuffled_are_told_from_samples(monkeypatch):
    left = {}

    def draw(self, rate):
        if not len(left.get(id(self), ())):
            left[id(self)] = np.random.default_rng().permutation(self.people)
        size = -(-self.people // round(1 / rate))
        chosen, left[id(self)] = np.split(left[id(self)], [size])
        return np.sort(chosen), np.ones(len(chosen))

    monkeypatch.setattr(PeopleSampler, "draw", draw)
    assert not never_drawn().passed
