"""Objective perturbation: the minimizer of a regularized loss and of a random linear term."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.learning.design.row_grid import GridRows, RowGrid
from discreet.learning.perturbation.certified_minimum import certified_minimum
from discreet.learning.perturbation.euclidean_noise import EuclideanNoise, power_of_two
from discreet.learning.perturbation.linear_terms import EuclideanTerm, NormalTerm, PureTerms, RowTerms
from discreet.learning.perturbation.regularization import for_objective, stated_regularization
from discreet.learning.perturbation.smooth_slopes import SmoothSlopes, signs_of
from discreet.learning.training.budgets import GaussianBudget, PureBudget, TrainingBudget
from discreet.learning.training.score_losses import MarginLoss
from discreet.noise import current
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events import Event
from discreet.privacy.guarantees import ApproximateDP, Guarantee
from discreet.privacy.rational import Number, whole
from discreet.records import Record

__all__ = ["ObjectivePerturbation"]

_PART = Fraction(1, 2**22)
"""How long a gradient may be left, as a part of the scale of the noise, or of a row where that is longer."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class ObjectivePerturbation(Record):
    """Minimize sum of l(y w x) + Lambda |w|^2 / 2 + b w for a random b (Chaudhuri et al. 2011).

    Parameters
    ----------
    grid : RowGrid
        The columns of the design, and the largest length of a row; x is a row divided by it.
    loss : MarginLoss
        Of two classes: convex, with slopes between 0 and 1, and second derivatives of at most c.
    budget : PureBudget or GaussianBudget
        Epsilon alone: the density of b falls with its length. Epsilon and delta: b is normal.
    rows : int
        How many rows a person has at most.
    regularization : number, optional
        Lambda, of the sum over rows; by default a rule over public numbers. Where it is less than
        2 c r / epsilon, it is raised to that: second derivatives would take more than half of epsilon.

    Guarantee
    ---------
    That of the budget, under add/remove of a person; the number of rows is private. For pure epsilon, a
    person with r rows costs r / scale for the term, k log(1 + c r / (Lambda k)) for second derivatives, k the
    lesser of r and the number of columns, and epsilon / 64 for the answer. For epsilon and delta, a row costs
    what rounded normal noise with sensitivity 1 costs, in delta at an epsilon that is less by log(1 + c /
    Lambda) and epsilon / 64; r rows are a group (proof: docs/proofs/objective_perturbation.md). As it is
    usually taught, for the mean over n rows, n public, with lambda = Lambda / n and a row replaced: the
    length of the noise has the law Gamma(d, 2 / epsilon'), epsilon' = epsilon - 2 log(1 + c / (n lambda)).

    Finite precision
    ----------------
    b is an ideal real vector, of which the nearest multiples of a small step are drawn exactly. The solver
    stops where the gradient is short for certain, so it is at a proven distance from the ideal minimizer;
    noise on the answer, which costs epsilon / 64 for twice that distance, hides all that it may tell besides.
    So the guarantee is that of the numbers that leave.

    Error
    -----
    The minimizer moves by about H^-1 b, H the second derivatives: little where data say much.
    """

    grid: RowGrid
    slopes: SmoothSlopes
    rows: int
    regularization: Fraction
    term: EuclideanTerm | NormalTerm
    term_step: Fraction
    """The step of the grid of the linear term."""
    tolerance: Fraction
    """The longest gradient at which the solver may stop."""
    step: Fraction
    """The step of the grid of weights."""
    noise: EuclideanNoise
    """The noise on the answer."""
    event: Event
    guarantee: Guarantee

    def __init__(
        self,
        *,
        grid: RowGrid,
        loss: MarginLoss,
        budget: TrainingBudget,
        rows: int = 1,
        regularization: Number | None = None,
    ) -> None:
        width = grid.checked_width
        held = whole(rows, "rows", least=1, most=2**20)
        slopes = SmoothSlopes(loss)
        terms = _terms(budget, held, width)
        least = terms.least_regularization(slopes.curvature)
        if regularization is None:
            chosen = for_objective(terms.without_bending().deviation(width), least)
        else:
            chosen = max(stated_regularization(regularization), least)
        term = terms.term(slopes.curvature, chosen)
        root = sqrt_interval(Fraction(width))[1]
        tolerance = max(term.scale, Fraction(1)) * _PART
        term_step = power_of_two(tolerance / root)
        step = power_of_two(tolerance / chosen / root)
        # From the ideal minimizer to the answer before noise: the solver, the grid of b, that of weights.
        away = (tolerance + term_step * root / 2) / chosen + step * root / 2
        self._set(
            grid=grid,
            slopes=slopes,
            rows=held,
            regularization=chosen,
            term=term,
            term_step=term_step,
            tolerance=tolerance,
            step=step,
            noise=EuclideanNoise(sensitivity=2 * away / step, epsilon=terms.answer_epsilon, size=width),
            event=terms.event,
            guarantee=budget.guarantee,
        )

    def minimizer_steps(self, rows: GridRows, labels: Integers, term: list[int]) -> list[int]:
        """Return the minimizer for a linear term in its steps, in steps of the grid of weights: private."""
        found = certified_minimum(
            self.slopes,
            rows,
            signs_of(labels),
            ridge=self.regularization,
            linear=[one * self.term_step for one in term],
            tolerance=self.tolerance,
        )
        return [round(one / self.step) for one in found.weights]

    def release_steps(self, rows: GridRows, labels: Integers) -> Floats:
        """Return the weights, one column, in the units of the data, for rows that are on the grid."""
        term = self.term.draw(self.grid.columns, self.term_step)
        moved = self.noise.release(self.minimizer_steps(rows, labels, term))
        unit = self.step * self.grid.row_steps / (self.grid.steps * self.grid.largest)
        found: Floats = current().mark(np.array([[float(one * unit)] for one in moved]))
        return found


def _terms(budget: TrainingBudget, rows: int, columns: int) -> PureTerms | RowTerms:
    """Return how a budget is spent."""
    if isinstance(budget, PureBudget):
        return PureTerms(epsilon=budget.epsilon, rows=rows, columns=columns)
    stated = budget.guarantee
    if isinstance(budget, GaussianBudget) and isinstance(stated, ApproximateDP):
        return RowTerms(epsilon=stated.epsilon, delta=stated.delta, rows=rows)
    raise ParameterError("rho", "is not what objective perturbation promises", "epsilon, alone or with delta")
