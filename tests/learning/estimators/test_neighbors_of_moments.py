"""One person more, with the worst rows there are: models made of moments cover it, and mutants do not."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from discreet.data import Bounds, Keys
from discreet.learning import (
    PCA,
    AdditiveClassifier,
    GaussianNB,
    KMeans,
    LogisticRegression,
    MinMaxScaler,
    Pipeline,
    StandardScaler,
)
from discreet.learning.moments import noisy_clusters
from discreet.learning.moments.box_grid import BoxGrid
from discreet.learning.moments.moments import Moments
from discreet.learning.moments.noisy_moments import NoisyMoments
from learning.learner_audit import LAW, PUBLIC, SENSITIVITY, audited
from learning.planted_faults import forgotten_clipping, half_the_noise

COLUMNS = {"x": Bounds(0, 1), "z": Bounds(-5, 5)}
OFFERS = [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.1}]
WITHOUT_TARGET = {
    "scaler": StandardScaler(),
    "components": PCA(1),
    "clusters": KMeans(3),
    "stages": Pipeline([("s", StandardScaler()), ("p", PCA(2)), ("k", KMeans(2))]),
}
WITH_TARGET = {
    "bayes": GaussianNB(),
    "scaled": Pipeline([("s", StandardScaler()), ("l", LogisticRegression(method="newton"))]),
    "turned": Pipeline([("m", MinMaxScaler()), ("p", PCA(2)), ("a", AdditiveClassifier())]),
}
WORST = [
    (1e300, -1e300),
    (np.inf, np.inf),
    (np.nan, np.nan),
    (1.0, 5.0),
    (10**400, -(10**400)),
    (None, "text"),
    (0.5, 0.0),
]


def learner_of(model, offer, rows=3):
    stated = {"epsilon": None, "delta": None, "rho": None} | offer
    target = None if model in WITHOUT_TARGET.values() else ("y", Keys(["ill", "well"]))
    return model._of_table(COLUMNS, target, rows=rows, **stated)[1]


def columns_of(rows, learner):
    held = [np.empty(len(rows), dtype=object) for _ in learner.columns]
    for place, row in enumerate(rows):
        for column, value in zip(held, row, strict=False):
            column[place] = value
    return held


def everybody(count=60):
    source = np.random.default_rng(5)
    return [(source.uniform(0, 1), source.normal(0, 3), ["ill", "well"][n % 2]) for n in range(count)]


def wrong(model, offer, worst, rows=3, label="ill"):
    learner = learner_of(model, offer, rows)
    person, others = [(*worst, label)] * 3, everybody()
    return audited(learner, columns_of(others, learner), columns_of(others + person, learner))


@pytest.mark.few(12, slow=200)
@pytest.mark.parametrize("worst", WORST, ids=range(len(WORST)))
@pytest.mark.parametrize("offer", OFFERS, ids=str)
@pytest.mark.parametrize("name", [*WITHOUT_TARGET, *WITH_TARGET])
def test_a_person_moves_no_release_farther_than_its_noise_covers(name, offer, worst):
    model = (WITHOUT_TARGET | WITH_TARGET)[name]
    for label in ("ill", "undeclared"):
        assert wrong(model, offer, worst, label=label) == set()
    learner = learner_of(model, offer)
    alone = columns_of([], learner), columns_of([(*worst, "ill")] * 3, learner)
    assert audited(learner, *alone) == set()


@pytest.mark.parametrize("name", [*WITHOUT_TARGET, *WITH_TARGET])
def test_half_the_noise_is_caught_as_sensitivity(name):
    model = (WITHOUT_TARGET | WITH_TARGET)[name]
    assert wrong(model, {"rho": 0.1}, (1.0, 5.0)) == set()
    with half_the_noise():
        assert wrong(model, {"rho": 0.1}, (1.0, 5.0)) == {SENSITIVITY}


@pytest.mark.parametrize("name", ["scaler", "components", "clusters", "bayes"])
def test_half_of_what_the_event_says_is_caught_as_another_law(name):
    """The noise that is drawn is made for half of what the event says."""
    model = (WITHOUT_TARGET | WITH_TARGET)[name]
    event = NoisyMoments.event
    with mock.patch.object(NoisyMoments, "event", property(lambda self: event.fget(self) * 2)):
        assert LAW in wrong(model, {"rho": 0.1}, WORST[0])


@pytest.mark.parametrize("name", [*WITHOUT_TARGET, "bayes", "scaled"])
def test_forgotten_clipping_is_caught_as_sensitivity(name):
    """All but "turned", which begins with a scaler that clips by itself."""
    model = (WITHOUT_TARGET | WITH_TARGET)[name]
    assert wrong(model, {"rho": 0.1}, (3.0, 15.0)) == set()
    with forgotten_clipping():
        assert SENSITIVITY in wrong(model, {"rho": 0.1}, (3.0, 15.0))


def test_forgotten_clipping_in_the_plane_is_caught_as_sensitivity():
    """Rows far from all others, which only a declared bound or the radius holds."""

    def unclipped(rows, *, largest, row_steps, steps):
        del steps
        return np.rint(rows / largest * row_steps).clip(-32768, 32767).astype(np.int64)

    near = [(0.5 + 1e-4 * n, 0.0, "ill") for n in range(40)] * 50
    learner = learner_of(WITHOUT_TARGET["clusters"], {"rho": 1000}, rows=1)
    both = columns_of(near, learner), columns_of([*near, (1.0, 5.0, "ill")], learner)
    assert audited(learner, *both) == set()
    with mock.patch.object(noisy_clusters, "rounded_rows", unclipped):
        assert SENSITIVITY in audited(learner, *both)


@pytest.mark.parametrize("name", [*WITHOUT_TARGET, *WITH_TARGET])
def test_a_person_with_more_rows_than_stated_is_caught_as_sensitivity(name):
    model = (WITHOUT_TARGET | WITH_TARGET)[name]
    assert wrong(model, {"rho": 0.1}, (1.0, 5.0), rows=1) == {SENSITIVITY}


@pytest.mark.parametrize("name", ["scaler", "components", "clusters", "stages", "bayes"])
def test_means_over_the_true_number_of_rows_are_caught_as_not_public(name):
    rounded, seen = BoxGrid.rounded, [0]

    def peeking(self, values):
        found = rounded(self, values)
        seen[0] = len(found)
        return found

    totals = property(lambda self: np.full(len(self.counts), float(seen[0])))
    with mock.patch.object(BoxGrid, "rounded", peeking), mock.patch.object(Moments, "totals", totals):
        assert PUBLIC in wrong((WITHOUT_TARGET | WITH_TARGET)[name], {"rho": 0.1}, (1.0, 5.0))
