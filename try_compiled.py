"""Compiled private steps on a GPU: the same weights as without a compiler, and milliseconds a step.

``PYTHONPATH=src:. python try_compiled.py`` takes about 90 seconds on a GPU, mostly to compile; without one it
compares weights on the processor. ``--layers 12`` times a transformer of the size of GPT-2.
"""

from __future__ import annotations

import argparse
import statistics
import time
import traceback
from collections.abc import Callable
from functools import partial

import torch
from benchmarks.device import BATCHES, Transformer, losses_of, made, recorded, rows_for
from torch import Tensor, nn
from torch.nn import functional

from discreet.learning import private
from discreet.noise import replay

START = time.perf_counter()
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
COMPILER = partial(torch.compile, fullgraph=True)


def seconds() -> float:
    """How long this has been running."""
    return time.perf_counter() - START


def small(name: str) -> tuple[nn.Module, Tensor]:
    """A small model with its inputs, where dropout or nothing else is random."""
    torch.manual_seed(1)
    if name == "mlp":
        return nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 10)), torch.randn(200, 64)
    if name == "cnn":
        layers = [nn.Conv2d(3, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.ReLU()]
        layers += [nn.Conv2d(16, 16, 3, 2, 1), nn.GroupNorm(4, 16), nn.ReLU()]
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)]
        return nn.Sequential(*layers), torch.randn(200, 3, 16, 16)
    return Transformer(words=100, length=32, width=128, layers=2), torch.randint(0, 100, (200, 32))


def weights_after(name: str, seed: int, steps: int = 12, **options: object) -> tuple[Tensor, Tensor]:
    """Train with replayed samples and noise, and return all weights before and after."""
    model, inputs = small(name)
    model, inputs, labels = model.to(DEVICE), inputs.to(DEVICE), torch.randint(0, 10, (200,)).to(DEVICE)
    before = torch.cat([value.detach().flatten() for value in model.parameters()])
    with replay(seed):
        optimizer = private(
            torch.optim.SGD(model.parameters(), lr=0.05),
            model,
            (inputs, labels),
            epsilon=4,
            delta=1e-5,
            batch=40,
            steps=steps,
            physical=32,
        )

        def losses(rows: Tensor, targets: Tensor) -> Tensor:
            return functional.cross_entropy(model(rows), targets, reduction="none")

        taken = len(list(optimizer.run(losses, **options)))
    print(f"{name}: {taken} steps", end="; ")
    optimizer.close()
    return before, torch.cat([value.detach().flatten() for value in model.parameters()])


def compare(name: str) -> None:
    """Print how far weights with and without a compiler are apart, beside how far training and noise go."""
    before, plain = weights_after(name, 7)
    _, compiled = weights_after(name, 7, compiler=COMPILER)
    _, other = weights_after(name, 8)
    way, most = float((plain - before).norm()), float((compiled - plain).abs().max())
    apart, by_noise = float((compiled - plain).norm()) / way, float((other - plain).norm()) / way
    print(
        f"compiled differs by {apart:.2g} of the way (largest {most:.2g}); other noise by {by_noise:.2g}"
        f"  [{seconds():.0f} s]",
        flush=True,
    )


def model_of(name: str, layers: int) -> nn.Module:
    """A model of `benchmarks.device`."""
    return Transformer(layers=layers).cuda() if name == "gpt" else made(name)


def plain(model: nn.Module, inputs: Tensor, labels: Tensor, *, is_compiled: bool) -> Callable[[], None]:
    """A plain step, recorded as one program."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    forward = torch.compile(model) if is_compiled else model

    def step() -> None:
        optimizer.zero_grad()
        losses_of(forward(inputs), labels).mean().backward()
        optimizer.step()

    return recorded(step)


def ours(model: nn.Module, inputs: Tensor, labels: Tensor, **options: object) -> Callable[[], None]:
    """A private step by `run`: all examples take part, in one physical batch."""
    optimizer = private(
        torch.optim.SGD(model.parameters(), lr=0.01),
        model,
        (inputs, labels),
        epsilon=50,
        delta=1e-5,
        batch=len(inputs),
        steps=10**4,
        physical=len(inputs),
    )
    steps = optimizer.run(lambda rows, targets: losses_of(model(rows), targets), **options)
    return lambda: next(steps) and None


def milliseconds(step: Callable[[], None], repeats: int) -> float:
    """The median of some steps, after those in which all is compiled and recorded."""
    for _ in range(8):
        step()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def time_model(name: str, layers: int, repeats: int, most: float) -> None:
    """Print the times of a model's steps."""
    inputs, labels = rows_for(name, BATCHES[name])
    kinds: dict[str, Callable[[nn.Module], Callable[[], None]]] = {
        "plain, recorded": lambda model: plain(model, inputs, labels, is_compiled=False),
        "plain, compiled and recorded": lambda model: plain(model, inputs, labels, is_compiled=True),
        "discreet, run": lambda model: ours(model, inputs, labels),
        "discreet, compiled run": lambda model: ours(model, inputs, labels, compiler=COMPILER),
    }
    found: dict[str, float] = {}
    for kind, make in kinds.items():
        if seconds() > most:
            print(f"  {kind:29} left out: {seconds():.0f} s have passed")
            continue
        torch.cuda.reset_peak_memory_stats()
        try:
            found[kind] = milliseconds(make(model_of(name, layers)), repeats)
        except Exception:
            print(f"  {kind:29} fails")
            traceback.print_exc()
            continue
        finally:
            torch.cuda.empty_cache()
        twin = found.get("plain, compiled and recorded" if "compiled" in kind else "plain, recorded")
        ratio = f"{found[kind] / twin:6.2f} times its plain twin" if twin else ""
        memory = torch.cuda.max_memory_allocated() / 1e9
        print(f"  {kind:29} {found[kind]:8.2f} ms {ratio}  {memory:5.2f} GB  [{seconds():.0f} s]", flush=True)


def main() -> None:
    """Compare weights, then times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=3, help="of the transformer that is timed")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=80, help="after which nothing new is begun")
    parser.add_argument("--models", nargs="+", choices=["mlp", "cnn", "gpt"], default=["mlp", "cnn", "gpt"])
    parser.add_argument("--only", choices=["weights", "times"])
    asked = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name() if DEVICE == 'cuda' else 'processor'}")
    for name in asked.models if asked.only != "times" else []:
        try:
            compare(name)
        except Exception:
            print(f"{name}: fails")
            traceback.print_exc()
        torch.compiler.reset()
    if DEVICE == "cpu" or asked.only == "weights":
        return
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    for name in asked.models:
        torch.compiler.reset()
        print(f"{name}, batch {BATCHES[name]}" + (f", {asked.layers} layers" if name == "gpt" else ""))
        time_model(name, asked.layers, asked.repeats, asked.seconds)


if __name__ == "__main__":
    main()
