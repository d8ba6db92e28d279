"""What is public about the target of a model: its classes, or the bounds of a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Integers
from discreet.curator.ledger import JsonValue
from discreet.errors import ParameterError
from discreet.learning.design.features import LARGEST_KEY, NumberColumn

__all__ = ["Classes", "Target"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """A target that is one of several declared classes, in order; what is none of them has no number."""

    name: str
    labels: tuple[Any, ...]

    @classmethod
    def of(cls, name: str, declared: Sequence[Any] | NDArray[Any]) -> Classes:
        """Return classes that were declared, each once, sorted."""
        try:
            found = np.unique(np.asarray(declared)).tolist()
        except TypeError:
            found = None
        if found is None or any(one is None for one in found):
            raise ParameterError("classes", "are not of one type", "a list of texts, or of numbers")
        if any(isinstance(one, int) and abs(one) > LARGEST_KEY for one in found):
            raise ParameterError("classes", "hold integers that floats do not hold", "integers up to 2^53")
        if len(found) < 2:
            raise ParameterError("classes", "are one class, or none", "two classes or more")
        return cls(name=name, labels=tuple(found))

    @property
    def array(self) -> NDArray[Any]:
        """The labels, as an array."""
        return np.asarray(self.labels)

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """What it is, as plain JSON values."""
        return {"name": self.name, "classes": [[type(one).__name__, str(one)] for one in self.labels]}

    def numbers(self, values: NDArray[Any]) -> Integers:
        """Return the number of each value's class, or -1: of each value by itself."""
        labels = self.array
        if _comparable(labels.dtype, values.dtype):
            places = np.minimum(np.searchsorted(labels, values), len(labels) - 1)
            return np.where(labels[places] == values, places, -1)
        known = {one: place for place, one in enumerate(self.labels)}
        return np.fromiter((_number_of(one, known) for one in values.tolist()), np.int64, len(values))


Target: TypeAlias = Classes | NumberColumn
"""What is to be predicted: a class, or a number within bounds."""


def _comparable(labels: np.dtype[Any], values: np.dtype[Any]) -> bool:
    """Say whether arrays of these types say that entries are equal where Python does.

    Integers among labels are at most 2^53, which doubles hold.
    """
    if labels.kind in "bi":
        return values.kind in "bi" or values == np.float64
    return labels == values == np.float64 or labels.kind == values.kind == "U"


def _number_of(label: object, known: Mapping[Any, int]) -> int:
    try:
        return known.get(label, -1)
    except Exception:  # not hashable, or not comparable, so not a class
        return -1
