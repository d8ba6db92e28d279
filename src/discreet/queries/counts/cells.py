"""The cells of an axis and the values that a user knows them by.

Cells of a number's axis are half-open ranges of its grid: low <= x < high, low the first grid point of the
cell and high that of the next. Values beyond the bounds were clipped to them, so that the first cell
also holds everything below and the last one everything above.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

from discreet.data import Axis, Bounds, Keys
from discreet.data.language.coarsening import steps_at_most
from discreet.data.language.declarations import KeyValue
from discreet.errors import ParameterError
from discreet.privacy.rational import Number, rational, show

__all__ = [
    "default_width",
    "edge_after",
    "edge_words",
    "grid_points",
    "highest",
    "key_cell",
    "labels",
    "lowest",
    "range_cells",
    "range_words",
    "widened",
]

_MOST_EDGES = 6


def widened(column: str, bounds: Bounds, width: Number) -> Axis:
    """Return the axis whose cells are of a width, in the units of the column."""
    points = rational(width, "width", positive=True) / bounds.step
    if points.denominator != 1:
        raise ParameterError(
            "width", f"is not a multiple of the step of {column!r}", f"a multiple of {show(bounds.step)}"
        )
    return Axis(column=column, values=bounds, width=min(int(points), grid_points(bounds)))


def default_width(column: str, bounds: Bounds, most: int) -> Axis:
    """Return the axis of at most this many cells whose width is the least round number of steps."""
    points = grid_points(bounds)
    if points <= most:
        return Axis(column=column, values=bounds)
    width = steps_at_most(bounds, most - 2).step / bounds.step
    return Axis(column=column, values=bounds, width=min(int(width), points))


def grid_points(bounds: Bounds) -> int:
    """Return how many points the grid has."""
    return bounds.upper_steps - bounds.lower_steps + 1


def edge_words(axis: Axis) -> str:
    """Say where the cells of several numbers begin; empty if each number is a cell."""
    if isinstance(axis.values, Keys) or axis.width == 1:
        return ""
    edges = [show(lowest(axis, cell)) for cell in range(min(axis.cells, _MOST_EDGES))]
    listed = [*edges, "…"] if axis.cells > _MOST_EDGES else edges
    width = show(axis.width * axis.values.step)
    return f"cells of {width} from the lower bound on: {', '.join(listed)}"


def labels(axis: Axis) -> list[KeyValue | float]:
    """Return a label for each cell: its key, or the lowest number in it."""
    if isinstance(axis.values, Keys):
        return list(axis.values.values)
    return [_plain(lowest(axis, cell)) for cell in range(axis.cells)]


def range_cells(axis: Axis, low: Number | None, high: Number | None) -> tuple[int, int]:
    """Return the first cell of low <= x < high, and the one after the last; None is not an end."""
    first = 0 if low is None else _edge(axis, low)
    after = axis.cells if high is None else _edge(axis, high)
    if first >= after:
        raise ParameterError(
            "range", f"of {axis.column!r} holds nothing", "low below high: low is included, high is not"
        )
    return first, after


def key_cell(axis: Axis, value: object) -> int:
    """Return the cell of a key."""
    keys: Sequence[object] = _keys(axis).values
    if value not in keys:
        raise ParameterError(
            axis.column, "has a value that is not one of its keys", f"one of {list(keys[:10])!r}"
        )
    return keys.index(value)


def edge_after(axis: Axis, value: Number) -> Fraction | None:
    """Return the first number after a cell that ends with a value; None after the last cell."""
    bounds = axis.values
    assert isinstance(bounds, Bounds)  # noqa: S101
    exact = rational(value, "value")
    if exact >= bounds.upper:
        return None
    if exact < bounds.lower:
        raise ParameterError("value", "is below the bounds, where there are no rows", "a number within them")
    if (exact / bounds.step).denominator != 1:
        near = [show(floor(exact / bounds.step) * bounds.step + more) for more in (0, bounds.step)]
        raise ParameterError("value", "is not on the grid to which values are rounded", " or ".join(near))
    after = int(exact / bounds.step) + 1
    place = Fraction(after - bounds.lower_steps, axis.width)
    if place.denominator != 1:
        ends = [lowest(axis, floor(place) + further) - bounds.step for further in (0, 1)]
        near = [show(min(end, bounds.upper)) for end in ends if end >= bounds.lower]
        raise ParameterError("value", "lies inside a cell, and only whole cells are known", " or ".join(near))
    return after * bounds.step


def range_words(axis: Axis, low: Number | None, high: Number | None) -> str:
    """Describe the numbers of a range; empty if it is all of them."""
    words = axis.column
    if low is not None:
        words = f"{show(rational(low, 'low'))} <= {words}"
    if high is not None:
        words = f"{words} < {show(rational(high, 'high'))}"
    return "" if words == axis.column else words


def _edge(axis: Axis, value: Number) -> int:
    """Return the cell that begins at a number; that after the last, if it is above the bounds."""
    bounds = axis.values
    if isinstance(bounds, Keys):
        raise ParameterError(axis.column, "has keys, which have no ranges", "one of its keys")
    exact = rational(value, "range")
    if exact <= bounds.lower:
        return 0
    if exact > bounds.upper:
        return axis.cells
    place = (exact / bounds.step - bounds.lower_steps) / axis.width
    if place.denominator != 1:
        before = floor(place)
        near = [show(lowest(axis, cell)) for cell in (before, before + 1) if cell < axis.cells]
        raise ParameterError(
            "range",
            f"of {axis.column!r} ends inside a cell, and only whole cells are known",
            f"{' or '.join(near)}; ask with width={show(bounds.step)} for any of the grid's numbers",
        )
    return int(place)


def lowest(axis: Axis, cell: int) -> Fraction:
    """Return the lowest number of a cell."""
    bounds = axis.values
    assert isinstance(bounds, Bounds)  # noqa: S101
    return (bounds.lower_steps + cell * axis.width) * bounds.step


def highest(axis: Axis, cell: int) -> Fraction:
    """Return the highest number of a cell."""
    bounds = axis.values
    assert isinstance(bounds, Bounds)  # noqa: S101
    return min(lowest(axis, cell + 1) - bounds.step, bounds.upper)


def _keys(axis: Axis) -> Keys:
    if not isinstance(axis.values, Keys):
        raise ParameterError(axis.column, "is a number", "a pair (low, high): low <= x < high")
    return axis.values


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
