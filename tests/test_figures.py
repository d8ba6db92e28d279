"""The house style: series that can be told apart, legends that cover nothing, names that can be read."""

from __future__ import annotations

import itertools

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import font_manager, pyplot

from discreet.errors import ParameterError
from discreet.figures import (
    STYLES,
    draw_curve,
    draw_points,
    group_places,
    label_axes,
    next_style,
    panels,
    reference,
)

# Machado, Oliveira & Fernandes (2009), full severity, on linear light.
VISIONS = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def linear(color):
    light = np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)


def lab(light):
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    scaled = np.array(to_xyz) @ np.clip(light, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distances(colors, vision):
    seen = [lab(np.array(VISIONS[vision]) @ linear(color)) for color in colors]
    return [float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2)]


@pytest.mark.parametrize("vision", VISIONS)
def test_colors_differ_with_every_vision(vision):
    colors = list(dict.fromkeys(style.color for style in STYLES))
    assert min(distances(colors, vision)) >= 16.9
    assert min(distances(colors[:3], vision)) >= 57


def test_colors_stand_out_from_white_and_no_two_styles_are_alike():
    for style in STYLES:
        assert 1.05 / (linear(style.color) @ [0.2126, 0.7152, 0.0722] + 0.05) >= 3
    assert len({(style.color, style.linestyle) for style in STYLES}) == len(STYLES) == 20


def three(ax=None, label="a label that is long enough to be written on several lines of a legend, number {}"):
    for number in range(3):
        (ax,) = panels(ax)
        style = next_style(ax)
        reference(ax, [0, 1], [0, 1], label="to compare with")
        draw_curve(
            ax, np.linspace(0, 1, 601), np.linspace(-1, 1, 601) * number, style, label=label.format(number)
        )
        label_axes(ax, x="x", y="y", title="Three", about="one relation")
    return ax


def test_three_overlays_have_their_own_colors_and_lines():
    lines = [line for line in three().get_lines() if line.get_gid() == "discreet series"]
    assert len({line.get_color() for line in lines}) == 3
    assert len({line.get_linestyle() for line in lines}) == 3


def test_a_line_to_compare_with_is_drawn_once_and_the_title_written_once():
    ax = three()
    assert len(ax.get_lines()) == 4
    assert ax.get_title() == "Three, one relation"
    label_axes(ax, x="x", y="z", title="Three", about="another")
    assert ax.get_title() == "Three, one relation; another"
    assert ax.get_ylabel() == "y / z"


def test_the_legend_lies_below_the_axes_and_inside_of_the_figure():
    ax = three()
    figure = ax.figure
    figure.canvas.draw()
    legend, whole = ax.get_legend().get_window_extent(), figure.bbox
    assert legend.y1 <= ax.get_window_extent().y0
    assert whole.x0 <= legend.x0
    assert legend.x1 <= whole.x1
    assert whole.y0 <= legend.y0
    labels = ax.xaxis.get_tightbbox()
    assert legend.y1 <= labels.y0 + 1


def assert_nothing_is_covered(ax):
    figure = ax.figure
    figure.canvas.draw()
    legend, inside = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert legend.y1 <= ax.xaxis.get_tightbbox().y0 + 1
    assert legend.y1 <= inside.y0
    assert figure.bbox.y0 <= legend.y0
    for other in figure.axes:
        assert other is ax or not other.get_tightbbox().overlaps(legend)


@pytest.mark.parametrize("square", [False, True], ids=["free", "square"])
def test_in_a_figure_without_a_layout_the_axes_make_room_for_the_legend(square):
    figure = pyplot.figure(figsize=(7, 9))
    axes = figure.subplots(2)
    if square:
        axes[0].set_aspect("equal")
    before = axes[1].get_position()
    assert three(axes[0], "number {}") is axes[0]
    assert_nothing_is_covered(axes[0])
    assert axes[1].get_position().bounds == before.bounds
    box = axes[0].get_position(original=True)
    assert axes[0].get_legend().get_window_extent().y0 >= box.y0 * figure.bbox.height


def test_a_layout_that_is_chosen_later_moves_axes_and_legend_together():
    for layout in ("tight", "constrained"):
        figure, ax = pyplot.subplots()
        three(ax, "number {}")
        figure.set_layout_engine(layout)
        assert_nothing_is_covered(ax)
    figure, ax = pyplot.subplots()
    three(ax, "number {}")
    figure.tight_layout()
    ax.set_position((0.2, 0.3, 0.6, 0.6))
    assert_nothing_is_covered(ax)


def test_a_legend_that_would_take_most_of_the_axes_goes_inside():
    ax = pyplot.figure(figsize=(4, 1.5)).subplots()
    three(ax)
    assert ax.get_legend()._loc == 0  # matplotlib's number of "best"
    assert ax.get_axes_locator() is None
    _, own = pyplot.subplots()

    def place(ax, renderer):
        return ax.get_position(original=True)

    own.set_axes_locator(place)  # of someone else
    three(own)
    assert own.get_axes_locator() is place
    assert own.get_legend()._loc == 0


def test_a_label_that_is_longer_than_its_axis_is_wrapped_and_not_written_twice():
    (ax,) = panels(None)
    for _ in range(2):
        label_axes(
            ax, x="x", y="a label that is much longer than the axis to which it belongs, " * 2, title=""
        )
    assert "\n" in ax.get_ylabel()
    assert ax.get_ylabel().count("much") == 2


def test_a_title_from_elsewhere_is_kept():
    ax = pyplot.figure().subplots()
    ax.set_title("mine")
    assert three(ax).get_title() == "mine"


def test_a_single_point_has_a_marker():
    (ax,) = panels(None)
    draw_curve(ax, [1], [-2], next_style(ax), label=None)
    assert ax.get_lines()[0].get_marker() == "o"
    label_axes(ax, x="x", y="y", title="One")
    assert ax.get_legend() is None


def test_groups_keep_their_places_and_later_series_stand_aside():
    (ax,) = panels(None)
    first = group_places(ax, ["a", "b"])
    draw_points(ax, first, [1, -1], next_style(ax), spread=[[1, 1], [1, np.inf]], label="first")
    second = group_places(ax, ["b", "c"])
    assert first == [0, 1]
    assert [round(place) for place in second] == [1, 2]
    assert second[0] != first[1]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b", "c"]


def test_names_of_many_groups_are_thinned_out_and_long_ones_cut():
    (ax,) = panels(None)
    group_places(ax, [f"a rather long name of a group that has a number, {number}" for number in range(601)])
    shown = [text.get_text() for text in ax.get_xticklabels()]
    assert len(shown) <= 30
    assert max(map(len, shown)) <= 24


def test_axes_are_given_one_by_one_or_for_all_panels():
    _, four = pyplot.subplots(2, 2)
    assert panels(four, 4) == list(four.flat)
    assert panels(four[0, 0], 4) == [four[0, 0]]
    for wrong in ("ax", 1, [four[0, 0], "ax"]):
        with pytest.raises(ParameterError, match=r"^ax "):
            panels(wrong, 2)
    with pytest.raises(ParameterError, match="1, or 3"):
        panels(list(four.flat), 3)


def test_wide_characters_are_written_in_a_font_that_has_them(monkeypatch):
    def families(title):
        (ax,) = panels(None)
        label_axes(ax, x="city", y="rows", title=title)
        return ax.title.get_fontfamily()

    wide = font_manager.FontEntry(name="Noto Sans CJK TC")
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [*font_manager.fontManager.ttflist, wide])
    assert families("臺北")[-1] == "Noto Sans CJK TC"
    assert "Noto Sans CJK TC" not in families("Taipei")
