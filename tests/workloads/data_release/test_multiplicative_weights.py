"""MWEM: its law, its guarantee on all small tables, its bounds."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log, sqrt

import mpmath
import numpy as np
import pytest
from scipy import stats

from discreet.audit import check_mechanism, output_law
from discreet.errors import ParameterError
from discreet.mechanisms import Exponential, Laplace
from discreet.noise import is_private, replay
from discreet.privacy.events import DiscreteLaplace, ExponentialChoice
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import REPLACE_PERSON
from discreet.workloads.data_release.multiplicative_weights import MultiplicativeWeights
from discreet.workloads.data_release.reweighting import NoisyAnswer, Reweighting
from significance import FALSE_ALARM
from workloads.data_release.person_oracle import neighboring_tables

QUERIES = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]])


class Transcript:
    """The mechanism, as one that releases the choices and measurements alone: all else follows from them."""

    def __init__(self, mechanism):
        self.mechanism = mechanism

    def release(self, table):
        made = self.mechanism.release(table)
        return tuple(value for one in made.measurements for value in (one.query, one.answer))


class Textbook:
    """The law of a transcript by definition, in high precision."""

    def __init__(self, mechanism, queries):
        self.mechanism, self.queries = mechanism, queries
        self.estimates = {}

    def estimate(self, past):
        if past not in self.estimates:
            mechanism = self.mechanism
            learner = Reweighting(self.queries, mechanism.total, tolerated=2 * mechanism._slack()[0])
            for count in range(1, len(past) + 1):
                history = [NoisyAnswer(query=q, answer=a) for q, a in past[:count]]
                learner = learner.corrected(history, mechanism.passes)
            self.estimates[past] = learner.cells
        return self.estimates[past]

    def mass(self, table, past):
        """P(transcript) = prod P(choice given the past) P(noise)."""
        truth = self.queries @ table
        rate, scale = self.mechanism.choice.rate, self.mechanism.measurement.event.scale
        rate = mpmath.mpf(rate.numerator) / rate.denominator
        ratio = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
        probability = mpmath.mpf(1)
        for step, (query, answer) in enumerate(past):
            answers = self.queries @ self.estimate(past[:step])
            scores = [abs(64 * int(t) - round(64 * a)) for t, a in zip(truth, answers, strict=True)]
            weights = [mpmath.exp(rate * score) for score in scores]
            probability *= weights[query] / mpmath.fsum(weights)
            probability *= (1 - ratio) / (1 + ratio) * ratio ** abs(answer - int(truth[query]))
        return probability


def test_budgets_add_up_exactly():
    mechanism = MultiplicativeWeights(queries=QUERIES, epsilon=0.3, rounds=7, total=100, selection=0.25)
    assert mechanism.guarantee == PureDP(epsilon=Fraction(3, 10))
    assert mechanism.event.pure_epsilon == Fraction(3, 10)
    share = Fraction(3, 70)
    assert mechanism.event == (
        ExponentialChoice(epsilon=share / 4) * 7 + DiscreteLaplace(sensitivity=1, scale=4 / (3 * share)) * 7
    )
    bought = MultiplicativeWeights(queries=QUERIES, epsilon=0.3, rounds=7, rows=2, groups=2)
    assert bought.guarantee == PureDP(epsilon=Fraction(3, 10))
    assert bought.event.pure_epsilon == Fraction(3, 10)
    assert bought.counting == Laplace(sensitivity=4, epsilon=Fraction(3, 100))
    assert bought.measurement.event.sensitivity == 4
    assert bought.choice.sensitivity == 4 * 64


@pytest.mark.parametrize("rows", [1, 2])
def test_the_implemented_law_is_that_of_choices_and_noise(rows):
    """Along every random path of a release, one round."""
    mechanism = MultiplicativeWeights(queries=QUERIES, epsilon=4, rounds=1, total=5, rows=rows)
    table = np.array([2, 0, 4])
    implemented = output_law(Transcript(mechanism).release, table, goal=1e-4)
    assert float(implemented.unresolved) < 1e-3
    textbook = Textbook(mechanism, QUERIES)
    total = 0.0
    for key, mass in implemented.masses.items():
        expected = float(textbook.mass(table, (key[1],)))
        assert float(mass) <= expected * (1 + 1e-9)
        assert expected - float(mass) <= float(implemented.unresolved) + 1e-12
        total += expected
    assert total > 0.998


def largest_loss(mechanism, queries, rows, groups):
    textbook = Textbook(mechanism, queries)
    transcripts = list(product(product(range(len(queries)), range(-8, 9, 2)), repeat=mechanism.rounds))
    worst = mpmath.mpf(0)
    for table, other in neighboring_tables(queries.shape[1], 1, rows, groups):
        for past in transcripts:
            worst = max(worst, abs(mpmath.log(textbook.mass(table, past) / textbook.mass(other, past))))
    return worst


@pytest.mark.parametrize(("rounds", "rows", "groups"), [(1, 1, None), (1, 2, None), (1, 1, 2), (2, 1, None)])
def test_pure_epsilon_holds_on_all_small_tables(rounds, rows, groups):
    """Over all pairs of tables and transcripts; nearly attained."""
    queries = QUERIES if rounds == 1 else QUERIES[:2, :2]
    mechanism = MultiplicativeWeights(
        queries=queries, epsilon=Fraction(3, 2), rounds=rounds, total=2, rows=rows, groups=groups
    )
    with mpmath.workdps(20):
        worst = largest_loss(mechanism, queries, rows, groups)
    assert 0.6 * 1.5 < worst <= 1.5 * (1 + 1e-12)


def test_a_person_with_more_rows_than_declared_breaks_the_guarantee():
    """The check above can tell: two rows, charged as one."""
    mechanism = MultiplicativeWeights(queries=QUERIES, epsilon=Fraction(3, 2), rounds=1, total=2)
    assert largest_loss(mechanism, QUERIES, 2, None) > 1.6


def made_up(random, cells=16):
    queries = np.array(
        [[a <= i <= b for i in range(cells)] for a in range(cells) for b in range(a, cells)], int
    )
    return queries, random.poisson(300 * np.exp(-(((np.arange(cells) - 5) / 3) ** 2)))


@pytest.mark.statistical
@pytest.mark.parametrize("known", [True, False])
def test_reported_bounds_hold_as_often_as_they_say(known):
    """All rounds together at 80 percent, over 300 releases."""
    least = stats.binom.ppf(FALSE_ALARM, 300, 0.8)
    random = np.random.default_rng(1)
    queries, table = made_up(random)
    total = int(table.sum()) if known else None
    mechanism = MultiplicativeWeights(queries=queries, epsilon=2, rounds=6, total=total, confidence=0.8)
    held, best, average = 0, [], []
    for _ in range(300):
        made = mechanism.release(table)
        errors = [float(np.abs(queries @ (x - table)).max()) for x in (made.best, made.average)]
        held += errors[0] <= made.max_error and errors[1] <= made.average_max_error
        best.append(errors[0])
        average.append(errors[1])
        assert made.max_error <= made.average_max_error
    assert held >= least
    uniform = float(np.abs(queries @ (np.full(16, table.sum() / 16) - table)).max())
    assert np.mean(best) < np.mean(average) < 0.7 * uniform
    if known:
        assert sum(error <= mechanism.error_bound() for error in average) >= least


def test_the_theorems_bound_adds_learning_noise_and_choice():
    mechanism = MultiplicativeWeights(queries=QUERIES, epsilon=2, rounds=5, total=1000, confidence=0.9)
    share = 1 - Fraction(1, 100)
    noise = Laplace(sensitivity=1, epsilon=Fraction(1, 5)).error.quantile(share)
    choice = Exponential(sensitivity=64, epsilon=Fraction(1, 5)).error.quantile(share, candidates=3)
    expected = 1000 * sqrt(log(3) / 5) + noise + (choice + 1) / 64
    assert mechanism.error_bound() == pytest.approx(expected)
    with pytest.raises(ParameterError, match="total is not public"):
        MultiplicativeWeights(queries=QUERIES, epsilon=2, rounds=5).error_bound()


def test_a_generous_budget_learns_the_table():
    random = np.random.default_rng(2)
    queries, table = made_up(random, 8)
    mechanism = MultiplicativeWeights(
        queries=queries, epsilon=1000, rounds=40, total=int(table.sum()), passes=50
    )
    made = mechanism.release(table)
    assert np.abs(queries @ (made.last - table)).max() < 0.02 * table.sum()
    assert made.max_error < 0.05 * table.sum()
    assert len(made.measurements) == len(made.bounds) == 40


@pytest.mark.parametrize("cells", [1, 2])
def test_tiny_domains(cells):
    mechanism = MultiplicativeWeights(queries=np.ones((1, cells), int), epsilon=1, rounds=2, total=7)
    made = mechanism.release([4] * cells)
    assert made.average == pytest.approx(np.full(cells, 7 / cells))


def test_a_total_that_is_bought_is_at_least_one():
    mechanism = MultiplicativeWeights(queries=QUERIES, epsilon=1, rounds=1)
    made = [mechanism.release([0, 0, 0]).total for _ in range(20)]
    assert min(made) == 1


def test_replacement_charges_both_moves():
    mechanism = MultiplicativeWeights(
        queries=[[1, -1, 0]], epsilon=1, rounds=2, total=5, neighbors=REPLACE_PERSON
    )
    assert mechanism.measurement.event.sensitivity == 2
    assert mechanism.guarantee.neighbors == REPLACE_PERSON
    assert mechanism.event.neighbors == REPLACE_PERSON


def test_replayed_noise_is_marked():
    mechanism = MultiplicativeWeights(queries=QUERIES, epsilon=1, rounds=2)
    with replay(1):
        made = mechanism.release([1, 2, 2])
    for value in (made.average, made.best, made.last, made.bounds, made.total, made.measurements[0].answer):
        assert not is_private(value)
    assert is_private(mechanism.release([1, 2, 2]).average)


@pytest.mark.slow
@pytest.mark.statistical
def test_it_passes_the_battery():
    mechanism = MultiplicativeWeights(queries=QUERIES[:2], epsilon=4, rounds=1, total=3)
    pairs = mechanism.neighboring_inputs()
    assert check_mechanism(Transcript(mechanism), mechanism.guarantee, pairs, draws=10_000).passed
    cheaper = PureDP(epsilon=2)
    assert not check_mechanism(Transcript(mechanism), cheaper, pairs, draws=10_000).passed


@pytest.mark.parametrize(
    "changed",
    [
        {"rounds": 0},
        {"total": 0},
        {"total": 1 << 62},
        {"epsilon": 0},
        {"confidence": 1},
        {"selection": 1},
        {"selection": 0},
        {"total": None, "total_share": 1},
        {"passes": -1},
        {"rows": 0},
        {"queries": np.zeros((0, 3), int)},
    ],
)
def test_bad_parameters_are_refused(changed):
    with pytest.raises(ParameterError):
        MultiplicativeWeights(**{"queries": QUERIES, "epsilon": 1, "rounds": 2, "total": 5, **changed})


def test_counts_up_to_the_largest_enter_as_they_are():
    """At the bound the total is bought as it is; beyond, it is that of clamped counts, and so are errors."""
    mechanism = MultiplicativeWeights(queries=[[1, 0], [0, 3]], epsilon=1, rounds=1)
    largest = mechanism.largest_count
    assert largest == 2**60 // (64 * 3 * 2)
    for counts in ([largest, 0], [largest + 1, 0], [2**62, -5]):
        assert mechanism.release(counts).total == pytest.approx(largest, abs=10**4)
