"""Reading examples: physical batches of a fixed size, the last one padded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, Sampler, TensorDataset, default_collate

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError

__all__ = ["ExampleRows", "PhysicalBatch", "length_of"]

_DATA = "a dataset with a length, or a tuple of tensors with examples along the first axis"


@dataclass(frozen=True, eq=False)
class PhysicalBatch:
    """Examples for one forward pass."""

    rows: Any
    weights: Tensor
    """0 for padding."""
    places: Integers
    """Which examples of the data these are, without padding."""
    is_last: bool
    """Whether it is the last of its step."""


class ExampleRows:
    """Reads any examples of a data set in batches of one size.

    Parameters
    ----------
    data : Dataset or tuple of tensors
    size : int
        How many examples a batch has, padding included.
    collate : callable, optional
        Makes a batch of a list of examples.
    """

    def __init__(self, data: Any, size: int, collate: Callable[[list[Any]], Any] | None = None) -> None:
        self._data = _checked(data)
        self._size = size
        tensors = isinstance(self._data, TensorDataset) and collate is None
        self._tensors = self._data.tensors if tensors else None
        self._collate = collate or default_collate
        self._blank = None if tensors else _blank(self._data[0])

    def batches(self, places: Integers, weights: Floats) -> Iterator[PhysicalBatch]:
        """Yield the examples at these places; one batch of padding where there are none."""
        starts = range(0, max(len(places), 1), self._size)
        for start in starts:
            some = places[start : start + self._size]
            weight = np.zeros(self._size)
            weight[: len(some)] = weights[start : start + self._size]
            yield PhysicalBatch(
                rows=self._read(some),
                weights=torch.from_numpy(weight),
                places=some,
                is_last=start == starts[-1],
            )

    def _read(self, places: Integers) -> Any:
        missing = self._size - len(places)
        if self._tensors is not None:
            chosen = torch.from_numpy(places)
            return [
                torch.cat([tensor[chosen], tensor.new_zeros((missing, *tensor.shape[1:]))])
                for tensor in self._tensors
            ]
        return self._collate([*(self._data[int(place)] for place in places), *[self._blank] * missing])


def length_of(data: Any) -> int:
    """Return the number of examples."""
    return len(_checked(data))


def _checked(data: Any) -> Any:
    if isinstance(data, DataLoader | Sampler):
        raise ParameterError(
            "data",
            "is a loader, whose batches are not the samples that the accounting is about",
            "the data set itself, such as loader.dataset; optimizer.batches() draws from it",
        )
    if (
        isinstance(data, tuple | list)
        and data
        and all(isinstance(part, Tensor) and part.dim() for part in data)
    ):
        if len({len(part) for part in data}) > 1:
            raise ParameterError("data", "has tensors of different lengths", _DATA)
        data = TensorDataset(*data)
    if isinstance(data, IterableDataset) or not hasattr(data, "__getitem__") or not hasattr(data, "__len__"):
        raise ParameterError("data", "cannot be sampled", _DATA)
    if len(data) == 0:
        raise ParameterError("data", "has no examples", "at least one")
    return data


def _blank(example: Any) -> Any:
    """Return an example of the same shape that holds zeros."""
    if isinstance(example, Tensor):
        return torch.zeros_like(example)
    if isinstance(example, np.ndarray):
        return np.zeros_like(example)
    if isinstance(example, Mapping):
        return {key: _blank(value) for key, value in example.items()}
    if isinstance(example, tuple | list):
        return type(example)(_blank(value) for value in example)
    return type(example)()
