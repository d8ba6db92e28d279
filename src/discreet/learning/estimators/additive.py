"""An additive classifier: a step function of each column, all of them fitted together, privately."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.learning.design.bins import CELLS, cell_counts, chosen_edges
from discreet.learning.design.features import BinnedColumn, FeatureFacts, Features, NumberColumn
from discreet.learning.estimators.classifiers import LogisticRegression
from discreet.learning.training.budgets import TrainingBudget
from discreet.learning.training.noisy_newton import NoisyNewton
from discreet.learning.training.score_losses import ScoreLoss
from discreet.noise import current
from discreet.privacy.events import Event
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import Number, whole
from discreet.privacy.sensitivity import Sensitivity

__all__ = ["AdditiveClassifier"]

_BINS_SHARE = Fraction(1, 20)


class AdditiveClassifier(LogisticRegression):
    """Logistic regression on step functions of the columns, under differential privacy.

    The score of a class is a sum of one function for each column: the columns of keys have a number for each
    key, those of numbers one for each of a few bins. Everybody can read such a model: `shapes` gives the
    functions. All steps of all functions are fitted together, which takes far less noise than boosting them
    one by one, as explainable boosting machines do.

    Parameters
    ----------
    epsilon, delta, rho, columns, classes, rows
        As of `LogisticRegression`.
    bins : int
        How many bins a column of numbers has, about. Their edges are bought with a twentieth of the budget,
        from a noisy histogram of 256 cells.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        classes: Sequence[Any] | str | None = None,
        rows: int = 1,
        bins: int = 8,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, rho=rho, columns=columns, classes=classes, rows=rows)
        self.bins = bins

    def _planned(
        self, features: Features, values: Sequence[NDArray[Any]], loss: ScoreLoss, budget: TrainingBudget
    ) -> tuple[Features, NoisyNewton, Event]:
        bins = whole(self.bins, "bins", least=2, most=CELLS)
        numbers = {place: one for place, one in enumerate(features.columns) if isinstance(one, NumberColumn)}
        if not numbers:
            return super()._planned(features, values, loss, budget)
        places, columns = list(numbers), list(numbers.values())
        count, held = len(columns), whole(self.rows, "rows", least=1, most=2**20)
        sensitivity = Sensitivity(
            l0=count * held,
            l1=count * held,
            squared_l2=count * held**2,
            linf=held,
            neighbors=ADD_REMOVE_PERSON,
        )
        noise = budget.share(_BINS_SHARE).noise(sensitivity, count * CELLS)
        released = noise.release(cell_counts(columns, [values[place] for place in places]).ravel())
        counts = current().mark(np.asarray(released, dtype=np.float64)).reshape(count, CELLS)
        found = list(features.columns)
        for place, column, of_column in zip(places, columns, counts, strict=True):
            found[place] = BinnedColumn(column=column, edges=chosen_edges(column, of_column, bins))
        binned = Features(columns=tuple(found))
        rest = budget.share(1 - _BINS_SHARE)
        newton = NoisyNewton(grid=binned.grid, loss=loss, budget=rest, rows=held)
        return binned, newton, noise.event + newton.event
