"""The sum of clipped gradients as exact integers, and its release with noise, all on an accelerator."""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

from discreet.errors import ParameterError
from discreet.learning.deep.accelerator.device_noise import DeviceNoise
from discreet.learning.deep.accelerator.device_plan import INTEGERS, DevicePlan
from discreet.learning.deep.accelerator.integer_rows import IntegerForm, integer_form
from discreet.learning.deep.clipping import AdaptiveClipping
from discreet.learning.deep.processes import Processes
from discreet.learning.deep.uses import LookupUse, OuterUse, Use, inner_products
from discreet.noise import current, is_private

__all__ = ["IntegerSum"]

_UP = 1 + 2.0**-24
_LEAST_NORM = 2.0**-28
"""More than a norm may be too small by, because small floats are 0 (lemma 1)."""
_MOST_POSITIONS, _MOST_COLUMNS, _MOST_SIZE = 2**13, 2**17, 2**28  # for which the constants are proven


class IntegerSum:
    """Adds up the gradients of a step, each shortened, as integers: 2^30 for the bound of clipping.

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
        self._groups, self._plan, self._noise = groups, plan, noise
        device = parameters[0].device
        self._total = torch.zeros(plan.drawn, dtype=torch.int64, device=device)
        self._parts = self._total[: plan.size].split([parameter.numel() for parameter in parameters])

    def cleared(self) -> IntegerSum:
        """Return this sum, in the same place in memory, with nothing added."""
        self._total.zero_()
        return self

    @torch.no_grad()
    def add(self, uses: list[list[Use]], weights: Tensor, bound: float) -> Tensor:
        """Add the gradients of a batch, and return which examples count.

        An example whose gradient has a norm that is not finite adds nothing.
        """
        _check_sizes(uses)
        forms = [[integer_form(use) for use in found] for found in uses]
        norms = [_norms([forms[place] for place in group], weights) for group in self._groups]
        finite = torch.stack(norms).isfinite().all(0)
        counts = finite & (weights > 0)  # padding may hold anything
        room = _room(forms, weights)
        for group, norm in zip(self._groups, norms, strict=True):
            coefficients = self._plan.clipping.factors(norm, len(self._groups), bound) * room
            found = [form for place in group for form in forms[place]]
            limits = [most for form in found if (most := form.most()) is not None]
            coefficients = torch.stack([coefficients, *limits]).amin(0)
            coefficients = torch.where(counts, coefficients, 0.0)  # also where a limit is not a number
            for place in group:
                for form in forms[place]:
                    form.add_to(self._parts[place], coefficients)
        if self._plan.count_weight:
            weight = (weights * self._plan.count_weight).floor().long() << self._plan.shift
            within = torch.where(norms[0] <= bound, weight, -weight)
            self._total[-1] += torch.where(counts, within, 0).sum()
        return finite | (weights <= 0)

    def zeros(self) -> list[Tensor]:
        """Return zeros in the shapes of the parameters."""
        return [torch.zeros(shape, device=self._total.device) for shape in self._shapes]

    def add_up(self, processes: Processes) -> None:
        """Put the sums over all processes in place of those of this one."""
        processes.add_up([self._total])

    def release(self, bound: float) -> tuple[list[Tensor], float, bool]:
        """Return the noisy mean gradients, the next bound, and whether the noise was private."""
        plan, source = self._plan, current()
        self._noise.renew(source)
        scale = bound * 2**plan.shift / (INTEGERS * float(plan.batch))
        noisy = self._noise.release(self._total, plan.shift, scale)
        self._total.zero_()  # nothing that is private stays behind
        if isinstance(plan.clipping, AdaptiveClipping):
            share = 0.5 + float(noisy[-1]) / scale / (2 * plan.count_weight * float(plan.batch))
            bound = plan.clipping.moved(bound, share)
        parts = noisy[: plan.size].split([part.numel() for part in self._parts])
        found = [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]
        return found, bound, is_private(source.mark(0))


def _norms(found: list[list[IntegerForm]], weights: Tensor) -> Tensor:
    """Bound the norm of each example's gradient by all parameters of a group, from above."""
    parts = [torch.zeros_like(weights)]
    for forms in filter(None, found):
        masses = [form.mass() for form in forms]
        parts += [form.squares(mass) for form, mass in zip(forms, masses, strict=True)]
        parts += [2 * inner_products(one.kept(), other.kept()) for one, other in combinations(forms, 2)]
        if len(forms) > 1:
            parts.append(2.0**-24 * torch.stack(masses).sum(0).square())
    squares = torch.stack(parts).sum(0)
    # An overflow may have either sign, and may not pass for a short gradient.
    squares = torch.where(squares.isfinite(), squares.clamp(min=0), torch.inf)
    return squares.sqrt() * _UP + _LEAST_NORM


def _room(forms: list[list[IntegerForm]], weights: Tensor) -> Tensor:
    """Return how long c G may be for each example, so that H is no longer than its weight."""
    for_all, parts = 0.0, [torch.zeros_like(weights)]
    for found in forms:
        each = sum(form.rounding() for form in found)
        if isinstance(each, Tensor):
            parts.append(each)
        else:
            for_all += each**2
    squares = torch.stack(parts).square().sum(0) + for_all
    return (weights * INTEGERS - squares.sqrt()).clamp(min=0)


def _check_sizes(uses: list[list[Use]]) -> None:
    """Refuse what the constants are not proven for, and what rounding would leave little of."""
    rounding = 0.0
    for found in uses:
        most = 0.0
        for use in found:
            if isinstance(use, OuterUse | LookupUse) and use.positions > _MOST_POSITIONS:
                raise ParameterError("model", "has a layer of too many positions", "at most 8192 an example")
            if isinstance(use, OuterUse):
                rows, columns = use.left.shape[2], use.right.shape[2]
                if columns > _MOST_COLUMNS:
                    raise ParameterError("model", "has a layer of too many inputs", "at most 2^17")
                most += use.positions * (rows * columns) ** 0.5 * 127
        rounding += most**2
    if rounding**0.5 > INTEGERS:
        raise ParameterError(
            "model",
            "has so many positions that rounding would leave little of its gradients",
            "shorter texts or smaller layers; or the model on the processor",
        )
