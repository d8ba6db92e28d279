from math import exp, sqrt

import numpy as np
import pytest
import torch
from scipy.stats import norm

import discreet as dp
from discreet.accounting import epsilon
from discreet.learning.teachers.aggregation import NO_ANSWER
from discreet.synthesis import GPATE
from discreet.synthesis.generators.discriminators import Discriminators
from discreet.synthesis.generators.paid_votes import PaidVotes
from synthesis.charged_steps import COLUMNS, made_up
from synthesis.generators.generator_runs import Book, depends_on_rows, g_pate, planted_in, watched


def test_every_direction_of_every_row_is_a_query_that_was_charged_before():
    book, mechanism = Book(), g_pate()
    with watched(book):
        made = mechanism.release(made_up(60), record=book)
    assert mechanism.queries == 6
    assert book.is_paid
    assert made.event == mechanism.event
    assert len(book.drawn) == 4


class ChargesRows(PaidVotes):
    """Planted: a row is charged as one query, whatever number of directions is voted on."""

    @property
    def event_of_round(self):
        return self._aggregation.event(2)


def test_directions_that_are_not_charged_are_noticed(monkeypatch):
    monkeypatch.setattr("discreet.synthesis.generators.base.PaidVotes", ChargesRows)
    book = Book()
    with watched(book):
        g_pate().release(made_up(60), record=book)
    assert not book.is_paid


def test_checks_and_answers_are_what_the_analytic_formula_says():
    mechanism = g_pate(rounds=40)
    assert epsilon(mechanism.event, delta=1e-6).upper <= 2
    queries, votes = 40 * 6, mechanism.aggregation
    checks = queries / float(votes.check.sigma) ** 2
    answers = 2 * queries / float(votes.noise.sigma) ** 2
    assert checks == pytest.approx(answers / 4, rel=1e-2)
    mu = sqrt(checks + answers + sum(1 / noise.variance for noise in mechanism.column_noises))
    delta = norm.cdf(mu / 2 - 2 / mu) - exp(2) * norm.cdf(-mu / 2 - 2 / mu)
    assert delta == pytest.approx(1e-6, rel=0.02)


class Follows(GPATE):
    """Planted: the generator follows the mean of teachers' gradients, clipped and without noise."""

    def _learn(self, network, panel, gate, random):
        panel.train(network.rows(network.latent(30)), 2)
        slopes = panel.slopes(network.rows(network.latent(5)), torch.eye(40)).clamp(-1, 1).mean(dim=(0, 1))
        with torch.no_grad():
            network._biases[-1].add_(slopes)


def test_a_release_is_a_function_of_measured_counts_and_answers():
    assert not depends_on_rows(g_pate(rounds=1))
    assert depends_on_rows(planted_in(g_pate(rounds=1), Follows))


def test_a_person_moves_one_vote_in_every_query():
    mechanism = g_pate(bins=5)
    codes = mechanism.domain.codes(made_up(60))
    shards = np.arange(60) % 6
    generated = torch.from_numpy(codes[:10].copy())
    projection = torch.from_numpy(np.random.default_rng(0).normal(size=(40, 3))).float()

    def counts(first):
        """Of all rows, or without those of the first shard, which are one person's."""
        panel = Discriminators(
            codes[shards >= first],
            shards[shards >= first],
            shards[shards >= first],
            teachers=6,
            shape=mechanism.domain.shape,
            seed=0,
        )
        return mechanism._counted(panel, generated, generated[:4], projection)

    one, other = counts(0), counts(1)
    assert one.shape == (12, 5)
    assert (one.sum(axis=1) == 6).all()
    assert (np.abs(one - other).sum(axis=1) <= 2).all()
    assert (one != other).any()


def test_bins_have_middles_and_no_answer_moves_nothing():
    middles = g_pate(bins=4)._centers(np.array([0, 1, 2, 3, NO_ANSWER]))
    assert middles.tolist() == [-0.75, -0.25, 0.25, 0.75, 0.0]


@pytest.mark.slow
def test_with_little_noise_columns_that_were_not_measured_are_found():
    """From all cells alike, answers alone lead toward the columns of the data."""
    data = {name: np.full(2000, held[0]) for name, held in made_up(5).items()}
    stated = {"columns": COLUMNS, "epsilon": 500, "delta": 1e-6, "teachers": 20, "columns_share": 0}
    one, many = (
        dp.synthesis.fidelity(data, GPATE(**stated, rounds=rounds, batch=10).release(data), ways=1).mean(1)
        for rounds in (1, 100)
    )
    assert many < 0.8 * one
