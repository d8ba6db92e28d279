"""Planted secrets: what a model remembers of one line that it has seen, with and without privacy.

One person's line, "the code is" and six random digits, is planted among made-up sentences. Carlini et al.
(2019) ask how far those digits stand out among all million codes that might have been there: the exposure, in
bits, exactly by rank. A small character model is trained plainly and with `learning.private`, several times
each with a new secret; and so is a table: counts of pairs of columns, in which one row has rare values.

Run with ``python examples/planted_secrets.py``, and a folder for the picture if you like. Needs PyTorch.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import torch
from picture import save
from torch import Tensor, nn
from torch.nn import functional

from discreet.audit import Exposure, rank_exposure
from discreet.figures import Axes, draw_points, group_places, label_axes, next_style, panels
from discreet.learning import private
from discreet.mechanisms import Laplace

LETTERS = " .abcdefghijklmnopqrstuvwxyz0123456789"
PREFIX = "the code is "
LENGTH, CONTEXT, DIGITS = 24, 8, 6
LINES, BATCH, EPOCHS = 400, 40, 30
EVERY = 5  # epochs between two looks at a model
DELTA = 1e-5
NOUNS = ["cat", "dog", "bird", "horse", "child", "teacher", "doctor", "river", "garden", "letter"]
VERBS = ["sees", "finds", "likes", "draws", "follows", "leaves"]


def sentence(source: np.random.Generator) -> str:
    """Return a made-up sentence without digits."""
    return f"the {source.choice(NOUNS)} {source.choice(VERBS)} the {source.choice(NOUNS)}."


def coded(lines: list[str]) -> tuple[Tensor, Tensor]:
    """Return, for each line, the characters before each of its characters, and these."""
    rows = [[0] * CONTEXT + [LETTERS.index(one) for one in line.ljust(LENGTH)[:LENGTH]] for line in lines]
    codes = torch.tensor(rows)
    return codes.unfold(1, CONTEXT, 1)[:, :-1], codes[:, CONTEXT:]


class CharacterModel(nn.Module):
    """The next character from the last few: an embedding and one hidden layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS), 12)
        self.hidden = nn.Linear(12 * CONTEXT, 64)
        self.output = nn.Linear(64, len(LETTERS))

    def forward(self, contexts: Tensor) -> Tensor:
        """Return a score for each character that may follow."""
        return self.output(torch.tanh(self.hidden(self.embedding(contexts).flatten(-2))))


def losses(model: nn.Module, contexts: Tensor, targets: Tensor) -> Tensor:
    """Return the mean loss of each line."""
    scores = model(contexts)
    return (
        functional.cross_entropy(scores.flatten(0, 1), targets.flatten(), reduction="none")
        .view(len(targets), -1)
        .mean(1)
    )


@torch.no_grad()
def text_exposure(model: nn.Module, secret: str) -> Exposure:
    """Rank the secret among all codes, by the loss of their digits: exactly, digit by digit."""
    start = [LETTERS.index(one) for one in PREFIX]
    total, contexts = torch.zeros(1), torch.tensor([start[-CONTEXT:]])
    for _ in range(DIGITS):
        logs = -torch.log_softmax(model(contexts), 1)[:, -10:]
        total = (total[:, None] + logs).flatten()
        digits = torch.arange(len(LETTERS) - 10, len(LETTERS)).repeat(len(contexts))
        contexts = torch.cat([contexts.repeat_interleave(10, 0)[:, 1:], digits[:, None]], 1)
    values = total.double().numpy()
    return rank_exposure(values[int(secret)], np.delete(values, int(secret)))


def trained(way: str, epsilon: float | None, lines: list[str], epochs: int) -> Iterator[nn.Module]:
    """Train by an optimizer, privately if there is an epsilon; yield the model after every epoch."""
    model, data = CharacterModel(), coded(lines)
    make = {"SGD": (torch.optim.SGD, 0.5), "RMSprop": (torch.optim.RMSprop, 0.003)}[way]
    inner = make[0](model.parameters(), lr=make[1])
    each = len(lines) // BATCH
    if epsilon is None:
        for _ in range(epochs):
            for places in torch.randperm(len(lines)).split(BATCH):
                inner.zero_grad()
                losses(model, data[0][places], data[1][places]).mean().backward()
                inner.step()
            yield model
        return
    optimizer = private(
        inner, model, data, epsilon=epsilon, delta=DELTA, batch=BATCH, steps=epochs * each, clip=0.5
    )
    for contexts, targets in optimizer.batches():
        optimizer.step(losses(model, contexts, targets))
        if optimizer.has_updated and optimizer.taken % each == 0:
            yield model


