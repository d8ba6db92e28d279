"""Parameters that `fully_shard` has cut up: each process keeps its shard, and all are gathered to be used.

Between steps such a parameter is a DTensor, of which a process holds its own part. Before a part of the model
runs, forward or backward, its parameters are gathered from all processes into plain tensors, and let go of
afterwards. Layers are watched as those of any model; the backward pass ends at what layers returned, so that
no gradient of a parameter arises that could be reduced over processes. The noisy mean of everybody's gradient
is whole in every process, and each takes its shard of it.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor, nn

from discreet.errors import ParameterError
from discreet.learning.deep.processes import Processes

__all__ = ["UNSHARDED", "ShardedParameters", "own_part"]

_TENSORS, _SHARDING = "torch.distributed.tensor", "torch.distributed.fsdp"  # which take half a second to load


class ShardedParameters:
    """Which parameters of a model are sharded, in which form each is found, and what processes agree on.

    A model that nobody has sharded has none, and nothing is done for it.

    Parameters
    ----------
    model : nn.Module
        If it is sharded, then by `fully_shard`, over a mesh of one dimension, of the processes of the run.
    processes : Processes

    Guarantee
    ---------
    Gathering takes all processes at once. So all take equally many batches, and try out the same ones.
    """

    def __init__(self, model: nn.Module, processes: Processes) -> None:
        self._processes = processes
        self._kept: dict[int, Tensor] = {}
        self._gathered: dict[int, Tensor] = {}
        self._parts: list[Any] = _parts(model)
        _refuse_wrapped(model)
        self.let_go()
        found = [value for value in model.parameters() if _is_cut(value)]
        for value in found:
            _check_mesh(value, processes)
        for part in self._parts:
            self._note(part)
        if any(id(value) not in self._gathered for value in found):
            raise ParameterError(
                "model",
                "has parameters that are sharded and not gathered when they are used",
                "torch.distributed.fsdp.fully_shard(model) alone, which gathers them",
            )

    def _note(self, part: Any) -> None:
        """Gather the parameters of a part once, and note what stands for each of them meanwhile."""
        kept = [
            (module, name, value)
            for module in part.modules()
            for name, value in module.named_parameters(recurse=False, remove_duplicate=False)
            if _is_cut(value)
        ]
        part.unshard()
        for module, name, value in kept:
            gathered = module.get_parameter(name)
            if not _is_cut(gathered):
                self._gathered[id(value)], self._kept[id(gathered)] = gathered, value
        part.reshard()

    @property
    def is_any(self) -> bool:
        """Whether there are any."""
        return bool(self._parts)

    def let_go(self) -> None:
        """Keep shards alone. What is still gathered would hide that its shards have changed."""
        for part in self._parts:
            part.reshard()

    def parameters(self, model: nn.Module) -> list[Tensor]:
        """Return the parameters of a model as they are between steps, also while some are gathered."""
        if any(_is_cut(value) and id(value) not in self._gathered for value in model.parameters()):
            self.let_go()  # of those that were cut up otherwise for the time between two passes
        return [self._kept.get(id(value), value) for value in model.parameters()]

    def gathered(self, value: Tensor) -> Tensor:
        """Return what stands for a parameter while it is used; its numbers are there only then."""
        return self._gathered.get(id(value), value)

    def whole(self, value: Tensor) -> Tensor:
        """Return all numbers of a parameter, in the precision in which it is used. All processes call it."""
        if not _is_cut(value):
            return value.detach()
        found: Tensor = value.detach().full_tensor()
        return found.to(self.gathered(value).dtype)

    def whole_everywhere(self, model: nn.Module) -> list[Tensor]:
        """Return the parameters and buffers that every process has whole."""
        return [value.data for value in (*model.parameters(), *model.buffers()) if not _is_cut(value)]

    def shard(self, mean: Tensor, parameter: Tensor) -> Tensor:
        """Return what this process keeps of a mean gradient, which is whole and the same in all."""
        mean = mean.to(parameter.dtype)
        if not _is_cut(parameter):
            return mean
        from torch.distributed.tensor import distribute_tensor

        mesh, placements = parameter.device_mesh, parameter.placements
        return distribute_tensor(mean, mesh, placements, src_data_rank=None)

    def batches(self, own: int) -> int:
        """Return how many batches a step has in all processes, of which some have places of this one.

        It is the same in every step, unless one of them has drawn more examples than it has places for.
        """
        return self._processes.most(own) if self.is_any else own

    def tried(self, weights: Tensor) -> Tensor:
        """Return the weights by which a batch is tried out, in all processes or in none.

        It is tried out where some process has two examples; those that have not try out their padding.
        """
        if not self.is_any:
            return weights
        is_telling = int(weights.count_nonzero()) > 1
        is_tried = self._processes.total(int(is_telling)) > 0
        return torch.ones_like(weights) if is_tried and not is_telling else weights

    def agreed(self, is_so: bool) -> bool:
        """Whether it is so in all processes that gather parameters together."""
        return self._processes.total(int(not is_so)) == 0 if self.is_any else is_so

    def refuse_sharded(self, module: nn.Module, name: str) -> None:
        """Refuse a module that is run again by itself, and would gather other parameters than it is given."""
        own = {id(part) for part in self._parts}
        if any(id(part) in own for part in module.modules()):
            raise ParameterError(
                "model",
                f"has a {type(module).__name__} ({name or 'the model'}) that is sharded by itself and has "
                "parameters that are no known layer's",
                "fully_shard of the module around it; or these parameters in a module of their own",
            )


def own_part(value: Tensor) -> Tensor:
    """Return the part of a parameter that this process holds; mostly it is all of it."""
    return value.to_local() if _is_cut(value) else value


def _is_cut(value: Tensor) -> bool:
    loaded: Any = sys.modules.get(_TENSORS)
    return loaded is not None and isinstance(value, loaded.DTensor)


def _parts(model: nn.Module) -> list[Any]:
    """Return the modules whose parameters are gathered together."""
    loaded: Any = sys.modules.get(_SHARDING)
    if loaded is None:
        return []
    return [module for module in model.modules() if isinstance(module, loaded.FSDPModule)]


def _refuse_wrapped(model: nn.Module) -> None:
    loaded: Any = sys.modules.get(_SHARDING)
    if loaded is not None and any(
        isinstance(module, loaded.FullyShardedDataParallel) for module in model.modules()
    ):
        raise ParameterError(
            "model",
            "is wrapped in FullyShardedDataParallel, which hides its parameters in flat ones",
            "torch.distributed.fsdp.fully_shard(model) in its place",
        )


def _check_mesh(value: Any, processes: Processes) -> None:
    mesh = value.device_mesh
    if processes.is_alone:
        raise ParameterError(
            "group", "is missing: the model is sharded over processes", "the group of these processes"
        )
    if mesh.ndim != 1 or not all(placement.is_shard() for placement in value.placements):
        raise ParameterError(
            "model",
            "is sharded over a mesh of several dimensions, or has copies of shards",
            "fully_shard(model, mesh=mesh) with a mesh of one dimension",
        )
    if {int(rank) for rank in mesh.mesh.flatten()} != processes.ranks:
        raise ParameterError(
            "group", "has other processes than those the model is sharded over", "the group of these"
        )


UNSHARDED = ShardedParameters(nn.Module(), Processes())
"""Those of a model that is whole."""
