"""Gradients that would be missing, counted twice or mixed: each is right, or refused, in every batch."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from discreet.errors import ParameterError
from discreet.learning import private
from discreet.learning.deep.watching.book import Book
from discreet.noise import replay
from learning.deep.gradient_oracle import compare, oracle, squared_loss


def read(model, *batches, loss=squared_loss, weights=None):
    """The uses of the last of some batches."""
    book = Book(model, [value for value in model.parameters() if value.requires_grad])
    try:
        for rows in batches:
            book.begin_step()
            book.open()
            tried = torch.ones(len(rows)) if weights is None else weights
            found = book.read(loss(model(rows), 0.5), weights=tried)
        return found
    finally:
        book.close()


def written(uses):
    return [sum(use.each() for use in found) for found in uses]


class Switched(nn.Module):
    """Calls the same layers in the same order, wired otherwise when switched."""

    def __init__(self, late):
        super().__init__()
        self.one, self.two, self.late, self.is_late = nn.Linear(3, 3), nn.Linear(3, 3), late, False

    def forward(self, x):
        first = self.one(x)
        if not self.is_late:
            return self.two(torch.tanh(first))
        return {
            "beside": lambda: self.two(x) + first,
            "detached": lambda: self.two(torch.tanh(first).detach()) + first,
            "past": lambda: self.two(first) + functional.linear(x, self.one.weight),
        }[self.late]()


@pytest.mark.parametrize("late", ["beside", "detached"])
def test_layers_that_are_wired_otherwise_later_keep_their_gradients(late):
    torch.manual_seed(1)
    model, rows = Switched(late), torch.randn(4, 3)
    book = Book(model, list(model.parameters()))
    for is_late in (False, True):
        model.is_late = is_late
        book.open()
        found = written(book.read(squared_loss(model(rows), 0.5)))
    book.close()
    for one, other in zip(found, oracle(model, rows), strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_a_parameter_that_passes_its_module_later_is_refused():
    model, rows = Switched("past"), torch.randn(4, 3)
    book = Book(model, list(model.parameters()))
    book.open()
    book.read(squared_loss(model(rows), 0.5))
    model.is_late = True
    book.open()
    with pytest.raises(ParameterError, match="outside of the module"):
        book.read(squared_loss(model(rows), 0.5))
    book.close()


class Bare(nn.Module):
    """A module without a rule, since it owns a parameter itself, that returns several tensors."""

    def __init__(self, kind):
        super().__init__()
        self.scale, self.layer, self.kind = nn.Parameter(torch.ones(3)), nn.Linear(3, 3), kind

    def forward(self, x):
        seen = self.layer(x) * self.scale
        return {
            "made from": (torch.tanh(seen), seen),
            "the same": (seen, seen),
            "apart": (seen, x * self.scale),
        }[self.kind]


class Around(nn.Module):
    """Reads both outputs."""

    def __init__(self, kind):
        super().__init__()
        self.inner = Bare(kind)

    def forward(self, x):
        one, other = self.inner(x)
        return one + 2 * other


@pytest.mark.parametrize("kind", ["made from", "the same", "apart"])
def test_outputs_of_one_module_are_counted_once(kind):
    torch.manual_seed(2)
    compare(Around(kind), torch.randn(4, 3))


class Scaled(nn.Module):
    """Its losses read a parameter of the model once more."""

    def __init__(self):
        super().__init__()
        self.scale, self.layer = nn.Parameter(torch.tensor(0.3)), nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x) * self.scale


def test_parameters_without_axes_have_gradients():
    compare(Scaled(), torch.randn(4, 3))


def test_losses_that_read_a_parameter_past_a_whole_module_are_refused():
    model = Scaled()
    with pytest.raises(ParameterError, match="outside of the module"):
        read(model, torch.randn(4, 3), loss=lambda found, _: (found * model.scale.exp()).sum(1))


def test_a_weight_that_autocast_keeps_is_seen_past_its_module():
    class Past(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            with torch.autocast("cpu", torch.bfloat16):
                return self.layer(x) + functional.linear(x, self.layer.weight)

    with pytest.raises(ParameterError, match="outside of the module"):
        read(Past(), torch.randn(4, 3), loss=lambda found, _: found.float().sum(1))


class Checkpointed(nn.Module):
    """A frozen table, then a block that is run again in the backward pass."""

    def __init__(self, *, is_reentrant):
        super().__init__()
        self.table = nn.Embedding(5, 3).requires_grad_(False)
        self.block, self.last, self.is_reentrant = nn.Linear(3, 3), nn.Linear(3, 2), is_reentrant

    def forward(self, words):
        seen = self.table(words).requires_grad_()
        return self.last(
            checkpoint(lambda x: torch.tanh(self.block(x)), seen, use_reentrant=self.is_reentrant)
        )


def test_layers_that_a_checkpoint_hides_are_refused():
    words = torch.randint(0, 5, (4,))
    compare(Checkpointed(is_reentrant=False), words)
    with pytest.raises(ParameterError, match="hides layers"):
        read(Checkpointed(is_reentrant=True), words)


def test_a_layer_that_computes_otherwise_has_no_rule():
    layer = nn.Linear(3, 2)
    usual = layer.forward
    layer.forward = lambda x: 2 * usual(x)
    model = nn.Sequential(layer)
    expected = [2 * one for one in oracle(nn.Sequential(nn.Linear(3, 2)), torch.zeros(4, 3))]
    assert len(expected) == 2
    rows = torch.randn(4, 3)
    uses = written(read(model, rows, loss=lambda found, _: found.sum(1)))
    assert torch.allclose(uses[0], 2 * rows.double().repeat(1, 2), atol=1e-6)


def test_hooks_of_others_come_after_the_books():
    layer = nn.Linear(3, 2)
    layer.register_forward_hook(lambda module, args, returned: 3 * returned)
    rows = torch.randn(4, 3)
    uses = written(read(nn.Sequential(layer), rows, loss=lambda found, _: found.sum(1)))
    assert torch.allclose(uses[0], 3 * rows.double().repeat(1, 2), atol=1e-6)


def test_indices_that_are_written_over_are_refused():
    class Shifting(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(9, 3)

        def forward(self, words):
            found = self.table(words)
            words += 1
            return found

    with pytest.raises((ParameterError, RuntimeError), match=r"writes over|modified by an inplace"):
        read(Shifting(), torch.randint(0, 5, (4,)))


class Contrastive(nn.Module):
    """Without a bias, so that rows of zeros have no gradient at others."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3, bias=False)

    def forward(self, x):
        return self.layer(x)


