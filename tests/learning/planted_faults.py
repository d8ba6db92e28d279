"""Faults that are planted in learners, to see that the audit finds them: each is there within a context."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

from discreet.learning.design import features
from discreet.learning.design.features import NumberColumn
from discreet.learning.regression.noisy_moments import RegressionMoments
from discreet.learning.regression.row_frame import COORDINATE_STEPS, RowFrame
from discreet.learning.regression.whitened_regression import WhitenedRegression
from discreet.learning.training.budgets import ConcentratedBudget, GaussianBudget, PureBudget
from discreet.learning.training.noisy_newton import NoisyNewton
from discreet.privacy.sensitivity import Sensitivity

__all__ = ["forgotten_clipping", "half_the_noise", "reading_regularization"]


@contextmanager
def half_the_noise() -> Iterator[None]:
    """A factor 2: every noise of a budget is made for half of what a person does, and costs the same."""

    def halved(noise: Any) -> Any:
        def made(self: Any, sensitivity: Sensitivity, size: int) -> Any:
            half = Sensitivity(
                l0=sensitivity.l0,
                l1=sensitivity.l1 / 2,
                squared_l2=sensitivity.squared_l2 / 4,
                linf=sensitivity.linf / 2,
                neighbors=sensitivity.neighbors,
            )
            return noise(self, half, size)

        return made

    with ExitStack() as stack:
        for kind in (PureBudget, ConcentratedBudget, GaussianBudget):
            stack.enter_context(mock.patch.object(kind, "noise", halved(kind.noise)))
        yield


@contextmanager
def forgotten_clipping() -> Iterator[None]:
    """Values beyond their bounds, and rows beyond the longest, are taken as they are."""

    def coordinates(self: NumberColumn, values: Any) -> Any:
        return ((self.numbers(values) - self.middle) / self.half_width)[:, None]

    def rows(self: RowFrame, held: Any, others: Any, grid: Any) -> Any:
        moved = held.astype(np.float64) @ self.floats(held.shape[1])
        return np.rint(moved * (grid.row_steps / (self.largest * COORDINATE_STEPS))), others.astype(float)

    with (
        mock.patch.object(NumberColumn, "coordinates", coordinates),
        mock.patch.object(features, "scaled_rows", lambda held, most: held),
        mock.patch.object(RowFrame, "rows", rows),
    ):
        yield


@contextmanager
def reading_regularization() -> Iterator[None]:
    """What is added to a matrix before it is inverted grows with the number of rows, which is private."""
    seen = [0]
    inverse, moments = NoisyNewton._inverse, RegressionMoments.of
    released, products = NoisyNewton.release_steps, WhitenedRegression._products

    def release_steps(self: NoisyNewton, rows: Any, labels: Any) -> Any:
        seen[0] = len(rows)
        return released(self, rows, labels)

    def inverted(self: NoisyNewton, matrix: Any) -> Any:
        return inverse(self, matrix + np.eye(len(matrix)) * seen[0])

    def multiplied(self: WhitenedRegression, frame: Any, held: Any, others: Any) -> Any:
        seen[0] = len(others)
        return products(self, frame, held, others)

    def raised(*held: Any, floor: float, **named: Any) -> Any:
        return moments(*held, floor=floor * seen[0], **named)

    with (
        mock.patch.object(NoisyNewton, "release_steps", release_steps),
        mock.patch.object(NoisyNewton, "_inverse", inverted),
        mock.patch.object(WhitenedRegression, "_products", multiplied),
        mock.patch.object(RegressionMoments, "of", raised),
    ):
        yield
