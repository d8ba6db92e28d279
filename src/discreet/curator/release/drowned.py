"""Where noise hides most values of an answer, and what would help: read off released values, at no cost.

A value drowns where its error is at least as large as the value itself, or where nothing is known of it. All
numbers here come from released values and from the request, so that saying them costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from math import ceil, isfinite
from typing import Any, cast

import numpy as np

from discreet.curator.request.compound_request import CompoundRequest
from discreet.curator.request.key_request import KeyRequest
from discreet.curator.request.request import AnswerColumn, Request
from discreet.curator.request.statistic_request import StatisticRequest
from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.data import Statistic
from discreet.data.language.measures import CountPersons, largest_term
from discreet.data.language.relations import Union, leftmost, sources_of, walk_relation
from discreet.privacy.decimals import above
from discreet.privacy.events import Event

__all__ = ["drowned"]

_WANTED = 2
"""What would help is stated for an error of half a typical value."""
_MOST_TIMES = 1000
"""Beyond this the values may as well be 0, and no number is named."""


def drowned(
    outputs: Sequence[AnswerColumn],
    request: Request | CompoundRequest | KeyRequest | StatisticRequest | TabulatedRequest,
    event: Event,
    label: Mapping[str, object],
) -> str:
    """Say what would help if noise hides most values of some outputs; empty if it hides none.

    The error of a count, a sum or a mean falls in proportion to epsilon, or to the root of rho, and to how
    many rows of a person count; and it does not grow with a group. So the number of times by which the error
    must shrink is the number by which any of these must change.
    """
    found = [(column, places) for column in outputs if (places := _places(column)) is not None]
    hidden = [(column, places) for column, places in found if 2 * places.sum() > len(places) > 0]
    if not hidden:
        return ""
    names = " and ".join(column.name for column, _ in hidden)
    most, groups = max((int(places.sum()), len(places)) for _, places in hidden)
    where = "" if groups == 1 else f" in {most:,} of {groups:,} groups"
    times = [_times(column, places) for column, places in hidden]
    limit, felt = _limit(request, label, [column.name for column, _ in hidden])
    advice = _help(times, groups, event, limit=limit, felt=felt)
    return f"{names}: the error is larger than the value{where}; {advice}"


def _places(column: AnswerColumn) -> np.ndarray | None:
    """Return which of the values drown, of those that are not NULL; None if they have no error."""
    if column.lower is None or column.upper is None:
        return None
    values, lower, upper = (
        np.asarray(one, np.float64) for one in (column.values, column.lower, column.upper)
    )
    present = ~(np.isnan(values) & np.isnan(lower) & np.isnan(upper))
    with np.errstate(invalid="ignore"):
        error = np.maximum(values - lower, upper - values)
        hidden = ~np.isfinite(error) | ((error >= np.abs(values)) & (error > 0))
    if column.unknown is not None:
        hidden = hidden | np.asarray(column.unknown)
    return np.asarray(hidden[present])


def _times(column: AnswerColumn, places: np.ndarray) -> int | None:
    """Return by how much the error must shrink to half a typical value; None if that cannot be said."""
    assert column.lower is not None  # noqa: S101
    assert column.upper is not None  # noqa: S101
    values, lower, upper = (
        np.asarray(one, np.float64) for one in (column.values, column.lower, column.upper)
    )
    with np.errstate(invalid="ignore"):
        error = np.maximum(values - lower, upper - values)
    known = np.isfinite(error)
    if column.unknown is not None:
        known = known & ~np.asarray(column.unknown)
    if not known.any():
        return None
    typical, size = float(np.median(error[known])), abs(float(np.mean(values[known])))
    # The mean of many values is known this much better than one of them; below that it is noise itself.
    if size * np.sqrt(len(places)) <= typical or not isfinite(typical):
        return None
    return max(ceil(_WANTED * typical / size), 2)


def _help(
    times: Sequence[int | None],
    groups: int,
    event: Event,
    *,
    limit: int,
    felt: int,
) -> str:
    known = [one for one in times if one is not None and one <= _MOST_TIMES]
    if len(known) < len(times):
        means = ["a larger epsilon", *(["coarser groups"] if groups > 1 else [])]
        means += [f"a lower limit than {felt:,} rows per person"] if felt > 1 else []
        return f"{_either(means)} would help"
    factor = max(known)
    means = [_larger(event, factor), *([f"groups {factor:,} times as coarse"] if groups > 1 else [])]
    if felt >= factor:
        rows = "row" if felt // factor == 1 else "rows"
        means.append(f"a limit of {felt // factor:,} {rows} per person instead of {limit:,}")
    elif felt > 1:
        means.append(f"less of both with a lower limit than {felt:,} rows per person")
    return f"an error of half the value takes about {_either(means)}"


def _larger(event: Event, factor: int) -> str:
    """Return an offer with which the error is so many times smaller, in words."""
    if event.pure_epsilon is not None:
        return f"epsilon {above(Fraction(event.pure_epsilon) * factor)}"
    if event.concentrated_rho is not None:
        return f"rho {above(Fraction(event.concentrated_rho) * factor**2)}"
    return f"{factor:,} times the offer"


def _either(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _limit(
    request: Request | CompoundRequest | KeyRequest | StatisticRequest | TabulatedRequest,
    label: Mapping[str, object],
    names: Collection[str],
) -> tuple[int, int]:
    """Return how many rows of a person count at most, and which limit the noise of some outputs feels.

    One person moves a measure by its largest term times the rows that count, and a count of persons by the
    groups that they are in. Where that is no more than for one row, as in a relation with one row for each
    person, a lower limit leaves the noise as it is: then both are 1, as where none can be asked for.
    """
    if not isinstance(request, Request) or len(sources_of(request.plan.source)) > 1:
        return 1, 1
    if any(isinstance(node, Union) for node in walk_relation(request.plan.source)):
        return 1, 1  # of a union the limits of its parts add up
    first = leftmost(request.plan.source)
    tables = cast("Mapping[str, Any]", label.get("tables", {}))
    declared = tables.get(first.table, {}).get("limits", {})
    limit = first.limits.rows if first.limits is not None else declared.get("rows")
    measures = {measure for one in request.columns if one.name in names for measure in one.measures}
    if limit is None or not measures:
        return 1, 1
    felt = min(_rows_felt(request.part_of(measure).statistic) for measure in measures)
    return (int(limit), felt) if felt > 1 else (1, 1)


def _rows_felt(statistic: Statistic) -> int:
    """Return for how many rows of a person noise is added."""
    of_one_row = 1 if isinstance(statistic.measure, CountPersons) else largest_term(statistic.measure)
    return int(statistic.sensitivity.l1 // of_one_row) if of_one_row else 1
