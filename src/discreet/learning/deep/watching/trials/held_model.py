"""What a model holds during a batch: it is to be the same after the forward pass as before."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from discreet.errors import ParameterError
from discreet.learning.deep.sharded_parameters import UNSHARDED, ShardedParameters, own_part
from discreet.learning.deep.watching.trials.frozen_statistics import FrozenStatistics
from discreet.learning.deep.watching.trials.tensor_checksums import checksums

__all__ = ["HeldModel"]

_FIRST = 3  # batches in which values are compared; from then on, if their number is a power of two


class HeldModel:
    """Notes the parameters and buffers of a model, and refuses changes of them.

    A checkpoint holds them all: one that a forward pass writes to would carry examples past the noise.
    PyTorch counts how often a tensor is written to, which is looked at in every batch. What is written
    through `data` it does not count: so values are compared, too, by checksums, in the first batches and
    again whenever there have been twice as many.
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
        self._held, self._sums, self._batches = self._now(), list[Tensor](), 0
        self._frozen = FrozenStatistics(model)

    def hold(self) -> None:
        """Note what the model holds now; of some batches also its values."""
        self._held = self._now()
        self._frozen.hold()
        self._batches += 1
        is_compared = self._batches <= _FIRST or self._batches & (self._batches - 1) == 0
        self._sums = self._values() if is_compared else []

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
        if is_same and self._sums:
            is_same = all(torch.equal(*pair) for pair in zip(self._values(), self._sums, strict=True))
        if not is_same:
            raise ParameterError(
                "model",
                "changes a buffer or parameter in its forward pass, which carries examples into checkpoints",
                "modules without running statistics",
            )

    def _values(self) -> list[Tensor]:
        """Return checksums of what was noted, as it is now."""
        return checksums([value for value, *_ in self._held])

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
