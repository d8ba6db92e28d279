"""The sum of clipped gradients as exact integers, and its release with noise, all on an accelerator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from discreet.errors import ParameterError
from discreet.learning.deep.accelerator.device_noise import DeviceNoise
from discreet.learning.deep.accelerator.device_plan import DevicePlan
from discreet.learning.deep.accelerator.integer_rows import IntegerForm, integer_form, worst_rounding
from discreet.learning.deep.accelerator.side_streams import SideStreams
from discreet.learning.deep.clipping import AdaptiveClipping
from discreet.learning.deep.processes import Processes
from discreet.learning.deep.uses import LookupUse, OuterUse, RowsUse, Use, inner_products
from discreet.noise import current, is_private

__all__ = ["IntegerSum", "MeasuredBatch"]

_UP = 1 + 2.0**-24
_LEAST_NORM = 2.0**-28
"""Added to norms, so that coefficients are at most 2^58 (lemma 2)."""
_AT_ONCE = 2**24
"""Numbers that get noise together: enough to keep an accelerator busy, and their sums take little memory."""
_MOST_POSITIONS, _MOST_COLUMNS, _MOST_SIZE = 2**13, 2**17, 2**28  # for which the constants are proven


@dataclass(frozen=True, eq=False)
class _Parameters:
    """Forms of the gradients of some parameters, which are flat one after the other.

    There are several forms for a single parameter that is used several times, and one form for many
    parameters whose gradients are rows.
    """

    places: list[int]
    forms: list[IntegerForm]

    @property
    def has_steps(self) -> bool:
        """Whether their sum can be written in grid steps."""
        return len(self.forms) == 1 and self.forms[0].has_steps


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
        self._keeping: SideStreams | None = None

    def cleared(self) -> IntegerSum:
        """Return this sum with nothing added."""
        if self._has_sums and self._total is not None:
            self._total.zero_()
        self._waiting, self._has_sums, self._keeping = None, False, None
        return self

    def add(self, uses: list[list[Any]], weights: Tensor, bound: float) -> Tensor:
        """Add the gradients of a batch, and return which examples count.

        An example whose gradient has a norm that is not finite adds nothing.
        """
        return self.take(self.measure(uses, weights, bound))

    @torch.no_grad()
    def kept(self, use: Use) -> Use | IntegerForm:
        """Return what is kept of a use until its batch is measured: short numbers, where there are many."""
        self._check_size(use)
        if not isinstance(use, OuterUse) or not use.left.numel():
            return use
        if self._keeping is None:
            self._keeping = SideStreams(1, most_open=2)
        return self._keeping.start(partial(integer_form, use))

    @torch.no_grad()
    def measure(self, uses: list[list[Any]], weights: Tensor, bound: float) -> MeasuredBatch:
        """Return the gradients of a batch and the coefficients with which they will be added up."""
        if self._keeping is not None:
            self._keeping.wait()
            self._keeping = None
        groups = [self._together(group, uses) for group in self._groups]
        self._check_rounding(groups)
        norms = [_norms(group, weights) for group in groups]
        finite = torch.stack(norms).isfinite().all(0)
        counts = finite & (weights > 0)  # padding may hold anything
        room = self._room(groups, weights)
        measured = []
        for group, norm in zip(groups, norms, strict=True):
            coefficients = self._plan.clipping.factors(norm, len(groups), bound) * room
            forms = [form for parameters in group for form in parameters.forms]
            limits = [most for form in forms if (most := form.most()) is not None]
            coefficients = torch.stack([coefficients, *limits]).amin(0)
            measured.append((group, torch.where(counts, coefficients, 0.0)))  # also if not a number
        count = None
        if self._plan.count_weight:
            weight = (weights * self._plan.count_weight).floor().long() << self._shift
            within = torch.where(norms[0] <= bound, weight, -weight)
            count = torch.where(counts, within, 0).sum()
        return MeasuredBatch(measured, count, finite | (weights <= 0))

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
        """Add noise to sums over several batches."""
        with SideStreams(1) as streams:
            noisy = self._noisy(self._held_total(), scale, streams)
        count = noisy[-1] if self._plan.count_weight else None
        return self._shaped(noisy[: self._plan.size].split(self._sizes)), count

    @torch.no_grad()
    def _release_batch(self, batch: MeasuredBatch, scale: float) -> tuple[list[Tensor], Tensor | None]:
        """Add noise to the sums of a single batch, some parameters at a time: there is no total."""
        found: list[Tensor] = [torch.empty(0)] * len(self._sizes)
        with SideStreams(1, most_open=1) as streams:
            for some, has_steps in self._at_once(batch):
                places = [place for parameters, _ in some for place in parameters.places]
                noisy = self._noisy(self._sums(some, has_steps=has_steps), scale, streams)
                for place, part in zip(
                    places, noisy.split([self._sizes[place] for place in places]), strict=True
                ):
                    found[place] = part
            count = None if batch.count is None else self._noisy(batch.count.reshape(1), scale, streams)[0]
        return self._shaped(found), count

    def _at_once(self, batch: MeasuredBatch) -> Iterator[tuple[list[tuple[_Parameters, Tensor]], bool]]:
        """Yield parameters whose sums are made and get noise together, and whether those are grid steps."""
        for has_steps in (True, False):
            some, size = list[tuple[_Parameters, Tensor]](), 0
            for parameters, coefficients in batch.sums():
                if parameters.has_steps is not has_steps:
                    continue
                more = sum(self._sizes[place] for place in parameters.places)
                if some and size + more > _AT_ONCE:
                    yield some, has_steps
                    some, size = [], 0
                some.append((parameters, coefficients))
                size += more
            if some:
                yield some, has_steps

    def _sums(self, some: list[tuple[_Parameters, Tensor]], *, has_steps: bool) -> Tensor:
        """Return the sums of some parameters, in grid steps or in integers of 64 bits."""
        sizes = [sum(self._sizes[place] for place in parameters.places) for parameters, _ in some]
        if has_steps:
            sums = torch.empty(sum(sizes), dtype=torch.int32, device=self._device)
        else:
            sums = torch.zeros(sum(sizes), dtype=torch.int64, device=self._device)
        with SideStreams(3, most_open=3) as streams:  # by time measured
            for (parameters, coefficients), part in zip(some, sums.split(sizes), strict=True):
                if has_steps:
                    streams.start(partial(parameters.forms[0].write_to, part, coefficients, self._shift))
                else:
                    for form in parameters.forms:
                        form.add_to(part, coefficients)
        return sums

    def _noisy(self, sums: Tensor, scale: float, streams: SideStreams) -> Tensor:
        out = torch.empty(sums.numel(), dtype=torch.float32, device=sums.device)
        streams.start(self._noise.release(sums, out, self._shift, scale))
        return out

    def _shaped(self, parts: list[Tensor] | tuple[Tensor, ...]) -> list[Tensor]:
        return [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]

    def _room(self, groups: list[list[_Parameters]], weights: Tensor) -> Tensor:
        """Return how long c G may be for each example, so that H is no longer than its weight."""
        for_all, parts = 0.0, []
        for parameters in (one for group in groups for one in group):
            each = sum(form.rounding() for form in parameters.forms)
            if isinstance(each, Tensor):
                parts.append(each)
            else:
                for_all += each**2
        squares = torch.stack(parts).square().sum(0) + for_all if parts else torch.full_like(weights, for_all)
        return (weights * self._integers - squares.sqrt()).clamp(min=0)

    def _check_rounding(self, groups: list[list[_Parameters]]) -> None:
        """Refuse what rounding would leave little of, whatever the data are."""
        worst = [
            sum(form.worst_rounding for form in parameters.forms) for group in groups for parameters in group
        ]
        if sum(each**2 for each in worst) ** 0.5 > self._integers / 2:
            raise _too_coarse()

    def _check_size(self, use: Use) -> None:
        """Refuse what the constants are not proven for."""
        if isinstance(use, OuterUse | LookupUse) and use.positions > _MOST_POSITIONS:
            raise ParameterError("model", "has a layer of too many positions", "at most 8192 an example")
        if isinstance(use, OuterUse):
            rows, columns = use.left.shape[2], use.right.shape[2]
            if columns > _MOST_COLUMNS:
                raise ParameterError("model", "has a layer of too many inputs", "at most 2^17")
            if worst_rounding(use.positions, rows, columns) > self._integers / 2:
                raise _too_coarse()

    def _form_of(self, use: Use | IntegerForm) -> IntegerForm:
        if isinstance(use, IntegerForm):
            return use
        self._check_size(use)
        return integer_form(use)

    def _together(self, group: list[int], uses: list[list[Any]]) -> list[_Parameters]:
        """Return the forms of the parameters of a group: all that are rows as one, for one pass over them."""
        found, rows = [], list[tuple[int, RowsUse]]()
        for place in group:
            if self._sizes[place] == 0:
                found.append(_Parameters([place], []))
            elif len(uses[place]) == 1 and isinstance(uses[place][0], RowsUse):
                rows.append((place, uses[place][0]))
            else:
                found.append(_Parameters([place], [self._form_of(use) for use in uses[place]]))
        for kind in {use.rows.dtype: None for _, use in rows}:
            some = [(place, use.rows) for place, use in rows if use.rows.dtype == kind]
            values = torch.cat([one for _, one in some], 1) if len(some) > 1 else some[0][1]
            found.append(_Parameters([place for place, _ in some], [integer_form(RowsUse(values))]))
        return found


def _too_coarse() -> ParameterError:
    return ParameterError(
        "model",
        "has so many positions that rounding would leave little of its gradients",
        "shorter texts or smaller layers; or the model on the processor",
    )


def _extend(parts: list[Tensor], form: IntegerForm) -> None:
    parts += form.squares()


def _norms(group: list[_Parameters], weights: Tensor) -> Tensor:
    """Bound the norm of each example's gradient by all parameters of a group, from above."""
    parts = [torch.zeros_like(weights)[:, None]]
    with SideStreams(3) as streams:  # by time measured: Gram matrices keep few circuits busy
        for form in (form for parameters in group for form in parameters.forms):
            streams.start(partial(_extend, parts, form))
    for forms in (parameters.forms for parameters in group if len(parameters.forms) > 1):
        pairs = combinations([form.kept() for form in forms], 2)
        parts += [2 * inner_products(one, other)[:, None] for one, other in pairs]
        masses = torch.stack([form.mass() for form in forms]).sum(0)
        parts.append(2.0**-24 * masses.square()[:, None])
    squares = torch.cat(parts, 1).sum(1)
    # An overflow may have either sign, and may not pass for a short gradient.
    squares = torch.where(squares.isfinite(), squares.clamp(min=0), torch.inf)
    return squares.sqrt() * _UP + _LEAST_NORM
