"""Private linear regression in coordinates that are made alike: limits, shape, moments, one gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats, Integers
from discreet.curator.ledger import JsonValue
from discreet.curator.request.learner import Drawn, Learner
from discreet.curator.request.request import Expectation
from discreet.learning.design.features import Features, NumberColumn
from discreet.learning.design.row_blocks import blocks_of, row_parts
from discreet.learning.design.row_grid import RowGrid
from discreet.learning.regression.column_limits import ColumnLimits, counts_of_cells
from discreet.learning.regression.narrowed_columns import NarrowedColumns, without_first_keys
from discreet.learning.regression.noisy_moments import (
    OFF_DIAGONAL,
    RegressionMoments,
    product_steps,
    symmetric,
)
from discreet.learning.regression.regression_plan import NORMAL_PLAN, PURE_PLAN, RegressionPlan
from discreet.learning.regression.row_frame import COORDINATE_STEPS, RowFrame
from discreet.learning.training.budgets import PureBudget, TrainingBudget
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise import current
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record

__all__ = ["CLIP_STEPS", "WEIGHT_BITS", "WhitenedRegression"]

CLIP_STEPS = 1 << 12
"""How many steps the largest residual has."""
WEIGHT_BITS = 20
"""Weights that a gradient is taken at are multiples of 2^-20."""
_LONGEST = 2.0**20  # of weights: a score's terms add up to 2^52 at most, which doubles hold exactly
_RESIDUAL_BITS = 4
_LEAST_CLIP = 1 / 64  # of the longest row
_CONFIDENCE = Fraction(95, 100)
SmallIntegers = NDArray[np.int16]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class WhitenedRegression(Learner, Record):
    """Linear regression of a number within declared bounds on declared columns.

    Four things are bought in turn, and each decides by public arithmetic how rows are read for the next one:

    1. limits between which most values of each column lie. What is far beyond them is clipped;
    2. the second moments of rows. Coordinates are turned so that they are alike in all directions, however
       much columns resemble each other;
    3. the second moments of rows and responses in these coordinates: G, and weights to start from;
    4. the gradient at these weights. A Newton step by G gives the fit.

    The noise of a fit is that of the gradient alone, up to products of two noises; and its residuals, which
    are smaller than responses, are what the gradient is made of.

    Parameters
    ----------
    features : Features
        Declared columns. With an intercept the first key of a column of keys is what the others are
        compared with: it has no coordinate, and what is not declared counts as it.
    target : NumberColumn
        The response and its bounds. Rows without one are left out.
    budget : TrainingBudget
        What it costs, and with which noise.
    intercept : bool
        Whether a constant is fitted.
    rows : int
        How many rows a person has at most. That the data keep to it is the caller's promise.
    plan : RegressionPlan, optional
        Its public numbers.

    Guarantee
    ---------
    That of the budget, under add/remove of a person. In steps, N = 2^12 for the longest row, one row moves
    the second moments by at most sqrt(50) N^2, those with a response by sqrt(50) (N^2 + N^2/4 + N^2/16), and
    the gradient by N 2^12, whatever was bought before (proof: docs/proofs/whitened_regression.md).

    Finite precision
    ----------------
    Rows are rounded to integers, each by itself, after every turn; the turn is a matrix of integers, sums of
    products stay below 2^53, residuals are rounded one by one. The noise is that of `Gaussian` or `Laplace`.

    Error
    -----
    `WhitenedFit` has intervals; `expectations` what the noise of the gradient does.
    """

    kind: ClassVar[str] = "whitened_regression"

    features: Features
    target: NumberColumn
    intercept: bool
    rows: int
    plan: RegressionPlan
    limits: ColumnLimits
    """The search for limits."""
    shape: Laplace | Gaussian | None
    """The noise on the second moments of rows, by which they are turned."""
    moments: Laplace | Gaussian
    """The noise on those of rows and responses."""
    gradient: Laplace | Gaussian
    """The noise on the gradient."""
    guarantee: Guarantee

    def __init__(
        self,
        *,
        features: Features,
        target: NumberColumn,
        budget: TrainingBudget,
        intercept: bool = True,
        rows: int = 1,
        plan: RegressionPlan | None = None,
    ) -> None:
        held = whole(rows, "rows", least=1, most=2**20)
        chosen = plan or (PURE_PLAN if isinstance(budget, PureBudget) else NORMAL_PLAN)
        kept = without_first_keys(features) if intercept else features
        flat, grid = (_grid(kept, intercept, turned=turned) for turned in (False, bool(chosen.shape)))
        _ = grid.checked_width

        def noise(total: int, squared: int, size: int, share: Fraction) -> Laplace | Gaussian:
            most = isqrt(held**2 * squared)
            sensitivity = Sensitivity(
                l0=size,
                l1=max(min(held * total, isqrt(size * held**2 * squared)), most),
                squared_l2=held**2 * squared,
                linf=most,
                neighbors=ADD_REMOVE_PERSON,
            )
            return budget.share(share).noise(sensitivity, size)

        def products(of: RowGrid, others: Sequence[int], share: Fraction) -> Laplace | Gaussian:
            squared = of.steps**2 + sum(one**2 for one in others)
            total, width = of.total + sum(others), of.columns + len(others)
            return noise(5 * total**2 + 2 * squared, 50 * squared**2, width * (width + 1) // 2, share)

        self._set(
            features=kept,
            target=target,
            intercept=bool(intercept),
            rows=held,
            plan=chosen,
            limits=ColumnLimits(
                columns=len(_numbers(kept)) + 1, budget=budget.share(chosen.limits), rows=held
            ),
            shape=products(flat, (), chosen.shape) if chosen.shape else None,
            moments=products(grid, (grid.steps // 2, grid.steps // 4), chosen.moments),
            gradient=noise(
                grid.total * CLIP_STEPS, (grid.steps * CLIP_STEPS) ** 2, grid.columns, chosen.gradient
            ),
            guarantee=budget.guarantee,
        )

    @property
    def grid(self) -> RowGrid:
        """The grid of rows in their last coordinates."""
        return _grid(self.features, self.intercept, turned=self.shape is not None)

    @property
    def event(self) -> Event:
        """Limits, shape, moments and gradient, composed."""
        first = self.limits.event if self.shape is None else self.limits.event + self.shape.event
        return first + self.moments.event + self.gradient.event

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """Columns, target and plan."""
        plan = self.plan
        return {
            "features": self.features.parameters,
            "target": self.target.parameters,
            "intercept": self.intercept,
            "rows": self.rows,
            "shares": [str(part) for part in (plan.limits, plan.shape, plan.moments)],
            "lengths": [repr(one) for one in (plan.number_length, plan.turned_length)],
            "floors": [repr(one) for one in (plan.shape_floor, plan.floor, plan.clip)],
        }

    @property
    def words(self) -> str:
        """What it runs."""
        noise = "Laplace" if isinstance(self.gradient, Laplace) else "normal"
        turned = "" if self.shape is None else "coordinates are made alike by a first matrix, then "
        return (
            f"least squares from second moments with {noise} noise, and a Newton step by a clipped gradient: "
            f"columns are cut to limits that are bought, {turned}residuals, not responses, meet the noise"
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The features, and the target."""
        return (*(column.name for column in self.features.columns), self.target.name)

    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Return limits, the turn of coordinates, moments, where the gradient was taken, and the gradient."""
        *held, responses = values
        every = [*zip(self.features.columns, held, strict=True), (self.target, responses)]
        numbers = [(column, one) for column, one in every if isinstance(column, NumberColumn)]
        # The target apart: all features may be one array.
        parts = (
            counts_of_cells([column for column, _ in some], [one for _, one in some])
            for some in (numbers[:-1], numbers[-1:])
            if some
        )
        counts = np.concatenate(list(parts))
        limits = self.limits.release(counts)
        coordinates, others = self._coordinates(limits, held, responses)
        frame = self.first_frame
        if self.shape is not None:
            flat = _grid(self.features, self.intercept, turned=False)
            total = np.zeros((flat.columns, flat.columns), dtype=np.int64)
            for part in row_parts(*coordinates.shape):
                total += _square(frame.rows(coordinates[part], others[part], flat)[0])
            frame = self.turned(_public(self.shape.release(product_steps(total))))
        rows, answers, products = self._products(frame, coordinates, others)
        moments = _public(self.moments.release(product_steps(products)))
        start, clip = self.start(moments)
        gradient = _public(self.gradient.release(self.gradient_steps(rows, answers, start, clip)))
        return {
            "limits": limits.tolist(),
            "turn": None if frame.matrix is None else [frame.bits, frame.matrix.tolist()],
            "moments": moments.tolist(),
            "start": start.tolist(),
            "clip": clip,
            "gradient": gradient.tolist(),
        }

    def narrowed(self, limits: Integers) -> NarrowedColumns:
        """Return the columns within the limits that were found."""
        return NarrowedColumns.of(self.features, self.target, limits, intercept=self.intercept)

    def _coordinates(
        self, limits: Integers, held: Sequence[NDArray[Any]], responses: NDArray[Any]
    ) -> tuple[SmallIntegers, SmallIntegers]:
        """Return coordinates in steps; and responses with a constant: all 0 for rows without a response."""
        narrow, steps = self.narrowed(limits), self.grid.steps
        factors = narrow.factors * COORDINATE_STEPS
        known = ~np.isnan(narrow.target.numbers(responses))
        coordinates = np.empty((len(responses), len(factors)), dtype=np.int16)
        others = np.empty((len(responses), 2), dtype=np.int16)
        for part, encoded in narrow.features.coordinates.blocks(held):
            kept = np.multiply(encoded[:, : len(factors)], factors, out=encoded[:, : len(factors)])
            coordinates[part] = np.multiply(np.rint(kept, out=kept), known[part, None], out=kept)
        others[:, 0] = np.rint(narrow.target.coordinates(responses)[:, 0] * (steps // 2)) * known
        others[:, 1] = known * (steps // 4)
        return coordinates, others

    @property
    def first_frame(self) -> RowFrame:
        """Coordinates as they are."""
        parts = (
            self.plan.number_length if isinstance(column, NumberColumn) else 1.0
            for column in self.features.columns
        )
        return RowFrame(matrix=None, bits=0, largest=sqrt(self.intercept + sum(parts)))

    @property
    def turned_length(self) -> float:
        """The length up to which rows count fully, once they are turned."""
        return sqrt(self.plan.turned_length * self.grid.columns)

    def turned(self, released: Floats) -> RowFrame:
        """Return the frame in which second moments are alike in all directions, as far as noise allows."""
        assert self.shape is not None  # noqa: S101
        grid = self.grid
        values, vectors = np.linalg.eigh(symmetric(released, grid.columns) / grid.steps**2)
        least = self.plan.shape_floor * _deviation(self.shape, grid) * sqrt(grid.columns)
        total = max(float(values.sum()), least)
        sizes = np.sqrt(total / np.maximum(values, least)) / self.first_frame.largest
        return RowFrame.turned((vectors * sizes) @ vectors.T, self.turned_length)

    def _products(
        self, frame: RowFrame, coordinates: SmallIntegers, others: SmallIntegers
    ) -> tuple[SmallIntegers, SmallIntegers, Integers]:
        """Return rows and responses with their weights, and the sum of their products."""
        grid = self.grid
        rows = np.empty((len(others), grid.columns), dtype=np.int16)
        answers = np.empty(len(others), dtype=np.int16)
        total = np.zeros((grid.columns + 2, grid.columns + 2), dtype=np.int64)
        for part in row_parts(*coordinates.shape):
            steps, more = frame.rows(coordinates[part], others[part], grid)
            rows[part], answers[part] = steps, more[:, 0]
            total += _square(np.concatenate([steps, more], axis=1))
        return rows, answers, total

    def noisy_moments(self, released: Floats) -> RegressionMoments:
        """Return the moments that were released, where the longest row has length 1."""
        grid = self.grid
        noise = _deviation(self.moments, grid)
        return RegressionMoments.of(
            released, width=grid.columns, steps=grid.steps, noise=noise, floor=self.plan.floor
        )

    def start(self, moments: Floats) -> tuple[Integers, float]:
        """Return weights to start from, in steps of 2^-20, and how large a residual may be, in steps."""
        found = self.noisy_moments(moments)
        weights = found.weights
        weights = weights * (_LONGEST / max(float(np.linalg.norm(weights)), _LONGEST))
        clip = min(max(self.plan.clip * sqrt(found.variance), _LEAST_CLIP), 1.0) * self.grid.steps
        return np.rint(np.ldexp(weights, WEIGHT_BITS)).astype(np.int64), float(clip)

    @staticmethod
    def gradient_steps(rows: SmallIntegers, answers: SmallIntegers, start: Integers, clip: float) -> Integers:
        """Return the sum of rows times residuals, 2^12 steps for those of size `clip` and beyond: exact."""
        total = np.zeros(rows.shape[1], dtype=np.int64)
        unit, most = 2.0 ** (_RESIDUAL_BITS - WEIGHT_BITS), clip * 2.0**_RESIDUAL_BITS
        for part, held in blocks_of(rows):
            scores = np.floor((held @ start.astype(np.float64)) * unit)
            residuals = answers[part] * 2.0**_RESIDUAL_BITS - scores
            slopes = np.rint((residuals / most).clip(-1.0, 1.0) * CLIP_STEPS)
            total += (held.T @ slopes).astype(np.int64)
        return total

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return what the noise of the gradient does to a coefficient, for rows of half their full length."""
        grid = self.grid
        unit = self.plan.clip * sqrt(2 * grid.columns) / (grid.steps * CLIP_STEPS * rows)
        return (
            Expectation(
                name="coefficient",
                margin=self.gradient.error.quantile(_CONFIDENCE) * unit,
                standard_deviation=sqrt(self.gradient.error.variance) * unit,
                assumes=f"{rows:,} rows, columns that are unrelated to each other",
                means="noise, in deviations of the residuals for each deviation of a column",
            ),
        )


def _numbers(features: Features) -> list[NumberColumn]:
    return [column for column in features.columns if isinstance(column, NumberColumn)]


def _deviation(noise: Laplace | Gaussian, grid: RowGrid) -> float:
    """Return the standard deviation of a product beside the diagonal, where the longest row has length 1."""
    return sqrt(noise.error.variance) / (OFF_DIAGONAL * grid.steps**2)


def _grid(features: Features, intercept: bool, *, turned: bool) -> RowGrid:
    """Return the grid of rows; before they are turned, one coordinate of each column is not 0, at most."""
    entries = None if turned else len(features.columns) + bool(intercept)
    return RowGrid(columns=len(features.names) + bool(intercept), largest=Fraction(1), entries=entries)


def _square(rows: Floats) -> Integers:
    """Return the sum of products: doubles hold those of 2^14 rows exactly."""
    found: Integers = (rows.T @ rows).astype(np.int64)
    return found


def _public(released: object) -> Floats:
    found: Floats = current().mark(np.asarray(released, dtype=np.float64))
    return found
