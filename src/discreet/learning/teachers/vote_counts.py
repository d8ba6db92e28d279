"""Counts of votes: a row for each query, a column for each class, and every teacher in each row once."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.array_types import Integers
from discreet.errors import ParameterError

__all__ = ["checked_counts", "count_votes"]


def checked_counts(counts: Any, *, teachers: int, classes: int) -> Integers:
    """Return counts as integers, or refuse what is not one vote of every teacher in every row.

    That votes add up is what the sensitivity rests on: a person changes one teacher, who has one vote. So
    counts from elsewhere are refused, whole, unless they do. The message says nothing about them.
    """
    held = np.asarray(counts)
    if held.dtype.kind not in "iu":
        raise ParameterError("counts", "are not integers", "whole numbers of votes")
    if held.ndim != 2 or held.shape[1] != classes:
        raise ParameterError("counts", "do not have a column for each class", f"{classes} columns")
    votes = held.astype(np.int64)
    if (votes != held).any() or ((votes < 0) | (votes > teachers)).any():
        raise ParameterError("counts", "are not numbers of votes", f"from 0 to {teachers}")
    if (votes.sum(axis=1) != teachers).any():
        raise ParameterError("counts", "do not add up to the teachers", f"{teachers} votes in every row")
    return votes


def count_votes(votes: Integers, *, classes: int) -> Integers:
    """Return how many teachers vote for each class: votes have a row for each teacher, a column a query."""
    queries = votes.shape[1]
    places = votes + classes * np.arange(queries)
    return np.bincount(places.ravel(), minlength=queries * classes).reshape(queries, classes)
