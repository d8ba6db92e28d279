"""Kills a training run again and again, and says how many steps ran and how many are recorded.

``python killed_runs.py FOLDER KILLS late|right``: with "late" a step is recorded when the next one begins,
the fault that the test must see.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import torch
from torch import nn

from discreet.learning.deep.journal import Journal
from discreet.learning.deep.optimizer import PrivateOptimizer
from discreet.learning.deep.private import private


def begun(record: Path | None) -> tuple[nn.Module, PrivateOptimizer]:
    """Return a model, and a private optimizer of it."""
    rows, model = torch.linspace(-1, 1, 180).reshape(60, 3), nn.Linear(3, 1)
    optimizer = private(
        torch.optim.SGD(model.parameters(), lr=0.1),
        model,
        (rows, rows.sum(1)),
        epsilon=5,
        delta=1e-5,
        batch=6,
        steps=1_000,
        record=record,
    )
    return model, optimizer


def run(folder: Path) -> None:
    """Train from the last checkpoint, and write down every step when its people have been drawn."""
    model, optimizer = begun(folder / "journal")
    checkpoint = folder / "checkpoint"
    if checkpoint.exists():
        saved = torch.load(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
    ran = os.open(folder / "ran", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for inputs, targets in optimizer.batches():
        os.write(ran, b".")
        optimizer.step((model(inputs)[:, 0] - targets) ** 2)
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, folder / "next")
        os.replace(folder / "next", checkpoint)


def record_late() -> None:
    """Plant the fault: each line is written with the next."""
    right, waiting = Journal.charge, []

    def charge(journal: Journal, event: object) -> None:
        if waiting:
            right(journal, waiting.pop())
        waiting.append(event)

    Journal.charge = charge  # type: ignore[method-assign]


def main() -> None:
    """Run, kill, and run again."""
    folder, kills, kind = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    torch.set_num_threads(1)
    if kind == "late":
        record_late()
    begun(None)  # so that the noise is chosen once, and not in every child
    chance, ran = random.Random(kills), folder / "ran"
    ran.touch()
    for _ in range(kills):
        enough = ran.stat().st_size + chance.randrange(6)
        child = os.fork()
        if not child:
            run(folder)
            os._exit(0)
        while ran.stat().st_size < enough:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.01))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    journal = folder / "journal"
    recorded = journal.read_bytes().count(b'{"taken"') if journal.exists() else 0
    print(ran.stat().st_size, recorded)


if __name__ == "__main__":
    main()
