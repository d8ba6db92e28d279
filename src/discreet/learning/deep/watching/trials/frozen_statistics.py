"""Batch normalization that stays as it is: its statistics are constants, and it mixes no examples.

In evaluation mode a batch normalization subtracts means and divides by deviations from before, which both
are buffers. In training mode it takes those of the batch, which mixes examples, and counts the batch in a
buffer, `num_batches_tracked`. PyTorch counts how often a tensor was written to. So one whose buffers are the
same tensors and were not written to since a run began, and that is in evaluation mode whenever losses are
taken, was in evaluation mode at every call.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from discreet.errors import ParameterError
from discreet.learning.deep.watching.module_places import place_in_model

__all__ = ["FrozenStatistics", "can_be_frozen", "is_frozen"]

_STATISTICS = ("num_batches_tracked", "running_mean", "running_var")
_FORWARD = {_BatchNorm.forward, nn.SyncBatchNorm.forward}
"""Those that count batches in training mode, and change nothing else outside of it."""


def can_be_frozen(module: nn.Module) -> bool:
    """Whether a module is a batch normalization of PyTorch's, with statistics of its own."""
    return (
        isinstance(module, _BatchNorm)
        and type(module).forward in _FORWARD
        and "forward" not in vars(module)
        and module.track_running_stats
        and all(isinstance(getattr(module, name, None), Tensor) for name in _STATISTICS)
    )


def is_frozen(module: nn.Module) -> bool:
    """Whether it is one, in evaluation mode, of which nothing is trained."""
    is_trained = any(value.requires_grad for value in module.parameters())
    return can_be_frozen(module) and not module.training and not is_trained


class FrozenStatistics:
    """The frozen batch normalizations of a model, which are to stay so.

    Parameters
    ----------
    model : nn.Module

    Guarantee
    ---------
    After a call of `check` without an error, none of them has been called in training mode since the first
    call of `hold`, by whatever part of the program, unless `track_running_stats` was off meanwhile.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._modules = {name: module for name, module in model.named_modules() if is_frozen(module)}
        self._held: list[tuple[Any, int]] | None = None

    def hold(self) -> None:
        """Note the statistics, the first time that this is called."""
        if self._held is None:
            self._held = self._now()

    def check(self) -> None:
        """Refuse one that is not frozen, or that was called in training mode since `hold`."""
        for name, module in self._modules.items():
            if module.training or not module.track_running_stats:
                raise ParameterError(
                    "model",
                    f"has a {type(module).__name__} ({name or 'the model'}) in training mode, "
                    "in which it mixes examples",
                    f"{place_in_model(self._model, name)}.eval() after every model.train()",
                )
        if self._modules and self._held is not None and not _is_same(self._now(), self._held):
            raise ParameterError(
                "model",
                "has a batch normalization whose statistics were written to since the run began, as every "
                "call in training mode does: they would carry examples into checkpoints",
                "evaluation mode in every call; dp.learning.private again if they were loaded",
            )

    def _now(self) -> list[tuple[Any, int]]:
        values = [module._buffers[name] for module in self._modules.values() for name in _STATISTICS]
        return [(value, -1 if value is None else value._version) for value in values]


def _is_same(now: list[tuple[Any, int]], held: list[tuple[Any, int]]) -> bool:
    """Whether these are the same tensors, written to as often."""
    return all(
        value is before and times == times_before
        for (value, times), (before, times_before) in zip(now, held, strict=True)
    )
