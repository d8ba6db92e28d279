"""A small model of characters and ways to train it, for `planted_secrets`: plainly, clipped, or privately."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional

from discreet.learning import private

LETTERS = " .abcdefghijklmnopqrstuvwxyz0123456789"
LENGTH, CONTEXT = 24, 8
BATCH = 40
DELTA, CLIP = 1e-5, 0.5
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


def plain_gradient(model: nn.Module, contexts: Tensor, targets: Tensor) -> None:
    """Take the gradient of the mean loss of a batch."""
    losses(model, contexts, targets).mean().backward()


def clipped_gradient(model: nn.Module, contexts: Tensor, targets: Tensor) -> None:
    """Take the mean of gradients that are shortened line by line, without noise: not private at all."""
    parameters = dict(model.named_parameters())

    def loss(values: dict[str, Tensor], context: Tensor, target: Tensor) -> Tensor:
        return functional.cross_entropy(functional_call(model, values, (context,)), target)

    each: Callable[..., dict[str, Tensor]] = vmap(grad(loss), in_dims=(None, 0, 0))
    rows = each({name: value.detach() for name, value in parameters.items()}, contexts, targets)
    lengths = torch.cat([one.flatten(1) for one in rows.values()], 1).norm(dim=1)
    shares = (CLIP / lengths).clamp(max=1) / len(lengths)
    for name, value in parameters.items():
        value.grad = torch.tensordot(shares, rows[name], 1)


def trained(way: str, epsilon: float | None, lines: list[str], epochs: int) -> Iterator[nn.Module]:
    """Train by an optimizer, privately if there is an epsilon; yield the model after every epoch."""
    model, data = CharacterModel(), coded(lines)
    make = {"SGD": (torch.optim.SGD, 0.5), "RMSprop": (torch.optim.RMSprop, 0.003)}[way]
    inner = make[0](model.parameters(), lr=make[1])
    each = len(lines) // BATCH
    if epsilon is None or epsilon == inf:
        take_gradient = plain_gradient if epsilon is None else clipped_gradient
        for _ in range(epochs):
            for places in torch.randperm(len(lines)).split(BATCH):
                inner.zero_grad()
                take_gradient(model, data[0][places], data[1][places])
                inner.step()
            yield model
        return
    optimizer = private(
        inner, model, data, epsilon=epsilon, delta=DELTA, batch=BATCH, steps=epochs * each, clip=CLIP
    )
    for contexts, targets in optimizer.batches():
        optimizer.step(losses(model, contexts, targets))
        if optimizer.has_updated and optimizer.taken % each == 0:
            yield model