def contrasted(found, _):
    return functional.cross_entropy(found @ found.T, torch.arange(len(found)), reduction="none")


@pytest.mark.parametrize("present", [2, 3, 5])
def test_examples_that_are_mixed_are_seen_beside_padding(present):
    rows, weights = torch.randn(64, 3), torch.zeros(64)
    rows[present:], weights[:present] = 0, 1
    with pytest.raises(ParameterError, match="mixes examples"):
        read(Contrastive(), rows, loss=contrasted, weights=weights)


def test_padding_alone_tells_nothing_and_is_not_taken_for_a_trial():
    model, book_weights = Contrastive(), torch.zeros(8)
    book = Book(model, list(model.parameters()))
    book.open()
    book.read(contrasted(model(torch.zeros(8, 3)), 0), weights=book_weights)
    assert not book.is_tried
    book.open()
    with pytest.raises(ParameterError, match="mixes examples"):
        book.read(contrasted(model(torch.randn(8, 3)), 0), weights=torch.ones(8))
    book.close()


@pytest.mark.parametrize("count", [4, 5, 8, 9])
def test_rows_in_another_order_are_seen(count):
    """Each pair of trials may miss it by its coins, half of them of four examples: so coins are fixed."""

    class Flipped(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 2)

        def forward(self, x):
            return self.two(torch.tanh(self.one(x)).flip(0))

    model = Flipped()
    with replay(1), pytest.raises(ParameterError, match="mixes examples"):
        read(model, *[torch.randn(count, 3) for _ in range(64)])


def privately(model, people, **sizes):
    inputs = (torch.randn(people, 3),)
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    return private(inner, model, inputs, epsilon=2, delta=1e-5, **sizes)


def train(optimizer, losses):
    for (rows,) in optimizer.batches():
        optimizer.step(losses(rows))


@pytest.mark.parametrize("batch", [2, 8, 16])
def test_a_run_refuses_mixed_examples_however_small_its_batches_are(batch):
    torch.manual_seed(5)
    model = Contrastive()
    optimizer = privately(model, 100, batch=batch, steps=30, physical=128)
    with pytest.raises(ParameterError, match="mixes examples"):
        train(optimizer, lambda rows: contrasted(model(rows), 0))
    assert optimizer.taken < 30
    optimizer.close()


def test_a_buffer_that_is_written_through_data_is_refused():
    class Averaging(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 1)
            self.register_buffer("mean", torch.zeros(3))

        def forward(self, x):
            self.mean.data.lerp_(x.mean(0), 0.5)
            return self.layer(x)

    model = Averaging()
    optimizer = privately(model, 100, batch=20, steps=3)
    with pytest.raises(ParameterError, match="changes a buffer"):
        train(optimizer, lambda rows: model(rows)[:, 0] ** 2)
    optimizer.close()


def test_a_compiled_run_is_tried_out_even_if_its_first_step_has_nobody():
    """When it begins to be compiled is public: it does not wait for examples."""
    torch.manual_seed(6)
    model = Contrastive()
    optimizer = privately(model, 1000, batch=1, steps=60, physical=16)
    steps = optimizer.run(lambda rows: contrasted(model(rows), 0), compiler=lambda graph: graph)
    with pytest.raises(ParameterError, match="mixes examples"):
        list(steps)
    assert optimizer.taken < 60
    optimizer.close()


class Outer(nn.Module):
    """A module without a rule around a layer that is another module's, too."""

    def __init__(self, layer):
        super().__init__()
        self.gain, self.layer = nn.Parameter(torch.rand(3) + 0.5), layer

    def forward(self, x):
        return self.layer(x * self.gain)


class Lent(nn.Module):
    """Owns a layer, which a part of it has as well; calls it, or lets that call it alone."""

    def __init__(self, *, is_called, is_first):
        super().__init__()
        layer = nn.Linear(3, 3)
        if is_first:
            self.layer, self.outer = layer, Outer(layer)
        else:
            self.outer, self.layer = Outer(layer), layer
        self.is_called = is_called

    def forward(self, x):
        return self.outer(torch.tanh(self.layer(x)) if self.is_called else x)


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("is_called", [True, False])
def test_a_layer_that_is_a_part_of_a_whole_too_is_counted_as_often_as_it_is_called(is_called, is_first):
    torch.manual_seed(3)
    compare(Lent(is_called=is_called, is_first=is_first), torch.randn(4, 3))
