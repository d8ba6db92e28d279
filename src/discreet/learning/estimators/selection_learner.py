"""The best of several candidates as a learner: fitted on some people, and judged on others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from discreet.array_types import Integers
from discreet.curator.ledger import JsonValue
from discreet.curator.request.learner import Drawn, Learner
from discreet.curator.request.request import Expectation
from discreet.errors import ParameterError
from discreet.learning.design.features import Features
from discreet.learning.design.person_ids import person_of
from discreet.learning.design.targets import Classes
from discreet.learning.estimators.private_estimator import PrivateEstimator
from discreet.learning.training.budgets import (
    ConcentratedBudget,
    GaussianBudget,
    PureBudget,
    TrainingBudget,
)
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.noise import current, uniform_below
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events import Event, Parallel, compose
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.rational import whole
from discreet.records import Record

__all__ = ["SelectionLearner", "refuse_inner_selections"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False, repr=False)
class SelectionLearner(Learner, Record):
    """Draw the candidate that predicts people best who were not fitted.

    A coin for each person, drawn apart from the data, says whether their rows are held out. All candidates
    are fitted to the rows of the others, and share the budget. Each is judged by how many of the rows that
    were held out it predicts right, and one is chosen with noise.

    Parameters
    ----------
    candidates : list of (name, estimator)
    features : Features
    target : Classes
    budget : TrainingBudget
        One that was stated: not a part.
    rows : int
        How many rows a person has at most. If more than 1, `draw` is told whose rows they are.
    held_out : int
        One person of so many is held out.

    Guarantee
    ---------
    That of the budget. A person is among those who are fitted, and all candidates together cost the budget;
    or they are held out, and r rows of theirs move all numbers of right predictions in one direction by at
    most r: the choice costs the budget as well, and not more for being among many (proof:
    docs/proofs/model_selection.md, theorem 2).

    Finite precision
    ----------------
    Numbers of right predictions are integers, and the choice is exact. Scores are summed column by column, so
    that no row changes how another is predicted, not even at a tie (`discreet.learning.design.row_sums`).

    Error
    -----
    See `expectations`: how many right predictions the choice may fall short of the best.
    """

    kind: ClassVar[str] = "selection"

    candidates: tuple[tuple[str, PrivateEstimator], ...]
    features: Features
    target: Classes
    planned: tuple[Learner, ...]
    choice: Exponential | PermuteAndFlip
    held_out: int
    rows: int
    guarantee: Guarantee

    def __init__(
        self,
        *,
        candidates: Sequence[tuple[str, PrivateEstimator]],
        features: Features,
        target: Classes,
        budget: TrainingBudget,
        rows: int,
        held_out: int,
    ) -> None:
        part = budget.share(Fraction(1, len(candidates)))
        planned = tuple(model._learner(features, target, part, rows) for _, model in candidates)
        refuse_inner_selections(planned, rows)
        self._set(
            candidates=tuple(candidates),
            features=features,
            target=target,
            planned=planned,
            choice=_choice(budget, rows),
            held_out=whole(held_out, "held_out", least=2, most=1000),
            rows=rows,
            guarantee=budget.guarantee,
        )

    @property
    def event(self) -> Event:
        """All fits, of people who are not held out; the choice, of those who are."""
        return Parallel(compose(one.event for one in self.planned), self.choice.event)

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """Those of each candidate, and how one is chosen."""
        pairs = zip(self.candidates, self.planned, strict=True)
        candidates: list[JsonValue] = [
            {"name": name, "kind": one.kind, "parameters": one.parameters} for (name, _), one in pairs
        ]
        return {"candidates": candidates, "held_out": self.held_out, "rows": self.rows}

    @property
    def words(self) -> str:
        """What it runs."""
        name = "permute-and-flip" if isinstance(self.choice, PermuteAndFlip) else "the exponential mechanism"
        return (
            f"{len(self.planned)} candidates fitted to {self.held_out - 1} of {self.held_out} people; one is "
            f"chosen by {name}, by right predictions of the other people"
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The features, and the target."""
        return (*(column.name for column in self.features.columns), self.target.name)

    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Return which candidate was chosen, and what it drew; rows are people."""
        if self.rows > 1:
            raise ParameterError("rows", "of a person are several, and nothing says whose they are", "1")
        return self.draw_people(values, np.arange(len(values[0])))

    def draw_people(self, values: Sequence[NDArray[Any]], people: NDArray[Any]) -> Drawn:
        """Return which candidate was chosen, and what it drew.

        Parameters
        ----------
        values : sequence of arrays
            The columns, as for `draw`.
        people : array
            Whose each row is.
        """
        numbers = _numbered(people)
        count = int(numbers.max(initial=-1)) + 1
        out = (uniform_below(self.held_out, count, current()) == 0)[numbers] if count else numbers == 0
        fitted = [one[~out] for one in values]
        drawn = [learner.draw(fitted) for learner in self.planned]
        scores = [
            self._right(number, one, [column[out] for column in values]) for number, one in enumerate(drawn)
        ]
        chosen = self.choice.release(scores)
        return {"chosen": chosen, "drawn": drawn[chosen]}

    def model(self, drawn: Drawn, number: int) -> PrivateEstimator:
        """Return a candidate as the model that was drawn."""
        found: PrivateEstimator = clone(self.candidates[number][1])
        found.n_features_in_ = len(self.features.columns)
        found._keep(self.planned[number], drawn)
        return found

    def _right(self, number: int, drawn: Drawn, values: Sequence[NDArray[Any]]) -> int:
        """Return how many rows a candidate predicts right; those of no declared class are not counted."""
        model = self.model(drawn, number)
        labels = self.target.numbers(values[-1])
        rows = np.empty((len(labels), len(values) - 1), dtype=object)
        for place, column in enumerate(values[:-1]):
            rows[:, place] = column
        found = self.target.numbers(model.predict(rows))
        return int(((found == labels) & (labels >= 0)).sum())

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return by how much the choice may fall short, and what the fits have of noise."""
        short = float(self.choice.error.quantile(0.95, candidates=len(self.planned)))
        choice = Expectation(
            name="choice",
            margin=short,
            standard_deviation=short / 2,
            means="right predictions that the chosen candidate may lack to the best one",
        )
        others = (found for one in self.planned for found in one.expectations(rows))
        return (choice, *others)


