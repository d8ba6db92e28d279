"""The classifier of times: it finds what is there, and nothing in nothing."""

from __future__ import annotations

import random

import pytest
from benchmarks.timing import accuracy, measured


def drawn(shift: float, count: int = 4000) -> tuple[list[float], list[float]]:
    chance = random.Random(1)
    return (
        [chance.gauss(0.5, 0.01) for _ in range(count)],
        [chance.gauss(0.5 + shift, 0.01) for _ in range(count)],
    )


def test_times_of_one_law_are_told_apart_by_chance_alone():
    """4,000 judged: five deviations of a coin are 4 %."""
    assert abs(accuracy(drawn(0.0)) - 0.5) < 0.04


def test_control_a_person_who_takes_longer_is_found():
    """Two normal laws one deviation apart: at best 69 %."""
    assert 0.65 < accuracy(drawn(0.01)) < 0.73
    assert accuracy(drawn(0.1)) > 0.99


def test_times_that_are_all_equal_say_nothing():
    assert accuracy(([0.5] * 10, [0.5] * 10)) == 0.5


@pytest.mark.slow
def test_S6_times_of_two_servers_are_measured(tmp_path):
    """That it runs; what a clock sees at full size is for the program, on a quiet machine."""
    times = measured(tmp_path, pairs=4, slot=0.05, rows=100)
    assert [len(one) for one in times] == [4, 4]
    assert min(map(min, times)) >= 0.049  # nothing leaves before its slot ends
