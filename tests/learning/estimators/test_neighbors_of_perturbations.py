"""One person more, with the worst rows there are: perturbations cover it, and mutants do not."""

from __future__ import annotations

from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

from discreet.data import Bounds, Keys
from discreet.learning import LinearSVC, LogisticRegression
from discreet.learning.design import features as features_module
from discreet.learning.design.features import NumberColumn
from discreet.learning.perturbation import objective_perturbation, output_perturbation
from discreet.learning.perturbation.certified_minimum import CertifiedMinimum
from discreet.learning.perturbation.euclidean_noise import EuclideanNoise
from discreet.learning.perturbation.linear_terms import EuclideanTerm, NormalTerm, PureTerms, RowTerms
from discreet.learning.perturbation.objective_perturbation import ObjectivePerturbation
from discreet.learning.perturbation.output_perturbation import OutputPerturbation
from learning.learner_audit import LAW, PUBLIC, SENSITIVITY
from learning.perturbation_audit import SOLVER, audited_perturbation

from .test_neighbors_of_learners import COLUMNS, WORST, columns_of, everybody

PURE, NORMAL, RHO = {"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.1}
MODELS = [(kind, method) for kind in (LogisticRegression, LinearSVC) for method in ("output", "objective")]
CASES = [(*one, offer) for one in MODELS for offer in (PURE, NORMAL)] + [
    (kind, "output", RHO) for kind in (LogisticRegression, LinearSVC)
]
LAWS = [case for case in CASES if case[1] == "objective" or case[2] == PURE]
"""Where noise is drawn by the perturbation itself; else it is that of `Gaussian`, which has its own audit."""
SOLVERS = {"output": output_perturbation, "objective": objective_perturbation}
MECHANISMS = {"output": OutputPerturbation, "objective": ObjectivePerturbation}


def names(case):
    return "-".join(one if isinstance(one, str) else getattr(one, "__name__", str(one)) for one in case)


def learner_of(case, rows=2, columns=COLUMNS, regularization=None):
    kind, method, offer = case
    stated = {"epsilon": None, "delta": None, "rho": None} | offer
    model = kind(method=method, regularization=regularization)
    return model._of_table(columns, ("y", Keys(["ill", "well"])), rows=rows, **stated)[1]


@pytest.mark.few(10, slow=40)
@pytest.mark.parametrize("worst", WORST, ids=range(len(WORST)))
@pytest.mark.parametrize("case", CASES, ids=names)
def test_a_person_moves_no_release_farther_than_its_noise_covers(case, worst):
    learner, others = learner_of(case), everybody(20)
    for label in ("ill", "undeclared", 1j):
        person = [(*worst, label)] * 2
        assert audited_perturbation(learner, columns_of(others), columns_of(others + person)) == set()
    alone = columns_of([]), columns_of([(*worst, "ill")] * 2)
    assert audited_perturbation(learner, *alone) == set()


NUMBERS = {"x": Bounds(-1, 1), "z": Bounds(-1, 1), "k": Bounds(-1, 1)}
FEW = [(0.5, -0.5, 0.1 * n, ("ill", "well")[n % 2]) for n in range(11)]


def against_the_person(weight, regularization, size=Fraction(1, 20)):
    """Rows that make the score of (1, 1, 1) as small as -weight, and hardly hold it there.

    Short rows of both classes, each with a slope of about 1/2: what they add up to is long, and what they
    bend is not.
    """
    half = round(2 * weight * regularization / size)
    small = float(size)
    return [(small,) * 3 + ("ill",)] * half + [(-small,) * 3 + ("well",)] * half


def found_wrong(case, rows=1, person=(1.0, 1.0, 1.0, "well"), regularization=1, others=None):
    """What is found on rows for which a person matters as much as they can."""
    learner = learner_of(case, rows, NUMBERS, regularization)
    if others is None:  # the points at which objective perturbation is compared are the worst for any rows
        others = against_the_person(4, regularization) if case[1] == "output" else FEW
    return audited_perturbation(learner, columns_of(others), columns_of(others + [person] * rows))


@pytest.mark.few(6)
@pytest.mark.parametrize("case", CASES, ids=names)
def test_half_the_noise_is_caught_as_sensitivity(case):
    """A factor 2: the noise is made for half of what a person does, and the event is the same."""
    _, method, offer = case
    noise, pure, row = output_perturbation._noise, PureTerms.term, RowTerms.term
    half = {
        "output": mock.patch.object(
            output_perturbation, "_noise", lambda budget, far, size: noise(budget, far / 2, size)
        ),
        "objective": mock.patch.object(
            *(
                (PureTerms, "term", lambda *held: EuclideanTerm(scale=pure(*held).scale / 2))
                if offer == PURE
                else (RowTerms, "term", lambda *held: NormalTerm(scale=row(*held).scale / 2))
            )
        ),
    }[method]
    assert found_wrong(case) == set()
    with half:
        assert found_wrong(case) == {SENSITIVITY}


@pytest.mark.parametrize("case", LAWS, ids=names)
def test_half_of_what_is_stated_is_caught_as_another_law(case):
    """A factor 2: noise that says what it should be, and is drawn with half of that."""
    _, method, offer = case
    if method == "output":
        half = mock.patch.object(
            EuclideanNoise, "scale", property(lambda self: self.sensitivity / self.epsilon / 2)
        )
    else:
        term = EuclideanTerm if offer == PURE else NormalTerm
        drawn = term.draw
        half = mock.patch.object(term, "draw", lambda self, size, step: drawn(self, size, 2 * step))
    with half:
        assert LAW in found_wrong(case, others=[])


@pytest.mark.few(6)
@pytest.mark.parametrize("case", CASES, ids=names)
def test_forgotten_clipping_is_caught_as_sensitivity(case):
    def unclipped(self, values):
        return ((self.numbers(values) - self.middle) / self.half_width)[:, None]

    far = (4.0, 4.0, 4.0, "well")
    assert found_wrong(case, person=far) == set()
    with (
        mock.patch.object(NumberColumn, "coordinates", unclipped),
        mock.patch.object(features_module, "scaled_rows", lambda rows, most: rows),
    ):
        assert SENSITIVITY in found_wrong(case, person=far)


@pytest.mark.parametrize("case", CASES, ids=names)
def test_a_sloppy_solver_that_is_believed_is_caught(case):
    """The exact minimizer is assumed, and steps go downhill only until the gradient is 1/4."""

    def sloppy(slopes, rows, signs, *, ridge, linear, tolerance):
        del tolerance
        term = np.array([float(one) for one in linear])
        weights = np.zeros(len(term))
        while True:
            total = slopes.rounded_sum(rows, signs, weights)
            gradient = float(ridge) * weights + term - np.array([float(one) for one in total.values])
            if np.linalg.norm(gradient) <= 1 / 4:
                found = tuple(map(Fraction, weights.tolist()))
                return CertifiedMinimum(found, Fraction(float(np.linalg.norm(gradient))))
            weights -= gradient / (float(slopes.curvature) * len(rows) + float(ridge)) / 2

    assert found_wrong(case, others=FEW, regularization=16) == set()
    with mock.patch.object(SOLVERS[case[1]], "certified_minimum", sloppy):
        assert SOLVER in found_wrong(case, others=FEW, regularization=16)


@pytest.mark.parametrize("case", CASES, ids=names)
def test_regularization_that_reads_the_number_of_rows_is_caught_as_not_public(case):
    mechanism = MECHANISMS[case[1]]
    asked = mechanism.minimizer_steps

    def minimizer_steps(self, rows, *held):
        other = mechanism.__new__(mechanism)
        for name in mechanism.__slots__:
            object.__setattr__(other, name, getattr(self, name))
        object.__setattr__(other, "regularization", self.regularization * (1 + len(rows)) / 16)
        return asked(other, rows, *held)

    with mock.patch.object(mechanism, "minimizer_steps", minimizer_steps):
        assert PUBLIC in found_wrong(case, others=FEW)


@pytest.mark.few(6)
@pytest.mark.parametrize("case", CASES, ids=names)
def test_a_person_with_more_rows_than_stated_is_caught_as_sensitivity(case):
    learner = learner_of(case, 1, NUMBERS, 1)
    others = against_the_person(4, 1) if case[1] == "output" else FEW
    both = columns_of(others), columns_of(others + [(1.0, 1.0, 1.0, "well")] * 3)
    assert audited_perturbation(learner, *both) == {SENSITIVITY}
