from math import exp, sqrt

import numpy as np
import pytest
import torch
from scipy.stats import norm

import discreet as dp
from discreet.accounting import epsilon
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.learning.teachers.aggregation import GNMax
from discreet.learning.teachers.cost_release import divergence_spent
from discreet.learning.teachers.vote_noise import GaussianVoteNoise, LaplaceVoteNoise
from discreet.noise import current, sample_laplace, sample_rounded_gaussian
from discreet.privacy.events import DiscreteGaussian
from discreet.synthesis import PateGAN
from discreet.synthesis.generators.table_network import one_hot
from synthesis.charged_steps import COLUMNS, made_up
from synthesis.generators.generator_runs import SMALL, Book, depends_on_rows, pate_gan, planted_in, watched

FEW = SMALL | {"queries": 4}
ONCE = {"queries": 16, "rounds": 1}
COSTS = []


@pytest.mark.parametrize("others", [{}, {"columns_share": 0}])
def test_what_is_drawn_is_what_was_charged_before_and_planned(others):
    book, mechanism = Book(), pate_gan(**others)
    with watched(book):
        made = mechanism.release(made_up(60), record=book)
    assert book.is_paid
    assert made.event == mechanism.event
    assert sum(event != mechanism.event_of(0) for event in book.drawn) == made.rounds == 3
    assert len(book.drawn) == (3 if "columns_share" in others else 4)


def test_the_noise_is_made_for_all_queries_and_keeps_the_promise():
    mechanism = pate_gan()
    assert epsilon(mechanism.event, delta=1e-6).upper <= 2
    assert epsilon(mechanism.event, delta=1e-6).upper > 1.99


def test_normal_noise_is_what_the_analytic_formula_says():
    """An oracle of its own: squares of mu add up, and Balle & Wang's formula turns them into delta."""
    mechanism = pate_gan(rounds=30)
    votes = 2 * 30 * 4 / float(mechanism.aggregation.noise.sigma) ** 2
    columns = sum(1 / noise.variance for noise in mechanism.column_noises)
    assert columns == pytest.approx(votes, rel=1e-3)  # half of the budget each
    mu = sqrt(votes + columns)
    delta = norm.cdf(mu / 2 - 2 / mu) - exp(2) * norm.cdf(-mu / 2 - 2 / mu)
    assert delta == pytest.approx(1e-6, rel=0.02)
    assert all(isinstance(noise.event, DiscreteGaussian) for noise in mechanism.column_noises)


def test_more_queries_have_more_noise():
    one, ten = (pate_gan(rounds=rounds).aggregation.noise for rounds in (3, 30))
    assert float(ten.sigma) == pytest.approx(float(one.sigma) * sqrt(10), rel=1e-2)


class Inverted(GaussianVoteNoise):
    """Planted: noise of deviation 1/sigma, where sigma is charged."""

    def draw(self, size):
        return sample_rounded_gaussian(1 / self.sigma**2, size, current())


class InvertedLaplace(LaplaceVoteNoise):
    """Planted: noise of scale gamma, where 1/gamma is charged."""

    def draw(self, size):
        return sample_laplace(self.gamma, size, current())


def is_as_wide_as_charged(noise, deviation):
    """Whether 4,000 numbers have a deviation of at least nine tenths of what the event says: 8 of theirs."""
    return noise.draw(4000).std() > 0.9 * deviation


def test_an_inverted_scale_is_noticed():
    noise = pate_gan().aggregation.noise
    deviation = sqrt(2 / (noise.event(2).squared_mu))
    assert deviation > 4
    assert is_as_wide_as_charged(noise, deviation)
    assert not is_as_wide_as_charged(Inverted(noise.sigma), deviation)
    assert is_as_wide_as_charged(LaplaceVoteNoise("0.1"), sqrt(2) * 2 / 0.2)
    assert not is_as_wide_as_charged(InvertedLaplace("0.1"), sqrt(2) * 2 / 0.2)


class StudentSeesRows(PateGAN):
    """Planted: the student learns from real rows, too."""

    def _learn(self, network, panel, gate, random):
        from discreet.synthesis.generators import pate_gan

        class Curious(pate_gan.StudentDiscriminator):
            def learn(self, rows, answers, steps):
                real = one_hot(panel._rows[:20], (11, 4, 3, 22))
                super().learn(torch.cat([rows, real]), torch.cat([answers, torch.ones(20)]), steps)

        before, pate_gan.StudentDiscriminator = pate_gan.StudentDiscriminator, Curious
        try:
            super()._learn(network, panel, gate, random)
        finally:
            pate_gan.StudentDiscriminator = before


class GeneratorSeesTeachers(PateGAN):
    """Planted: the generator follows teachers' own gradients, without noise."""

    def _learn(self, network, panel, gate, random):
        super()._learn(network, panel, gate, random)
        slopes = panel.slopes(network.rows(network.latent(5)), torch.eye(40)).mean(dim=(0, 1))
        with torch.no_grad():
            network._biases[-1].add_(slopes)


class ReadsBalance(PateGAN):
    """Planted: the shares of a label are taken from the rows as they are."""

    def release(self, rows, **others):
        found = super().release(rows, **others)
        share = (np.asarray(rows["sex"]) == "f").mean()
        found.model.layers[-1].bias[15:17] = np.log([share + 1e-3, 1 - share + 1e-3])
        return found


