"""One person more, fitted or held out: a selection covers it, and mutants do not."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from discreet.learning import AdditiveClassifier, GaussianNB, LogisticRegression
from discreet.learning.design.features import Features
from discreet.learning.design.targets import Classes
from discreet.learning.estimators import selection_learner
from discreet.learning.estimators.selection_learner import SelectionLearner
from discreet.learning.training.budgets import stated_budget
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from learning.learner_audit import LAW, PUBLIC, SENSITIVITY
from learning.planted_faults import forgotten_clipping, half_the_noise, reading_regularization
from learning.selection_audit import _EVERYBODY, BOTH, audited_selection

FEATURES = Features.of([(0, 1), (-5, 5)], ["x", "z"], by_name=False)
OFFERS = [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.1}]
CANDIDATES = [
    ("bayes", GaussianNB()),
    ("line", LogisticRegression(method="newton")),
    ("steps", AdditiveClassifier(bins=3)),
]
WORST = [(1e300, -1e300), (np.nan, np.inf), (1.0, 5.0), (10**400, "text"), (None, 0.0)]


def learner_of(offer, rows=3):
    return SelectionLearner(
        candidates=CANDIDATES,
        features=FEATURES,
        target=Classes.of("y", ["ill", "well"]),
        budget=stated_budget(**offer),
        rows=rows,
        held_out=4,
    )


def columns_of(rows):
    held = [np.empty(len(rows), dtype=object) for _ in range(3)]
    for place, row in enumerate(rows):
        for column, value in zip(held, row, strict=True):
            column[place] = value
    return held


def wrong(offer=None, worst=(1.0, 5.0), rows=3, label="ill"):
    """What is found with a person who has three rows."""
    source = np.random.default_rng(5)
    others = [
        (source.uniform(0, 1), source.normal(0, 3), ["ill", "well"][n % 2]) for n in range(2 * _EVERYBODY)
    ]
    people = [n % _EVERYBODY for n in range(len(others))]
    person = columns_of([(*worst, label)] * 3)
    return audited_selection(learner_of(offer or {"rho": 0.1}, rows), columns_of(others), people, person)


def all_right(self, number, drawn, values):
    """Return the score of a candidate that knows every class: what a person can move at most."""
    return int((self.target.numbers(values[-1]) >= 0).sum())


PERFECT = mock.patch.object(SelectionLearner, "_right", all_right)


@pytest.mark.few(3, slow=30)
@pytest.mark.parametrize("label", ["ill", "well", "undeclared"])
@pytest.mark.parametrize("worst", WORST, ids=range(len(WORST)))
@pytest.mark.parametrize("offer", OFFERS, ids=str)
def test_a_person_pays_for_the_fits_or_for_the_choice_and_for_all_that_they_move(offer, worst, label):
    assert wrong(offer, worst, label=label) == set()
    with PERFECT:
        assert wrong(offer, worst, label=label) == set()


def test_half_the_noise_of_fits_is_caught_as_sensitivity():
    with half_the_noise():
        assert wrong() == {SENSITIVITY}


@pytest.mark.parametrize("offer", OFFERS, ids=str)
def test_a_choice_that_is_twice_as_sure_is_caught_as_sensitivity(offer):
    """A factor 2: as if two rows of a person could not all be right."""
    choice = selection_learner._choice
    sure = mock.patch.object(selection_learner, "_choice", lambda budget, rows: choice(budget, rows // 2))
    with sure, PERFECT:
        assert wrong(offer) == {SENSITIVITY}


def test_a_choice_by_another_law_is_caught():
    """What is drawn costs twice what the event says."""
    weak = PermuteAndFlip(sensitivity=3, epsilon=2, monotone=True)
    draw = SelectionLearner.draw_people

    def swapped(self, values, people):
        kept = self.choice
        object.__setattr__(self, "choice", weak)
        try:
            return draw(self, values, people)
        finally:
            object.__setattr__(self, "choice", kept)

    with mock.patch.object(SelectionLearner, "draw_people", swapped):
        assert LAW in wrong({"epsilon": 1})


def test_forgotten_clipping_is_caught_as_sensitivity():
    with forgotten_clipping():
        assert SENSITIVITY in wrong(worst=(3.0, 15.0))


def test_a_split_of_rows_instead_of_people_is_caught_as_both():
    """Some rows of a person are fitted, and others held out."""

    def by_rows(people):
        return np.arange(len(people)) % (_EVERYBODY + 1)

    with mock.patch.object(selection_learner, "_numbered", by_rows):
        assert BOTH in wrong()


def test_judging_people_who_were_fitted_is_caught_as_both():
    draw = SelectionLearner.draw_people

    def all_rows(self, values, people):
        judged = mock.patch.object(
            SelectionLearner, "_right", lambda self, number, drawn, _: all_right(self, number, drawn, values)
        )
        with judged:
            return draw(self, values, people)

    with mock.patch.object(SelectionLearner, "draw_people", all_rows):
        assert BOTH in wrong()


def test_scores_that_also_fall_are_caught_as_sensitivity():
    """Right predictions less wrong ones: one candidate gains what another one loses."""

    def net(self, number, drawn, values):
        found = all_right(self, number, drawn, values)
        return found if number % 2 else -found

    with mock.patch.object(SelectionLearner, "_right", net):
        assert wrong() == {SENSITIVITY}


def test_regularization_that_reads_the_number_of_rows_is_caught_as_not_public():
    """Whichever candidate is chosen: the line and the steps are fitted with it."""
    with (
        reading_regularization(),
        mock.patch.object(SelectionLearner, "_right", lambda self, number, drawn, values: 1000 * number),
    ):
        assert PUBLIC in wrong()


def test_a_person_with_more_rows_than_stated_is_caught_as_sensitivity():
    with PERFECT:
        assert wrong(rows=1) == {SENSITIVITY}
