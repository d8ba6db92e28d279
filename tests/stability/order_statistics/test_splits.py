"""The most additions and removals for every size, against trying all."""

from __future__ import annotations

import pytest

from discreet.stability.order_statistics.splits import splits


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_the_most_moves_of_every_size(rows):
    for size in range(9):
        for distance in range(6):
            reached: dict[int, tuple[int, int]] = {}
            for removed in range(size + 1):
                for added in range(distance * rows + 1):
                    if -(-added // rows) - (-removed // rows) <= distance:
                        here = size + added - removed
                        reached[here] = max(reached.get(here, (0, 0)), (added, removed))
            expected = [(here, *moves) for here, moves in sorted(reached.items())]
            assert splits(size, rows, distance).listed() == expected
