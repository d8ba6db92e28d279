"""The sum of clipped gradients over the people of one step, and its noisy release on a grid of integers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discreet.array_types import Integers
from discreet.errors import ParameterError
from discreet.learning.deep.clipping import AdaptiveClipping
from discreet.learning.deep.epoch_plan import EpochPlan
from discreet.learning.deep.float_uses import FloatUse, in_doubles, in_floats, multiplies_floats
from discreet.learning.deep.plan import TrainingPlan
from discreet.learning.deep.processes import Processes
from discreet.learning.deep.released_parts import MOST_NUMBERS, NoisyPart, noisy_parts, side_by_side
from discreet.learning.deep.step_parts import MakeSum
from discreet.learning.deep.uses import LookupUse, OuterUse, Use, squared_norms
from discreet.noise import current, is_private

__all__ = ["ClippedSum", "sums_in_doubles"]

_NORM_ROUNDING = 2.0**-24
"""Of a squared norm that was summed in doubles, in units of its squared mass (lemma 2)."""
_TERM_SHARE = 2.0**-20
"""Keeps the rounding of a sum of products below 2^-32 for each example (lemma 3)."""
_UP = 1 + 2.0**-40
_LARGEST_FACTOR = 2.0**100  # in floats, where a larger one may be infinite
_MOST_POSITIONS, _MOST_SIZE = 2**13, 2**28  # for which the constants above are proven


class ClippedSum:
    """Adds up the gradients of a step, each shortened, in grid steps.

    Totals are doubles. Where the plan allows sums in floats, those of some examples are added up in floats
    first; if there is nothing else in a step, they are its sum.

    Parameters
    ----------
    parameters : list of tensors
        What is trained.
    groups : list of lists of int
        Which of them have one norm together.
    plan : TrainingPlan or EpochPlan
    is_alone : bool
        Whether no other process has examples of the same step.
    """

    def __init__(
        self,
        parameters: list[Tensor],
        groups: list[list[int]],
        plan: TrainingPlan | EpochPlan,
        *,
        is_alone: bool = True,
    ) -> None:
        if any(parameter.numel() > _MOST_SIZE for parameter in parameters):
            raise ParameterError("model", "has a parameter of more than 2^28 numbers", "smaller parameters")
        self._parameters = parameters
        self._groups, self._plan = groups, plan
        self._length = plan.bound_in_steps  # once: it is made of fractions
        # Processes have places each by itself: together they may have more than floats are charged for.
        self._rows_in_floats = plan.rows_in_floats if is_alone else 0
        runs = [[value.numel() for value in some] for _, some in groupby(parameters, attrgetter("device"))]
        devices = [device for device, _ in groupby(parameter.device for parameter in parameters)]
        # One for all parameters that follow each other on a device; totals are its parts.
        self._sums = [
            torch.zeros(sum(run), dtype=torch.float64, device=device)
            for run, device in zip(runs, devices, strict=True)
        ]
        self._totals = [part for held, run in zip(self._sums, runs, strict=True) for part in held.split(run)]
        self._floats = [held.float() if self._rows_in_floats else held for held in self._sums]
        self._parts = [part for held, run in zip(self._floats, runs, strict=True) for part in held.split(run)]
        self._is_empty = [True] * len(parameters)
        self._is_waiting = [False] * len(parameters)  # in floats, and not added to the total
        self._count = 0

    def cleared(self) -> ClippedSum:
        """Return this sum, in the same place in memory, with nothing added."""
        self._is_empty, self._count = [True] * len(self._parameters), 0
        self._is_waiting = [False] * len(self._parameters)
        return self

    def keep(self, uses: dict[str, Use]) -> dict[str, Use]:
        """Return the uses of a call in the form in which they are added up."""
        if not self._rows_in_floats:
            return {name: use.made for name, use in uses.items()}
        return {name: in_floats(use.made) for name, use in uses.items()}

    def shortened(self, use: Use) -> Use:
        """Return a use as it is."""
        return use

    @torch.no_grad()
    def add(self, uses: list[list[Use]], weights: Tensor, bound: float) -> Tensor:
        """Add the gradients of a batch, and return which examples count.

        An example whose gradient has a norm that is not finite adds nothing.
        """
        kept = weights > 0
        uses = [found if len(found) == 1 else list(map(in_doubles, found)) for found in uses]
        norms = [_norms([uses[place] for place in group], weights) for group in self._groups]
        finite = torch.stack(norms).isfinite().all(0)
        if not finite.all():  # 0 times infinity is not 0; padding of a finite norm has the factor 0
            uses = [[use.without(finite) for use in found] for found in uses]
        are_floats = self._rows_in_floats > 0 and multiplies_floats()
        for group, norm in zip(self._groups, norms, strict=True):
            factors = self._plan.clipping.factors(norm, len(self._groups), bound)
            factors = torch.where(finite & kept, factors * weights, 0.0) * self._length
            for place in group:
                found = uses[place]
                if are_floats and len(found) == 1 and isinstance(found[0], FloatUse):
                    self._add_floats(place, found[0], factors)
                else:
                    self._add_uses(place, found, factors)
        if self._plan.count_weight:
            within = (
                torch.where(norms[0] <= bound, 1, -1) * (weights * self._plan.count_weight).floor().long()
            )
            self._count += int(torch.where(finite, within, 0).sum())
        return finite | ~kept

    def _add_uses(self, place: int, uses: list[Use], factors: Tensor) -> None:
        """Add all uses of a parameter to each other, then to the total, which is rounded once (lemma 3)."""
        self._settle(place)
        total = self._totals[place]
        for number, use in enumerate(uses):
            if number == 0:
                found = use.weighted_sum(factors, total if self._is_empty[place] else torch.empty_like(total))
            else:
                found += use.weighted_sum(factors, torch.empty_like(total))
        if uses and not self._is_empty[place]:
            total += found
        self._is_empty[place] = self._is_empty[place] and not uses

    def _add_floats(self, place: int, use: FloatUse, factors: Tensor) -> None:
        """Add some examples at a time in floats, and what was there before to the total (lemma 3b)."""
        short = factors.clamp(max=_LARGEST_FACTOR).float()
        for start in range(0, len(short), self._rows_in_floats):
            self._settle(place)
            rows = slice(start, start + self._rows_in_floats)
            use.part(rows).float_sum(short[rows], self._parts[place])
            self._is_waiting[place] = True

    def _settle(self, place: int) -> None:
        """Add what is in floats to the total."""
        if self._is_waiting[place]:
            total, part = self._totals[place], self._parts[place]
            self._totals[place].copy_(part) if self._is_empty[place] else total.add_(part)
            self._is_empty[place] = self._is_waiting[place] = False

    def zeros(self) -> list[Tensor]:
        """Return zeros in the shapes of the parameters."""
        return self.shaped(np.zeros(self._plan.size))

    def add_up(self, processes: Processes) -> None:
        """Put the sums over all processes in place of those of this one."""
        if processes.is_alone:
            return
        processes.add_up(self._filled_totals())
        self._is_empty, self._count = [False] * len(self._parameters), processes.total(self._count)

    def steps(self) -> Integers:
        """Return the sum in grid steps, and the count of an adaptive bound; private."""
        found = np.empty(self._plan.drawn, np.int64)
        for start, part in _pieces(self._values(), 0, self._plan.size):
            found[start : start + len(part)] = np.rint(part)
        found[self._plan.size :] = self._count
        return found

    def release(self, bound: float) -> tuple[list[Tensor], float, bool]:
        """Return the noisy mean gradients, the next bound, and whether the noise was private.

        Rounded normal noise is added to the integers, in the place of the sum: from here on everything is
        public, and nothing that is private stays behind.
        """
        plan, source, is_in_floats = self._plan, current(), self._is_in_floats
        parts, values = noisy_parts(plan, source), self._values()
        scale = bound / (self._length * float(plan.batch))
        found = np.empty(plan.size, self._kind)
        ends = [start for start, _ in parts[1:]] + [plan.size]
        side_by_side(
            [
                partial(_release, noise, _pieces(values, start, end), scale, found)
                for (start, noise), end in zip(parts, ends, strict=True)
            ]
        )
        for held in self._sums:
            if held.device.type != "cpu":
                held.zero_()
        if self._rows_in_floats and not is_in_floats:  # the last examples are there, and in the total
            for held in self._floats:
                held.zero_()
        if isinstance(plan.clipping, AdaptiveClipping):
            noisy_count = float(parts[-1][1].next() + self._count)
            share = 0.5 + noisy_count / (2 * plan.count_weight * float(plan.batch))
            bound = plan.clipping.moved(bound, share)
        return self.shaped(found), bound, is_private(source.mark(0))

    def shaped(self, values: NDArray[np.floating[Any]]) -> list[Tensor]:
        """Return flat numbers in the shapes of the parameters, where these are."""
        flat = torch.from_numpy(values.astype(self._kind, copy=False))
        parts = flat.split([parameter.numel() for parameter in self._parameters])
        return [
            part.reshape(parameter.shape).to(parameter.device)
            for part, parameter in zip(parts, self._parameters, strict=True)
        ]

    @property
    def _kind(self) -> type[np.float32 | np.float64]:
        """Of what is released: doubles if a parameter has them."""
        has_doubles = any(parameter.dtype == torch.float64 for parameter in self._parameters)
        return np.float64 if has_doubles else np.float32

    def _values(self) -> list[NDArray[Any]]:
        """Return the sum, flat, of all parameters: where it is, or a copy of what a device has."""
        found = self._floats if self._is_in_floats else self._filled_totals()
        return [held.cpu().numpy() for held in found]

    @property
    def _is_in_floats(self) -> bool:
        """Whether all of the sum is in floats."""
        return all(self._is_waiting) and all(self._is_empty)

    def _filled_totals(self) -> list[Tensor]:
        """Return the sums in doubles, flat, of all parameters."""
        for place, total in enumerate(self._totals):
            self._settle(place)
            if self._is_empty[place]:
                total.zero_()
        return self._sums


def _pieces(values: list[NDArray[Any]], start: int, end: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the numbers of a sum from a start to an end, some at a time, and where they are."""
    first = 0
    for held in values:
        least, most = max(start - first, 0), min(end - first, len(held))
        for place in range(least, most, MOST_NUMBERS):
            yield first + place, held[place : min(place + MOST_NUMBERS, most)]
        first += len(held)


