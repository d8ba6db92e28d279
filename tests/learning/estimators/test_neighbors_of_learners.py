"""One person more, with the worst rows there are: learners cover it, and mutants do not."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from discreet.data import Bounds, Keys
from discreet.learning import AdditiveClassifier, LinearSVC, LogisticRegression
from discreet.learning.design import features as features_module
from discreet.learning.design.features import NumberColumn
from discreet.learning.training.noisy_newton import NoisyNewton
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from learning.learner_audit import LAW, PUBLIC, SENSITIVITY, audited

KINDS = [LogisticRegression, LinearSVC, AdditiveClassifier]
OFFERS = [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.1}]
COLUMNS = {"x": Bounds(0, 1, step=0.25), "z": Bounds(-5, 5), "k": Keys(["a", "b"])}
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
    if "method" in model.get_params():  # a perturbation has its own audit: tests/learning/perturbation
        model.set_params(method="newton")
    return model._of_table(COLUMNS, ("y", Keys(classes)), rows=rows, **stated)[1]


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


@pytest.mark.few(12)
@pytest.mark.parametrize("worst", WORST, ids=range(len(WORST)))
@pytest.mark.parametrize("classes", [("ill", "well"), ("ill", "so-so", "well")], ids=len)
@pytest.mark.parametrize("offer", OFFERS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_person_moves_no_release_farther_than_its_noise_covers(kind, offer, classes, worst):
    learner = learner_of(kind, offer, classes=classes)
    for label in ("ill", "undeclared", 1j):
        person = [(*worst, label)] * 3
        others = everybody(classes=classes)
        assert audited(learner, columns_of(others), columns_of(others + person)) == set()
    assert audited(learner, columns_of([]), columns_of([(*worst, "ill")] * 3)) == set()


def found_wrong(kind=LogisticRegression, offer=None, worst=WORST[0]):
    learner = learner_of(kind, offer or {"rho": 0.1})
    return audited(learner, columns_of(everybody()), columns_of([*everybody(), *[(*worst, "ill")] * 3]))


def test_half_the_noise_is_caught_as_another_law():
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

    assert found_wrong() == set()
    with mock.patch.object(NoisyNewton, "_released_gradient", halved):
        assert LAW in found_wrong()


def test_forgotten_clipping_is_caught_as_sensitivity():
    def unclipped(self, values):
        return ((self.numbers(values) - self.middle) / self.half_width)[:, None]

    worst = (30.0, 90.0, "a")
    assert found_wrong(worst=worst) == set()
    with (
        mock.patch.object(NumberColumn, "coordinates", unclipped),
        mock.patch.object(features_module, "scaled_rows", lambda rows, most: rows),
    ):
        assert SENSITIVITY in found_wrong(worst=worst)


def test_regularization_that_reads_the_number_of_rows_is_caught_as_not_public():
    released = NoisyNewton.release_steps

    def reading(self, rows, labels):
        inverse = NoisyNewton._inverse
        with mock.patch.object(
            NoisyNewton,
            "_inverse",
            lambda newton, matrix: inverse(newton, matrix + np.eye(len(matrix)) * len(rows)),
        ):
            return released(self, rows, labels)

    with mock.patch.object(NoisyNewton, "release_steps", reading):
        assert PUBLIC in found_wrong()


def test_a_person_with_more_rows_than_stated_is_caught_as_sensitivity():
    learner = learner_of(LogisticRegression, {"rho": 0.1}, rows=1)
    person = [(*WORST[-1], "ill")] * 3
    assert audited(learner, columns_of(everybody()), columns_of([*everybody(), *person])) == {SENSITIVITY}


def test_a_release_that_is_left_out_is_caught_as_another_law():
    learner = learner_of(LogisticRegression, {"epsilon": 1})
    both = columns_of(everybody()), columns_of(everybody())
    with mock.patch.object(NoisyNewton, "_released_matrix", lambda self, rows: np.eye(rows.shape[1])):
        assert LAW in audited(learner, *both)
    assert isinstance(learner.newton.matrix, Laplace)