def text_runs(way: str, epsilon: float | None, runs: int, epochs: int = EPOCHS) -> np.ndarray:
    """Return the exposure of a new secret after every few epochs, for each run."""
    found = []
    for run in range(runs):
        source = np.random.default_rng(run)
        secret = "".join(map(str, source.integers(0, 10, DIGITS)))
        lines = [sentence(source) for _ in range(LINES - 1)] + [f"{PREFIX}{secret}."]
        models = enumerate(trained(way, epsilon, lines, epochs), 1)
        kept = [text_exposure(model, secret).bits for at, model in models if at % EVERY == 0 or at == epochs]
        found.append(kept)
    return np.array(found)


def table_exposure(epsilon: float | None, source: np.random.Generator) -> Exposure:
    """Plant a row of six rare values in a table of pairs of columns, and rank it among all such rows."""
    rows = source.integers(0, 5, (1000, 6))
    rows[0] = secret = source.integers(5, 10, 6)
    counts = np.zeros((5, 10, 10), np.int64)
    for place in range(5):
        np.add.at(counts[place], (rows[:, place], rows[:, place + 1]), 1)
    if epsilon is not None:  # a person is in one cell of each of the five tables
        counts = Laplace(sensitivity=5, epsilon=epsilon, size=counts.size).release(counts.ravel())
    seen = np.maximum(np.asarray(counts, float).reshape(5, 10, 10), 0) + 0.5
    logs = np.log(seen / seen.sum(axis=2, keepdims=True))
    perplexities = np.zeros((5,) * 6)
    for place in range(5):
        shape = [5 if axis in (place, place + 1) else 1 for axis in range(6)]
        perplexities -= logs[place, 5:, 5:].reshape(shape)
    chosen = np.ravel_multi_index(tuple(secret - 5), perplexities.shape)
    return rank_exposure(perplexities.flat[chosen], np.delete(perplexities, chosen))


def study(runs: int = 5, epsilons: tuple[float, ...] = (0.5, 2.0, 8.0)) -> dict[str, np.ndarray]:
    """Return, for each way to train, exposures by run and epoch; a table has one epoch."""
    found = {f"{way}, no privacy": text_runs(way, None, runs) for way in ("SGD", "RMSprop")}
    for epsilon in epsilons:
        found[f"RMSprop, epsilon {epsilon:g}"] = text_runs("RMSprop", epsilon, runs)
    for epsilon in (None, *epsilons):
        bits = [[table_exposure(epsilon, np.random.default_rng(run)).bits] for run in range(4 * runs)]
        found["table, no privacy" if epsilon is None else f"table, epsilon {epsilon:g}"] = np.array(bits)
    return found


def plot(table: dict[str, np.ndarray]) -> list[Axes]:
    """Draw exposure by way of training, and of texts over epochs, with deviations over runs."""
    drawn = panels(None, 2)
    places = group_places(drawn[0], list(table))
    last = [values[:, -1] for values in table.values()]
    spread = [float(one.std()) for one in last]
    draw_points(
        drawn[0], places, [one.mean() for one in last], next_style(drawn[0]), spread=spread, label=None
    )
    label_axes(drawn[0], x="", y="exposure, bits", title="Exposure of a planted secret")
    for name, values in table.items():
        if values.shape[1] > 1:
            epochs, means = EVERY * np.arange(1, values.shape[1] + 1), values.mean(axis=0)
            draw_points(drawn[1], epochs, means, next_style(drawn[1]), spread=None, label=name)
    label_axes(drawn[1], x="epochs", y="exposure, bits", title="Over epochs")
    return drawn


def main(folder: str | None = None) -> None:
    """Print the exposure for every way to train, and draw it."""
    table = study()
    print(
        f"{'trained by':<22} {'exposure':>9} {'error':>6} {'least':>6} {'most':>6}   bits; a code has 19.93,"
    )
    for name, values in table.items():
        last = values[:, -1]
        error = last.std(ddof=1) / np.sqrt(len(last)) if len(last) > 1 else 0.0
        print(f"{name:<22} {last.mean():>9.2f} {error:>6.2f} {last.min():>6.2f} {last.max():>6.2f}")
    print("a row of the table 13.93; what was never seen has 1.44 on average. All bits can be read out.")
    save(lambda: plot(table), "planted_secrets", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
