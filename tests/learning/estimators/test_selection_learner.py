"""Choosing a candidate: people are split, not rows, and the choice costs what is stated."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest
import torch

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import GaussianNB, LogisticRegression, ModelSelection, Pipeline, StandardScaler
from discreet.learning.design.features import Features
from discreet.learning.design.targets import Classes
from discreet.learning.estimators import selection_learner
from discreet.learning.estimators.selection_learner import SelectionLearner, _numbered
from discreet.learning.training.budgets import stated_budget
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.privacy.events import Parallel

FEATURES = Features.of([(0, 10), (0, 10)], ["a", "b"], by_name=False)
TARGET = Classes.of("y", [0, 1])
SOURCE = np.random.default_rng(3)
ROWS = [SOURCE.uniform(0, 10, 600), SOURCE.uniform(0, 10, 600)]
LABELS = (ROWS[0] > 5).astype(int)
BUDGETS = [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": Fraction(1, 2)}]


class Fixed(GaussianNB):
    """A candidate that says one class, or the right one, whatever it was fitted to."""

    def __init__(self, says=None, **options):
        super().__init__(**options)
        self.says = says

    def predict(self, X):
        if self.says is not None:
            return np.full(len(X), self.says)
        return (np.asarray(X)[:, 0].astype(float) > 5).astype(int)


def learner(candidates=None, rows=1, held_out=4, **budget):
    return SelectionLearner(
        candidates=candidates or [("a", GaussianNB()), ("b", LogisticRegression())],
        features=FEATURES,
        target=TARGET,
        budget=stated_budget(**(budget or {"epsilon": 1})),
        rows=rows,
        held_out=held_out,
    )


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("rows", [1, 3])
def test_a_person_pays_for_the_fits_or_for_the_choice(budget, rows):
    found = learner(rows=rows, **budget)
    fits = found.planned[0].event + found.planned[1].event
    assert found.event == Parallel(fits, found.choice.event)
    assert found.guarantee == stated_budget(**budget).guarantee
    if "rho" in budget:
        assert isinstance(found.choice, Exponential)
        assert Fraction(49, 100) < found.event.concentrated_rho <= Fraction(1, 2)
    else:
        assert isinstance(found.choice, PermuteAndFlip)
        assert accounting.epsilon(found.event, delta=budget.get("delta", 0)).upper <= 1 + 1e-9


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_scores_move_in_one_direction_by_the_rows_of_a_person_at_most(rows):
    """Every candidate's number of right predictions, with a person's rows and without them."""
    found = learner(rows=rows)
    assert found.choice.rate == Fraction(1, rows)  # epsilon over the most that a score moves
    drawn = [one.draw([*ROWS, LABELS]) for one in found.planned]
    largest = 0
    for who in range(0, 600, 60):
        mine = np.arange(who, who + rows)
        for number, one in enumerate(drawn):
            held = [*ROWS, LABELS]
            more = found._right(number, one, held)
            less = found._right(number, one, [np.delete(column, mine) for column in held])
            assert 0 <= more - less <= rows
            largest = max(largest, more - less)
    assert largest == rows


def test_people_are_split_and_not_rows(monkeypatch):
    """All rows of a person are held out, or none; the others are fitted."""
    people, seen = np.repeat(np.arange(200), 3), []
    found = learner([("a", GaussianNB()), ("b", GaussianNB())], rows=3)
    fitted = type(found.planned[0]).draw
    monkeypatch.setattr(
        type(found.planned[0]), "draw", lambda self, values: seen.append(values[0]) or fitted(self, values)
    )
    judged = []
    monkeypatch.setattr(
        SelectionLearner, "_right", lambda self, number, one, values: judged.append(values[0])
    )
    monkeypatch.setattr(type(found.choice), "release", lambda self, scores: 0)
    found.draw_people([people.astype(float), ROWS[1], LABELS], people)
    learned, held = set(seen[0].tolist()), set(judged[0].tolist())
    assert not learned & held
    assert len(learned) + len(held) == 200
    assert len(seen[0]) == 3 * len(learned)
    assert 20 <= len(held) <= 90  # 50 of 200 on average, deviation 6
    assert (seen[0] == seen[1]).all()


@pytest.mark.statistical
def test_the_best_candidate_is_chosen_if_it_is_better_by_far():
    found = learner([("one", Fixed(1)), ("right", Fixed()), ("none", Fixed(0))])
    assert [found.draw([*ROWS, LABELS])["chosen"] for _ in range(5)] == [1] * 5


def test_what_is_public_and_what_is_drawn_is_plain():
    found = learner()
    assert found.columns == ("a", "b", "y")
    assert json.loads(json.dumps(found.parameters)) == found.parameters
    drawn = found.draw([*ROWS, LABELS])
    assert json.loads(json.dumps(drawn)) == drawn
    assert found.model(drawn["drawn"], drawn["chosen"]).predict([[1.0, 2.0]]).shape == (1,)
    assert "3 of 4 people" in found.words
    assert found.expectations(100)[0].name == "choice"


def test_no_rows_and_one_have_a_choice():
    for count in (0, 1):
        drawn = learner().draw([one[:count] for one in (*ROWS, LABELS)])
        assert drawn["chosen"] in (0, 1)


def test_whose_rows_they_are_must_be_said_where_a_person_has_several():
    with pytest.raises(ParameterError, match="whose"):
        learner(rows=2).draw([*ROWS, LABELS])


def test_a_selection_within_another_is_refused_where_a_person_has_several_rows():
    inner = ModelSelection([("a", GaussianNB()), ("b", LogisticRegression())])
    candidates = [("one", inner), ("other", GaussianNB())]
    learner(candidates, rho=1).draw([*ROWS, LABELS])
    with pytest.raises(ParameterError, match="whose they are"):
        learner(candidates, rows=2, rho=1)
    wrapped = [("one", Pipeline([("s", StandardScaler()), ("inner", inner)])), ("other", GaussianNB())]
    with pytest.raises(ParameterError, match="whose they are"):
        learner(wrapped, rows=2, rho=1)


def test_people_are_numbered_whatever_they_are_called():
    called = np.array([3, "x", 3.0, None, float("nan"), [1], "x"], dtype=object)
    assert _numbered(called).tolist() == [0, 1, 0, 2, 2, 2, 1]


def test_names_that_are_made_anew_for_every_row_are_one_persons():
    """A tensor is equal by value, and has the hash of its place in memory; so may any object."""
    for held in ([torch.tensor(7), 7, torch.tensor(7)], [object(), object(), torch.tensor([7])]):
        assert _numbered(np.fromiter(held, dtype=object, count=3)).tolist() == [0, 0, 0]


def test_no_name_fails():
    """What cannot be compared or hashed names nobody in particular: no name of a person makes a fit fail."""
    held = [pandas.NA, ("a", [1]), Decimal("sNaN"), np.array([1, 2]), "x"]
    called = np.fromiter(held, dtype=object, count=len(held))
    assert _numbered(called).tolist() == [0, 0, 0, 0, 1]
    assert _numbered(np.asarray(pandas.array(["a", pandas.NA], dtype="string"))).tolist() == [0, 1]


def test_a_part_of_a_budget_buys_no_choice():
    part = stated_budget(epsilon=1, delta=1e-6).share(Fraction(1, 2))
    with pytest.raises(ParameterError, match="part of a budget"):
        selection_learner._choice(part, 1)
