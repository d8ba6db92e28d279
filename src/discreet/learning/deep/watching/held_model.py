"""What a model holds during a batch: it is to be the same after the forward pass as before."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from discreet.errors import ParameterError
from discreet.learning.deep.sharded_parameters import UNSHARDED, ShardedParameters, own_part
from discreet.learning.deep.watching.frozen_statistics import FrozenStatistics

__all__ = ["HeldModel"]

_TRIALS = 3  # batches in which values of buffers are compared


class HeldModel:
    """Notes the parameters and buffers of a model, and refuses changes of them.

    A checkpoint holds buffers, too: one that a forward pass writes to would carry examples past the noise.
    Batch normalizations stay frozen from the first batch on.

    Parameters
    ----------
    model : nn.Module
    parameters : list of tensors
        Those that are trained.
    shards : ShardedParameters, optional
        Of this model: both its shards and what is gathered from them are looked at.
    """

    def __init__(
        self, model: nn.Module, parameters: list[Tensor], shards: ShardedParameters = UNSHARDED
    ) -> None:
        self._shards = shards
        self._find = next(
            find for find in (_found_quickly, _found) if _places(find(model)) == _places(_found(model))
        )
        self._model, self._trained = model, [id(value) for value in parameters]
        self._held, self._copies, self._trials = self._now(), list[Tensor](), 0
        self._frozen = FrozenStatistics(model)

    def hold(self) -> None:
        """Note what the model holds now; of the first batches also the values of buffers."""
        self._held = self._now()
        self._frozen.hold()
        # What is written through `data` is not counted by PyTorch.
        self._copies = [value.clone() for value in self._model.buffers()] if self._trials < _TRIALS else []
        self._trials += 1

    @property
    def places(self) -> list[int]:
        """Where in memory all of it was."""
        return [place for *_, place in self._held]

    def check(self) -> None:
        """Refuse a model that holds other values than when that was noted, or trains other parameters."""
        self._frozen.check()
        now = self._now()
        trained = [id(value) for value, *_ in now if isinstance(value, nn.Parameter) and value.requires_grad]
        if trained != self._trained:
            raise ParameterError(
                "model", "has other trained parameters than at the start", "dp.learning.private again"
            )
        is_same = len(now) == len(self._held) and all(
            value is before and state == state_before
            for (value, *state), (before, *state_before) in zip(now, self._held, strict=True)
        )
        if is_same and self._copies:
            pairs = zip((value for value, *_ in now), self._copies, strict=False)  # buffers come first
            is_same = all(_equal(value, copy) for value, copy in pairs)
        if not is_same:
            raise ParameterError(
                "model",
                "changes a buffer or parameter in its forward pass, which carries examples into checkpoints",
                "modules without running statistics",
            )

    @torch.no_grad()
    def _now(self) -> list[tuple[Tensor, int, int, int]]:
        """Return all values, with how often and where each was written."""
        if not self._shards.is_any:
            found = self._find(self._model)
            return [(value, value._version, value._version, value.data_ptr()) for value in found]
        found = [*self._model.buffers(), *self._shards.parameters(self._model)]
        values = [(value, own_part(value), self._shards.gathered(value)) for value in found]
        return [(value, used._version, own._version, own.data_ptr()) for value, own, used in values]


def _found(model: nn.Module) -> list[Tensor]:
    """Return the buffers of a model, and then its parameters."""
    return [*model.buffers(), *model.parameters()]


def _found_quickly(model: nn.Module) -> list[Tensor]:
    """Return the same of a model that has no way of its own to tell them, in a fifth of the time."""
    seen, waiting = dict[nn.Module, None](), [model]
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen[module] = None
            waiting += [part for part in reversed(module._modules.values()) if part is not None]
    buffers = {id(value): value for module in seen for value in module._buffers.values()}
    parameters = {id(value): value for module in seen for value in module._parameters.values()}
    return [value for value in (*buffers.values(), *parameters.values()) if value is not None]


def _places(values: list[Tensor]) -> list[int]:
    return [id(value) for value in values]


def _equal(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same values, or are not numbers in the same places."""
    return bool(torch.equal(one, other) or torch.equal(one.nan_to_num(), other.nan_to_num()))
