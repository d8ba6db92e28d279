from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning.teachers.aggregation import (
    NO_ANSWER,
    ConfidentGNMax,
    GNMax,
    InteractiveGNMax,
    LNMax,
)
from discreet.privacy.events import NoisyMax, Nothing
from learning.teachers.vote_oracle import (
    discrete_laplace,
    histograms,
    neighbors,
    rounded_normal,
    winner_law,
)
from significance import FALSE_ALARM

COUNTS = (4, 3, 3)


def one_hot(top, *, queries=1, classes=3, teachers=10):
    counts = np.zeros((queries, classes), dtype=int)
    counts[:, 0], counts[:, 1] = top, teachers - top
    return counts


@pytest.mark.parametrize(
    ("votes", "law"),
    [
        (GNMax(sigma=2, teachers=10, classes=3), rounded_normal(2)),
        (LNMax(gamma="0.5", teachers=10, classes=3), discrete_laplace(0.5)),
    ],
    ids=["GNMax", "LNMax"],
)
def test_answers_follow_the_law_of_the_largest_noisy_count(votes, law):
    runs = 20_000
    answers = votes.answer(np.tile(COUNTS, (runs, 1)))
    seen = np.bincount(answers.labels, minlength=3)
    assert stats.chisquare(seen, runs * winner_law(COUNTS, law)).pvalue > FALSE_ALARM
    # and not the one of half the noise
    wrong = winner_law(COUNTS, rounded_normal(1))
    assert stats.chisquare(seen, runs * wrong / wrong.sum()).pvalue < FALSE_ALARM
    assert answers.voted.all()
    assert answers.checks == 0


def test_events_say_that_two_counts_change_by_one():
    assert LNMax(gamma="0.05", teachers=250, classes=10).event(3) == NoisyMax(epsilon="0.1") * 3
    event = GNMax(sigma=40, teachers=250, classes=10).event(200)
    assert accounting.mu(event).upper == pytest.approx((200 * 2 / 1600) ** 0.5)
    assert event.concentrated_rho == Fraction(200, 1600)
    assert GNMax(sigma=40, teachers=250, classes=10).event(0) == Nothing
    confident = ConfidentGNMax(
        sigma=40, check_sigma=100, threshold=200, most_answers=30, teachers=250, classes=10
    )
    assert confident.event(500).concentrated_rho == Fraction(500, 2 * 10_000) + Fraction(30, 1600)
    assert confident.event(20).concentrated_rho == Fraction(20, 2 * 10_000) + Fraction(20, 1600)


def test_ties_are_broken_by_noise_and_then_by_order():
    labels = GNMax(sigma="0.5", teachers=4, classes=2).answer(np.full((4000, 2), 2)).labels
    first = winner_law((2, 2), rounded_normal(0.5))[0]
    assert first > 0.5
    assert stats.binomtest(int((labels == 0).sum()), 4000, first).pvalue > FALSE_ALARM


def test_only_agreement_is_answered():
    votes = ConfidentGNMax(sigma=1, check_sigma=2, threshold=80, teachers=100, classes=3)
    sure, unsure = one_hot(100, queries=50, teachers=100), one_hot(55, queries=50, teachers=100)
    answers = votes.answer(np.concatenate([sure, unsure]))
    assert answers.labels[:50].tolist() == [0] * 50
    assert answers.labels[50:].tolist() == [NO_ANSWER] * 50
    assert answers.voted.tolist() == [True] * 50 + [False] * 50
    assert answers.checks == 100


def test_a_check_passes_as_often_as_its_law_says():
    votes = ConfidentGNMax(sigma=1, check_sigma=3, threshold=8, teachers=10, classes=3)
    law, runs = rounded_normal(3), 20_000
    passed = votes.answer(one_hot(7, queries=runs)).voted.sum()
    exact = sum(p for noise, p in law.items() if 7 + noise >= 8)
    assert stats.binomtest(int(passed), runs, exact).pvalue > FALSE_ALARM
    above = sum(p for noise, p in law.items() if 7 + noise > 8)
    assert stats.binomtest(int(passed), runs, above).pvalue < FALSE_ALARM


def test_after_the_last_answer_nothing_is_checked():
    votes = ConfidentGNMax(sigma=1, check_sigma=2, threshold=50, most_answers=7, teachers=100, classes=3)
    answers = votes.answer(one_hot(100, queries=40, teachers=100))
    assert answers.voted.tolist() == [True] * 7 + [False] * 33
    assert answers.checks == 7
    assert (answers.labels[7:] == NO_ANSWER).all()


def test_a_student_that_is_contradicted_asks_and_one_that_is_sure_does_not():
    votes = InteractiveGNMax(sigma=1, check_sigma=2, threshold=30, sure="0.9", teachers=100, classes=3)
    counts = one_hot(100, queries=3, teachers=100)
    predictions = [[0, 1, 0], [0.95, 0.05, 0], [0.85, 0.15, 0]]  # wrong, sure and right, unsure and right
    answers = votes.answer(counts, predictions)
    assert answers.labels.tolist() == [0, 0, NO_ANSWER]
    assert answers.voted.tolist() == [True, False, False]
    assert votes.checked(counts, predictions).tolist() == [100, 5, 15]


def test_what_is_checked_moves_by_at_most_one_vote():
    votes = InteractiveGNMax(sigma=1, check_sigma=2, threshold=3, sure=1, teachers=5, classes=3)
    confident = ConfidentGNMax(sigma=1, check_sigma=2, threshold=3, teachers=5, classes=3)
    for predictions in ([[0.4, 0.3, 0.3]], [[0, 0.5, 0.5]], [[1, 0, 0]]):
        for counts in histograms(5, 3):
            for other in neighbors(counts):
                one, two = np.array([counts]), np.array([other])
                assert abs(votes.checked(one, predictions) - votes.checked(two, predictions)) <= 1
                assert abs(confident.checked(one) - confident.checked(two)) <= 1


def test_an_empty_public_set_has_no_answers():
    none = np.empty((0, 3), dtype=int)
    assert GNMax(sigma=2, teachers=10, classes=3).answer(none).labels.shape == (0,)
    confident = ConfidentGNMax(sigma=1, check_sigma=2, threshold=3, most_answers=2, teachers=10, classes=3)
    assert confident.answer(none).checks == 0
    interactive = InteractiveGNMax(sigma=1, check_sigma=2, threshold=3, sure=1, teachers=10, classes=3)
    assert interactive.answer(none, np.empty((0, 3))).labels.shape == (0,)


@pytest.mark.parametrize(
    "bad", [{"teachers": 1}, {"classes": 1}, {"sigma": 0}, {"teachers": 2.5}, {"classes": True}]
)
def test_impossible_numbers_are_refused(bad):
    with pytest.raises(ParameterError):
        GNMax(**{"sigma": 2, "teachers": 10, "classes": 3, **bad})


@pytest.mark.parametrize("bad", [[[0.5, 0.5]], [[0.5, 0.6, -0.1]], [[0.5, np.nan, 0.5]], [0.5, 0.5, 0]])
def test_predictions_that_are_no_probabilities_are_refused(bad):
    votes = InteractiveGNMax(sigma=1, check_sigma=2, threshold=3, sure=1, teachers=10, classes=3)
    with pytest.raises(ParameterError, match="predictions"):
        votes.answer(one_hot(10), bad)


def test_counts_that_do_not_add_up_are_refused():
    with pytest.raises(ParameterError, match="counts"):
        GNMax(sigma=2, teachers=10, classes=3).answer([[4, 4, 3]])
