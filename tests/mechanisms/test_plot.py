"""Figures of mechanisms: the laws that are drawn, the ratio and its bound."""

from __future__ import annotations

from math import inf

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot

from discreet.errors import ParameterError
from discreet.mechanisms import (
    DistanceToInstability,
    Exponential,
    Gaussian,
    Laplace,
    ProposeTestRelease,
    RandomizedResponse,
)
from discreet.mechanisms.additive.laws import log_probabilities
from discreet.stability import distance_to_sensitive, median


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def bounds(axes):
    lines = [line for line in axes.get_lines() if line.get_gid() == "discreet reference"]
    return sorted(float(line.get_ydata()[0]) for line in lines)


@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(sensitivity=1, epsilon=0.7),
        Gaussian(sensitivity=1, sigma=0.6),
        Gaussian(sensitivity=2, sigma=5),
        Gaussian(sensitivity=1, mu=0.3),
    ],
    ids=repr,
)
def test_the_law_that_is_drawn_is_that_of_the_error(mechanism):
    steps = np.arange(-60, 61.0)
    masses = np.exp(log_probabilities(mechanism.event, steps))
    for threshold in (0, 1, 5, 20):
        beyond = masses[np.abs(steps) > threshold].sum()
        assert beyond == pytest.approx(mechanism.error.tail(threshold), rel=1e-9, abs=1e-12)


def test_a_ratio_stays_within_epsilon_and_reaches_it():
    above = Laplace(sensitivity=2, epsilon=1).plot(-7)
    law, neighbor = above.get_lines()
    assert law.get_ydata().sum() == pytest.approx(1, abs=2e-4)
    assert law.get_xdata()[np.argmax(law.get_ydata())] == -7
    assert neighbor.get_xdata()[np.argmax(neighbor.get_ydata())] == -5
    (below,) = above.figure.axes[1:]
    assert bounds(below) == [-1, 1]
    ratio = below.get_lines()[0].get_ydata()
    assert np.abs(ratio).max() == pytest.approx(1)


def test_inputs_farther_apart_are_no_neighbors_and_the_figure_says_so():
    below = Laplace(sensitivity=1, epsilon=1).plot(0, 5).figure.axes[1]
    assert "not neighbors" in below.get_title()
    assert "not neighbors" not in Laplace(sensitivity=1, epsilon=1).plot(0, 1).figure.axes[1].get_title()


def test_three_mechanisms_share_two_axes():
    _, both = pyplot.subplots(2, layout="constrained")
    for number, mechanism in enumerate(
        [
            Laplace(sensitivity=1, epsilon=1),
            Gaussian(sensitivity=1, epsilon=1, delta=1e-5),
            Laplace(sensitivity=1.0, scale=2),
        ]
    ):
        assert mechanism.plot(ax=both, label=f"number {number}") is both[0]
    series = [line for line in both[0].get_lines() if line.get_gid()]
    assert len({line.get_color() for line in series}) == 3
    entries = [text.get_text() for text in both[1].get_legend().get_texts()]
    assert [text.split(":")[0] for text in entries] == ["number 0", "number 1", "number 2"]


def test_a_guarantee_without_a_bound_draws_none():
    below = Gaussian(sensitivity=1, rho=0.1).plot().figure.axes[1]
    assert bounds(below) == []
    assert "does not bound" in below.get_title()


def test_choices_and_reports_are_drawn_for_each_outcome():
    mechanism = Exponential(sensitivity=1, epsilon=1)
    above = mechanism.plot([3, 2, 5], [2, 3, 4])
    drawn = [line.get_ydata() for line in above.get_lines()]
    assert drawn[0] == pytest.approx(mechanism.probabilities([3, 2, 5]))
    assert drawn[1] == pytest.approx(mechanism.probabilities([2, 3, 4]))
    assert bounds(above.figure.axes[1]) == [-1, 1]
    reports = RandomizedResponse(epsilon=1, categories=3).plot()
    assert reports.get_lines()[0].get_ydata().sum() == pytest.approx(1)
    with pytest.raises(ParameterError, match="both"):
        mechanism.plot([1, 2])
    with pytest.raises(ParameterError, match="another number"):
        mechanism.plot([1, 2], [1])


def test_the_test_before_a_release_is_drawn_with_the_data_only_if_they_are_given():
    mechanism = ProposeTestRelease(sensitivity=60, epsilon=2, delta=1e-6)
    public = mechanism.plot()
    assert len(public.figure.axes) == 1
    chances = public.get_lines()[0].get_ydata()
    assert (np.diff(chances) >= 0).all()
    assert chances[0] <= 1e-6
    profile = median(np.arange(0, 1000, 10), lower=0, upper=1000)
    private = mechanism.plot(profile)
    assert all(axes.get_title().startswith("Private") for axes in private.figure.axes)
    (line,) = [line for line in private.get_lines() if line.get_label().startswith("the data")]
    assert set(line.get_xdata()) == {distance_to_sensitive(profile, 60)}
    assert 60 in bounds(private.figure.axes[1])
    assert DistanceToInstability(epsilon=1, delta=1e-6).plot(label="test").get_legend() is not None
    assert inf not in chances
