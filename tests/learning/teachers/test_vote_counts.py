from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.learning.teachers.vote_counts import checked_counts, count_votes


def test_votes_are_counted():
    votes = np.array([[0, 1, 2], [0, 1, 1], [2, 1, 0], [0, 0, 0]])
    assert count_votes(votes, classes=3).tolist() == [[3, 0, 1], [1, 3, 0], [2, 1, 1]]
    assert count_votes(votes[:, :0], classes=3).shape == (0, 3)


def test_counts_of_all_teachers_are_accepted():
    held = checked_counts([[3, 0, 1], [1, 3, 0]], teachers=4, classes=3)
    assert held.dtype == np.int64
    assert checked_counts(np.empty((0, 3), dtype=int), teachers=4, classes=3).shape == (0, 3)


@pytest.mark.parametrize(
    "bad",
    [
        [[3, 0, 0]],  # a vote is missing
        [[3, 1, 1]],  # one too many
        [[5, 0, -1]],
        [[4, 0]],
        [4, 0, 0],
        [[2.5, 1.5, 0]],
        [[float("nan"), 4, 0]],
        [[True, False, False]],
        np.array([[2**64 - 1, 4, 1]], dtype=np.uint64),
        [["4", "0", "0"]],
    ],
)
def test_counts_that_do_not_add_up_are_refused_and_not_shown(bad):
    with pytest.raises(ParameterError, match="counts") as refused:
        checked_counts(bad, teachers=4, classes=3)
    assert "5" not in str(refused.value)
