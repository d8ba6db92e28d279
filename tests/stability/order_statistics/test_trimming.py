"""Which ranks remain, against all moves in integers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.stability.order_statistics.trimming import Trimming, trimming

PARTS = [Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(2, 7), Fraction(1, 3), Fraction(9, 20)]


@pytest.mark.parametrize("part", PARTS, ids=str)
@pytest.mark.parametrize("more", [0, 1, 3])
def test_every_reachable_window_is_inside_a_listed_one(part, more):
    rule = Trimming(part=part)
    for size in range(1, 25, 3):
        for moves in range(0, 9):
            starts, ends = (ranks.tolist() for ranks in rule.windows(size, moves, more))
            assert starts == sorted(starts)
            for low in range(moves + 1):
                for high in range(moves - low + 1):
                    for gone in range(min(moves - low - high, size) + 1):
                        here = size + low + high - gone
                        start = rule.cut(here) + 1 - low
                        end = size + high + more - rule.cut(here + more)
                        assert any(s <= start and e >= end for s, e in zip(starts, ends, strict=True))


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_without_moves_the_window_is_exact(part):
    rule = Trimming(part=part)
    for size in range(40):
        starts, ends = rule.windows(size, 0, 2)
        assert (starts.tolist(), ends.tolist()) == ([rule.cut(size) + 1], [size + 2 - rule.cut(size + 2)])


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_windows_are_at_most_two_ranks_too_wide(part):
    rule = Trimming(part=part)
    size, moves = 60, 6
    reachable = [
        (rule.cut(size + a + c - b) + 1 - a, size + c + 1 - rule.cut(size + a + c - b + 1))
        for a in range(moves + 1)
        for c in range(moves - a + 1)
        for b in [moves - a - c]
    ]
    for start, end in zip(*(ranks.tolist() for ranks in rule.windows(size, moves, 1)), strict=True):
        assert any(s <= start + 2 and e >= end - 2 for s, e in reachable)


def test_at_least_so_many_remain():
    for part in PARTS:
        rule = Trimming(part=part)
        for size in range(60):
            assert all(rule.least_kept(size) <= n - 2 * rule.cut(n) for n in range(size, 90))


@pytest.mark.parametrize("trim", [0.5, 0.9, -0.1, "1/1001"])
def test_trimming_everything_is_refused(trim):
    with pytest.raises(ParameterError, match="trim"):
        trimming(trim)
