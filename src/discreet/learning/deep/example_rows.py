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

_BATCHES = "tensors, arrays, numbers and texts, in tuples, lists and mappings"
_SHAPES = "batches of one public shape, such as texts that are padded to a fixed length, whatever is in them"


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
    is_only: bool
    """Whether its step has no other."""

    def weights_on(self, device: torch.device) -> Tensor:
        """Return the weights on a device, which is not waited for."""
        if device.type != "cuda":
            return self.weights.to(device)
        return self.weights.pin_memory().to(device, non_blocking=True)

    def checked(self, losses: object) -> Tensor:
        """Return the losses of this batch; what cannot be that is refused."""
        allowed = 'one loss for each example: reduction="none"'
        if not isinstance(losses, Tensor):
            raise ParameterError("losses", "are missing", allowed)
        if losses.shape != self.weights.shape:
            found = "one number, such as a mean or a sum" if losses.dim() == 0 else "not one for each example"
            raise ParameterError("losses", f"are {found}", allowed)
        return losses


class ExampleRows:
    """Reads any examples of a data set in batches of one size.

    Parameters
    ----------
    data : Dataset or tuple of tensors
    size : int
        How many examples a batch has, padding included.
    collate : callable, optional
        Makes a batch of a list of examples.
    blank : example, optional
        A public example, for padding. By default zeros, of the shape that the rows of tensors or of an array
        have; other data has no public shape, and needs one.

    Guarantee
    ---------
    All batches have the tree of shapes and types of a batch of blanks, which is public: one that has another
    is refused and not given out.
    """

    def __init__(
        self, data: Any, size: int, collate: Callable[[list[Any]], Any] | None = None, blank: Any = None
    ) -> None:
        self._data = _checked(data)
        self._size = size
        tensors = isinstance(self._data, TensorDataset) and collate is None
        self._tensors = self._data.tensors if tensors else None
        self._collate = collate or default_collate
        if not tensors:
            self._blank = _blank(self._data) if blank is None else blank
            self._shapes = _shapes(self._collate([self._blank] * size))

    def count(self, places: Integers) -> int:
        """Return how many batches the examples at these places take; at least one."""
        return max(1, -(-len(places) // self._size))

    def batches(self, places: Integers, weights: Floats, least: int = 1) -> Iterator[PhysicalBatch]:
        """Yield the examples at these places, and batches of padding until there are as many as stated."""
        starts = range(0, max(self.count(places), least) * self._size, self._size)
        for start in starts:
            some = places[start : start + self._size]
            weight = np.zeros(self._size)
            weight[: len(some)] = weights[start : start + self._size]
            yield PhysicalBatch(
                rows=self._read(some),
                weights=torch.from_numpy(weight),
                places=some,
                is_last=start == starts[-1],
                is_only=len(starts) == 1,
            )

    def blanks(self) -> Any:
        """Return a batch of padding alone."""
        return self._read(np.zeros(0, np.int64))

    def _read(self, places: Integers) -> Any:
        missing = self._size - len(places)
        if self._tensors is not None:
            sent = _sent(torch.from_numpy(places), {tensor.device for tensor in self._tensors})
            return [_chosen(tensor, sent[tensor.device], missing) for tensor in self._tensors]
        rows = self._collate([*(self._data[int(place)] for place in places), *[self._blank] * missing])
        if _shapes(rows) != self._shapes:
            raise ParameterError("collate", "makes batches of other shapes or types than of blanks", _SHAPES)
        return rows


def _sent(places: Tensor, devices: set[torch.device]) -> dict[torch.device, Tensor]:
    """Return the places on each device; a device is not waited for."""
    pinned = places.pin_memory() if any(device.type == "cuda" for device in devices) else places
    return {device: pinned.to(device, non_blocking=True) for device in devices}


def _chosen(tensor: Tensor, places: Tensor, missing: int) -> Tensor:
    """Return the rows at some places, and zeros after them."""
    found = tensor.index_select(0, places)
    return torch.cat([found, tensor.new_zeros((missing, *tensor.shape[1:]))]) if missing else found


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


def _blank(data: Any) -> Any:
    """Return zeros in the shape of an example, where it is a public fact of the data's type."""
    if isinstance(data, TensorDataset):
        return tuple(tensor.new_zeros(tensor.shape[1:]) for tensor in data.tensors)
    if isinstance(data, Tensor):
        return data.new_zeros(data.shape[1:])
    if isinstance(data, np.ndarray) and data.dtype.kind in "biufc":
        return np.zeros(data.shape[1:], data.dtype)
    raise ParameterError(
        "blank",
        "is missing: this data has no public shape",
        "a made-up example of the shape that all have, such as (torch.zeros(3, 32, 32), 0)",
    )


def _shapes(batch: Any) -> Any:
    """Return the tree of a batch with shapes and types in place of values."""
    if isinstance(batch, Tensor | np.ndarray):
        return type(batch), tuple(batch.shape), str(batch.dtype), str(getattr(batch, "device", ""))
    if isinstance(batch, Mapping):
        return type(batch), {key: _shapes(value) for key, value in batch.items()}
    if isinstance(batch, tuple | list):
        return type(batch), [_shapes(value) for value in batch]
    if batch is None or isinstance(batch, bool | int | float | str | bytes | np.generic):
        return type(batch)
    raise ParameterError("collate", "makes batches of which no shape can be seen", _BATCHES)
