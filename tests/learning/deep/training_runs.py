"""Small training runs for the tests."""

from __future__ import annotations

import torch
from torch import nn

from discreet.learning.deep.private import private


def linear_data(count=200, width=3):
    """Rows and targets of a linear law."""
    rows = torch.randn(count, width)
    return rows, rows.sum(1)


def small_run(model=None, data=None, optimizer=torch.optim.SGD, **options):
    """A private optimizer of a linear model, and the model."""
    model = nn.Linear(3, 1) if model is None else model
    stated = {"epsilon": 2, "delta": 1e-5, "batch": 20, "steps": 3, "physical": 8} | options
    data = linear_data() if data is None else data
    return private(optimizer(model.parameters(), lr=0.1), model, data, **stated), model


def losses_of(model, batch):
    """Squared errors, one for each example."""
    rows, targets = batch
    return (model(rows)[:, 0] - targets) ** 2


def train(optimizer, model):
    """Run a private loop to its end."""
    for batch in optimizer.batches():
        optimizer.step(losses_of(model, batch))
