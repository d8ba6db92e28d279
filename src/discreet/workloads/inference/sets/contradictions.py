"""Constraints that no vector meets are refused, and the ones that contradict each other are named."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.errors import ParameterError
from discreet.workloads.inference.sets.base import ConvexSet

__all__ = ["MOST_CHECKED", "check_compatible"]

MOST_CHECKED = 1 << 14
"""The most entries for which a linear program looks for a common point ahead."""

_INFEASIBLE = 2


def check_compatible(sets: Sequence[ConvexSet], size: int) -> None:
    """Refuse sets without a common point, and name a smallest group of them that contradict each other.

    A linear program decides whether there is a point. If not, sets are left out one by one: one whose
    absence leaves a contradiction is not needed for it. What remains contradicts, and would not
    with any one less. Only public constants are read, never answers.
    """
    for member in sets:
        member.check(size)
    if len(sets) < 2 or size > MOST_CHECKED or size == 0 or _meet(sets, size):
        return
    blamed = list(sets)
    for member in sets:
        fewer = [other for other in blamed if other is not member]
        if fewer and not _meet(fewer, size):
            blamed = fewer
    raise ParameterError(
        "constraints",
        f"contradict each other: {'; '.join(member.words for member in blamed)}",
        "constraints that some vector meets",
    )


def _meet(sets: Sequence[ConvexSet], size: int) -> bool:
    from scipy.optimize import linprog
    from scipy.sparse import vstack

    rows = [member.rows(size) for member in sets]
    equal = [(row.equal, row.values) for row in rows if row.equal is not None]
    least = [(-row.least, -row.bounds) for row in rows if row.least is not None and row.bounds is not None]
    outcome = linprog(
        np.zeros(size),
        A_eq=vstack([matrix for matrix, _ in equal]) if equal else None,
        b_eq=np.concatenate([values for _, values in equal]) if equal else None,
        A_ub=vstack([matrix for matrix, _ in least]) if least else None,
        b_ub=np.concatenate([bounds for _, bounds in least]) if least else None,
        bounds=(None, None),
        method="highs",
    )
    return bool(outcome.status != _INFEASIBLE)
