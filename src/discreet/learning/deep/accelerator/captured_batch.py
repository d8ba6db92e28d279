"""One batch as a single replayed program of the accelerator: no time is spent on launching its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

__all__ = ["CapturedBatch", "can_be_captured"]


_Result = TypeVar("_Result")


class CapturedBatch(Generic[_Result]):
    """Records what the accelerator does for one batch, and repeats it for others of the same shape.

    Parameters
    ----------
    work : callable
        Takes the rows and the weights of a batch. It must do the same for every batch.
    rows : list of tensors
    weights : tensor
    """

    def __init__(
        self, work: Callable[[list[Tensor], Tensor], _Result], rows: list[Tensor], weights: Tensor
    ) -> None:
        self._rows = [row.clone() for row in rows]
        self._weights = weights.to(rows[0].device, copy=True)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._result = work(self._rows, self._weights)

    def repeat(self, rows: list[Tensor], weights: Tensor) -> _Result:
        """Do the same with other rows and weights, and return the result, in the same place in memory."""
        for held, row in zip(self._rows, rows, strict=True):
            held.copy_(row)
        self._weights.copy_(weights.pin_memory(), non_blocking=True)
        self._graph.replay()
        return self._result


def can_be_captured(rows: Any) -> bool:
    """Whether a batch is a list of tensors on an accelerator."""
    return (
        isinstance(rows, list)
        and len(rows) > 0
        and all(isinstance(row, Tensor) and row.is_cuda for row in rows)
    )
