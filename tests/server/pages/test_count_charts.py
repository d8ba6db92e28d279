"""Charts of many counts: one for each table, cells named by their ranges, and curves from the lowest."""

from __future__ import annotations

from discreet.server.pages.count_charts import count_charts_of, curve_chart_of, curve_conditions
from discreet.server.pages.count_forms import CountAxis

AGE = CountAxis(column="age", is_number=True, cells=(0, 10, 20))
CITY = CountAxis(column="city", is_number=False, cells=("a", "b"))


def content(rows):
    return {
        "rows": [{**row, "n": 5, "n_lower": 1, "n_upper": 9} for row in rows],
        "label": {"outputs": ["n"]},
    }


def test_ranges_are_one_chart():
    (chart,) = count_charts_of(content([{"age": one} for one in AGE.cells]), [AGE])
    assert (chart.title, [one.group for one in chart.marks]) == (
        "age",
        ["0 up to 10", "10 up to 20", "20 and up"],
    )


def test_each_marginal_is_a_chart():
    rows = [{"table": "age", "age": 0, "city": None}, {"table": "city", "age": None, "city": "b"}]
    charts = count_charts_of(content(rows), [AGE, CITY])
    assert [(one.title, one.marks[0].group) for one in charts] == [("age", "0 up to 10"), ("city", "b")]


def test_many_cells_are_drawn_in_part_and_named_no_further():
    many = CountAxis(column="cost", is_number=True, cells=tuple(range(20_000)))
    (chart,) = count_charts_of(content([{"cost": one} for one in many.cells]), [many])
    assert (len(chart.marks), chart.left_out) == (60, 19_940)
    assert chart.marks[59].group == "59 up to 60"


def test_a_curve_is_counted_from_the_lowest():
    assert curve_conditions([AGE]) == [{"age": [None, 10]}, {"age": [None, 20]}, {}]
    counts = [{"about": "age < 10", "value": 3.0, "interval": [1.0, 4.0]}]
    (chart,) = curve_chart_of([AGE], counts)
    assert [(one.group, one.value, one.lower, one.upper) for one in chart.marks] == [("age < 10", 3, 1, 4)]


def test_a_long_curve_is_drawn_in_part():
    long = CountAxis(column="age", is_number=True, cells=tuple(range(1000)))
    assert 30 <= len(curve_conditions([long])) <= 61
