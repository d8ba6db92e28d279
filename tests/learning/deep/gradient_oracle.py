"""Gradients of examples that are run one by one, in doubles: what the book is compared with."""

from __future__ import annotations

import copy

import torch

from discreet.learning.deep.uses import squared_norms
from discreet.learning.deep.watching.book import Book


def squared_loss(output, targets):
    """One loss for each example, of outputs of any shape."""
    return ((output.flatten(1) - targets) ** 2).sum(1)


def oracle(model, inputs, loss=squared_loss, targets=0.5):
    """The gradients of each example, run alone, in doubles: rows for each trained parameter."""
    wide = copy.deepcopy(model).double()
    rows = inputs.double() if inputs.is_floating_point() else inputs
    trained = [value for value in wide.parameters() if value.requires_grad]
    found = [torch.autograd.grad(loss(wide(row[None]), targets).sum(), trained) for row in rows]
    return [torch.stack(each).reshape(len(rows), -1) for each in zip(*found, strict=True)]


def booked(model, inputs, loss=squared_loss, targets=0.5):
    """The uses of each parameter, from the book."""
    book = Book(model, [value for value in model.parameters() if value.requires_grad])
    try:
        book.open()
        return book.read(loss(model(inputs), targets), weights=torch.ones(len(inputs)))
    finally:
        book.close()


def compare(model, inputs, loss=squared_loss, targets=0.5, tolerance=1e-5):
    """Assert that norms, gradients and weighted sums are those of the oracle."""
    expected = oracle(model, inputs, loss, targets)
    factors = torch.linspace(0.1, 1.0, len(inputs), dtype=torch.float64)
    largest = max(each.norm(dim=1).max() for each in expected)
    for uses, each in zip(booked(model, inputs, loss, targets), expected, strict=True):
        assert uses
        lengths = each.norm(dim=1)
        written = sum(use.each() for use in uses)
        assert (written - each).norm(dim=1).max() <= tolerance * largest
        assert (
            squared_norms(uses, [use.mass() for use in uses]).clamp(min=0).sqrt() - lengths
        ).abs().max() <= tolerance * largest
        total = sum(
            use.weighted_sum(factors, torch.full((each.shape[1],), torch.nan).double()) for use in uses
        )
        assert (total - factors @ each).norm() <= tolerance * largest * len(inputs)
        assert (sum(use.mass() for use in uses) >= lengths - tolerance * largest).all()
