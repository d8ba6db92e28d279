"""Layers of what all examples share have gradients of examples alone; what is somebody's is not shared."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.uses import LookupUse
from discreet.learning.deep.watching.book import Book
from discreet.learning.deep.watching.sharing import shared_inputs
from discreet.learning.deep.watching.sharing.shared_inputs import counts_places
from discreet.learning.deep.watching.traced_batch import TracedBatch
from learning.deep.gradient_oracle import booked, compare
from learning.deep.training_runs import small_run

LENGTH = 5


class Placed(nn.Module):
    """Words, and something that is added to them by a function of the words and the model."""

    def __init__(self, place):
        super().__init__()
        self.words, self.places = nn.Embedding(7, 4), nn.Embedding(9, 4)
        self.norm, self.turn, self.last = nn.LayerNorm(4), nn.Linear(4, 4), nn.Linear(4, 2)
        self.place, self.drop = place, nn.Dropout(0.0)
        self.register_buffer("index", torch.tensor([[3, 0, 8, 1, 1]]))
        self.register_buffer("waves", torch.sin(torch.arange(20.0).reshape(LENGTH, 4)))

    def forward(self, x):
        return self.last(torch.tanh(self.drop(self.place(self, self.words(x), x))))


def distances(model, words):
    """Weigh words by a table of the distances between them, as attention with relative places does."""
    places = torch.arange(LENGTH)
    table = model.places((places[None] - places[:, None]).clamp(-4, 4) + 4)
    scores = words @ words.transpose(1, 2) + table.permute(2, 0, 1)[:1]
    return torch.softmax(scores, -1) @ words


def masked(model, words, x):
    """The same with some words hidden, of each example, and later ones of all."""
    places = torch.arange(LENGTH)
    table = model.places((places[None] - places[:, None]).clamp(-4, 4) + 4).permute(2, 0, 1)[None, :1]
    later = places[None] > places[:, None]
    own = torch.where((x < 5)[:, None, None, :], table.masked_fill(later, -9.0), -9.0)
    return torch.softmax(own[:, 0] + words @ words.transpose(1, 2), -1) @ words


SHARED = {
    "places": lambda model, words, x: words + model.places(torch.arange(LENGTH)),
    "places with an axis": lambda model, words, x: words + model.places(torch.arange(LENGTH)[None]),
    "places by name": lambda model, words, x: words + model.places(input=torch.arange(LENGTH)[None]),
    "later places": lambda model, words, x: words + model.places(torch.arange(2, 2 + LENGTH)),
    "expanded": lambda model, words, x: words + model.places(torch.arange(LENGTH)).expand(len(x), -1, -1),
    "scaled": lambda model, words, x: words * (0.5 * model.places(torch.arange(LENGTH))).sigmoid(),
    "subtracted": lambda model, words, x: words - model.places(torch.arange(LENGTH)[None]),
    "an index of the model": lambda model, words, x: words + model.places(model.index),
    "numbers of the model": lambda model, words, x: words + model.turn(model.waves),
    "layers between": lambda model, words, x: (
        words + model.turn(model.norm(model.places(torch.arange(LENGTH))[None]))
    ),
    "twice": lambda model, words, x: (
        words * model.places(torch.arange(LENGTH)) + model.places(torch.arange(1, 1 + LENGTH))
    ),
    "the same layer for words": lambda model, words, x: (
        model.norm(words + model.places(torch.arange(LENGTH)))
        + model.norm(model.places(torch.arange(LENGTH)))
        + model.places(x)
    ),
    "distances": lambda model, words, x: distances(model, words),
    "masks": masked,
}


@pytest.mark.parametrize("examples", [1, 4, LENGTH, 2 * LENGTH])
@pytest.mark.parametrize("name", SHARED)
def test_gradients_are_those_of_examples_alone(name, examples):
    torch.manual_seed(1)
    model = Placed(SHARED[name])
    for part in (model.places, model.norm, model.turn):
        words = torch.randint(0, 7, (examples, LENGTH))
        is_used = torch.autograd.grad(model(words).sum(), list(part.parameters()), allow_unused=True)[0]
        part.requires_grad_(is_used is not None)
    compare(model, torch.randint(0, 7, (examples, LENGTH)))


def test_places_are_looked_up_and_not_written_out():
    model = Placed(SHARED["places"])
    uses = booked(model, torch.randint(0, 7, (4, LENGTH)))
    assert isinstance(uses[1][0], LookupUse)


@pytest.mark.parametrize("name", SHARED)
def test_a_traced_graph_gives_the_same(name):
    torch.manual_seed(2)
    model, words = Placed(SHARED[name]), torch.randint(0, 7, (4, LENGTH))
    losses = partial(lambda own, given: own(given).flatten(1).square().sum(1), model)
    book = Book(model, list(model.parameters()))
    book.open()
    expected = book.read(losses(words))
    traced = TracedBatch(model, book, losses, [words], lambda graph: graph).uses([words])
    for uses, others in zip(traced, expected, strict=True):
        assert len(uses) == len(others)
        for one, other in zip(uses, others, strict=True):
            torch.testing.assert_close(one.each(), other.each(), rtol=1e-4, atol=1e-5)
    book.close()


def by_loop(optimizer, losses):
    for rows in optimizer.batches():
        optimizer.step(losses(*rows))


def by_run(optimizer, losses):
    list(optimizer.run(losses))


@pytest.mark.parametrize("way", [by_loop, by_run])
def test_masks_of_what_is_shared_are_drawn_anew(way):
    place = lambda model, words, x: words + model.drop(model.places(torch.arange(LENGTH)))  # noqa: E731
    model, words = Placed(place), torch.randint(0, 7, (40, LENGTH))
    model.drop.p = 0.5
    optimizer, _ = small_run(model, (words,), steps=3)
    way(optimizer, lambda given: model(given).flatten(1).square().sum(1))
    assert optimizer.taken == 3
    optimizer.close()


@pytest.mark.parametrize(
    "factor",
    [
        lambda x: (x.amax(0) > 5).float()[:, None],
        lambda x: x.float().mean(0)[:, None],
        lambda x: 2 * x[0, :, None].float(),
    ],
)
def test_a_factor_of_others_is_no_mask_of_dropout(factor):
    place = lambda model, words, x: words + factor(x) * model.places(torch.arange(LENGTH))  # noqa: E731
    with pytest.raises(ParameterError):
        booked(Placed(place), torch.randint(1, 7, (4, LENGTH)))


SOMEBODYS = {
    "the words of the first": lambda model, words, x: words + model.places(x[:1]),
    "the words of two": lambda model, words, x: words + model.places(x[:2].reshape(2, -1)).mean(0),
    "the first word of each": lambda model, words, x: words + model.places(x[:, 0]).mean(0),
    "the last words": lambda model, words, x: words + model.places(x.amax(0)),
    "means": lambda model, words, x: words + model.turn(words.detach().mean(0, keepdim=True)),
    "a table by words": lambda model, words, x: words + model.places(torch.arange(9))[x[0]],
}


@pytest.mark.parametrize("examples", [4, LENGTH, 2 * LENGTH])
@pytest.mark.parametrize("name", SOMEBODYS)
def test_what_is_somebodys_is_refused_in_the_first_batch(name, examples):
    torch.manual_seed(3)
    words = torch.randint(0, 7, (examples, LENGTH))
    words[:2] = torch.tensor([[1, 1, 5, 2, 0], [6, 0, 0, 3, 1]])
    with pytest.raises(ParameterError):
        booked(Placed(SOMEBODYS[name]), words)


@pytest.mark.parametrize("name", ["the words of the first", "the last words"])
def test_without_a_look_at_values_it_would_pass(name, monkeypatch):
    """The planted fault."""
    monkeypatch.setattr(shared_inputs, "counts_places", lambda values: len(values) != 4)
    assert booked(Placed(SOMEBODYS[name]), torch.randint(0, 7, (4, LENGTH)))


class Moving:
    """Adds places, which are others in every third call if they move."""

    def __init__(self, *, moves):
        self.moves, self.calls = moves, 0

    def __call__(self, model, words, x):
        self.calls += 1
        return words + model.places(torch.arange(LENGTH) + int(self.moves and self.calls % 3 == 0))


@pytest.mark.parametrize("way", [by_loop, by_run])
def test_places_that_move_are_refused(way):
    words = torch.randint(0, 7, (40, LENGTH))
    for moves in (False, True):
        model = Placed(Moving(moves=moves))
        optimizer, _ = small_run(model, (words,), steps=6)
        losses = partial(lambda own, given: own(given).flatten(1).square().sum(1), model)
        if moves:
            with pytest.raises(ParameterError, match="other places than in the first batch"):
                way(optimizer, losses)
        else:
            way(optimizer, losses)
            assert optimizer.taken == 6
        optimizer.close()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (torch.arange(5), True),
        (torch.arange(3, 8)[None, None], True),
        (torch.arange(3, 8).expand(2, -1), False),
        (torch.zeros(4, 5, dtype=torch.int64), False),
        (torch.arange(5)[None] - torch.arange(3)[:, None], True),
        ((torch.arange(5)[None] - torch.arange(5)[:, None]).abs(), True),
        (torch.ones(4, 4, dtype=torch.bool).tril(), True),
        (torch.arange(5).flip(0), False),
        (torch.tensor([0, 1, 2, 4]), False),
        (torch.tensor([[0, 1, 2], [5, 6, 8]]), False),
        (torch.tensor([[True, False, True]]), False),
        (torch.tensor([4]), False),
        (torch.tensor([[4], [7]]), False),
        (torch.tensor(4), False),
        (torch.arange(5.0), False),
        (torch.tensor([[1, 2, 9], [0, 1, 3]]), False),
    ],
)
def test_places_are_consecutive_or_distances(values, expected):
    assert counts_places(values) is expected
