"""The votes of teachers as a learner: rows in shards come in, noisy labels of public rows go out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats
from discreet.curator.ledger import JsonValue
from discreet.curator.request.learner import Drawn, Learner
from discreet.curator.request.request import Expectation
from discreet.learning.design.features import Features
from discreet.learning.design.targets import Classes
from discreet.learning.teachers.aggregation import (
    Answers,
    ConfidentGNMax,
    GNMax,
    InteractiveGNMax,
    LNMax,
)
from discreet.learning.teachers.cost_release import CostRelease, ReleasedCost, spent_at_worst
from discreet.learning.teachers.ensemble import Ensemble
from discreet.learning.teachers.vote_counts import count_votes
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee

__all__ = ["VoteLearner"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VoteLearner(Learner):
    """Train teachers on shards, let them vote on public rows, and answer with noise.

    Guarantee
    ---------
    That of the budget which the noise was made for, whatever number of rows a person has: all are in one
    shard (proof: docs/proofs/private_teachers.md, theorem 10).

    Finite precision
    ----------------
    Votes are integers, and so is the noise.

    Error
    -----
    See `expectations`.
    """

    kind: ClassVar[str] = "teacher_votes"

    features: Features
    target: Classes
    ensemble: Ensemble
    model: str
    """What the teachers are, in one spelling."""
    aggregation: LNMax | GNMax | ConfidentGNMax | InteractiveGNMax
    queries: Floats
    """The coordinates of the public rows."""
    predictions: Floats | None
    """What the student predicts of them, if that is part of the question."""
    cost: CostRelease | None
    """How a bound on what the answers cost is released with them, if it is."""
    guarantee: Guarantee
    rows: int

    @property
    def event(self) -> Event:
        """The law of all answers, at most as many as there are public rows, and of their cost."""
        answers = self.aggregation.event(len(self.queries))
        return answers if self.cost is None else answers + self.cost.event

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """Columns, classes, teachers, how they are answered, and digests of what is public but long."""
        released = {} if self.cost is None else {"cost": repr(self.cost)}
        return {
            "features": self.features.parameters,
            "target": self.target.parameters,
            "teachers": self.ensemble.teachers,
            "model": self.model,
            "aggregation": repr(self.aggregation),
            "queries": _digest(self.queries),
            "predictions": None if self.predictions is None else _digest(self.predictions),
            "rows": self.rows,
            **released,
        }

    @property
    def words(self) -> str:
        """What it runs."""
        noise = "Laplace" if isinstance(self.aggregation, LNMax) else "normal"
        return (
            f"votes of {self.ensemble.teachers} teachers on {len(self.queries):,} public rows, answered with "
            f"{noise} noise"
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The features, and the target."""
        return (*(column.name for column in self.features.columns), self.target.name)

    @property
    def shards(self) -> int:
        """One for each teacher."""
        return self.ensemble.teachers

    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Return labels of public rows, -1 where there is none, which were voted on, and what it cost."""
        *held, labels, shards = values
        rows = self.features.encoded(held)[:, :-1]
        votes = self.ensemble.votes(rows, self.target.numbers(labels), shards, self.queries)
        counts = count_votes(votes, classes=len(self.target.labels))
        found = self._answered(counts)
        drawn = {"labels": found.labels.tolist(), "voted": found.voted.tolist(), "checks": found.checks}
        if self.cost is None:
            return drawn
        spent = self.cost.release(self.aggregation, counts, found, self.predictions)
        return {**drawn, "divergence": str(spent.divergence)}

    def cost_of(self, drawn: Drawn) -> ReleasedCost | None:
        """Return the released cost of what was drawn, if it was released."""
        if self.cost is None:
            return None
        found = Answers(
            labels=np.asarray(drawn["labels"], dtype=np.int64),
            voted=np.asarray(drawn["voted"], dtype=bool),
            checks=int(drawn["checks"]),
        )
        return ReleasedCost(
            order=self.cost.order,
            divergence=Fraction(drawn["divergence"]),
            own=self.cost.own,
            failure=self.cost.failure,
            worst=spent_at_worst(self.aggregation, found, self.cost.order),
        )

    def _answered(self, counts: NDArray[np.int64]) -> Answers:
        if isinstance(self.aggregation, InteractiveGNMax):
            return self.aggregation.answer(counts, self.predictions)
        return self.aggregation.answer(counts)

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return the noise on the votes for a class."""
        del rows
        noise = self.aggregation.noise
        drawn = 2**0.5 / float(noise.gamma) if hasattr(noise, "gamma") else float(noise.sigma)  # type: ignore[attr-defined]
        return (
            Expectation(
                name="votes for a class",
                margin=float(np.ceil(1.959964 * drawn * 1e12) / 1e12),
                standard_deviation=drawn,
                assumes=f"{self.ensemble.teachers:,} teachers",
                means="noise in votes",
            ),
        )


def _digest(numbers: Floats) -> str:
    """Return a digest of an array, of its shape too."""
    return hashlib.sha256(repr(numbers.shape).encode() + np.ascontiguousarray(numbers).tobytes()).hexdigest()
