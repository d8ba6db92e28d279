"""One example decides neither how often a layer is called nor how many positions it is given."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.private import private
from discreet.learning.deep.watching.book import Book

MOST = 6


class Unrolled(nn.Module):
    """A cell that is called once for each position of the longest text, or always as often."""

    def __init__(self, *, is_fixed):
        super().__init__()
        self.cell, self.is_fixed = nn.Linear(3, 3), is_fixed

    def forward(self, x, lengths):
        seen = torch.zeros_like(x)
        for place in range(MOST if self.is_fixed else int(lengths.max())):
            seen = torch.where((place < lengths)[:, None], torch.tanh(self.cell(x + seen)), seen)
        return seen.sum(1)


class Cut(nn.Module):
    """Reads as many positions as the longest text has, or all."""

    def __init__(self, *, is_fixed):
        super().__init__()
        self.layer, self.is_fixed = nn.Linear(1, 3), is_fixed

    def forward(self, x, lengths):
        count = MOST if self.is_fixed else int(lengths.max())
        places = torch.arange(count)
        seen = (
            self.layer(x.sum(1)[:, None, None].expand(-1, count, 1)) * (places < lengths[:, None])[..., None]
        )
        return seen.sum((1, 2))


class Sliced(nn.Module):
    """Adds as many of its places as the longest text has, or all; they are no layer's."""

    def __init__(self, *, is_fixed):
        super().__init__()
        self.layer, self.places, self.is_fixed = nn.Linear(3, 1), nn.Parameter(torch.rand(MOST)), is_fixed

    def forward(self, x, lengths):
        count = MOST if self.is_fixed else int(lengths.max())
        return (self.layer(x).expand(-1, count) + self.places[:count]).tanh().mean(1)


def by_step(optimizer, losses):
    for rows in optimizer.batches():
        optimizer.step(losses(*rows))


def by_run(optimizer, losses):
    list(optimizer.run(losses))


@pytest.mark.parametrize("way", [by_step, by_run])
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Unrolled, "calls other layers"),
        (Cut, "input of another shape"),
        (Sliced, "another part of its parameters"),
    ],
)
def test_lengths_that_one_example_decides_are_refused(make, message, way):
    lengths = torch.full((20,), 2)
    lengths[-1] = MOST
    for is_fixed in (True, False):
        model = make(is_fixed=is_fixed)
        inner = torch.optim.SGD(model.parameters(), lr=0.1)
        data = torch.randn(20, 3), lengths
        sizes = {"batch": 20, "steps": 2, "physical": 8}
        optimizer = private(inner, model, data, epsilon=2, delta=1e-5, **sizes)
        if is_fixed:
            way(optimizer, model)
            assert optimizer.taken == 2
        else:
            with pytest.raises(ParameterError, match=message):
                way(optimizer, model)
        optimizer.close()


@pytest.mark.parametrize(
    ("make", "message"), [(Unrolled, "calls other layers"), (Cut, "input of another shape")]
)
def test_a_run_whose_every_batch_has_the_longest_text_is_refused(make, message):
    """In the company of blanks it is gone."""
    lengths = torch.full((20,), 2)
    lengths[-1] = MOST
    model = make(is_fixed=False)
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.randn(20, 3), lengths
    optimizer = private(inner, model, data, epsilon=2, delta=1e-5, batch=20, steps=2, physical=20)
    with pytest.raises(ParameterError, match=message):
        by_run(optimizer, model)
    optimizer.close()


def read(book, model, rows):
    book.open()
    return book.read(model(rows).square().sum(1))


class Dropped(nn.Module):
    """Leaves out a layer when it is told to, and always when it is not trained."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.is_dropped = nn.Linear(3, 3), nn.Linear(3, 2), False

    def forward(self, x):
        return self.two(self.one(x) if self.training and not self.is_dropped else x)


def test_a_layer_that_is_left_out_later_is_refused_with_what_mends_it():
    model = Dropped()
    book = Book(model, list(model.parameters()))
    read(book, model, torch.randn(4, 3))
    model.is_dropped = True
    with pytest.raises(ParameterError, match="multiplied by 0 instead of left out"):
        read(book, model, torch.randn(4, 3))
    model.is_dropped = False
    read(book, model, torch.randn(4, 3))
    book.close()


def test_every_mode_has_its_calls_and_any_number_of_examples_will_do():
    model = Dropped()
    book = Book(model, list(model.parameters()))
    for mode, count in ((True, 4), (False, 4), (True, 3), (False, 2)):
        model.train(mode)
        read(book, model, torch.randn(count, 3))
    model.is_dropped = True
    with pytest.raises(ParameterError, match="calls other layers"):
        read(book, model.train(), torch.randn(4, 3))
    book.close()


def test_a_batch_is_not_traced_before_one_was_read():
    model = nn.Linear(3, 2)
    book = Book(model, list(model.parameters()))
    book.open()
    with pytest.raises(ParameterError, match="were not read before"):
        book.trace(model(torch.randn(4, 3)).sum(1))
    book.close()
