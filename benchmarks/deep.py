"""Deep learning: the time of a private step beside a plain one (accuracy: `benchmarks.images`).

``python -m benchmarks.deep`` times steps on the processor: plain PyTorch, ours, and Opacus where it can be
imported. Times are those of a clock, with two threads, and with one beside them. Kinds take turns; medians.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from benchmarks.images import tutorial_network
from discreet.learning import private

BATCH = 256
MODELS = ("cnn", "mlp")
THREADS = (2, 1)


def made(name: str) -> nn.Module:
    """Return the convolutional network of the tutorials (26,000 parameters), or a network of 670,000."""
    if name == "cnn":
        return tutorial_network()
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )


def median_times(steps: dict[str, Callable[[], None]], seconds: float) -> dict[str, float]:
    """Return the median milliseconds of a step of each kind; they take turns of five."""
    times: dict[str, list[float]] = {kind: [] for kind in steps}
    for step in steps.values():
        for _ in range(5):
            step()
    end = time.perf_counter() + seconds * len(steps)
    while time.perf_counter() < end:
        for kind, step in steps.items():
            for _ in range(5):
                start = time.perf_counter()
                step()
                times[kind].append(time.perf_counter() - start)
    return {kind: 1000 * statistics.median(found) for kind, found in times.items()}


def plain_step(name: str, inputs: torch.Tensor, labels: torch.Tensor) -> Callable[[], None]:
    """A step of SGD without privacy."""
    model = made(name)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        optimizer.zero_grad()
        functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()

    return step


def private_step(name: str, inputs: torch.Tensor, labels: torch.Tensor) -> Callable[[], None]:
    """A step of ours, sampling and noise included: all examples take part, in one physical batch."""
    model = made(name)
    optimizer = private(
        torch.optim.SGD(model.parameters(), lr=0.1),
        model,
        (inputs, labels),
        epsilon=50,
        delta=1e-5,
        batch=BATCH,
        steps=10**4,
        physical=BATCH,
    )
    batches = optimizer.batches()

    def step() -> None:
        rows, targets = next(batches)
        optimizer.step(functional.cross_entropy(model(rows), targets, reduction="none"))

    return step


def opacus_step(
    model: nn.Module, mode: str, inputs: torch.Tensor, labels: torch.Tensor
) -> Callable[[], None]:
    """A step of Opacus, without sampling."""
    from opacus import PrivacyEngine

    criterion = nn.CrossEntropyLoss()
    data = torch.utils.data.TensorDataset(inputs, labels)
    loader = torch.utils.data.DataLoader(data, batch_size=len(inputs))
    options = {"criterion": criterion} if mode == "ghost" else {}
    parts = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=loader,
        noise_multiplier=1.1,
        max_grad_norm=1.0,
        grad_sample_mode=mode,
        poisson_sampling=False,
        **options,
    )
    model, optimizer = parts[0], parts[1]
    criterion = parts[2] if mode == "ghost" else criterion

    def step() -> None:
        optimizer.zero_grad()
        criterion(model(inputs), labels).backward()
        optimizer.step()

    return step


def time_steps(seconds: float) -> None:
    """Print the time of a step of each model, plain and private."""
    inputs, labels = torch.randn(BATCH, 1, 28, 28), torch.randint(0, 10, (BATCH,))
    print(f"torch {torch.__version__}, batch {BATCH}, milliseconds by the clock")
    for name in MODELS:
        steps = {
            "plain": plain_step(name, inputs, labels),
            "discreet": private_step(name, inputs, labels),
        }
        for mode in ("hooks", "ghost"):
            try:
                steps[f"Opacus {mode}"] = opacus_step(made(name), mode, inputs, labels)
            except ImportError:
                continue
        for threads in THREADS:
            torch.set_num_threads(threads)
            found = median_times(steps, seconds)
            told = (f"{kind} {value:.1f} ({value / found['plain']:.2f})" for kind, value in found.items())
            print(f"{name}, threads {threads}: {', '.join(told)}", flush=True)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    time_steps(parser.parse_args().seconds)


if __name__ == "__main__":
    main()
