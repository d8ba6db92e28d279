"""Reading examples: physical batches of a fixed size, with padding where nobody is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    Sampler,
    Subset,
    TensorDataset,
    default_collate,
)

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError

__all__ = ["ExampleRows", "PhysicalBatch", "has_repeats", "length_of"]

_COLUMNS = "tensors or numeric arrays with examples along the first axis"
_DATA = f"a dataset with a length, or a tuple of columns: {_COLUMNS}"

_BATCHES = "tensors, arrays, numbers and texts, in tuples, lists and mappings"
_SHAPES = "batches of one public shape, such as texts that are padded to a fixed length, whatever is in them"


@dataclass(frozen=True, eq=False)
class PhysicalBatch:
    """Examples for one forward pass."""

    rows: Any
    weights: Tensor
    """0 for padding."""
    places: Integers
    """Which example of the data is in each place; -1 for padding."""
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
        """Return the losses of this batch; what cannot be that is refused.

        A shape is named only where its first axis is that of the batch or a multiple of it: any other may
        tell how many examples a filter has left.
        """
        allowed = 'one loss for each example: reduction="none"'
        if not isinstance(losses, Tensor):
            raise ParameterError("losses", "are missing", allowed)
        if losses.shape == self.weights.shape:
            return losses
        if losses.dim() == 0:
            raise ParameterError("losses", "are one number, such as a mean or a sum", allowed)
        size = len(self.weights)
        wanted = f"and one for each example has shape ({size},)"
        if len(losses) == 0 or len(losses) % size:
            problem = f"are not one for each example: their first axis is not that of the batch, {size}"
            raise ParameterError("losses", problem, f"{allowed}, of all examples, padding included")
        if size in losses.shape[1:]:
            line = (
                "outputs and targets of one shape, such as model(rows)[:, 0], if each example has met the "
                "targets of all others; else losses.flatten(1).mean(1)"
            )
        elif len(losses) == size:
            line = "losses.flatten(1).mean(1)"
        else:
            line = f"losses.reshape({size}, -1).mean(1), if those of an example are next to each other"
        raise ParameterError("losses", f"have shape {tuple(losses.shape)}, {wanted}", line)


class ExampleRows:
    """Reads any examples of a data set in batches of one size.

    Parameters
    ----------
    data : Dataset, or tuple or mapping of columns
        Columns are tensors or numeric arrays with examples along the first axis. A tensor or array by itself
        is one, a TensorDataset holds several, and a Subset of such data chooses among their rows.
    size : int
        How many examples a batch has, padding included.
    collate : callable, optional
        Makes a batch of a list of examples.
    blank : example, optional
        A public example, for padding. By default zeros, of the shape that the rows of columns have; other
        data has no public shape, and needs one.

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
        self._columns = self._data if isinstance(self._data, _Columns) and collate is None else None
        self._collate = collate or default_collate
        if self._columns is None:
            self._blank = _blank(self._data) if blank is None else blank
            self._shapes = _shapes(self._collate([self._blank] * size))

    @property
    def are_columns(self) -> bool:
        """Whether rows are read without code of users, which might use any generator."""
        return self._columns is not None

    def count(self, places: Integers) -> int:
        """Return how many batches so many places take; at least one."""
        return max(1, -(-len(places) // self._size))

    def batches(self, places: Integers, weights: Floats, least: int = 1) -> Iterator[PhysicalBatch]:
        """Yield batches of the examples in these places, as many as stated or more.

        Parameters
        ----------
        places : array
            Which example is in each place, one batch after the other; -1 for padding, as are all places after
            these.
        weights : array
            Those of the examples; 0 for padding.
        least : int, optional
        """
        count = max(self.count(places), least)
        found, weight = np.full(count * self._size, -1, np.int64), np.zeros(count * self._size)
        found[: len(places)], weight[: len(places)] = places, weights
        for number, some in enumerate(found.reshape(count, self._size), start=1):
            yield PhysicalBatch(
                rows=self._read(some),
                weights=torch.from_numpy(weight[(number - 1) * self._size : number * self._size]),
                places=some,
                is_last=number == count,
                is_only=count == 1,
            )

    def blanks(self) -> Any:
        """Return a batch of padding alone."""
        return self._read(np.full(self._size, -1, np.int64))

    def _read(self, places: Integers) -> Any:
        if self._columns is not None:
            return self._columns.batch(places)
        rows = self._collate([self._blank if place < 0 else self._data[place] for place in places.tolist()])
        if _shapes(rows) != self._shapes:
            raise ParameterError("collate", "makes batches of other shapes or types than of blanks", _SHAPES)
        return rows


class _Columns:
    """Columns, read at some of their rows, in the order of these.

    Parameters
    ----------
    parts : sequence of tensors and arrays
    form : callable
        Makes a batch of the columns of its rows.
    rows : array, optional
        Which row each example is; None where all rows are examples.
    """

    def __init__(
        self,
        parts: Sequence[Any],
        form: Callable[[Iterable[Any]], Any],
        rows: Integers | None = None,
    ) -> None:
        if len({len(part) for part in parts}) > 1:
            raise ParameterError("data", "has columns of different lengths", _DATA)
        self._parts, self._form, self._rows = parts, form, rows
        self._tensors = [part if isinstance(part, Tensor) else _tensor_of(part) for part in parts]
        self._zeros = [tensor.new_zeros(()) for tensor in self._tensors]

    def __len__(self) -> int:
        return len(self._parts[0]) if self._rows is None else len(self._rows)

    def __getitem__(self, place: int) -> Any:
        row = place if self._rows is None else int(self._rows[place])
        return self._example([part[row] for part in self._parts])

    def blank(self) -> Any:
        """Return zeros in the shape of an example."""
        return self._example([_zeros(part) for part in self._parts])

    def _example(self, values: list[Any]) -> Any:
        return tuple(values) if self._form is list else self._form(values)

    def batch(self, places: Integers) -> Any:
        """Return the examples in some places, and zeros where there is none."""
        rows = places if self._rows is None else np.where(places < 0, -1, self._rows[places])
        sent = _sent(torch.from_numpy(rows), {tensor.device for tensor in self._tensors})
        pairs = zip(self._tensors, self._zeros, strict=True)
        return self._form(_chosen(tensor, zero, *sent[tensor.device]) for tensor, zero in pairs)


def _is_column(part: Any) -> bool:
    """Whether something is a tensor or an array of numbers that PyTorch reads, with a first axis."""
    if isinstance(part, Tensor):
        return part.dim() > 0
    return (
        isinstance(part, np.ndarray)
        and not isinstance(part, np.ma.MaskedArray)
        and part.ndim > 0
        and part.dtype.kind in "biufc"
        and part.dtype.isnative
        and part.dtype.itemsize <= (16 if part.dtype.kind == "c" else 8)
    )


def _tensor_of(array: Any) -> Tensor:
    """Return an array as a tensor in the same memory, which is only read; a copy if it is stored oddly."""
    held = np.asarray(array)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        try:
            return torch.from_numpy(held)
        except ValueError:  # backwards, or with gaps that are not whole entries
            return torch.from_numpy(held.copy())


def _zeros(part: Any) -> Any:
    if isinstance(part, Tensor):
        return part.new_zeros(part.shape[1:])
    return np.zeros(part.shape[1:], part.dtype)[()]


def _sent(rows: Tensor, devices: set[torch.device]) -> dict[torch.device, tuple[Tensor, Tensor]]:
    """Return which rows to read, any one for -1, and which are -1, on devices that are not waited for."""
    pinned = rows.pin_memory() if any(device.type == "cuda" for device in devices) else rows
    sent = {device: pinned.to(device, non_blocking=True) for device in devices}
    return {device: (held.clamp(min=0), held < 0) for device, held in sent.items()}


def _chosen(tensor: Tensor, zero: Tensor, rows: Tensor, is_blank: Tensor) -> Tensor:
    """Return some rows, and zeros in the place of blanks, by the same work however many these are."""
    blank = is_blank.reshape(-1, *[1] * (tensor.dim() - 1))
    return torch.where(blank, zero, tensor.index_select(0, rows))


def length_of(data: Any) -> int:
    """Return the number of examples."""
    return len(_checked(data))


def has_repeats(data: Any) -> bool:
    """Whether a Subset names an example twice, which would then be two people's."""
    _, rows = _below_subsets(data)
    return rows is not None and len(np.unique(rows)) < len(rows)


def _checked(data: Any) -> Any:
    """Return columns, or a data set that is read example by example; what may be misread is refused."""
    if isinstance(data, DataLoader | Sampler):
        raise ParameterError(
            "data",
            "is a loader, whose batches are not the samples that the accounting is about",
            "the data set itself, such as loader.dataset; optimizer.batches() draws from it",
        )
    below, rows = _below_subsets(data)
    if rows is not None and isinstance(below, tuple | Mapping):
        raise ParameterError(
            "data", "is a Subset of columns in a tuple or mapping", "Subset(TensorDataset(…), …)"
        )
    _refuse_ambiguous(below)
    found = _columns(below, rows)
    if found is None:
        found = data
    if (
        isinstance(found, IterableDataset)
        or not hasattr(found, "__getitem__")
        or not hasattr(found, "__len__")
        or getattr(found, "ndim", 1) == 0
    ):
        raise ParameterError("data", "cannot be sampled", _DATA)
    if len(found) == 0:
        raise ParameterError("data", "has no examples", "at least one")
    return found


def _below_subsets(data: Any) -> tuple[Any, Integers | None]:
    """Return the data that a Subset, or a Subset of one, chooses from, and which of its examples.

    Only of a Subset that reads as PyTorch's does, and whose indices are whole numbers.
    """
    rows: Integers | None = None
    while isinstance(data, Subset) and type(data).__getitem__ is Subset.__getitem__:
        length, held = len(data.dataset), np.asarray(data.indices)
        if held.ndim != 1 or (held.dtype.kind not in "iu" and len(held)):
            break
        own = held.astype(np.int64)
        if ((own < -length) | (own >= length)).any():
            raise ParameterError("data", "is a Subset with indices beyond its data set", "indices of it")
        own = np.where(own < 0, own + length, own)
        rows = own if rows is None else own[rows]
        data = data.dataset
    return data, rows


def _columns(data: Any, rows: Integers | None) -> _Columns | None:
    """Return the data as columns; None if it is none of the kinds that are."""
    if isinstance(data, TensorDataset):
        # A class of the caller's own may make something else of its tensors.
        is_plain = type(data).__getitem__ is TensorDataset.__getitem__
        return _Columns(data.tensors, list, rows) if is_plain else None
    if isinstance(data, Mapping):
        names = list(data)
        return _Columns(
            [data[name] for name in names], lambda values: dict(zip(names, values, strict=True)), rows
        )
    if isinstance(data, tuple):
        return _Columns(data, list, rows)
    return _Columns([data], lambda values: next(iter(values)), rows) if _is_column(data) else None


def _refuse_ambiguous(data: Any) -> None:
    """Refuse what would be read by column where examples are meant, or by example where columns are."""
    is_frame = hasattr(data, "iloc") or (hasattr(data, "columns") and hasattr(data, "shape"))
    if is_frame and not isinstance(data, Dataset):
        raise ParameterError(
            "data",
            "is a frame, which gives columns of everybody where examples are asked for",
            "its columns: {name: torch.tensor(frame[name].to_numpy()) for name in names}",
        )
    if isinstance(data, list) and any(isinstance(part, Tensor | np.ndarray) for part in data):
        raise ParameterError(
            "data",
            "is a list of tensors or arrays, which may be columns or examples",
            "a tuple of columns, (inputs, labels), or torch.stack(data) of examples",
        )
    if not isinstance(data, tuple | Mapping):
        return
    kind, parts = ("mapping", list(data.values())) if isinstance(data, Mapping) else ("tuple", list(data))
    if not parts:
        raise ParameterError("data", "has no examples", "at least one")
    if not all(map(_is_column, parts)):
        line = (
            "{name: torch.as_tensor(values) for name, values in data.items()}"
            if kind == "mapping"
            else "(torch.as_tensor(inputs), torch.as_tensor(labels)); or, with blank, a list of examples"
        )
        raise ParameterError("data", f"is a {kind} of other things than columns", f"{_COLUMNS}: {line}")


def _blank(data: Any) -> Any:
    """Return zeros in the shape of an example, where it is a public fact of the data's type."""
    if isinstance(data, _Columns):
        return data.blank()
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
