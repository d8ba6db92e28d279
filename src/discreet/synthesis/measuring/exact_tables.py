"""Exact tables of counts. They are private: they go to a mechanism and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Protocol

import numpy as np

from discreet.array_types import Integers
from discreet.synthesis.models.folding import JoinedCells, folded_counts

__all__ = ["CountedRows", "CountedTables", "ExactTables", "FoldedTables"]


class ExactTables(Protocol):
    """What a synthesizer reads of the data."""

    def table(self, columns: Sequence[int]) -> Integers:
        """Return how many rows have each combination of values of some columns, increasing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountedRows:
    """Tables counted from rows of codes, when they are asked for."""

    shape: tuple[int, ...]
    codes: Integers = field(repr=False)
    """One row for each row; one column for each column."""

    def table(self, columns: Sequence[int]) -> Integers:
        """Return the table of some columns."""
        sizes = [self.shape[column] for column in columns]
        cell = np.zeros(len(self.codes), np.int64)
        for column, size in zip(columns, sizes, strict=True):
            cell = cell * size + self.codes[:, column]
        return np.bincount(cell, minlength=prod(sizes)).astype(np.int64, copy=False).reshape(sizes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountedTables:
    """Tables that an engine counted, and their sums over columns."""

    tables: Mapping[tuple[int, ...], Integers] = field(repr=False)

    def table(self, columns: Sequence[int]) -> Integers:
        """Return the table of some columns."""
        chosen = tuple(columns)
        if chosen in self.tables:
            return self.tables[chosen]
        held = next(one for one in sorted(self.tables) if set(chosen) <= set(one))
        axes = tuple(axis for axis, column in enumerate(held) if column not in chosen)
        return np.asarray(self.tables[held].sum(axis=axes))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoldedTables:
    """Exact tables with joined cells: a row is still in one cell. Private."""

    tables: ExactTables = field(repr=False)
    folds: tuple[JoinedCells, ...]

    def table(self, columns: Sequence[int]) -> Integers:
        """Return the table of some columns, joined."""
        return folded_counts(self.tables.table(columns), columns, self.folds)
