"""Membership inference: scores that tell who took part, and the guesses that they lead to.

A score is any number that tends to be larger where a canary took part: minus its loss is the plainest
(Yeom et al. 2018). With shadow models, trained as the model is on canaries whose coins are known, the score
becomes a likelihood ratio of two normal laws, canary by canary (LiRA; Carlini et al. 2022). No promise
rests on any of this: a bad score proves less, and never too much.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats
from discreet.records import dataclass

__all__ = ["GuessedSide", "Membership", "likelihood_ratios"]

Bools: TypeAlias = NDArray[np.bool_]
GuessedSide: TypeAlias = Literal["both", "in", "out"]
"""Which end of the scores is guessed: the highest took part, the lowest did not, or half of each."""

_FEW = 32
"""Shadow models on either side below which the spread of scores is taken to be that of all canaries."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Membership:
    """What one attack says about who took part, beside the truth.

    Attributes
    ----------
    name : str
        The attack.
    scores : array (flips,)
        One for each canary of each run; larger where it seems to have taken part.
    included : array of bool (flips,)
        Whether it did.
    """

    name: str
    scores: Floats
    included: Bools

    def right(self, guesses: int, side: GuessedSide) -> int:
        """Return how many of the surest guesses are right.

        Which canaries are guessed depends on scores alone, and how many is fixed by the caller: that is
        what the bound of `guesses.largest_chance` rests on.
        """
        order = np.argsort(self.scores, kind="stable")
        lowest = {"both": guesses // 2, "in": 0, "out": guesses}[side]
        absent, present = order[:lowest], order[len(order) - (guesses - lowest) :]
        return int((~self.included[absent]).sum() + self.included[present].sum())

    def rates(self) -> tuple[Floats, Floats]:
        """Return false and true positive rates, for every score as the threshold, from high to low."""
        order = np.argsort(-self.scores, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(self.scores[order])), len(order) - 1)
        present = self.included[order]
        true = np.cumsum(present)[ends] / max(int(present.sum()), 1)
        false = np.cumsum(~present)[ends] / max(int((~present).sum()), 1)
        return np.append(0.0, false), np.append(0.0, true)

    @property
    def area(self) -> float:
        """The area under the curve of rates: the chance to tell one who took part from one who did not."""
        false, true = self.rates()
        return float((np.diff(false) * (true[1:] + true[:-1]) / 2).sum())


def likelihood_ratios(scores: Floats, shadows: Floats, included: Bools) -> Floats:
    """Return log p(score | took part) - log p(score | did not), for normal laws fitted to shadow models.

    Parameters
    ----------
    scores : array (runs, canaries)
        Of the models under audit.
    shadows : array (shadow models, canaries)
        The same scores of the shadow models.
    included : array of bool (shadow models, canaries)
        Which canaries each shadow model was trained with; each canary with half of them.
    """
    logs = []
    for side in (included, ~included):
        count = side.sum(axis=0)
        mean = np.where(side, shadows, 0.0).sum(axis=0) / count
        squares = np.where(side, (shadows - mean) ** 2, 0.0).sum(axis=0)
        few = int(count.min()) < _FEW
        spread = squares.sum() / max(int(count.sum()) - len(count), 1) if few else squares / (count - 1)
        variance = np.maximum(spread, np.finfo(np.float64).tiny ** 0.5)
        logs.append(-((scores - mean) ** 2) / (2 * variance) - np.log(variance) / 2)
    return np.asarray(logs[0] - logs[1], np.float64)