def refuse_inner_selections(planned: Sequence[Learner], rows: int) -> None:
    """Refuse a selection within another model where people have several rows: it would not know whose."""
    if rows > 1 and any(isinstance(one, SelectionLearner) for one in planned):
        raise ParameterError(
            "rows",
            "of a person are several, and a selection within another model is not told whose they are",
            "1, or a selection by itself",
        )


def _choice(budget: TrainingBudget, rows: int) -> Exponential | PermuteAndFlip:
    """Return a choice that costs all of a budget, for scores that r rows move by r in one direction."""
    if isinstance(budget, ConcentratedBudget):  # the bounded range of the choice: rho = epsilon^2 / 8
        epsilon = sqrt_interval(8 * budget.rho)[0]
        return Exponential(sensitivity=rows, epsilon=epsilon, monotone=True)
    if isinstance(budget, PureBudget):
        return PermuteAndFlip(sensitivity=rows, epsilon=budget.epsilon, monotone=True)
    if isinstance(budget, GaussianBudget) and budget.stated is not None:
        return PermuteAndFlip(sensitivity=rows, epsilon=budget.stated.epsilon, monotone=True)
    raise ParameterError("candidates", "are chosen with a part of a budget", "a selection by itself")


def _numbered(people: NDArray[Any]) -> Integers:
    """Return a number for each person, from 0; who is not named, or cannot be, is one person."""
    known: dict[Hashable | None, int] = {}
    found = np.empty(len(people), dtype=np.int64)
    for place, one in enumerate(people.tolist()):
        found[place] = known.setdefault(person_of(one), len(known))
    return found