def _release(
    noise: NoisyPart, pieces: Iterator[tuple[int, NDArray[Any]]], scale: float, out: NDArray[Any]
) -> None:
    """Write the release of a part of a sum."""
    with np.errstate(all="ignore"):  # a caller's np.seterr must not turn small numbers into errors
        for start, piece in pieces:
            noise.release(piece, scale, out[start : start + len(piece)])


def sums_in_doubles(plan: TrainingPlan | EpochPlan, *, is_alone: bool = True) -> MakeSum:
    """Return what gives an empty sum for every step, always in the same place in memory."""
    made: list[ClippedSum] = []

    def make(parameters: list[Tensor], groups: list[list[int]]) -> ClippedSum:
        if not made:
            made.append(ClippedSum(parameters, groups, plan, is_alone=is_alone))
        return made[0].cleared()

    return make


def _norms(found: list[list[Use]], weights: Tensor) -> Tensor:
    """Bound the norm of each example's gradient by all parameters of a group, from above.

    It is also at least so large that the rounding of the sum over examples stays below 2^-32 for each.
    """
    squares = torch.zeros_like(weights)
    masses = torch.zeros_like(weights)
    terms = 1
    for uses in found:
        if uses:
            _check_sizes(uses)
            found_masses = [use.mass() for use in uses]
            squares += squared_norms(uses, found_masses)
            masses += reduce(torch.add, found_masses).square()
            terms = max(terms, sum(use.terms for use in uses) + len(uses))
    exact = (squares + _NORM_ROUNDING * masses).clamp(min=0).sqrt()
    return torch.maximum(exact, masses.sqrt() * (terms * _TERM_SHARE)) * _UP


def _check_sizes(uses: list[Use]) -> None:
    """Refuse a parameter whose uses have too many pairs of positions together; a row is one position."""
    used = sum(use.positions if isinstance(use, OuterUse | LookupUse) else 1 for use in uses)
    if used > _MOST_POSITIONS:
        raise ParameterError(
            "model",
            "has a parameter that is used at too many positions",
            "at most 8192 an example, in all calls together",
        )
