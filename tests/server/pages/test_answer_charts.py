"""Charts: every mark lies where its number is, and what is not a number is left out."""

from __future__ import annotations

import pytest

from discreet.server.pages.answer_charts import answer_columns_of, charts_of, ticks_between


def content(*rows, outputs=("n",)):
    return {"rows": list(rows), "label": {"outputs": list(outputs)}}


def row(city, n, lower, upper):
    return {"city": city, "n": n, "n_lower": lower, "n_upper": upper}


def test_marks_are_in_proportion():
    (chart,) = charts_of(content(row("a", 50, 0, 100), row("b", -20, -40, 10)))
    low, high = chart.ticks[0].number, chart.ticks[-1].number
    assert (chart.ticks[0].place, chart.ticks[-1].place) == (0, 100)
    for mark in chart.marks:
        for number, place in ((mark.value, mark.place), (mark.lower, mark.start), (mark.upper, mark.end)):
            assert place == pytest.approx(100 * (number - low) / (high - low), abs=0.001)
            assert 0 <= place <= 100


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), 1e308, "x", True])
def test_what_is_not_a_number_is_not_drawn(value):
    (chart,) = charts_of(content(row("a", value, 0, 1), row("b", 1, 0, 2)))
    assert [one.group for one in chart.marks] == ["b"]
    assert charts_of(content(row("a", value, 0, 1))) == []


def test_columns_are_keys_and_outputs():
    assert answer_columns_of(content(row("a", 1, 0, 2))) == (["city"], ["n"])
    assert answer_columns_of(content()) == ([], ["n"])


def test_many_groups_are_drawn_in_part():
    (chart,) = charts_of(content(*(row(str(place), place, 0, 100) for place in range(100))))
    assert len(chart.marks) + chart.left_out == 100
    assert chart.left_out


@pytest.mark.parametrize(
    ("low", "high"), [(0, 0), (0, 1e-9), (-3, 7), (0, 4810), (-1e140, 1e140), (0, 5e-324), (12, 12.5)]
)
def test_ticks_enclose_a_range(low, high):
    ticks = ticks_between(float(low), float(high))
    assert 2 <= len(ticks) <= 12
    assert ticks == sorted({*ticks})
    assert ticks[0] <= low <= high <= ticks[-1]