class ReadsBounds(PateGAN):
    """Planted: bounds of numbers are the extremes of the rows."""

    def release(self, rows, **others):
        low, high = (int(found(rows["score"])) for found in (np.min, np.max))
        own = PateGAN(**FEW | ONCE | {"columns": COLUMNS | {"score": dp.Bounds(low, high)}})
        return own.release(rows, **others)


class ReadsTheNumberOfRows(PateGAN):
    """Planted: as many rows are made as there are."""

    def release(self, rows, **others):
        found = super().release(rows, **others)
        object.__setattr__(found.model, "total", float(len(rows["age"])))
        return found


class PublishesItsCost(PateGAN):
    """Planted: the data-dependent cost of every answer is stated, as moments accountants have it."""

    def release(self, rows, **others):
        COSTS.clear()
        found = super().release(rows, **others)
        object.__setattr__(found, "method", f"PateGAN, at a cost of {COSTS}")
        return found

    @staticmethod
    def _counted(panel, pool, asked):
        counts = PateGAN._counted(panel, pool, asked)
        votes = GNMax(sigma=8, teachers=120, classes=2)  # many, who are nearly sure
        for one in counts * 20:
            COSTS.append(divergence_spent(votes, one[None], votes.answer(one[None]), 8))
        return counts


@pytest.mark.parametrize(
    "planted",
    [
        StudentSeesRows,
        GeneratorSeesTeachers,
        ReadsBalance,
        ReadsBounds,
        ReadsTheNumberOfRows,
        PublishesItsCost,
    ],
)
def test_whatever_decides_a_release_besides_answers_is_noticed(planted):
    assert depends_on_rows(planted_in(pate_gan(**ONCE), planted))


@pytest.mark.parametrize("share", [0, 0.5])
def test_a_release_is_a_function_of_measured_counts_and_answers(share):
    assert not depends_on_rows(pate_gan(**ONCE, columns_share=share))


def test_a_run_stops_at_what_cannot_be_paid_and_says_so():
    book = Book(refuse_from=3)  # the columns, and two rounds
    made = pate_gan().release(made_up(60), record=book)
    assert (made.rounds, made.planned) == (2, 3)
    assert made.label["rounds"] == 2
    assert made.event == pate_gan().event_of(2)


def test_through_a_permit_of_a_curator(tmp_path):
    data = made_up(90)
    table = dp.Table(
        {"id": [place // 3 for place in range(90)], **{name: held.tolist() for name, held in data.items()}},
        person="id",
        limits=dp.Limits(rows=3),
        columns=COLUMNS,
    )
    clinic = dp.Curator(
        {"visits": table}, budget=dp.Budget(epsilon=3, delta=1e-5), ledger=tmp_path / "ledger"
    )
    mechanism = pate_gan(rows=3)
    with clinic.permit("generator", mechanism.event) as permit:
        rows = permit.rows("visits")
        made = mechanism.release(rows, persons=rows["id"].to_pylist(), record=permit)
    assert made.rounds == 3
    assert 1.5 < clinic.spent.epsilon < 2
    assert list(made.to_pandas(5).columns) == list(COLUMNS)
    with clinic.permit("half of it", mechanism.event_of(1)) as permit:
        assert mechanism.release(made_up(30), record=permit).rounds == 1


def test_all_rows_of_a_person_are_in_one_shard():
    data = made_up(60)
    with pytest.raises(ParameterError, match="share a person"):
        pate_gan().release(data, persons=[0] * 60, shards=np.arange(60) % 6)
    with pytest.raises(ParameterError, match="as many"):
        pate_gan().release(data, persons=[0] * 59)


def test_bad_input_is_refused_before_anything_is_drawn():
    with pytest.raises(ParameterError, match="never read"):
        PateGAN(**FEW | {"columns": made_up(5)["age"]})
    with pytest.raises(ParameterError, match="epsilon"):
        PateGAN(**FEW | {"epsilon": 1e-9})


@pytest.mark.parametrize(
    "others",
    [
        {"columns": {"x": dp.Keys(range(10_000)), **{f"y{n}": dp.Keys([0]) for n in range(9)}}},
        {"teachers": 2**20},
    ],
)
def test_networks_that_do_not_fit_are_refused_before_anything_is_paid(others):
    with pytest.raises(UnsupportedQuery, match="fit into memory"):
        PateGAN(**FEW | others)


@pytest.mark.parametrize("many", [0, 1, 3])
def test_few_rows_are_no_reason_to_fail(many):
    data = {name: held[:many] for name, held in made_up(5).items()}
    assert pate_gan().release(data).codes(4).shape == (4, 4)


@pytest.mark.slow
def test_with_little_noise_it_learns_more_than_columns():
    """City follows age; without votes they are independent."""
    data = made_up(4000)
    stated = {"columns": COLUMNS, "epsilon": 500, "delta": 1e-6, "teachers": 20, "queries": 100}
    one, many = (
        dp.synthesis.fidelity(data, PateGAN(**stated, rounds=rounds).release(data), ways=2).distances[2][
            "age", "city"
        ]
        for rounds in (1, 60)
    )
    assert many < 0.8 * one
