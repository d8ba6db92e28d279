"""Batches of a run as recorded programs of an accelerator, and steps of one batch with their release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from discreet.learning.deep.accelerator.captured_batch import CapturedBatch
from discreet.learning.deep.step_parts import DeviceSum

__all__ = ["RecordedSteps"]


class RecordedSteps:
    """Records the first batch that it is given, and repeats what was done for all others.

    Parameters
    ----------
    uses : callable
        Takes the rows of a batch and the sum's `keep`, and returns what is kept of the uses of every
        parameter. It must do the same for every batch.
    bound : float
        That of clipping, which does not move.
    before : callable, optional
        Is called before a batch is recorded, which runs code of users.
    """

    def __init__(
        self,
        uses: Callable[[Any, Callable[..., Any]], list[list[Any]]],
        bound: float,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._uses, self._bound, self._before = uses, bound, before
        self._recorded: dict[bool, CapturedBatch[Any]] = {}
        self._places: list[int] = []

    def clear(self) -> None:
        """Forget what was recorded."""
        self._recorded.clear()

    def add(self, total: DeviceSum, rows: list[Tensor], weights: Tensor, places: list[int]) -> Tensor:
        """Add a batch to a sum, and return which examples count.

        Parameters
        ----------
        total : DeviceSum
        rows, weights
            Of a batch.
        places : list of int
            Where in memory the parameters and buffers are: a recording is for these.
        """
        total.settle()  # what is repeated is in the place of what was repeated before
        recorded = self._recording(total, rows, weights, places, is_whole=False)
        return total.take(recorded.repeat(rows, weights)).clone()

    def release(
        self, total: DeviceSum, rows: list[Tensor], weights: Tensor, places: list[int]
    ) -> tuple[Tensor, list[Tensor], bool]:
        """Take a step of one batch; parameters as for `add`.

        Returns
        -------
        tuple
            Which examples count, the noisy mean gradients, and whether their noise was private.
        """
        recorded = self._recording(total, rows, weights, places, is_whole=True)
        is_private = total.draw_key()
        counted, means = recorded.repeat(rows, weights)
        return counted.clone(), means, is_private

    def _recording(
        self, total: DeviceSum, rows: list[Tensor], weights: Tensor, places: list[int], *, is_whole: bool
    ) -> CapturedBatch[Any]:
        if places != self._places:
            self._places = places
            self.clear()
        if is_whole not in self._recorded:
            self._before()
            self._recorded[is_whole] = CapturedBatch(self._work(total, is_whole=is_whole), rows, weights)
        return self._recorded[is_whole]

    def _work(self, total: DeviceSum, *, is_whole: bool) -> Callable[[list[Tensor], Tensor], Any]:
        def measure(rows: list[Tensor], weights: Tensor) -> Any:
            return total.measure(self._uses(rows, total.keep), weights, self._bound)

        def release(rows: list[Tensor], weights: Tensor) -> Any:
            measured = measure(rows, weights)
            return measured.counted, total.release_alone(measured, self._bound)

        return release if is_whole else measure
