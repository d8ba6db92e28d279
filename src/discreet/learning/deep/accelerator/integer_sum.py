"""The sum of clipped gradients as exact integers, and its release with noise, all on an accelerator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import combinations
from operator import add
from typing import Any

import torch
from torch import Tensor

from discreet.errors import ParameterError
from discreet.learning.deep.accelerator.coefficients import bounded_norms, coefficients_for
from discreet.learning.deep.accelerator.convolution_uses import ImagesUse, PatchesUse
from discreet.learning.deep.accelerator.device_noise import DeviceNoise
from discreet.learning.deep.accelerator.device_plan import DevicePlan
from discreet.learning.deep.accelerator.example_products import in_short_floats
from discreet.learning.deep.accelerator.integer_rows import (
    MOST_POSITIONS,
    IntegerForm,
    integer_form,
    joined_forms,
)
from discreet.learning.deep.accelerator.noisy_sums import release_sums
from discreet.learning.deep.accelerator.side_streams import SideStreams, is_recording
from discreet.learning.deep.clipping import AdaptiveClipping
from discreet.learning.deep.processes import Processes
from discreet.learning.deep.uses import LookupUse, OuterUse, RowsUse, Use, inner_products
from discreet.noise import current, is_private

__all__ = ["IntegerSum", "MeasuredBatch"]

_BETWEEN = 2.0**-14
"""Rounding of what several uses of a parameter add up to, in units of its squared mass (lemma 1)."""
_OF_A_USE = 2.0**6
"""Rounding of products of floats by one of several uses, which their norm does not bound (lemma 2)."""
_ALIGNED = 32  # numbers, to a multiple of which the sum of each parameter begins
_MOST_COPIED = 2**19  # numbers of rows, which are put beside others
_MOST_COLUMNS, _MOST_SIZE = 2**17, 2**28  # for which the constants are proven


@dataclass(frozen=True, eq=False)
class _Parameters:
    """Forms of the gradients of some parameters, which are flat one after the other.

    There are several forms for a single parameter that is used several times, and one form for many
    parameters whose gradients are rows.
    """

    places: list[int]
    forms: list[IntegerForm]

    def limits(self) -> list[Tensor]:
        """Return what no coefficient may exceed."""
        is_alone = len(self.forms) == 1
        found = [form.most() if is_alone else form.most_beside_others() for form in self.forms]
        return [most for most in found if most is not None]

    @property
    def has_short_sum(self) -> bool:
        """Whether their sum needs no total of 64 bits."""
        return len(self.forms) == 1 and self.forms[0].has_short_sum


@dataclass(frozen=True, eq=False)
class MeasuredBatch:
    """The gradients of a batch, with the coefficients of examples for those of each group of parameters."""

    groups: list[tuple[list[_Parameters], Tensor]]
    count: Tensor | None
    """What the batch adds to the count of an adaptive bound."""
    counted: Tensor
    """Which examples count, or are padding."""

    def sums(self) -> Iterator[tuple[_Parameters, Tensor]]:
        """Yield parameters, with the coefficients of the examples."""
        for found, coefficients in self.groups:
            for parameters in found:
                yield parameters, coefficients


class IntegerSum:
    """Adds up the gradients of a step, each shortened, as integers: so many for the bound of clipping.

    Parameters
    ----------
    parameters : list of tensors
        What is trained, on one device.
    groups : list of lists of int
        Which of them have one norm together.
    plan : DevicePlan
    noise : DeviceNoise
    """

    def __init__(
        self, parameters: list[Tensor], groups: list[list[int]], plan: DevicePlan, noise: DeviceNoise
    ) -> None:
        if any(parameter.numel() > _MOST_SIZE for parameter in parameters):
            raise ParameterError("model", "has a parameter of more than 2^28 numbers", "smaller parameters")
        self._shapes = [parameter.shape for parameter in parameters]
        self._sizes = [parameter.numel() for parameter in parameters]
        self._groups, self._plan, self._noise = groups, plan, noise
        self._device = parameters[0].device
        self._shift, self._integers = plan.shift, plan.integers
        self._waiting: MeasuredBatch | None = None  # not added to the total yet
        self._total: Tensor | None = None
        self._has_sums = False

    def cleared(self) -> IntegerSum:
        """Return this sum with nothing added."""
        if self._has_sums and self._total is not None:
            self._total.zero_()
        self._waiting, self._has_sums = None, False
        return self

    def add(self, uses: list[list[Any]], weights: Tensor, bound: float) -> Tensor:
        """Add the gradients of a batch, and return which examples count.

        An example whose gradient has a norm that is not finite adds nothing.
        """
        return self.take(self.measure(uses, weights, bound))

    def shortened(self, use: Use) -> Use:
        """Return a use in numbers of 16 bits, where it is kept so."""
        return in_short_floats(use)

    @torch.no_grad()
    def keep(self, uses: dict[str, Use]) -> dict[str, Use | IntegerForm]:
        """Return what is kept of the uses of a call until its batch is measured: short numbers, of many."""
        return {name: self._kept(use) for name, use in uses.items()}

    def _kept(self, use: Use) -> Use | IntegerForm:
        self._check_size(use)
        if isinstance(use, RowsUse) and use.rows._is_view() and not is_recording():
            return RowsUse(use.rows.clone())  # of slopes, which others may write to
        if isinstance(use, ImagesUse):
            return use.shortened(may_share=is_recording())
        if not isinstance(use, OuterUse | LookupUse) or 0 in _shape_of(use):
            return use
        return integer_form(use, self._shift)

    @torch.no_grad()
    def measure(self, uses: list[list[Any]], weights: Tensor, bound: float) -> MeasuredBatch:
        """Return the gradients of a batch and the coefficients with which they will be added up."""
        groups = [self._together(group, uses) for group in self._groups]
        norms = [_norms(group, len(weights), self._device) for group in groups]
        largest = norms[0] if len(norms) == 1 else torch.stack(norms).amax(0)
        roundings, rounding = _roundings([parameters for group in groups for parameters in group])
        measured = []
        for group, norm in zip(groups, norms, strict=True):
            found, counted = coefficients_for(
                self._plan.clipping.factors(norm, len(groups), bound),
                largest,
                weights,
                longest=self._integers,
                roundings=roundings,
                rounding=rounding,
                limits=[most for parameters in group for most in parameters.limits()],
            )
            measured.append((group, found))
        count = None
        if self._plan.count_weight:
            weight = (weights * self._plan.count_weight).floor().long() << self._shift
            within = torch.where(largest <= bound, weight, -weight)
            count = torch.where((weights > 0) & (largest < torch.inf), within, 0).sum()
        return MeasuredBatch(measured, count, counted)

    def take(self, batch: MeasuredBatch) -> Tensor:
        """Add a batch, and return which examples count.

        Its numbers are read when another is taken, the sum is settled, or it is released.
        """
        self.settle()
        self._waiting = batch
        return batch.counted

    @torch.no_grad()
    def settle(self) -> None:
        """Add the last batch to the total, if it is not there yet."""
        batch, self._waiting = self._waiting, None
        if batch is None:
            return
        total = self._held_total()
        self._has_sums = True  # also if what follows is interrupted
        parts = total[: self._plan.size].split(self._sizes)
        for parameters, coefficients in batch.sums():
            sizes = [self._sizes[place] for place in parameters.places]
            whole = parts[parameters.places[0]]
            if len(sizes) > 1:
                whole = torch.zeros(sum(sizes), dtype=torch.int64, device=self._device)
            for form in parameters.forms:
                form.add_to(whole, coefficients)
            if len(sizes) > 1:
                for place, part in zip(parameters.places, whole.split(sizes), strict=True):
                    parts[place].add_(part)
        if batch.count is not None:
            total[-1] += batch.count

    def _held_total(self) -> Tensor:
        """Return the total, which most runs never need: a step is one batch."""
        if self._total is None:
            self._total = torch.zeros(self._plan.drawn, dtype=torch.int64, device=self._device)
        return self._total

    def zeros(self) -> list[Tensor]:
        """Return zeros in the shapes of the parameters."""
        return [torch.zeros(shape, device=self._device) for shape in self._shapes]

    def add_up(self, processes: Processes) -> None:
        """Put the sums over all processes in place of those of this one."""
        if processes.is_alone:
            return
        self.settle()
        self._has_sums = True
        processes.add_up([self._held_total()])

    def release(self, bound: float) -> tuple[list[Tensor], float, bool]:
        """Return the noisy mean gradients, the next bound, and whether the noise was private."""
        is_private_noise = self.draw_key()
        try:
            if self._waiting is None or self._has_sums:
                self.settle()
                found, count = self._release_total(self._scale(bound))
            else:
                found, count = self._release_batch(self._waiting, self._scale(bound))
        finally:
            self._noise.forget()
        self.cleared()  # nothing that is private stays behind
        plan = self._plan
        if isinstance(plan.clipping, AdaptiveClipping):
            assert count is not None  # noqa: S101 - it has a weight then
            share = 0.5 + float(count) / self._scale(bound) / (2 * plan.count_weight * float(plan.batch))
            bound = plan.clipping.moved(bound, share)
        return found, bound, is_private_noise

    def draw_key(self) -> bool:
        """Draw the key of the noise of one step, and return whether it is private."""
        source = current()
        self._noise.renew(source)
        return is_private(source.mark(0))

    def release_alone(self, batch: MeasuredBatch, bound: float) -> list[Tensor]:
        """Return the noisy mean gradients of a step of one batch, under the key that was drawn last."""
        try:
            found, _ = self._release_batch(batch, self._scale(bound))
        finally:
            self._noise.forget()
        return found

    def _scale(self, bound: float) -> float:
        """What a grid step is, in a mean gradient."""
        return bound * 2**self._shift / (self._integers * float(self._plan.batch))

    @torch.no_grad()
    def _release_total(self, scale: float) -> tuple[list[Tensor], Tensor | None]:
        """Add sums over several batches to noise."""
        noise = self._noise.draw(self._plan.drawn)
        release_sums(noise, self._held_total(), self._shift, scale)
        noisy = noise.view(torch.float32)
        count = noisy[-1] if self._plan.count_weight else None
        return self._shaped(noisy[: self._plan.size].split(self._sizes)), count

    @torch.no_grad()
    def _release_batch(self, batch: MeasuredBatch, scale: float) -> tuple[list[Tensor], Tensor | None]:
        """Add noise to the sums of a single batch: of large matrices in 32 bits, without a total."""
        short, others = list[tuple[_Parameters, Tensor]](), list[tuple[_Parameters, Tensor]]()
        for one in batch.sums():
            (short if one[0].has_short_sum else others).append(one)
        places = [parameters.places[0] for parameters, _ in short]
        size = sum(_aligned(self._sizes[place]) for place in places)
        steps = torch.empty(size, dtype=torch.int32, device=self._device)
        found: list[Tensor] = [torch.empty(0)] * len(self._sizes)
        start = 0
        with SideStreams(3, most_open=4) as streams:  # by time measured
            noisy = streams.start_urgent(partial(self._release_long, others, batch.count, scale))
            for place, (parameters, coefficients) in zip(places, short, strict=True):
                end = start + self._sizes[place]
                own, start = steps[start:end], start + _aligned(self._sizes[place])
                steps[end:start].zero_()
                streams.start(partial(parameters.forms[0].write_steps, own, coefficients, self._shift))
                found[place] = own.view(torch.float32)
        self._noise.add_to(steps, scale)
        for place in (place for parameters, _ in others for place in parameters.places):
            found[place], noisy = noisy[: self._sizes[place]], noisy[self._sizes[place] :]
        return self._shaped(found), None if batch.count is None else noisy[0]

    def _release_long(
        self, some: list[tuple[_Parameters, Tensor]], count: Tensor | None, scale: float
    ) -> Tensor:
        """Return noisy sums of some parameters, and a count, of sums in integers of 64 bits."""
        sums = self._sums(some, count)
        noise = self._noise.draw(len(sums))
        release_sums(noise, sums, self._shift, scale)
        return noise.view(torch.float32)

    def _sums(self, some: list[tuple[_Parameters, Tensor]], count: Tensor | None) -> Tensor:
        """Return the sums of some parameters, and a count, in integers of 64 bits."""
        size = sum(self._sizes[place] for parameters, _ in some for place in parameters.places)
        sums = torch.zeros(size + (count is not None), dtype=torch.int64, device=self._device)
        start = 0
        for parameters, coefficients in some:
            size = sum(self._sizes[place] for place in parameters.places)
            for form in parameters.forms:
                form.add_to(sums[start : start + size], coefficients)
            start += size
        if count is not None:
            sums[-1] = count
        return sums

    def _shaped(self, parts: list[Tensor] | tuple[Tensor, ...]) -> list[Tensor]:
        return [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]

    def _check_size(self, use: Use) -> None:
        """Refuse what the constants are not proven for."""
        use = use.in_order_of_patches if isinstance(use, PatchesUse) else use
        if isinstance(use, OuterUse | LookupUse) and use.positions > MOST_POSITIONS:
            raise ParameterError("model", "has a layer of too many positions", "at most 8192 an example")
        if isinstance(use, OuterUse) and use.right.shape[2] > _MOST_COLUMNS:
            raise ParameterError("model", "has a layer of too many inputs", "at most 2^17")

    def _form_of(self, use: Use | IntegerForm) -> IntegerForm:
        if isinstance(use, IntegerForm):
            return use
        use = use.made
        self._check_size(use)
        return integer_form(RowsUse(_own(use.rows)) if isinstance(use, RowsUse) else use, self._shift)

    def _together(self, group: list[int], uses: list[list[Any]]) -> list[_Parameters]:
        """Return the forms of the parameters of a group: short rows as one, for one pass over all of them."""
        found, rows = [], list[tuple[int, RowsUse]]()
        for place in group:
            if self._sizes[place] == 0:
                found.append(_Parameters([place], []))
            elif len(uses[place]) == 1 and _is_short_rows(uses[place][0]):
                rows.append((place, uses[place][0]))
            else:
                forms = joined_forms([self._form_of(use) for use in uses[place]])
                found.append(_Parameters([place], forms))
        for kind in {use.rows.dtype: None for _, use in rows}:
            some = [(place, use.rows) for place, use in rows if use.rows.dtype == kind]
            values = torch.cat([one for _, one in some], 1) if len(some) > 1 else _own(some[0][1])
            found.append(
                _Parameters([place for place, _ in some], [integer_form(RowsUse(values), self._shift)])
            )
        return found


def _own(rows: Tensor) -> Tensor:
    """Return rows that nobody writes to between their norms and their sum, when the next batch is run."""
    return rows if is_recording() else rows.clone()


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _is_short_rows(use: Use | IntegerForm) -> bool:
    return isinstance(use, RowsUse) and use.rows.numel() < _MOST_COPIED


def _shape_of(use: OuterUse | LookupUse) -> torch.Size:
    return use.left.shape if isinstance(use, OuterUse) else use.slopes.shape


def _extend(parts: list[Tensor], form: IntegerForm) -> None:
    parts += form.squares()


def _norms(group: list[_Parameters], examples: int, device: torch.device) -> Tensor:
    """Bound the norm of each example's gradient by all parameters of a group, from above."""
    parts = [torch.empty(examples, 0, dtype=torch.float64, device=device)]
    with SideStreams(3) as streams:  # by time measured
        for form in (form for parameters in group for form in parameters.forms):
            streams.start(partial(_extend, parts, form))
    for forms in (parameters.forms for parameters in group if len(parameters.forms) > 1):
        pairs = combinations([form.kept() for form in forms], 2)
        parts += [2 * inner_products(one, other)[:, None] for one, other in pairs]
        masses = torch.stack([form.mass() for form in forms]).sum(0)
        parts.append(_BETWEEN * masses.square()[:, None])
    return bounded_norms(torch.cat(parts, 1))


def _roundings(found: list[_Parameters]) -> tuple[list[Tensor], float]:
    """Return how far rounding may move each example in some parameters, and the square for all others."""
    roundings, rounding = [], 0.0
    for forms in (parameters.forms for parameters in found if parameters.forms):
        each = reduce(add, (form.rounding() for form in forms))
        if len(forms) > 1:
            each = each + _OF_A_USE * len(forms)
        if isinstance(each, Tensor):
            roundings.append(each)
        else:
            rounding += each**2
    return roundings, rounding
