"""Audits of models catch what is not private, pass what is, and refuse to pass for want of canaries."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import check_model
from discreet.audit.models import numbers_of_guesses
from discreet.errors import ParameterError
from discreet.mechanisms import Laplace
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, PureDP
from significance import FALSE_ALARM

CANARIES = 1000
ONE = PureDP(epsilon=1)


def noisy_sum(scale=1):
    """Training that releases a noisy sum of rows, one column for each canary: (1 / scale)-private."""
    noise = Laplace(sensitivity=1, epsilon=Fraction(1, scale), size=CANARIES)
    return lambda included: noise.release(included.astype(np.int64))


def ensemble(teachers, overlapping):
    """Noisy votes of teachers that remember their rows; a canary's owner is one teacher, or all of them.

    Each teacher votes on the query that is a canary's input: for its label if it has seen it. One teacher
    moves one count by one, so noise of scale 1 is for disjoint shards.
    """
    noise = Laplace(sensitivity=1, epsilon=1, size=CANARIES)

    def train(included):
        seen = np.repeat(included[None], teachers, axis=0)
        if not overlapping:
            seen &= np.arange(CANARIES) % teachers == np.arange(teachers)[:, None]
        return noise.release(seen.sum(axis=0))

    return train


def student(saw_private_rows):
    """A student of noisy votes, one nearest neighbor; it may have been given the private rows as well."""
    teach = ensemble(5, overlapping=False)

    def train(included):
        votes = np.asarray(teach(included), float)
        return np.where(included, 5.0, votes) if saw_private_rows else votes

    return train


def checked(train, claim=ONE, **options):
    return check_model(
        train, np.asarray, claim, **{"canaries": CANARIES, "false_alarm": FALSE_ALARM, **options}
    )


WRONG = {
    "no noise": np.copy,
    "noise for half the sensitivity": lambda included: Laplace(
        sensitivity=1, epsilon=2, size=CANARIES
    ).release(included.astype(np.int64)),
    "overlapping shards": ensemble(5, overlapping=True),
    "a student that saw private rows": student(saw_private_rows=True),
}
RIGHT = {
    "noisy sum": noisy_sum(),
    "disjoint shards": ensemble(5, overlapping=False),
    "student": student(saw_private_rows=False),
    "more noise than claimed": noisy_sum(scale=2),
}


@pytest.mark.statistical
@pytest.mark.parametrize("name", WRONG)
def test_training_that_breaks_its_claim_fails(name):
    report = checked(WRONG[name])
    assert not report.passed
    assert report.bound > 1


@pytest.mark.statistical
@pytest.mark.parametrize("name", RIGHT)
def test_training_that_keeps_its_claim_passes(name):
    report = checked(RIGHT[name])
    assert report.passed
    assert report.false_alarm == FALSE_ALARM


@pytest.mark.statistical
def test_the_bound_comes_near_the_truth_with_many_canaries():
    report = checked(noisy_sum(), canaries=CANARIES, runs=4, sides=("both",))
    assert 0.65 < report.bound <= 1


@pytest.mark.statistical
def test_normal_noise_is_held_to_mu_and_to_epsilon_with_delta():
    def training(mu):
        return lambda included: mu * included + np.random.default_rng().normal(size=len(included))

    # What one run proves of normal noise is about half of mu, so a right one is far from failing.
    options = {"canaries": 3000, "false_alarm": 1e-3, "sides": ("both",)}
    half, approximate = GaussianDP(mu="0.5"), ApproximateDP(epsilon=2, delta="1e-9")
    assert checked(training(0.5), half, **options).passed
    assert not checked(training(4), half, **options).passed
    assert checked(training(0.5), approximate, **options).passed
    assert not checked(training(9), approximate, **options).passed


@pytest.mark.statistical
def test_runs_add_up_and_shadow_models_help():
    """Levels of their own hide canaries from a threshold, not from shadow models."""
    levels = np.random.default_rng(1).normal(0, 100, 50)

    def train(included):
        return 3.0 * included + levels + np.random.default_rng().normal(0, 0.5, 50)

    options = {"canaries": 50, "runs": 20, "false_alarm": 1e-6}
    plain = check_model(train, np.asarray, ONE, **options)
    learned = check_model(train, np.asarray, ONE, shadows=8, **options)
    assert plain.passed
    assert not learned.passed
    assert learned.attack == "likelihood ratios"
    assert [attack.name for attack in learned.attacks] == ["scores", "likelihood ratios"]
    assert len(learned.attacks[0].scores) == 1000


@pytest.mark.slow
@pytest.mark.statistical
def test_logistic_regression_is_held_to_its_epsilon():
    from discreet.learning import LogisticRegression

    rows = np.eye(20)

    def fitting(epsilon):
        def train(included):
            model = LogisticRegression(
                epsilon=epsilon, columns=[(-1, 1)] * 20, classes=[0, 1], method="output", regularization=1
            )
            base = np.vstack([np.zeros((4, 20)), rows[included]])
            return model.fit(base, np.r_[0, 1, 0, 1, np.ones(int(included.sum()), int)]).coef_[0]

        return train

    options = {"canaries": 20, "runs": 20, "false_alarm": 1e-6}
    assert check_model(fitting(1), np.asarray, ONE, **options).passed
    assert not check_model(fitting(10_000), np.asarray, ONE, **options).passed


def test_numbers_of_guesses_are_fixed_by_the_number_of_coins():
    assert numbers_of_guesses(1000, "both") == [1000, 500, 250, 125, 62, 31, 15]
    assert numbers_of_guesses(1000, "in") == [250, 125, 62, 31, 15]
    assert numbers_of_guesses(3, "both") == [3, 1]
    assert numbers_of_guesses(1, "out") == [1]


def test_an_audit_that_could_not_fail_is_refused():
    with pytest.raises(ParameterError, match="can prove at most"):
        checked(np.copy, canaries=10)
    with pytest.raises(ParameterError, match="can prove at most"):
        checked(np.copy, PureDP(epsilon=15))
    with pytest.raises(ParameterError, match="can prove at most"):
        checked(np.copy, ApproximateDP(epsilon=1, delta="0.1"))


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("claim", {"claim": 1.0}),
        ("canaries", {"canaries": 0}),
        ("runs", {"runs": 0}),
        ("shadows", {"shadows": 3}),
        ("shadows", {"shadows": 2}),
        ("sides", {"sides": ("up",)}),
        ("sides", {"sides": ()}),
        ("false_alarm", {"false_alarm": 0}),
        ("score", {"train": lambda included: included[1:]}),
        ("score", {"train": lambda included: np.full(len(included), np.nan)}),
    ],
)
def test_bad_arguments_are_refused_by_name(message, options):
    with pytest.raises(ParameterError, match=message):
        checked(**{"train": np.copy, **options})


def test_training_cannot_change_the_coins():
    def train(included):
        found = included.copy()
        included[:] = True
        return found

    report = checked(train, sides=("out",))
    assert report.right == report.guesses
    assert 0 < report.attacks[0].included.mean() < 1
