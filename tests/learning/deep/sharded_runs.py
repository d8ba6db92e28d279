"""One of two processes that train models whole and sharded: ``sharded_runs.py FOLDER RANK``.

For each kind of run it saves what the process has in the end: weights, account, and what it has seen.
"""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, Shard
from torch.nn import functional

from discreet.errors import ParameterError
from discreet.learning.deep.clipping import AdaptiveClipping, PerLayerClipping
from discreet.learning.deep.private import private
from discreet.learning.deep.private_epochs import private_epochs
from discreet.learning.deep.sharded_parameters import own_part
from discreet.noise import replay

RANKS = 2
TEXTS = "texts", "columns"


class Gain(nn.Module):
    """A layer without a rule, which multiplies numbers of one precision alone."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.linspace(0.5, 1.5, 5).diag())

    def forward(self, rows):
        return rows @ self.gain


class Block(nn.Module):
    """A residual block, of sizes that two processes cannot halve."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer, self.gain = nn.Linear(5, 7), nn.Linear(7, 5), Gain()

    def forward(self, rows):
        return rows + self.gain(self.outer(torch.tanh(self.inner(rows))))


class Blocks(nn.Module):
    """Reads rows of three numbers, and returns one."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.frozen = nn.Linear(3, 5), nn.Linear(5, 5)
        self.layers = nn.ModuleList([Block(), Block()])
        self.norm, self.head = nn.LayerNorm(5), nn.Linear(5, 1)
        self.frozen.requires_grad_(requires_grad=False)
        self.register_buffer("shift", torch.full((5,), 0.1))

    def forward(self, rows):
        rows = self.frozen(self.first(rows)) + self.shift
        for layer in self.layers:
            rows = layer(rows)
        return self.head(self.norm(rows))


class Texts(nn.Module):
    """Reads six words, and gives each of eleven a score by the table that it reads them from."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(11, 6), nn.Linear(6, 11)
        self.head.weight = self.words.weight
        self.layers = nn.ModuleList([nn.Conv1d(6, 9, 3, padding=1), nn.GroupNorm(3, 9), nn.Conv1d(9, 6, 3)])

    def forward(self, words):
        rows = self.words(words).transpose(1, 2)
        for layer in self.layers:
            rows = layer(rows)
        return self.head(rows.mean(2))


def squared_errors(model, rows, targets):
    """The losses of `Blocks`."""
    return (model(rows)[:, 0] - targets) ** 2


def surprises(model, words, targets):
    """The losses of `Texts`."""
    return functional.cross_entropy(model(words), targets, reduction="none")


def people(rank, kind):
    """The examples of a process: the first has 57 people, and the other three."""
    generator = torch.Generator().manual_seed(3)
    own = slice(0, 57) if rank == 0 else slice(57, 60)
    if kind in TEXTS:
        words = torch.randint(0, 11, (60, 6), generator=generator)
        return words[own], words[own, 0]
    rows = torch.randn(60, 3, generator=generator)
    rows[5] = rows[58] = torch.nan
    return rows[own], rows[own].sum(1)


