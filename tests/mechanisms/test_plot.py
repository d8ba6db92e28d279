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
    AboveThreshold,
    DistanceToInstability,
    Exponential,
    Gaussian,
    GaussianThreshold,
    Laplace,
    LaplaceThreshold,
    PermuteAndFlip,
    ProposeTestRelease,
    RandomizedResponse,
    ReportNoisyMax,
    SmoothSensitivity,
    TopK,
    TruncatedGeometric,
    UnaryEncoding,
)
from discreet.mechanisms.additive.laws import log_probabilities
from discreet.mechanisms.admissible import LaplaceNoise, Student
from discreet.stability import distance_to_sensitive, median


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def entries(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


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


def test_a_bound_is_never_exceeded_by_neighbors_alone():
    near, far = (Laplace(sensitivity=1, epsilon=1).plot(100, other).figure.axes for other in (101, 102))
    assert entries(near[1]) == ["epsilon 1, never exceeded"]
    assert entries(far[1]) == ["epsilon 1 for neighbors; these are 2 apart"]
    assert entries(near[0]) == ["value 100", "neighbor 101"]
    assert entries(far[0]) == ["value 100", "value 102"]
    wide = Gaussian(sensitivity=1, epsilon=1, delta=1e-5).plot(0, 3).figure.axes[1]
    assert entries(wide) == ["epsilon 1 with delta 1e-05 for neighbors; these are 3 apart"]
    chosen = Exponential(sensitivity=1, epsilon=1).plot([3, 2], [9, 2]).figure.axes
    assert entries(chosen[0]) == ["scores", "other scores"]
    assert entries(chosen[1]) == ["epsilon 1 for neighbors; these are not neighbors"]


@pytest.mark.parametrize("mechanism", [Laplace(sensitivity=1, epsilon=0.1), RandomizedResponse(epsilon=1)])
def test_two_inputs_have_two_colors_and_the_ratio_that_of_the_first(mechanism):
    above = mechanism.plot()
    one, other = above.get_lines()
    assert one.get_color() != other.get_color()
    assert above.figure.axes[1].get_lines()[0].get_color() == one.get_color()


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
    assert len({(line.get_color(), line.get_linestyle()) for line in series}) == 6
    ratios = [line for line in both[1].get_lines() if line.get_gid() == series[0].get_gid()]
    assert [line.get_color() for line in ratios] == [line.get_color() for line in series[::2]]
    assert [text.split(":")[0] for text in entries(both[1])] == ["number 0", "number 1", "number 2"]


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


@pytest.mark.parametrize(
    "mechanism",
    [
        Exponential(sensitivity=1, epsilon=0.8),
        PermuteAndFlip(sensitivity=1, epsilon=0.8),
        PermuteAndFlip(sensitivity=1.0, epsilon=0.8, monotone=True),
        ReportNoisyMax(sensitivity=1, epsilon=0.8),
        ReportNoisyMax(sensitivity=1.0, epsilon=0.8),
        TopK(k=2, sensitivity=1, epsilon=0.8),
        AboveThreshold(threshold=5, sensitivity=1, epsilon=0.8),
        AboveThreshold(threshold=5, sensitivity=0.5, epsilon=0.8, positives=2, monotone=True),
        UnaryEncoding(size=7, epsilon=0.8),
    ],
    ids=repr,
)
def test_every_law_sums_to_one_and_no_ratio_exceeds_epsilon(mechanism):
    above = mechanism.plot()
    for line in above.get_lines():
        assert line.get_ydata().sum() == pytest.approx(1, abs=1e-3)
    below = above.figure.axes[1]
    assert bounds(below) == [-0.8, 0.8]
    largest = np.abs(below.get_lines()[0].get_ydata()).max()
    assert 0.2 <= largest <= 0.8 * (1 + 1e-3)
    assert "not neighbors" not in below.get_title()
    assert repr(mechanism)[:20] in above.get_title()


def test_values_that_are_no_neighbors_are_drawn_and_named_so():
    above = AboveThreshold(threshold=5, sensitivity=1, epsilon=1).plot([3, 9], [9, 3])
    assert "not neighbors" in above.figure.axes[1].get_title()
    with pytest.raises(ParameterError, match="values and neighbor"):
        AboveThreshold(threshold=5, sensitivity=1, epsilon=1).plot([3])
    with pytest.raises(ParameterError, match="the same category"):
        UnaryEncoding(size=3, epsilon=1).plot(2, 2)


@pytest.mark.parametrize(
    "mechanism",
    [
        SmoothSensitivity(noise=Student(degrees=3), epsilon=0.8, decay=0.05, lower=0, upper=100),
        SmoothSensitivity(noise=Student(degrees=3), epsilon=0.8, decay=0.05, lower=0, upper=100, grid=1),
        SmoothSensitivity(noise=LaplaceNoise(), epsilon=0.8, delta=1e-6, decay=0.02, lower=0, upper=100),
    ],
    ids=repr,
)
def test_smooth_sensitivity_is_drawn_within_its_bound(mechanism):
    above = mechanism.plot()
    law = above.get_lines()[0]
    if mechanism.grid == 1:
        assert law.get_ydata().sum() == pytest.approx(1, abs=0.05)
    else:
        assert np.trapezoid(law.get_ydata(), law.get_xdata()) == pytest.approx(1, abs=0.05)
    assert above.get_title().startswith("Laws")
    below = above.figure.axes[1]
    assert bounds(below) == [-0.8, 0.8]
    assert 0.4 <= np.abs(below.get_lines()[0].get_ydata()).max() <= 0.8 * (1 + 1e-9)


def test_a_figure_of_profiles_says_that_it_is_private():
    mechanism = SmoothSensitivity(noise=Student(degrees=3), epsilon=1, decay=0.05, lower=0, upper=1000)
    profile, neighbor = (median(np.arange(0, 1000 + more, 10), lower=0, upper=1000) for more in (0, 10))
    private = mechanism.plot(profile, neighbor)
    assert all(axes.get_title().startswith("Private") for axes in private.figure.axes)
    assert "not neighbors" not in private.figure.axes[1].get_title()
    far = median(np.arange(0, 100), lower=0, upper=1000)
    assert "not neighbors" in mechanism.plot(profile, far).figure.axes[1].get_title()
    with pytest.raises(ParameterError, match="both"):
        mechanism.plot(profile)
    with pytest.raises(ParameterError, match="certain"):
        mechanism.plot(*(median([1, 2], lower=3, upper=3) for _ in range(2)))


def test_which_keys_are_shown_is_drawn_by_their_persons():
    mechanisms = [
        kind(epsilon=1, delta=1e-6) for kind in (TruncatedGeometric, LaplaceThreshold, GaussianThreshold)
    ]
    above = mechanisms[0].plot()
    shown, fewer = above.get_lines()
    assert shown.get_ydata()[:2] == pytest.approx([0, 1e-6], rel=1e-3)
    assert fewer.get_ydata()[1:] == pytest.approx(shown.get_ydata()[:-1])
    assert bounds(above.figure.axes[1]) == [-1, 1]
    _, both = pyplot.subplots(2, layout="constrained")
    for mechanism in mechanisms:
        assert mechanism.plot(ax=both, label=repr(mechanism)[:8]) is both[0]
    assert len(both[0].get_legend().get_texts()) == len(both[1].get_legend().get_texts()) == 3
    assert bounds(TruncatedGeometric(rho=0.5, delta=1e-6).plot().figure.axes[1]) == []
