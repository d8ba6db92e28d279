"""Epsilon and delta of a run of Laplace steps: which way serves, and the answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import exp, inf, log

import numpy as np

from discreet.accounting.contour.contour import Line, Steps, choose_line, peak
from discreet.accounting.contour.root_search import crossing
from discreet.accounting.laplace_runs.atoms import LaplaceAtoms, count_atoms
from discreet.accounting.laplace_runs.concentration import least_epsilon
from discreet.accounting.laplace_runs.line import LaplaceLine
from discreet.accounting.laplace_runs.remainder import LaplaceRemainder
from discreet.accounting.laplace_runs.smoothed import SmoothedLaplace
from discreet.accounting.laplace_runs.transform import atoms_share
from discreet.accounting.loss.laplace import LaplaceLoss

__all__ = ["LaplaceRun"]

_MOST_ATOMS = 600_000
_LEAST_LOSS, _MOST_LOSS, _MOST_TOTAL = 1e-30, 300.0, 1e5
_MOST_STEPS = 10**9
_LEAST_DELTA = 1e-60
_ENOUGH = 1e-13
_LONGER = 1.35  # periods, so that images are too far to be seen in ten digits
_COARSE, _FINE = 1e-4, 1e-10
_CLOSE = 1e-9
_ORDERS = np.geomspace(1e-3, 1e7, 201)


class LaplaceRun:
    """Laplace steps, fixed in advance: up to 10^9, each with an epsilon of 1e-30 or more; else no answer.

    Parameters
    ----------
    parts : iterable of (float, int)
        The epsilon of each step, and how often it is run.
    """

    def __init__(self, parts: Iterable[tuple[float, int]]) -> None:
        counts: dict[float, int] = {}
        for loss, n in parts:
            counts[loss] = counts.get(loss, 0) + n
        self._parts = sorted(counts.items())
        self._steps = Steps([LaplaceLoss(loss) for loss, _ in self._parts], [n for _, n in self._parts])
        self._atoms: LaplaceAtoms | None = None

    @property
    def _is_usual(self) -> bool:
        """Whether floats suffice: not too many steps, and none with next to no loss."""
        return self._steps.total <= _MOST_STEPS and self._parts[0][0] >= _LEAST_LOSS

    def epsilon(self, target: float, above: float) -> tuple[float, float] | None:
        """Bound epsilon at a delta from `target` to `above`; None below 1e-60 and beyond floats."""
        if target < _LEAST_DELTA or not self._is_usual:
            return None
        line = choose_line(self._steps, log(target), _COARSE)
        if line.guess <= 0:  # Chernoff's bound
            return 0.0, 0.0
        for share in (_COARSE, _FINE):  # the second time with a far better idea of the answer
            bounds = self._bounds(line, share)
            upper = crossing(bounds.upper, target, line.guess, 1 / line.order, above=True)
            if share == _COARSE and 0 < upper < inf:
                line = choose_line(self._steps, log(target), _FINE, upper)
        near = upper if upper < inf else line.guess
        unit = max(min(_CLOSE * near, 1 / line.order), 1e-300)
        lower = crossing(bounds.lower, above, near, unit, above=False)
        return min(lower, upper), upper

    def least(self, target: float) -> float:
        """Bound epsilon from below at a delta, however many steps there are."""
        return least_epsilon(self._parts, target)

    def delta(self, epsilon: float) -> tuple[float, float] | None:
        """Bound delta at an epsilon; None for deltas below 1e-60 and runs beyond floats."""
        if not self._is_usual or sum(loss * n for loss, n in self._parts) > _MOST_TOTAL:
            return None
        exponents = self._steps.cumulants_at(_ORDERS) - _ORDERS * epsilon + peak(_ORDERS)
        log_delta = min(float(exponents.min()), -1e-3)
        for share in (_COARSE, _FINE):
            if log_delta < log(_LEAST_DELTA):
                return None
            bounds = self._bounds(choose_line(self._steps, log_delta, share, epsilon), share)
            upper = min(bounds.upper(epsilon)[0], 1.0)
            log_delta = min(log(upper), -1e-3)
        lower = bounds.lower(epsilon)[0]
        return max(0.0, min(lower, upper)), upper

    def _bounds(self, line: Line, share: float) -> LaplaceLine:
        """Return bounds around a line: with a sum over atoms, unless they do not matter or are too many."""
        longer = replace(line, period=_LONGER * line.period)
        cumulant = float(self._steps.cumulants_at(np.array([line.order]))[0])
        aim = line.log_delta - cumulant + line.order * line.guess
        if atoms_share(self._parts, line.order) <= _ENOUGH * exp(min(aim, 0.0)):
            return LaplaceRemainder(self._parts, longer, None, share)
        if count_atoms(self._parts) > _MOST_ATOMS or self._parts[-1][0] > _MOST_LOSS:
            return SmoothedLaplace(self._parts, longer, share)
        if self._atoms is None:
            self._atoms = LaplaceAtoms(self._parts)
        return LaplaceRemainder(self._parts, longer, self._atoms, share)
