"""One of several processes that train a model: ``connected_runs.py FOLDER RANK RANKS KIND``.

Kinds: ``none`` (without noise), ``noise``, ``differ`` (the second clips otherwise), ``replay`` (the second
replays the draws of its people), ``epochs`` (correlated noise), ``slots`` (and the second replays its slots).
"""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
from torch import distributed, nn

from discreet.errors import ParameterError
from discreet.learning.deep import released_parts
from discreet.learning.deep.private import private
from discreet.learning.deep.private_epochs import private_epochs
from discreet.noise import replay

REFUSED = 3
"""What a process ends with whose parameters were refused."""


class NoNoise:
    """Zeros in place of draws."""

    def next(self, count):
        return np.zeros(count, np.int32)


def main() -> None:
    """Train with a share of the people, and save the weights."""
    folder, rank, ranks, noise = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"file://{folder}/meeting", rank=rank, world_size=ranks)
    if noise == "none":
        released_parts.one_word_parts = lambda size, source: [(0, NoNoise())]
    generator = torch.Generator().manual_seed(3)
    rows = torch.randn(40, 3, generator=generator)
    own = slice(rank * 40 // ranks, (rank + 1) * 40 // ranks)
    torch.manual_seed(rank)  # weights differ before the first process shares its own
    model = nn.Linear(3, 1)
    if rank == 0:
        nn.init.constant_(model.weight, 0.1)
        nn.init.constant_(model.bias, 0.2)
    stated = {
        "epsilon": 2,
        "delta": 1e-5,
        "physical": 8,
        "clip": 2.0 if noise == "differ" and rank else 1.0,
        "record": folder / "journal" if rank == 0 else None,
        "group": distributed.group.WORLD,
    }
    inner, data = torch.optim.SGD(model.parameters(), lr=0.1), (rows[own], rows[own].sum(1))
    with replay(5) if rank and noise == "slots" else nullcontext():
        if noise in {"epochs", "slots"}:
            optimizer = private_epochs(inner, model, data, epochs=2, steps=3, **stated)
        else:
            optimizer = private(inner, model, data, batch=40, steps=6, **stated)
    with replay(5) if rank and noise == "replay" else nullcontext():
        for inputs, targets in optimizer.batches():
            optimizer.step((model(inputs)[:, 0] - targets) ** 2)
    account = optimizer.plan.population, optimizer.taken, optimizer.epsilon()
    torch.save((account, [value.data for value in model.parameters()]), folder / f"weights{rank}")
    optimizer.close()
    distributed.destroy_process_group()


if __name__ == "__main__":
    try:
        main()
    except ParameterError:
        os._exit(REFUSED)
    os._exit(0)  # at an ordinary exit threads of the group may abort the process
