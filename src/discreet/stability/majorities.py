"""Majorities: which of several yes-or-no questions most persons answer with yes, and how many may flip."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors
from discreet.stability.entries import reals
from discreet.stability.profile import Profile, check_step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["majorities"]


def majorities(
    answers: ArrayLike, *, relation: Neighbors = ADD_REMOVE_PERSON
) -> tuple[tuple[int, ...], Profile]:
    """Return which questions have more yes than no, and the profile of how many of these a person flips.

    Parameters
    ----------
    answers : array
        One row for each person and one column for each question: yes where positive. Private, except for the
        number of columns.
    relation : Neighbors
        What one step changes: one person, or row, is added or removed, or replaced.

    Returns
    -------
    tuple of int
        The questions with a majority of yes, in order: a set, and no number. Private.
    Profile
        Its local sensitivities count questions: A_k is how many have a lead that k steps and one more can
        take away. Exact where persons come and go, an upper bound where they are replaced (proof:
        docs/proofs/majorities.md). Its value says nothing.

    Examples
    --------
    >>> from discreet.stability import distance_to_sensitive, majorities
    >>> chosen, profile = majorities([[1, 0, 1]] * 90 + [[1, 1, 0]] * 10)
    >>> chosen, distance_to_sensitive(profile, 0)
    ((0, 2), 79)
    """
    check_step(relation, 1)
    held = reals(answers, "answers")
    if held.ndim != 2 or not held.shape[1]:
        raise ParameterError("answers", "are not a table", "one row a person, one column a question")
    leads = 2 * (held > 0).sum(axis=0) - len(held)
    ahead = leads > 0
    if relation.change is Change.REPLACE and not len(held):
        return (), Profile.of(value=0, local=[0], relation=relation)
    # A majority is a lead of 1 or more. A person who comes or goes moves a lead by 1, a replacement by 2.
    step = 2 if relation.change is Change.REPLACE else 1
    margins = np.sort(np.where(ahead, leads - 1, -leads) // step)
    return tuple(np.flatnonzero(ahead).tolist()), Profile(
        value=Fraction(0),
        reach=int(margins[-1]),
        sensitivity=lambda distance: Fraction(int(np.searchsorted(margins, distance, side="right"))),
        relation=relation,
        rows=1,
        exact_to=-1 if relation.change is Change.REPLACE else None,
    )