def sharded(model, kind):
    """Cut a model up as users do."""
    mesh = init_device_mesh("cpu", (RANKS,))
    stated = {"mesh": mesh}
    if kind == "mixed":
        stated["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    if kind == "columns":
        stated["shard_placement_fn"] = lambda value: Shard(1) if value.shape[1:2] == (6,) else None
    for part in model.layers:
        fully_shard(part, **stated)
    if kind == "together":
        fully_shard([model.norm, model.head], **stated)
    ignored = {model.norm.weight} if kind == "ignored" else None
    fully_shard(model, ignored_params=ignored, **stated)
    if kind == "kept":
        model.set_reshard_after_backward(reshard_after_backward=False)
    return model


class Watch:
    """Counts what is reduced over processes as one reduces gradients."""

    def __init__(self) -> None:
        self.count = 0
        for name in ("reduce_scatter", "reduce_scatter_tensor", "reduce_scatter_single"):
            if hasattr(distributed, name):
                setattr(distributed, name, self._counted(getattr(distributed, name)))

    def _counted(self, reduce):
        def counted(*args, **kwargs):
            self.count += 1
            return reduce(*args, **kwargs)

        return counted


def run(rank, kind, *, cut):
    """Train one model, and return what is left."""
    torch.manual_seed(1)
    model, losses = (Texts(), surprises) if kind in TEXTS else (Blocks(), squared_errors)
    model = sharded(model, kind) if cut else model
    inner_type = torch.optim.SGD if kind in {"epochs", "mixed"} else torch.optim.AdamW
    stated = {"epsilon": 8, "delta": 1e-5, "physical": 4, "group": distributed.group.WORLD}
    stated["clip"] = {"layers": PerLayerClipping(1.0), "adaptive": AdaptiveClipping()}.get(kind, 1.0)
    inner, data = inner_type(model.parameters(), lr=0.05), people(rank, kind)
    with nullcontext() if kind == "private" else replay(5 + rank):
        if kind == "epochs":
            optimizer = private_epochs(inner, model, data, epochs=2, steps=3, **stated)
        else:
            optimizer = private(inner, model, data, batch=20, steps=6, **stated)
        batches = 0
        for rows in optimizer.batches():
            batches += 1
            if kind == "looked" and batches % 3 == 1:
                with torch.no_grad():
                    model(rows[0])
            if kind == "backward":
                losses(model, *rows).sum().backward()
            optimizer.step(losses(model, *rows))
    return model, optimizer, batches


def numbers_of(model):
    """All numbers of all parameters."""
    return [
        value.detach().full_tensor() if isinstance(value, DTensor) else value.detach()
        for value in model.parameters()
    ]


def reloaded(model, optimizer, rank):
    """Whether a run that goes on from a checkpoint has the same weights, states and account."""
    other, fresh, _ = run(rank, "noise", cut=True)
    other.load_state_dict(model.state_dict())
    fresh.load_state_dict(optimizer.state_dict())
    same = [torch.equal(*pair) for pair in zip(numbers_of(other), numbers_of(model), strict=True)]
    states = zip(fresh.state.values(), optimizer.state.values(), strict=True)
    same += [torch.equal(one["exp_avg"].to_local(), two["exp_avg"].to_local()) for one, two in states]
    same.append(fresh.state_dict()["privacy"] == optimizer.state_dict()["privacy"])
    fresh.close()
    return all(same)


def seen(model, optimizer):
    """What this process holds of a sharded model after its last step."""
    parameters = list(model.parameters())
    states = [
        value
        for state in optimizer.state.values()
        for value in state.values()
        if isinstance(value, torch.Tensor) and value.dim()
    ]
    return {
        "whole": sum(not isinstance(value, DTensor) for value in (*parameters, *states)),
        "own": sum(own_part(value).numel() for value in parameters),
        "own of states": sum(own_part(value).numel() for value in states),
        "all": sum(value.numel() for value in parameters),
        "trained": sum(value.numel() for value in parameters if value.requires_grad),
        "gradients": sum(value.grad is not None for value in parameters),
        "gathered": sum(optimizer._shards.gathered(value).untyped_storage().nbytes() for value in parameters),
    }


SAME = (
    "noise",
    "texts",
    "columns",
    "ignored",
    "layers",
    "adaptive",
    "epochs",
    "kept",
    "looked",
    "together",
    "backward",
)
"""Kinds whose weights are those of a model that is whole."""
KINDS = *SAME, "mixed", "private"


def main() -> None:
    """Take all runs, whole and sharded."""
    folder, rank = Path(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"file://{folder}/meeting", rank=rank, world_size=RANKS)
    watch, found = Watch(), {}
    for kind in KINDS:
        for cut in (False, True):
            before = watch.count
            model, optimizer, batches = run(rank, kind, cut=cut)
            found[kind, cut] = {
                "weights": numbers_of(model),
                "account": (optimizer.plan.population, optimizer.taken, optimizer.epsilon()),
                "left out": optimizer.left_out,
                "batches": batches,
                "reduced": watch.count - before,
                **(seen(model, optimizer) if cut else {}),
            }
            optimizer.close()
    model, optimizer, _ = run(rank, "noise", cut=True)
    optimizer.close()
    found["reloaded"] = reloaded(model, optimizer, rank)
    try:
        alone = distributed.new_group([rank], use_local_synchronization=True)
        private(
            torch.optim.SGD(model.parameters()),
            model,
            people(rank, "noise"),
            epsilon=1,
            delta=1e-5,
            batch=5,
            steps=1,
            group=alone,
        )
    except ParameterError as error:
        found["refused"] = str(error)
    torch.save(found, folder / f"found{rank}")
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
    os._exit(0)  # at an ordinary exit threads of the group may abort the process
