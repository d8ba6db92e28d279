"""Epsilon and delta of a run of sampled or plain Gaussian steps, on a lattice that is fine enough."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, erf, inf, log, sqrt

from discreet.accounting.lattice_runs.cut import above, below
from discreet.accounting.lattice_runs.step import NormalStep
from discreet.accounting.lattice_runs.transform import Nodes, nodes
from discreet.accounting.lattice_runs.window import (
    LatticeWindow,
    choose_window,
    deciding,
    guess_delta,
    guess_epsilon,
)
from discreet.accounting.loss.pair import Side

__all__ = ["LatticeRun"]

FINEST = 1e-10
"""The width of epsilon itself that always suffices: next to 0, relative digits of epsilon say nothing."""
_LEAST_DELTA, _MOST_DELTA = 1e-20, 0.5
_MOST_STEPS, _MOST_KINDS = 3000, 8
_FIRST_SIZE, _MOST_SIZE = 2**11, 2**18
_MOST_OF_MANY = 2**15  # where one of many deltas is next to that of epsilon 0
_SECOND = 3  # times the first size: both together tell what is of second order
_BOTH = 1.5  # the error of a lower law is about half that of the upper one
_ENOUGH = 0.8
_ROUNDS = 12
_LEAST_GUESS = 1e-4  # of the largest loss
_NEAR = 0.9
_FAR_GUESS = 1.1
_FIRST_ROOM = 0.7
_LOOSE = 5e-3  # a width that the first lattice mostly keeps
_BEYOND = 1.02  # of a guess: up to here, losses that decide alone are to be known
_ROOM, _CLOSE, _FAR_ROOM = (
    0.9,
    0.999,
    0.5,
)  # the parts of a guess, and of a lower bound, from which on a window looks
_FINER = 1.4  # than the last width calls for, since not all of it is of second order
_LEAST_FINER, _MOST_FINER, _MOST_FINER_YET = 1.3, 32.0, 5.0


class LatticeRun:
    """Gaussian steps on Poisson samples or on all data, fixed in advance.

    Parameters
    ----------
    parts : sequence of (float, float, int)
        The reciprocal noise multiplier of each step, its rate, and how often it is run.
    """

    def __init__(self, parts: Sequence[tuple[float, float, int]]) -> None:
        self._parts = parts
        self._total = sum(times for _, _, times in parts)
        self._seen: list[tuple[Nodes, Nodes]] = []
        self._added: list[Nodes] = []
        self._targets: set[float] = set()

    def epsilon(
        self, target: float, at_most: float, width: float, *, lower_too: bool = True
    ) -> tuple[float, float] | None:
        """Bound epsilon at a delta from `target` to `at_most`; None if another way serves.

        The interval has the relative width that is asked for, or a width of 1e-10, unless floats or patience
        do not suffice; where no lower bound is asked for, it is 0.
        """
        if not self._is_usual(target):
            return None
        if self._distance() <= target:
            return 0.0, 0.0
        found = next(
            (
                (lower.epsilon(at_most), upper.epsilon(target))
                for upper, lower in self._seen
                if _is_narrow(lower.epsilon(at_most), upper.epsilon(target), width)
            ),
            None,
        ) or self._solved(0, target, at_most, width, lower_too)
        if found[1] == inf or self._is_less(target, found[1]):
            return found
        other = self._solved(1, target, at_most, width, lower_too)
        return max(found[0], other[0]), max(found[1], other[1])

    def delta(self, epsilon: float, width: float) -> tuple[float, float] | None:
        """Bound delta at an epsilon; None if another way serves."""
        if not self._is_usual(_MOST_DELTA):
            return None
        lower = upper = 0.0
        for direction in (0, 1):
            if direction == 1 and self._beyond(epsilon):
                continue
            steps = self._steps(direction, _LEAST_DELTA)
            log_delta = guess_delta(steps, epsilon)
            size, finer = _FIRST_SIZE, inf
            low, high = 0.0, 1.0
            for _ in range(_ROUNDS):
                if log_delta < log(_LEAST_DELTA):
                    return None
                window = choose_window(
                    steps, log_delta, _ROOM * epsilon, epsilon, deciding(steps, _BEYOND * epsilon)
                )
                size = _size(window, finer) if finer < inf else size
                above_, below_ = _bounds(steps, window, size)
                low, high = max(low, below_.delta(epsilon)), min(high, above_.delta(epsilon))
                if high <= max(upper, 0.0) or high - low <= width * high or size >= _MOST_SIZE:
                    break
                if low > 0:
                    finer = window.length / size / _finer((high - low) / (width * high))
                log_delta = min(log(high), -1e-3)
            lower, upper = max(lower, low), max(upper, high)
        return lower, upper

    def _is_usual(self, delta: float) -> bool:
        usual = self._total <= _MOST_STEPS and len(self._parts) <= _MOST_KINDS
        return usual and _LEAST_DELTA <= delta <= _MOST_DELTA

    def _distance(self) -> float:
        """Bound delta at epsilon 0, the total variation distance, by the sum over all steps."""
        return sum(times * rate * erf(mu / sqrt(8)) for mu, rate, times in self._parts) * (1 + 1e-12)

    def _steps(self, direction: int, delta: float) -> list[NormalStep]:
        """Return all steps; outcomes farther out have less than a billionth of delta in all of them."""
        far = sqrt(2 * log(self._total * 1e9 / delta))
        return [NormalStep(mu, rate, times, direction, far) for mu, rate, times in self._parts]

    def _beyond(self, epsilon: float) -> bool:
        """Return whether an epsilon is beyond all losses where a unit is added."""
        return sum(step.times * step.most for step in self._steps(1, _LEAST_DELTA)) <= epsilon

    def _is_less(self, target: float, epsilon: float) -> bool:
        """Return whether adding a unit is seen to need no more than this epsilon, on a coarse lattice."""
        if self._beyond(epsilon):
            return True
        if any(nodes.epsilon(target) <= epsilon for nodes in self._added):
            return True
        steps = self._steps(1, target)
        guess = epsilon
        for size in (_FIRST_SIZE, _FIRST_SIZE, _SECOND * _FIRST_SIZE):
            window = choose_window(steps, log(target), _ROOM * guess, guess, inf)
            self._added.append(_side(steps, window, size, "upper"))
            if self._added[-1].epsilon(target) <= epsilon:
                return True
            guess = min(guess_epsilon(steps, log(target)), epsilon)
        return False

    def _begun(self, target: float, at_most: float, width: float) -> tuple[float, float, float, float, float]:
        """Return what the last delta tells: a guess, both bounds, a spacing, and from where on to look."""
        upper, lower = self._seen[-1]
        guess = upper.epsilon(target)
        if self._targets != {target}:  # one of many: look farther, so that fewer windows serve them all
            return guess, 0.0, inf, upper.spacing, _FAR_ROOM
        low, high = lower.epsilon(at_most), guess
        finer = _finer((high - low) / (width * high)) if 0 < high < inf else 0.0
        return guess, low, high, upper.spacing / finer if finer else inf, _CLOSE

    def _solved(
        self, direction: int, target: float, at_most: float, width: float, lower_too: bool
    ) -> tuple[float, float]:
        """Bound epsilon in one direction: coarse lattices tell how fine the one that answers has to be."""
        steps = self._steps(direction, target)
        warm = direction == 0 and bool(self._seen)
        guess, low, high, spacing, room = inf, 0.0, inf, inf, _CLOSE
        if warm:
            guess, low, high, spacing, room = self._begun(target, at_most, width)
        guess = guess if guess < inf else guess_epsilon(steps, log(target))
        guess = max(guess, _LEAST_GUESS * max(step.ends[1] for step in steps))
        self._targets.add(target)
        size = _FIRST_SIZE
        coarse: Nodes | None = None
        lower = None
        for _ in range(_ROUNDS):
            first = coarse is None and not warm
            near = max(min(_FIRST_ROOM if first else _ROOM, room) * guess, room * low)
            window = choose_window(steps, log(target), near, guess, deciding(steps, _BEYOND * guess))
            size = _size(window, spacing) if spacing < inf else size
            upper = _side(steps, window, size, "upper")
            found = upper.epsilon(target)
            high = min(high, found)
            if high <= FINEST:
                break
            if high < (_FIRST_ROOM if first else _NEAR) * guess:  # the window was chosen for another epsilon
                guess = high
                continue
            if high > _BEYOND * guess and size < _MOST_SIZE:  # too coarse, or the guess is too small
                size, guess, spacing = min(_SECOND * size, _MOST_SIZE), min(high, _FAR_GUESS * guess), inf
                continue
            guess = high
            if not warm and lower is None:
                if coarse is None:
                    if width >= _LOOSE and not lower_too:
                        break
                    coarse, size = upper, _SECOND * size
                    continue
                excess = (_BOTH if lower_too else 1.0) * _second_order(coarse, upper, target) / width
                if excess > _ENOUGH and size < _MOST_SIZE and high * width > FINEST:
                    coarse, spacing = upper, upper.spacing / min(_finer(excess), _MOST_FINER_YET)
                    continue
            if not lower_too:
                break
            lower = _side(steps, window, size, "lower")
            low = max(low, min(lower.epsilon(at_most), high))
            most = _MOST_SIZE if len(self._targets) == 1 else _MOST_OF_MANY
            if _is_narrow(low, high, width) or size >= most:
                break
            spacing = upper.spacing / _finer((high - low) / (width * high))
        if direction == 0 and lower:
            self._seen.append((upper, lower))
        return low, high


def _second_order(coarse: Nodes, fine: Nodes, target: float) -> float:
    """Return about the relative error of the finer of two bounds, whose errors are as squares of spacings."""
    ratio, high = coarse.spacing / fine.spacing, fine.epsilon(target)
    if not (ratio > 1 and 0 < high < inf):
        return 0.0
    return max(coarse.epsilon(target) / high - 1, 0.0) / (ratio**2 - 1)


def _is_narrow(low: float, high: float, width: float) -> bool:
    return 0 < high < inf and high - low <= max(width * high, FINEST)


def _finer(excess: float) -> float:
    """Return how much finer the next lattice is, where a width is this many times what it may be.

    Errors are of second order in the spacing.
    """
    return min(max(sqrt(_FINER * excess), _LEAST_FINER), _MOST_FINER)


def _size(window: LatticeWindow, spacing: float) -> int:
    """Return a size that transforms are quick for and that makes a lattice at least so fine."""
    from scipy.fft import next_fast_len

    wanted = min(max(ceil(window.length / spacing), _FIRST_SIZE), _MOST_SIZE)
    return 2 * int(next_fast_len((wanted + 1) // 2, real=True))


def _bounds(steps: list[NormalStep], window: LatticeWindow, size: int) -> tuple[Nodes, Nodes]:
    return _side(steps, window, size, "upper"), _side(steps, window, size, "lower")


def _side(steps: list[NormalStep], window: LatticeWindow, size: int, side: Side) -> Nodes:
    # No single law may have too many points.
    spacing = max(window.length / size, (window.most - min(window.least)) / _MOST_SIZE)
    cut = zip(steps, window.least, strict=True)
    if side == "upper":
        laws = [above(step, spacing, least, window.most) for step, least in cut]
    else:
        laws = [below(step, spacing, least, window.most, window.order) for step, least in cut]
    return nodes(steps, laws, window, size, side)
