"""How an offer is divided over the measures of a query, by expected error, in closed form.

Let output o be moved by noise in measure m by w(o, m) per step, in units of what one row can move it
(`QueryOutput.weights`), and let W(m) be the root of the sum of w(o, m)^2 over outputs. The mean squared
error of all outputs together, so measured, is the sum over measures of W^2 times the variance of the
noise. The variance is

- 2 (L1 / epsilon)^2 for Laplace noise: for a given sum of epsilons the total is least with epsilon
  proportional to (W L1)^(2/3);
- L2^2 / (2 rho) for Gaussian noise: for a given sum of rhos it is least with rho proportional to W L2; and so
  it is for a given sum of squares of mu, which are twice the rhos

(by Lagrange's condition that W^2 times the derivative of the variance is the same for all measures).
Proportions are rounded to integers and divided exactly, so that shares are rational and add up to exactly 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import sqrt
from typing import TypeAlias

from discreet.data import Measure
from discreet.errors import ParameterError
from discreet.privacy.rational import Number, rational
from discreet.queries.binding.bind import BoundQuery
from discreet.queries.outputs.base import QueryOutput

__all__ = [
    "CONCENTRATED",
    "PURE",
    "Shares",
    "given_by",
    "share_of_keys",
    "shares_of",
    "squared_weights",
]

Shares: TypeAlias = dict[Measure, Fraction]
"""The share of an offer that each measure gets; they add up to 1."""

PURE = Fraction(2, 3)
"""The power of the weighted L1 sensitivity that epsilon is proportional to."""
CONCENTRATED = Fraction(1)
"""The power of the weighted L2 sensitivity that rho is proportional to."""

_GRAIN = 1000
"""Proportions are rounded to this many parts of the smallest; the error grows by less than a millionth."""

_LEAST = Fraction(1, 100)
"""The least share of keys, and of values."""


def shares_of(bound: BoundQuery, power: Fraction, split: Mapping[str, Number] | None = None) -> Shares:
    """Return the share of each measure.

    Parameters
    ----------
    bound : BoundQuery
        The query.
    power : Fraction
        `PURE` or `CONCENTRATED`.
    split : mapping of output names to numbers, optional
        Instead of the rule: how much each output gets, in proportion. What an output gets is divided over its
        own measures by the rule; a measure that several outputs read gets what all of them give it.
    """
    if split is None:
        return _divided(bound, squared_weights(bound.outputs), power)
    wanted = _checked(split, bound.outputs)
    shares: Shares = dict.fromkeys(bound.plan.measures, Fraction(0))
    for output in bound.outputs:
        for measure, share in _divided(bound, squared_weights([output]), power).items():
            shares[measure] += wanted[output.name] * share
    return shares


def given_by(bound: BoundQuery, split: Mapping[str, Number] | None) -> dict[str, Fraction] | None:
    """Return the share of the offer that each output was given; None without a split."""
    return None if split is None else _checked(split, bound.outputs)


def squared_weights(outputs: Sequence[QueryOutput]) -> dict[Measure, Fraction]:
    """Return W^2 for every measure that some outputs read."""
    squares: dict[Measure, Fraction] = {}
    for output in outputs:
        for measure, weight in zip(output.measures, output.weights, strict=True):
            squares[measure] = squares.get(measure, Fraction(0)) + weight**2
    return squares


def share_of_keys(bound: BoundQuery, power: Fraction, *, keys: int, columns: int) -> Fraction:
    """Return how much of an offer the choice of undeclared keys gets: as much as one more count of persons.

    A group that is shown half of the time has about log(1 / delta) / epsilon persons, for the epsilon of the
    choice, and a count as large an epsilon has an error of about 1 / epsilon. So the smallest groups that are
    shown are then known to about 1 / log(1 / delta) of themselves, a tenth or so, whatever is asked: with
    a larger share they would be shown with worse values, with a smaller one fewer would be shown with better
    ones than the rest of the answer has.

    Parameters
    ----------
    bound : BoundQuery
        The question, with made-up keys.
    power : Fraction
        `PURE` or `CONCENTRATED`.
    keys : int
        In how many keys a person counts at most.
    columns : int
        How many columns have undeclared keys.
    """
    squared = Fraction(keys) ** 2 if power == PURE else Fraction(keys)
    choice = columns * sqrt(squared) ** float(power)
    values = sum(_demands(bound, squared_weights(bound.outputs), power).values())
    return min(max(Fraction(round(_GRAIN * choice / (choice + values)), _GRAIN), _LEAST), 1 - _LEAST)


def _demands(bound: BoundQuery, squares: Mapping[Measure, Fraction], power: Fraction) -> dict[Measure, float]:
    demands = {}
    for measure, square in squares.items():
        sensitivity = bound.statistics.of(measure).sensitivity
        distance = sensitivity.l1**2 if power == PURE else sensitivity.squared_l2
        demands[measure] = sqrt(square * distance) ** float(power)
    return demands


def _divided(bound: BoundQuery, squares: Mapping[Measure, Fraction], power: Fraction) -> Shares:
    demands = _demands(bound, squares, power)
    least = min(demands.values())
    parts = {measure: round(_GRAIN * (demand / least)) for measure, demand in demands.items()}
    total = sum(parts.values())
    return {measure: Fraction(part, total) for measure, part in parts.items()}


def _checked(split: Mapping[str, Number], outputs: Sequence[QueryOutput]) -> dict[str, Fraction]:
    names = [output.name for output in outputs]
    if not isinstance(split, Mapping) or set(split) != set(names):
        raise ParameterError(
            "split", "does not name every output once", f"a number for each of {', '.join(names)}"
        )
    wanted = {name: rational(split[name], "split", positive=True) for name in names}
    total = sum(wanted.values())
    return {name: part / total for name, part in wanted.items()}
