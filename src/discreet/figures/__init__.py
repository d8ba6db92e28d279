"""The house style of every figure, in one place: colors, lines, labels, legends, small multiples, fonts.

A figure is drawn into the axes that it is given, or into new ones; a second one in the same axes takes the
next color and the next line, so that three can be told apart in print and with any color vision. Needs
matplotlib, which is loaded when a figure is drawn: ``pip install 'discreet[plot]'``.
"""

from discreet.exports import publish
from discreet.figures.drawing import band, draw_curve, draw_points, reference, stems
from discreet.figures.layout import group_places, label_axes, panels, time_places
from discreet.figures.style import GRAY, LIMIT, STYLES, Axes, Panels, Style, is_new, mark, next_style

__all__ = [
    "GRAY",
    "LIMIT",
    "STYLES",
    "Axes",
    "Panels",
    "Style",
    "band",
    "draw_curve",
    "draw_points",
    "group_places",
    "is_new",
    "label_axes",
    "mark",
    "next_style",
    "panels",
    "reference",
    "stems",
    "time_places",
]

publish(__name__)
