"""Parameters that are added to examples leave the layers beside them as they are; others do not."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional

from discreet.errors import ParameterError
from discreet.learning.deep.uses import OuterUse, RowsUse
from discreet.learning.deep.watching import beside_layers
from discreet.learning.deep.watching import book as book_module
from discreet.learning.deep.watching.arriving_slopes import first_places
from discreet.learning.deep.watching.book import Book
from discreet.learning.deep.watching.traced_batch import TracedBatch
from learning.deep.gradient_oracle import booked, compare
from learning.deep.training_runs import losses_of, small_run


class Beside(nn.Module):
    """A parameter that is used by a function, between layers; examples have five positions of 28."""

    def __init__(self, shape, use, dropout=0.0):
        super().__init__()
        self.parameter, self.use = nn.Parameter(torch.randn(shape)), use
        self.first, self.last = nn.Linear(28, 28), nn.Linear(28, 2)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.last(self.drop(torch.tanh(self.use(self.first(x), self.parameter))))


def in_place(x, p):
    """Add a parameter in place."""
    x = x * 1
    x += p
    return x


ADDED = {
    "positions": ((1, 5, 28), lambda x, p: x + p),
    "positions without an axis of examples": ((5, 28), lambda x, p: p + x),
    "more positions than there are": ((1, 8, 28), lambda x, p: x + p[:, :5]),
    "every second position": ((11, 28), lambda x, p: x + p[1:10:2]),
    "two slices": ((8, 38), lambda x, p: x + p[2:7, :28]),
    "a new axis": ((5, 28), lambda x, p: x + p[None]),
    "a new axis at the end": ((5,), lambda x, p: x + p[:, None]),
    "one vector": ((28,), lambda x, p: x + p),
    "one position": ((1, 1, 28), lambda x, p: x + p),
    "one number": ((), lambda x, p: x + p),
    "in place": ((5, 28), in_place),
    "a token": ((1, 1, 28), lambda x, p: torch.cat([p.expand(len(x), -1, -1), x], 1)),
    "a token without axes": ((28,), lambda x, p: torch.cat([p.expand(len(x), 1, -1), x], 1)),
    "a repeated token": ((1, 1, 28), lambda x, p: torch.cat([p.repeat(len(x), 1, 1), x], 1)),
    "twice": ((5, 28), lambda x, p: torch.tanh(x + p) + p[:5]),
    "wider than the input": ((5, 28), lambda x, p: x[:, :1] + p),
}
OTHERWISE = {
    "scaled": ((28,), lambda x, p: x * p),
    "added twice as much": ((28,), lambda x, p: torch.add(x, p, alpha=2)),
    "subtracted": ((28,), lambda x, p: x - p),
    "multiplied": ((28, 28), lambda x, p: x @ p),
    "changed before": ((28,), lambda x, p: x + p.exp()),
    "changed beside": ((28,), lambda x, p: (x + p) * p),
    "repeated over positions, too": ((1, 1, 28), lambda x, p: x + p.repeat(len(x), 5, 1)),
}


@pytest.mark.parametrize("name", ADDED)
def test_gradients_of_what_is_added_are_those_of_examples_alone(name):
    torch.manual_seed(1)
    model, rows = Beside(*ADDED[name]), torch.randn(4, 5, 28)
    compare(model, rows)
    found = booked(model, rows)
    assert isinstance(found[1][0], OuterUse)  # which a module that is run again would write out
    assert all(isinstance(use, RowsUse) for use in found[0])


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_is_done_otherwise_is_run_again_as_a_whole(name):
    torch.manual_seed(2)
    model, rows = Beside(*OTHERWISE[name]), torch.randn(4, 5, 28)
    compare(model, rows)
    assert all(isinstance(use, RowsUse) for (use,) in booked(model, rows))


@pytest.mark.parametrize("name", ADDED)
def test_slopes_that_are_handed_over_as_on_an_accelerator_give_the_same(name, monkeypatch):
    monkeypatch.setattr(book_module, "_asked", first_places)
    compare(Beside(*ADDED[name]), torch.randn(4, 5, 28))


@pytest.mark.parametrize("name", ADDED)
def test_with_dropout_they_add_up_to_the_gradient_of_the_losses(name):
    """By the same masks: one backward pass of the same graph."""
    torch.manual_seed(3)
    model, summed = Beside(*ADDED[name], dropout=0.5), []

    def loss(output, targets):
        found = ((output.flatten(1) - targets) ** 2).sum(1)
        summed.extend(torch.autograd.grad(found.sum(), list(model.parameters()), retain_graph=True))
        return found

    for uses, expected in zip(booked(model, torch.randn(4, 5, 28), loss), summed, strict=True):
        total = sum(use.each() for use in uses).sum(0)
        torch.testing.assert_close(total.float(), expected.flatten(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", OTHERWISE)
def test_with_dropout_others_are_refused_with_what_mends_it(name):
    with pytest.raises(
        ParameterError, match=r"model.parameter in a small module of its own.*model.drop.p = 0.0"
    ):
        booked(Beside(*OTHERWISE[name], dropout=0.5), torch.randn(4, 5, 28))


class GivesItToALayer(nn.Module):
    """A layer computes with the parameter itself, apart from examples."""

    def __init__(self, give):
        super().__init__()
        self.parameter, self.layer, self.give = nn.Parameter(torch.randn(5, 3)), nn.Linear(3, 3), give

    def forward(self, x):
        return x + self.parameter + self.layer(self.give(self.parameter)).mean(0)


@pytest.mark.parametrize(
    "give", [lambda p: p, lambda p: p[:4], lambda p: p[None]], ids=["it", "slice", "axis"]
)
def test_a_parameter_that_is_also_given_to_a_layer_is_no_added_one(give):
    torch.manual_seed(4)
    model = GivesItToALayer(give)
    model.layer.requires_grad_(False)
    compare(model, torch.randn(5, 5, 3))
    model.layer.requires_grad_(True)
    compare(model, torch.randn(4, 5, 3))


def test_a_parameter_of_places_in_the_batch_is_refused():
    """Each example would have a number of its own, that of its place."""
    with pytest.raises(ParameterError):
        booked(Beside((4, 5, 28), lambda x, p: x + p), torch.randn(4, 5, 28))


class Scaling(nn.Module):
    """Multiplies by a parameter, around a layer that may be shared."""

    def __init__(self, layer):
        super().__init__()
        self.layer, self.gain = layer, nn.Parameter(torch.rand(3) + 0.5)

    def forward(self, x):
        return self.layer(x * self.gain)


class Adding(Scaling):
    """Adds a parameter instead."""

    def forward(self, x):
        return self.layer(x + self.gain)


class Twice(nn.Module):
    """A layer, and a module around the same layer, in either order of their names."""

    def __init__(self, kind, *, is_first):
        super().__init__()
        layer = nn.Linear(3, 3)
        parts = {"layer": layer, "around": kind(layer)}
        for name in sorted(parts, reverse=is_first):
            self.add_module(name, parts[name])

    def forward(self, x):
        return self.around(torch.tanh(self.layer(x)))


@pytest.mark.parametrize("kind", [Scaling, Adding])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_layer_that_is_also_a_part_of_a_whole_counts_once(kind, is_first):
    torch.manual_seed(5)
    compare(Twice(kind, is_first=is_first), torch.randn(4, 3))


@pytest.mark.parametrize("outer", [Scaling, Adding])
@pytest.mark.parametrize("inner", [Scaling, Adding])
def test_modules_in_modules_count_once(outer, inner):
    torch.manual_seed(6)
    model = outer(nn.Sequential(nn.Linear(3, 3), nn.Tanh(), inner(nn.Linear(3, 2))))
    compare(model, torch.randn(4, 3))
    compare(nn.Sequential(nn.Linear(3, 3), model), torch.randn(4, 3))
    compare(outer(inner(nn.Linear(3, 2))), torch.randn(4, 3))


def test_a_module_that_is_called_twice_has_both_uses():
    class Again(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.part = kind(nn.Linear(3, 3))

        def forward(self, x):
            return self.part(torch.tanh(self.part(x)))

    torch.manual_seed(7)
    for kind in (Scaling, Adding):
        compare(Again(kind), torch.randn(4, 3))


def test_a_part_that_is_called_without_its_module_is_watched():
    torch.manual_seed(8)
    model, rows = Adding(nn.Linear(3, 2)), torch.randn(4, 3)
    book = Book(model, list(model.parameters()))
    book.open()
    uses = book.read(model.layer(rows).square().sum(1))
    assert [len(found) for found in uses] == [0, 1, 1]
    book.open()
    with pytest.raises(ParameterError, match="outside of the module"):
        book.read((model.layer(rows) + model.gain[:2]).square().sum(1))
    book.close()


@pytest.mark.parametrize("fault", ["sum", "slice"])
def test_planted_faults_are_seen(fault, monkeypatch):
    if fault == "sum":
        monkeypatch.setattr(
            beside_layers, "_is_broadcast", lambda node, *rest: node.name() != "TanhBackward0"
        )
        name, cases = "added twice as much", OTHERWISE
    else:
        whole = lambda self, rows: functional.pad(rows, (0, 0, 1, 2))  # noqa: E731 - one position further
        monkeypatch.setattr(beside_layers._Cut, "undone", whole)
        name, cases = "more positions than there are", ADDED
    with pytest.raises(AssertionError):
        compare(Beside(*cases[name]), torch.randn(4, 5, 28))


def squares(model, rows):
    """One loss for each example."""
    return (model(rows).flatten(1) - 0.5).square().sum(1)


@pytest.mark.parametrize("name", ADDED)
def test_a_traced_graph_gives_the_same(name):
    torch.manual_seed(9)
    model, rows = Beside(*ADDED[name]), torch.randn(4, 5, 28)
    book = Book(model, list(model.parameters()))
    book.open()
    expected = book.read(squares(model, rows))
    traced = TracedBatch(model, book, partial(squares, model), [rows], lambda graph: graph).uses([rows])
    for uses, others in zip(traced, expected, strict=True):
        torch.testing.assert_close(
            sum(use.each() for use in uses), sum(use.each() for use in others), rtol=1e-5, atol=1e-5
        )
    book.close()


def test_models_with_dropout_train():
    class Positioned(Beside):
        def forward(self, x):
            return super().forward(x[:, None].expand(-1, 5, -1)).mean(1)[:, :1]

    for compiler in (None, lambda graph: graph):
        model, data = Positioned((1, 5, 28), lambda x, p: x + p, dropout=0.1), torch.randn(60, 28)
        optimizer, _ = small_run(model, (data, data.sum(1)), steps=3)
        losses = partial(lambda own, *batch: losses_of(own, batch), model)
        assert list(optimizer.run(losses, compiler=compiler)) == [1, 2, 3]
        optimizer.close()


class Holder(nn.Module):
    """Adds a parameter that others hold, too."""

    def __init__(self, added, part=None):
        super().__init__()
        self.added, self.layer, self.part = added, nn.Linear(2, 2), part

    def forward(self, x):
        found = self.layer(x) + self.added if self.part is None else self.part(self.layer(x))
        return torch.tanh(found)


@pytest.mark.parametrize("times", [1, 3])
def test_a_parameter_that_several_modules_hold_counts_once(times):
    shared = nn.Parameter(torch.randn(2))
    compare(nn.Sequential(*(Holder(shared) for _ in range(times))), torch.randn(4, 2))
    compare(Holder(shared, Holder(shared)), torch.randn(4, 2))


class Scaled(Holder):
    """Multiplies by the parameter that others add."""

    def forward(self, x):
        return self.layer(x) * self.added


def test_a_parameter_that_one_module_adds_and_another_multiplies_by_counts_once():
    shared = nn.Parameter(torch.randn(2))
    compare(nn.Sequential(Holder(shared), Scaled(shared)), torch.randn(4, 2))


class Sliced(nn.Module):
    def __init__(self, cut):
        super().__init__()
        self.added, self.cut = nn.Parameter(torch.randn(1, 9, 3)), cut
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x) + self.cut(self.added)


CUTS = [
    lambda p: p[:, -4:],
    lambda p: p[:, :-5],
    lambda p: p[:, -6:-2],
    lambda p: p[..., -6:-2, :],
    lambda p: p.narrow(-2, 2, 4),
    lambda p: p[0, -4:].unsqueeze(-3),
]


@pytest.mark.parametrize("cut", CUTS)
def test_slices_from_the_end_are_those_of_examples(cut):
    compare(Sliced(cut), torch.randn(5, 4, 3))
