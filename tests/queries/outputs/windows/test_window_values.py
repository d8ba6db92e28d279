"""Numbers over frames: whatever the exact numbers are within their ends, the result is within its own."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from discreet.queries.outputs.possible_numbers import PossibleNumbers
from discreet.queries.outputs.windows.window_frames import Frames
from discreet.queries.outputs.windows.window_values import (
    counted_in_frames,
    extreme,
    mean_of,
    picked,
    place_in_frame,
    sums_over,
)
from discreet.queries.question.answer_windows import AnswerFunction


def made_up(draw, size, *, whole):
    """Ends around numbers, of which some may be missing, and some surely are."""
    unit = 1 if whole else 0.1
    middle = np.array([draw.randint(-50, 50) * unit for _ in range(size)])
    reach = np.array([draw.randint(0, 9) * unit for _ in range(size)])
    null = np.array([draw.random() < 0.3 for _ in range(size)])
    none = np.array([draw.random() < 0.1 for _ in range(size)])
    return PossibleNumbers(
        low=np.where(none, np.inf, middle - reach),
        value=np.where(none, np.nan, middle),
        high=np.where(none, -np.inf, middle + reach),
        null=null | none,
        whole=whole,
    )


def possible(draw, one, *, whole):
    """Exact numbers within the ends."""
    found = []
    for low, high, null in zip(one.low, one.high, one.null, strict=True):
        if low > high or (null and draw.random() < 0.5):
            found.append(None)
        elif whole:
            found.append(Fraction(draw.randint(int(low), int(high))))
        else:
            found.append(Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(draw.randint(0, 4), 4))
    return found


def frames(draw, size):
    start = np.array([draw.randint(0, size) for _ in range(size)])
    return start, np.maximum(start, np.array([draw.randint(0, size) for _ in range(size)]))


def check(found, place, exact):
    if exact is None:
        assert found.null[place]
    else:
        assert found.low[place] <= exact <= found.high[place]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_every_function_of_a_frame_holds_its_exact_result(seed, whole):
    draw = random.Random(seed)
    size = draw.randint(1, 9)
    one, (start, end) = made_up(draw, size, whole=whole), frames(draw, size)
    total = sums_over(one, start, end)
    results = {
        "sum": total,
        "mean": mean_of(one, total, start, end),
        "count": counted_in_frames(one, start, end),
        "max": extreme(one, start, end, largest=True),
        "min": extreme(one, start, end, largest=False),
    }
    for _ in range(20):
        exact = possible(draw, one, whole=whole)
        for place in range(size):
            inside = [number for number in exact[start[place] : end[place]] if number is not None]
            check(results["count"], place, len(inside))
            check(results["sum"], place, sum(inside) if inside else None)
            check(results["mean"], place, sum(inside) / len(inside) if inside else None)
            check(results["max"], place, max(inside) if inside else None)
            check(results["min"], place, min(inside) if inside else None)


def test_released_numbers_skip_what_is_missing():
    one = PossibleNumbers(
        low=np.array([1.0, np.inf, 3.0]),
        value=np.array([1.0, np.nan, 3.0]),
        high=np.array([1.0, -np.inf, 3.0]),
        null=np.array([False, True, False]),
    )
    start, end = np.array([0, 1, 0]), np.array([3, 2, 3])
    assert sums_over(one, start, end).value.tolist()[0] == 4
    assert np.isnan(sums_over(one, start, end).value[1])
    assert mean_of(one, sums_over(one, start, end), start, end).value[0] == 2
    assert counted_in_frames(one, start, end).value.tolist() == [2, 0, 2]


def test_an_endless_number_makes_its_frames_endless_and_no_others():
    one = PossibleNumbers(
        low=np.array([-np.inf, 2.0]),
        value=np.array([0.0, 2.0]),
        high=np.array([np.inf, 2.0]),
        null=np.array([False, False]),
    )
    found = sums_over(one, np.array([0, 1]), np.array([2, 2]))
    assert found.low.tolist()[0] == -np.inf
    assert found.high.tolist()[0] == np.inf
    assert found.low[1] == pytest.approx(2)


def test_places_of_single_values():
    """Two partitions, of four places and of one."""
    frames = Frames(
        rows=np.arange(5),
        start=np.array([0, 0, 0, 2, 4]),
        end=np.array([1, 2, 3, 2, 5]),
        first=np.array([0, 0, 0, 0, 4]),
        beyond=np.array([4, 4, 4, 4, 5]),
    )
    places = {
        AnswerFunction.LAG: [-1, 0, 1, 2, -1],
        AnswerFunction.LEAD: [1, 2, 3, -1, -1],
        AnswerFunction.FIRST_VALUE: [0, 0, 0, -1, 4],
        AnswerFunction.LAST_VALUE: [0, 1, 2, -1, 4],
    }
    for function, expected in places.items():
        assert place_in_frame(function, 1, frames).tolist() == expected
    assert place_in_frame(AnswerFunction.NTH_VALUE, 2, frames).tolist() == [-1, 1, 1, -1, -1]
    one = PossibleNumbers(
        low=np.arange(4.0), value=np.arange(4.0), high=np.arange(4.0), null=np.zeros(4, bool)
    )
    assert picked(one, np.array([2, -1])).null.tolist() == [False, True]
