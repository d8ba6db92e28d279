"""Figures hold the numbers they are drawn from; pixels are not looked at."""

from __future__ import annotations

import builtins
import math

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes

from discreet.accounting import ladder, plot, profile, tradeoff
from discreet.accounting.curves import Profile
from discreet.accounting.filters import Odometer, PureFilter, ZeroConcentratedFilter
from discreet.accounting.ladder import Ladder, Rung
from discreet.errors import MissingExtra, ParameterError
from discreet.privacy import events
from discreet.privacy.neighbors import REPLACE_PERSON

GAUSSIAN = events.Gaussian(noise_multiplier=1)


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_profile_is_drawn_with_its_band():
    found = profile(events.Laplace(epsilon=1) * 2, epsilons=[1.5, 0.0, 1.0, 2.0])
    axes = found.plot()
    assert isinstance(axes, Axes)
    (line,) = axes.get_lines()
    assert line.get_xdata().tolist() == [0.0, 1.0, 1.5]  # at 2 delta is 0, which no logarithm shows
    assert line.get_ydata().tolist() == found.upper[[1, 2, 0]].tolist()
    (band,) = axes.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == found.upper.max()
    assert heights.min() == pytest.approx(found.lower[0])
    assert axes.get_yscale() == "log"
    assert "epsilon" in axes.get_xlabel()
    assert "delta (probability)" in axes.get_ylabel()
    assert legend(axes)[0] == "upper bound, safe to promise (add-remove person)"


def test_the_band_reaches_from_bound_to_bound():
    found = Profile(
        epsilons=np.array([0.0, 1.0]),
        lower=np.array([0.2, 0.0]),
        upper=np.array([0.4, 0.1]),
        method="",
        neighbors=None,
        certified=True,
    )
    (band,) = found.plot().collections
    corners = {(x, round(y, 9)) for x, y in band.get_paths()[0].vertices}
    assert corners == {(0.0, 0.2), (0.0, 0.4), (1.0, 0.01), (1.0, 0.1)}  # 0 is drawn a tenth below the least


def test_a_profile_of_nothing_is_an_empty_figure():
    assert not profile(events.Nothing).plot().get_lines()[0].get_xdata().size


def test_a_figure_goes_where_it_is_told_to():
    _, (left, right) = pyplot.subplots(1, 2)
    assert profile(GAUSSIAN, epsilons=[0, 1]).plot(ax=left) is left
    assert tradeoff(GAUSSIAN).plot(ax=right) is right
    assert len(pyplot.get_fignums()) == 1


def test_a_tradeoff_is_drawn_with_what_no_attack_reaches():
    found = tradeoff(GAUSSIAN)
    axes = found.plot()
    guess, bound = axes.get_lines()
    rates = bound.get_xdata()
    assert (rates[0], rates[-1]) == (0, 1)
    assert np.all(np.diff(rates) > 0)
    assert bound.get_ydata().tolist() == np.asarray(found(rates)).tolist()
    assert np.asarray(guess.get_ydata()) == pytest.approx(1 - rates)
    assert any("0.383" in text for text in legend(axes))
    (region,) = axes.collections
    assert region.get_paths()[0].vertices[:, 1].min() == 0
    assert "false positive rate" in axes.get_xlabel()
    assert "false negative rate" in axes.get_ylabel()


def test_each_curve_names_its_own_relation():
    axes = tradeoff(GAUSSIAN).plot(label="normal")
    tradeoff(events.Laplace(epsilon=1, neighbors=REPLACE_PERSON)).plot(ax=axes, label="Laplace")
    assert axes.get_title() == "Trade-off"
    assert "normal (add-remove person): advantage at most 0.383" in legend(axes)
    assert "Laplace (replace person): advantage at most 0.393" in legend(axes)


@pytest.mark.parametrize("size", [(7, 4.5), (4, 3)])
def test_the_numbers_of_a_ladder_are_inside_its_frame(size):
    rows = [Rung(name="amplified advanced", epsilon=one, delta=1e-5, method="") for one in (1_068_532, 0.9)]
    _, axes = pyplot.subplots(layout="constrained", figsize=size)
    for run in ("first", "second"):
        found = Ladder(rows=tuple(rows), run=run, delta=1e-5, neighbors=None)
        found.plot(ax=axes, label=run)
        axes.figure.draw_without_rendering()
        frame = axes.get_window_extent()
        assert all(text.get_window_extent().x1 < frame.x1 for text in axes.texts)


def test_a_ladder_is_drawn_as_bars():
    run = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
    found = ladder(run, 1e-5)
    axes = found.plot()
    assert [bar.get_width() for bar in axes.patches] == [row.epsilon for row in found]
    assert [bar.get_hatch() for bar in axes.patches] == ["" if row.proven else "//" for row in found]
    labels = [text.get_text() for text in axes.texts]
    assert {"12,112", "363", "10.3", "1.2586", "1.0355", "0.9469"} <= set(labels)
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names[-1].startswith("tight")
    assert axes.get_xscale() == "log"
    assert axes.yaxis_inverted()
    assert "no guarantee" in axes.get_title()


def test_a_ladder_without_numbers_is_refused():
    rows = (Rung(name="tight", epsilon=math.inf, delta=0.0, method=""),)
    with pytest.raises(ParameterError, match="no row"):
        Ladder(rows=rows, run="", delta=0.0, neighbors=None).plot()


def test_readings_are_drawn_as_steps_under_a_limit():
    odometer, readings = Odometer(), []
    for _ in range(4):
        odometer = odometer.add(events.Laplace(epsilon=0.25))
        readings.append(odometer.read(1e-6))
    axes = plot.budget(readings, limit=1)
    steps, limit = axes.get_lines()
    assert steps.get_xdata().tolist() == [1, 2, 3, 4]
    assert list(steps.get_ydata()) == [0.25, 0.5, 0.75, 1.0]
    assert set(limit.get_ydata()) == {1.0}
    assert "1e-06" in axes.get_ylabel()
    assert "reading" in axes.get_title()


def test_states_of_a_filter_are_drawn_as_shares_of_each_limit():
    budget, states = ZeroConcentratedFilter(2, delta=1e-6), []
    for _ in range(3):
        budget = budget.spend(events.Gaussian(noise_multiplier=1))
        states.append(budget)
    axes = plot.budget(states)
    rho, spent_delta, limit = axes.get_lines()
    assert list(rho.get_ydata()) == [25, 50, 75]
    assert list(spent_delta.get_ydata()) == [0, 0, 0]
    assert set(limit.get_ydata()) == {100}
    assert legend(axes)[0] == "rho, of 2"
    assert "percent" in axes.get_ylabel()


@pytest.mark.parametrize(
    "history",
    [
        [],
        [1, 2],
        [Odometer().read(1e-6), Odometer().read(1e-5)],
        [PureFilter(1), PureFilter(2)],
        [PureFilter(1), Odometer().read(1e-6)],
    ],
)
def test_histories_that_do_not_belong_together_are_refused(history):
    with pytest.raises(ParameterError, match=r"^history "):
        plot.budget(history)


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    original = builtins.__import__

    def refusing(name, *rest, **keywords):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *rest, **keywords)

    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(MissingExtra, match=r"matplotlib: pip install 'discreet\[plot\]'"):
        profile(GAUSSIAN, epsilons=[0, 1]).plot()
