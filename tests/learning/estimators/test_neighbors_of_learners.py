"""One person more, with the worst rows there are: learners cover it, and mutants do not."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from discreet.data import Bounds, Keys
from discreet.learning import AdditiveClassifier, LinearRegression, LinearSVC, LogisticRegression, Ridge
from discreet.learning.regression.whitened_regression import WhitenedRegression
from discreet.learning.training.noisy_newton import NoisyNewton
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from learning.learner_audit import LAW, PUBLIC, SENSITIVITY, audited
from learning.planted_faults import forgotten_clipping, half_the_noise, reading_regularization

REGRESSORS = [LinearRegression, Ridge]
KINDS = [LogisticRegression, LinearSVC, AdditiveClassifier, *REGRESSORS]
OFFERS = [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.1}]
COLUMNS = {"x": Bounds(0, 1, step=0.25), "z": Bounds(-5, 5), "k": Keys(["a", "b"])}
RESPONSE = Bounds(-10, 10)
WORST = [
    (1e300, -1e300, "a"),
    (np.inf, np.inf, "b"),
    (np.nan, np.nan, "b"),
    (0.0, 0.0, "z"),
    (10**400, -(10**400), 1j),
    (None, "text", []),
    (1.0, 5.0, "a"),
]


def learner_of(kind, offer, rows=3, classes=("ill", "well")):
    stated = {"epsilon": None, "delta": None, "rho": None} | offer
    model = kind()
    if "method" in model.get_params():  # a perturbation has its own audit: test_neighbors_of_perturbations
        model.set_params(method="newton")
    target = RESPONSE if kind in REGRESSORS else Keys(classes)
    return model._of_table(COLUMNS, ("y", target), rows=rows, **stated)[1]


def columns_of(rows):
    held = [np.empty(len(rows), dtype=object) for _ in range(4)]
    for place, row in enumerate(rows):
        for column, value in zip(held, row, strict=True):
            column[place] = value
    return held


def everybody(count=60, classes=("ill", "well")):
    source = np.random.default_rng(5)
    return [
        (source.uniform(0, 1), source.normal(0, 3), "ab"[n % 2], classes[n % len(classes)])
        for n in range(count)
    ]


def people(kind, classes=("ill", "well")):
    """Rows for a kind of model: classes, or responses that follow from z."""
    rows = everybody(classes=classes)
    return [(x, z, k, 2 * z + x) for x, z, k, _ in rows] if kind in REGRESSORS else rows


@pytest.mark.few(16, slow=200)
@pytest.mark.parametrize("worst", WORST, ids=range(len(WORST)))
@pytest.mark.parametrize("classes", [("ill", "well"), ("ill", "so-so", "well")], ids=len)
@pytest.mark.parametrize("offer", OFFERS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_person_moves_no_release_farther_than_its_noise_covers(kind, offer, classes, worst):
    learner = learner_of(kind, offer, classes=classes)
    labels = (
        (1e300, -np.inf, np.nan, None, 10**400, "ill") if kind in REGRESSORS else ("ill", "undeclared", 1j)
    )
    for label in labels:
        person = [(*worst, label)] * 3
        others = people(kind, classes)
        assert audited(learner, columns_of(others), columns_of(others + person)) == set()
        assert audited(learner, columns_of([]), columns_of(person)) == set()


def found_wrong(kind=LogisticRegression, offer=None, worst=WORST[0], rows=3, response=1e300):
    """What is found with a person who has three rows, all of them as far off as they may be."""
    learner = learner_of(kind, offer or {"rho": 0.1}, rows=rows)
    others, label = people(kind), response if kind in REGRESSORS else "ill"
    return audited(learner, columns_of(others), columns_of([*others, *[(*worst, label)] * 3]))


@pytest.mark.parametrize("offer", OFFERS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_half_the_noise_is_caught_as_sensitivity(kind, offer):
    assert found_wrong(kind, offer) == set()
    with half_the_noise():
        assert found_wrong(kind, offer) == {SENSITIVITY}


def test_half_of_what_the_event_says_is_caught_as_another_law():
    """A factor 2: gradients get the noise of half their sensitivity, and the event says the whole one."""
    released = NoisyNewton._released_gradient

    def halved(self, rows, labels, weights):
        weak = Gaussian(
            sensitivity=self.gradient.event.squared_sensitivity**0.5 / 2, rho=0.1, size=self.gradient.size
        )
        copy = NoisyNewton.__new__(NoisyNewton)
        for name in ("grid", "loss", "rows", "plan", "matrix", "guarantee"):
            object.__setattr__(copy, name, getattr(self, name))
        object.__setattr__(copy, "gradient", weak)
        return released(copy, rows, labels, weights)

    with mock.patch.object(NoisyNewton, "_released_gradient", halved):
        assert LAW in found_wrong()


@pytest.mark.parametrize("kind", [one for one in KINDS if one is not AdditiveClassifier])
def test_forgotten_clipping_is_caught_as_sensitivity(kind):
    """Of bins there is nothing to clip: what is beyond the last edge is in the last bin."""
    far = {"worst": (2.0, 15.0, "a"), "response": 30.0}
    assert found_wrong(kind, **far) == set()
    with forgotten_clipping():
        assert SENSITIVITY in found_wrong(kind, **far)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_residuals_that_are_not_clipped_are_caught_as_sensitivity(kind):
    steps = WhitenedRegression.gradient_steps

    def unclipped(rows, answers, start, clip):
        return steps(rows, answers, start, clip * 64) * 64

    with mock.patch.object(WhitenedRegression, "gradient_steps", staticmethod(unclipped)):
        assert SENSITIVITY in found_wrong(kind, {"rho": 1000})


@pytest.mark.parametrize("kind", KINDS)
def test_regularization_that_reads_the_number_of_rows_is_caught_as_not_public(kind):
    with reading_regularization():
        assert PUBLIC in found_wrong(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_person_with_more_rows_than_stated_is_caught_as_sensitivity(kind):
    assert found_wrong(kind, worst=WORST[-1], rows=1) == {SENSITIVITY}


def test_a_release_that_is_left_out_is_caught_as_another_law():
    learner = learner_of(LogisticRegression, {"epsilon": 1})
    both = columns_of(everybody()), columns_of(everybody())
    with mock.patch.object(NoisyNewton, "_released_matrix", lambda self, rows: np.eye(rows.width)):
        assert LAW in audited(learner, *both)
    assert isinstance(learner.newton.matrix, Laplace)
