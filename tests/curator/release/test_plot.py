"""Figures show every group with its interval, and need matplotlib."""

from __future__ import annotations

import sys
from unittest import mock

import matplotlib as mpl
import numpy as np
import pytest

from curator.doors import BY_CITY, CITIES, COLUMNS, COUNT, clinic, visits
from discreet.data import Keys
from discreet.errors import MissingExtra, ParameterError

mpl.use("Agg")


@pytest.fixture
def release(place):
    return clinic(place).ask(BY_CITY, epsilon=5)


@pytest.fixture(autouse=True)
def closed():
    yield
    mpl.pyplot.close("all")


def drawn(ax):
    """The points, and the ends of the bars."""
    (points, _, (bars,)) = ax.containers[0]
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    return points.get_ydata(), ends[:, 0], ends[:, 1]


@pytest.mark.parametrize(("output", "place_of"), [(None, 0), ("n", 0), ("mean_cost", 1)])
def test_points_and_bars_are_values_and_intervals(release, output, place_of):
    ax = release.plot(output)
    column = release.outputs[place_of]
    for found, expected in zip(drawn(ax), (column.values, column.lower, column.upper), strict=True):
        assert found == pytest.approx(np.asarray(expected, float))
    assert [label.get_text() for label in ax.get_xticklabels()] == list(CITIES)
    assert ax.get_xlabel() == "city"
    assert ax.get_ylabel() == f"{column.name} (95% intervals)"


def test_an_axis_may_be_given(release):
    ax = mpl.pyplot.figure().subplots()
    assert release.plot("n", ax=ax) is ax
    both = mpl.pyplot.figure().subplots(2)
    assert release.plot(ax=both) is both[0]
    assert [one.get_title() for one in both] == ["n by city", "mean_cost by city"]


def test_no_output_is_left_out_silently(release):
    ax = mpl.pyplot.figure().subplots()
    with pytest.raises(ParameterError, match=r'2 outputs.* output="n" or output="mean_cost"; or as many'):
        release.plot(ax=ax)
    assert not ax.has_data()


def test_negative_counts_have_bars_above_only(place):
    """A count below zero lies outside its own interval; the bar begins at the point."""
    curator = clinic(place, tables={"visits": visits([])})
    for number in range(40):
        release = curator.ask(f"{COUNT} AND age < {number}", epsilon="1/10")
        ax = release.plot()
        _, low, high = drawn(ax)
        assert low[0] <= high[0]
        mpl.pyplot.close("all")


def test_a_figure_can_be_written(release, place):
    release.plot().figure.savefig(place / "figure.png")
    assert (place / "figure.png").stat().st_size > 1000


def test_a_single_answer_and_many_groups(place):
    keys = {**COLUMNS, "household": Keys(range(20))}
    curator = clinic(place, tables={"visits": visits(columns=keys)})
    assert [label.get_text() for label in curator.ask(COUNT, epsilon=1).plot().get_xticklabels()] == ["all"]
    ax = curator.ask("SELECT household, COUNT(*) AS n FROM visits GROUP BY household", epsilon=1).plot()
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {45}


def test_another_output_is_refused(release):
    with pytest.raises(ParameterError, match="n, mean_cost"):
        release.plot("cost")


def test_matplotlib_is_an_extra(release):
    with mock.patch.dict(sys.modules, {"matplotlib.pyplot": None}), pytest.raises(MissingExtra, match="plot"):
        release.plot()
