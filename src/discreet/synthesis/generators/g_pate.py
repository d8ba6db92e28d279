"""G-PATE: teachers vote on where generated rows should go, and the generator follows the answers itself."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from discreet.array_types import Floats, Integers
from discreet.learning.teachers.aggregation import NO_ANSWER, ConfidentGNMax
from discreet.learning.teachers.vote_counts import count_votes
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.rational import Number, probability, whole
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.generators.base import Aggregator, GeneratorSynthesizer, vote_deviation
from discreet.synthesis.generators.discriminators import Discriminators
from discreet.synthesis.generators.paid_votes import PaidVotes
from discreet.synthesis.generators.table_network import TableNetwork
from discreet.synthesis.measuring.steps import TableNoise

__all__ = ["GPATE"]

_POOL = 1024
_TEACHER_STEPS = 10
_BATCH = 256
_RATE = 3e-3
_REACH = 2.0
"""Slopes beyond so many of a teacher's own root mean squares are in the outer bins."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class GPATE(GeneratorSynthesizer):
    """Train a generator of rows on noisy votes of teachers about where its rows should go.

    People are divided among teachers, each a discriminator of its own rows from generated ones. In every
    round each teacher says, for some generated rows and along some random directions, how fast they would
    look more real to it; it votes for the bin of this slope. Where teachers agree, the answer moves the
    generator, without a student in between (Long et al. 2021).

    Parameters
    ----------
    columns, epsilon, delta, rows, teachers, columns_share, seed
        As for `PateGAN`.
    rounds, batch, directions : int
        How many rounds of votes there are, on how many generated rows, along how many directions.
    bins : int
        Into how many bins of equal width slopes fall, up to twice the root mean square of a teacher's own.
    threshold : number
        Answer only where about this share of teachers agrees.
    check_share : number
        Which share of what votes cost goes to the checks of agreement.

    Guarantee
    ---------
    (epsilon, delta) under add/remove of a person with all rows: counts of columns with discrete Gaussian
    noise, and rounds times batch times directions queries of `ConfidentGNMax`, with noise that is made for
    all of them, whatever the votes are (proof: docs/proofs/generators.md, theorem 3).

    Finite precision
    ----------------
    As for `PateGAN`. A slope that is not a number counts as zero.

    Error
    -----
    A direction is drowned where the noise, ``aggregation.noise.sigma``, exceeds the lead of teachers; a few
    directions say little about hundreds of cells. Marginals are closer to the data: see docs/tour.md.

    Examples
    --------
    >>> import discreet as dp
    >>> from discreet.synthesis import GPATE
    >>> columns = {"age": dp.Bounds(0, 99), "city": dp.Keys(["Taipei", "Lagos"])}
    >>> GPATE(columns=columns, epsilon=1, delta="1e-6", teachers=100, rounds=10)
    GPATE(2 columns, 100 teachers, 10 rounds of 100 queries, ApproximateDP(epsilon=1, delta=1e-6))
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
    directions: int
    bins: int

    def __init__(
        self,
        *,
        columns: object,
        epsilon: Number,
        delta: Number,
        rows: int = 1,
        teachers: int = 200,
        rounds: int = 40,
        batch: int = 10,
        directions: int = 10,
        bins: int = 2,
        threshold: Number = Fraction(1, 2),
        check_share: Number = Fraction(1, 5),
        columns_share: Number = Fraction(1, 2),
        seed: int = 0,
    ) -> None:
        many = whole(directions, "directions", least=1, most=1 << 12)
        cells = whole(bins, "bins", least=2, most=64)
        asked = whole(batch, "batch", least=1, most=1 << 12) * many
        steps = whole(rounds, "rounds", least=1, most=1 << 20) * asked
        level = probability(threshold, "threshold")
        part = probability(check_share, "check_share", zero=False, one=False)
        crowd = whole(teachers, "teachers", least=2, most=1 << 20)

        def votes(squared_mu: Fraction) -> ConfidentGNMax:
            return ConfidentGNMax(
                sigma=vote_deviation(squared_mu * (1 - part), 2 * steps),
                check_sigma=vote_deviation(squared_mu * part, steps),
                threshold=round(level * crowd),
                teachers=crowd,
                classes=cells,
            )

        self._begin(
            columns=columns,
            epsilon=epsilon,
            delta=delta,
            rows=rows,
            teachers=crowd,
            rounds=rounds,
            queries=asked,
            columns_share=columns_share,
            seed=seed,
            votes=votes,
            directions=many,
            bins=cells,
        )

    def _learn(
        self, network: TableNetwork, panel: Discriminators, gate: PaidVotes, random: torch.Generator
    ) -> None:
        optimizer = torch.optim.Adam(network.parameters(), lr=_RATE)
        width, batch = sum(self.domain.shape), gate.queries // self.directions
        while True:
            pool = network.rows(network.latent(_POOL))
            latent = network.latent(batch)
            asked = network.rows(latent)
            projection = torch.randn(width, self.directions, generator=random) / self.directions**0.5
            found = gate.answer(lambda: self._counted(panel, pool, asked, projection))  # noqa: B023
            if found is None:
                return
            values = torch.from_numpy(self._centers(found.labels)).reshape(batch, self.directions)
            toward = values.float() @ projection.T
            optimizer.zero_grad()
            gain = (toward * network.probabilities(latent)).sum(dim=1).mean()
            (self.anchor * network.drift(network.latent(_BATCH)) - gain).backward()
            optimizer.step()

    def _counted(self, panel: Discriminators, pool: Tensor, asked: Tensor, projection: Tensor) -> Integers:
        panel.train(pool, _TEACHER_STEPS)
        slopes = panel.slopes(asked, projection).reshape(self.teachers, -1)
        usual = slopes.square().mean(dim=1, keepdim=True).sqrt().clamp_min(1e-30)
        place = ((slopes / (usual * _REACH)).clamp(-1, 1) + 1) / 2 * self.bins
        votes = place.long().clamp(0, self.bins - 1).numpy()
        return count_votes(np.asarray(votes, dtype=np.int64), classes=self.bins)

    def _centers(self, labels: Integers) -> Floats:
        """Return the middle of each bin that was answered, between -1 and 1; 0 where none was."""
        return np.where(labels == NO_ANSWER, 0.0, (2 * labels + 1) / self.bins - 1)
