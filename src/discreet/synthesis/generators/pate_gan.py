"""PATE-GAN: teachers vote on generated rows, a student learns from answers, a generator from the student."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor, nn

from discreet.array_types import Integers
from discreet.learning.teachers.aggregation import GNMax
from discreet.learning.teachers.vote_counts import count_votes
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.rational import Number, whole
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.generators.base import Aggregator, GeneratorSynthesizer, vote_deviation
from discreet.synthesis.generators.discriminators import Discriminators
from discreet.synthesis.generators.paid_votes import PaidVotes
from discreet.synthesis.generators.student import StudentDiscriminator
from discreet.synthesis.generators.table_network import TableNetwork, one_hot
from discreet.synthesis.measuring.steps import TableNoise

__all__ = ["PateGAN"]

_POOL = 1024
"""How many generated rows teachers train against in a round."""
_TEACHER_STEPS, _STUDENT_STEPS, _GENERATOR_STEPS = 10, 50, 10
_BATCH = 256
_RATE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class PateGAN(GeneratorSynthesizer):
    """Train a generator of rows against a student, who learns from noisy votes of teachers alone.

    People are divided among teachers, each a discriminator of its own rows from generated ones. In every
    round teachers vote on generated rows: real, if a row looks more real to them than most do. A student
    learns from the answers, and the generator from the student (Jordon, Yoon & van der Schaar 2019). Votes
    have normal noise, which for many queries costs less than the Laplace noise of the paper.

    Parameters
    ----------
    columns : mapping of names to Bounds, Keys or Dates
        What is public about each column, as for `Independent`.
    epsilon, delta : number
        The privacy of everything together.
    rows : int
        How many rows a person has at most. That the data keep to it is the caller's promise.
    teachers : int
        How many. Few see more rows, many drown the noise.
    rounds, queries : int
        How many rounds of votes there are, and on how many generated rows in each.
    columns_share : number
        Which share of the budget, as the square of mu, goes to counts of the columns, with which the
        generator begins and which it keeps near. At 0, as in the paper, it begins with all cells alike.
    seed : int
        Public: where weights and generated rows come from. What is private is drawn from elsewhere.

    Guarantee
    ---------
    (epsilon, delta) under add/remove of a person with all rows: counts of columns with discrete Gaussian
    noise, and rounds times queries answers of `GNMax`, with noise that is made for all of them, whatever the
    votes are (proof: docs/proofs/generators.md, theorem 3).

    Finite precision
    ----------------
    Votes and counts are integers, and their noise is exact. Networks are floats: those of a teacher are a
    function of its own rows and of public numbers, all others are functions of answers.

    Error
    -----
    A vote is drowned where the noise, ``aggregation.noise.sigma``, exceeds the lead of teachers. Marginals
    are closer to the data in all that was measured: see docs/tour.md.

    Examples
    --------
    >>> import discreet as dp
    >>> from discreet.synthesis import PateGAN
    >>> columns = {"age": dp.Bounds(0, 99), "city": dp.Keys(["Taipei", "Lagos"])}
    >>> PateGAN(columns=columns, epsilon=1, delta="1e-6", teachers=100, rounds=10)
    PateGAN(2 columns, 100 teachers, 10 rounds of 100 queries, ApproximateDP(epsilon=1, delta=1e-6))
    """

    domain: CodedColumns
    rows: int
    guarantee: ApproximateDP
    teachers: int
    rounds: int
    queries: int
    column_noises: tuple[TableNoise, ...]
    aggregation: Aggregator
    seed: int

    def __init__(
        self,
        *,
        columns: object,
        epsilon: Number,
        delta: Number,
        rows: int = 1,
        teachers: int = 200,
        rounds: int = 20,
        queries: int = 100,
        columns_share: Number = Fraction(1, 2),
        seed: int = 0,
    ) -> None:
        asked = whole(queries, "queries", least=2, most=1 << 16)
        steps = whole(rounds, "rounds", least=1, most=1 << 20) * asked

        def votes(squared_mu: Fraction) -> GNMax:
            return GNMax(sigma=vote_deviation(squared_mu, 2 * steps), teachers=teachers, classes=2)

        self._begin(
            columns=columns,
            epsilon=epsilon,
            delta=delta,
            rows=rows,
            teachers=teachers,
            rounds=rounds,
            queries=asked,
            columns_share=columns_share,
            seed=seed,
            votes=votes,
        )

    def _learn(
        self, network: TableNetwork, panel: Discriminators, gate: PaidVotes, random: torch.Generator
    ) -> None:
        shape = self.domain.shape
        student = StudentDiscriminator(sum(shape), random)
        optimizer = torch.optim.Adam(network.parameters(), lr=_RATE)
        while True:
            pool = network.rows(network.latent(_POOL))
            asked = network.rows(network.latent(gate.queries))
            found = gate.answer(lambda: self._counted(panel, pool, asked))  # noqa: B023
            if found is None:
                return
            student.learn(one_hot(asked, shape), torch.from_numpy(found.labels).float(), _STUDENT_STEPS)
            self._follow(network, student, optimizer)

    @staticmethod
    def _counted(panel: Discriminators, pool: Tensor, asked: Tensor) -> Integers:
        panel.train(pool, _TEACHER_STEPS)
        return count_votes(panel.votes(asked), classes=2)

    def _follow(
        self, network: TableNetwork, student: StudentDiscriminator, optimizer: torch.optim.Optimizer
    ) -> None:
        """Take steps toward rows that the student calls real, with columns that stay as measured."""
        for _ in range(_GENERATOR_STEPS):
            latent = network.latent(_BATCH)
            loss = nn.functional.softplus(-student.logits(network.drawn_one_hot(latent))).mean()
            optimizer.zero_grad()
            (loss + self.anchor * network.drift(latent)).backward()
            optimizer.step()
