"""The book gives the gradients of each example, or refuses."""

from __future__ import annotations

import weakref

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from discreet.errors import ParameterError
from discreet.learning.deep.watching import book as book_module
from discreet.learning.deep.watching.arriving_slopes import first_places
from discreet.learning.deep.watching.book import Book
from effort import examples
from learning.deep.gradient_oracle import booked, compare, squared_loss


class Twice(nn.Module):
    """One layer called two times, with something between."""

    def __init__(self):
        super().__init__()
        self.layer, self.last = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.layer(torch.tanh(self.layer(x))))


class Tied(nn.Module):
    """A language model whose last layer has the table of the first."""

    def __init__(self, words=7, width=5):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.middle, self.norm = nn.Linear(width, width), nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.table.weight

    def forward(self, words):
        return self.head(self.norm(torch.relu(self.middle(self.table(words)))))


class Residual(nn.Module):
    """A small residual network with group normalization."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.norms = nn.ModuleList([nn.GroupNorm(2, 4) for _ in range(2)])
        self.inside = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.last = nn.Linear(4, 3)

    def forward(self, x):
        x = functional.relu(self.norms[0](self.first(x)), inplace=True)
        x = x + functional.relu(self.norms[1](self.inside(x)))
        return self.last(x.mean((2, 3)))


class Block(nn.Module):
    """A block of a small GPT: attention in parts, and a linear network."""

    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.norm, self.other = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.attention(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.other(x))))


class SmallGPT(nn.Module):
    """Words and places in, scores of words out, with a tied head."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(11, 8), nn.Embedding(6, 8)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.words.weight

    def forward(self, words):
        places = torch.arange(words.shape[1]).expand(words.shape)
        return self.head(self.blocks(self.words(words) + self.places(places)))


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (Twice(), torch.randn(5, 4)),
        (Twice(), torch.randn(5, 3, 4)),
        (Tied(), torch.randint(0, 7, (5, 6))),
        (Residual(), torch.randn(4, 1, 5, 5)),
        (SmallGPT(), torch.randint(0, 11, (4, 6))),
    ],
    ids=["reused", "reused on sequences", "tied", "residual", "small GPT"],
)
def test_whole_models_are_those_of_examples_alone(model, inputs):
    compare(model, inputs)


@st.composite
def networks(draw):
    """A chain of layers that fit each other, and a batch for it."""
    positions, width = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    shape = (positions, width) if draw(st.booleans()) else (width,)
    layers, shared = [], []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["linear", "norm", "again", "bare", "tanh"]))
        wide = draw(st.integers(2, 5))
        if kind == "linear":
            layers.append(nn.Linear(width, wide, bias=draw(st.booleans())))
            width = wide
        elif kind == "norm":
            layers.append(draw(st.sampled_from([nn.LayerNorm, nn.RMSNorm]))(width))
        elif kind == "again":
            same = [layer for layer in shared if layer.in_features == layer.out_features == width]
            shared += [] if same else [nn.Linear(width, width)]
            layers.append(same[0] if same else shared[-1])
        elif kind == "bare":
            layers.append(Scaled(width))
        layers.append(nn.Tanh())
    layers.append(nn.Linear(width, 2))
    return nn.Sequential(*layers), torch.randn(draw(st.integers(2, 5)), *shape)


class Scaled(nn.Module):
    """A parameter of its own, which no rule knows."""

    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return x * self.gain


@given(networks(), st.integers(0, 2**31))
@settings(max_examples=examples(200))
def test_random_networks_are_those_of_examples_alone(network, seed):
    """In doubles: norms of few numbers may be so ill-conditioned that floats lose all digits."""
    torch.manual_seed(seed)
    model, inputs = network
    compare(model.double(), inputs.double(), tolerance=1e-9)


def test_the_model_is_not_changed():
    model = Residual()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    booked(model, torch.randn(4, 1, 5, 5))
    assert all((value == before[name]).all() for name, value in model.state_dict().items())
    assert all(value.grad is None and value.requires_grad for value in model.parameters())
    assert not any(module._forward_hooks for module in model.modules())


def test_a_second_book_on_a_model_is_refused():
    model = nn.Linear(2, 2)
    book = Book(model, list(model.parameters()))
    with pytest.raises(ParameterError, match="another private optimizer"):
        Book(model, list(model.parameters()))
    with pytest.raises(ParameterError, match="another private optimizer"):
        Book(nn.Sequential(model), list(model.parameters()))
    book.close()
    Book(model, list(model.parameters())).close()


class Mixing(nn.Module):
    """Subtracts the mean of the batch."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        out = self.layer(x)
        return out - out.mean(0)


class Functional(Mixing):
    """Uses a weight past its module."""

    def forward(self, x):
        return self.layer(x) + functional.linear(x, self.layer.weight)


class WritesOver(Mixing):
    """Changes the input of a layer after the call."""

    def forward(self, x):
        x = x * 1
        out = self.layer(x)
        x += 1
        return out


class SharedPlaces(nn.Module):
    """Reads places once for all examples, as many places as there are examples."""

    def __init__(self):
        super().__init__()
        self.places, self.layer = nn.Embedding(5, 3), nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x + self.places(torch.arange(5)).sum(0))


class FoldedBatch(Mixing):
    """Gives a layer examples and positions on one axis."""

    def forward(self, x):
        return self.layer(x.reshape(-1, 3)).reshape(len(x), -1)


@pytest.mark.parametrize(
    ("model", "shape", "message"),
    [
        (Mixing(), (5, 3), "mixes examples"),
        (Functional(), (5, 3), "outside of the module"),
        (WritesOver(), (5, 3), "writes over the input"),
        (SharedPlaces(), (5, 3), "mixes examples"),
        (FoldedBatch(), (5, 2, 3), "first axis"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else None,
)
def test_models_that_are_not_per_example_are_refused(model, shape, message):
    with pytest.raises(ParameterError, match=message):
        booked(model, torch.randn(*shape))


def test_a_loss_that_mixes_examples_is_refused():
    def normalized(output, targets):
        losses = squared_loss(output, targets)
        return losses / losses.sum()

    with pytest.raises(ParameterError, match="mixes examples"):
        booked(nn.Linear(3, 2), torch.randn(5, 3), normalized)


def test_losses_of_something_else_are_refused():
    model = nn.Linear(3, 2)
    book = Book(model, list(model.parameters()))
    book.open()
    with pytest.raises(ParameterError, match="do not come from the model"):
        book.read(torch.ones(4, requires_grad=True))


@pytest.mark.parametrize("layer", [nn.Linear(6, 4), nn.Conv1d(2, 3, 3), nn.LayerNorm(6), nn.GroupNorm(1, 2)])
def test_other_examples_do_not_change_a_bit_of_a_gradient(layer):
    """What the proof assumes of the framework: rows of a batch of fixed size are computed alike."""
    torch.manual_seed(3)
    model = nn.Sequential(layer, nn.Tanh(), nn.Flatten(), nn.LazyLinear(3))
    one, other = torch.randn(2, 32, 2, 6)
    model(one)
    other[:16] = one[:16]
    moved = torch.roll(one, 5, dims=0)
    found = [[use.each() for uses in booked(model, rows) for use in uses] for rows in (one, other, moved)]
    for same, changed, rolled in zip(*found, strict=True):
        assert torch.equal(same[:16], changed[:16])
        assert torch.equal(torch.roll(same, 5, dims=0), rolled)


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (Twice(), torch.randn(4, 4)),
        (Tied(), torch.randint(0, 7, (4, 3))),
        (
            nn.Sequential(nn.Conv2d(1, 2, 2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3)),
            torch.randn(4, 1, 3, 3),
        ),
    ],
    ids=["twice", "tied", "convolution"],
)
def test_slopes_that_are_handed_over_as_on_an_accelerator_give_the_same(model, rows, monkeypatch):
    monkeypatch.setattr(book_module, "_asked", first_places)
    compare(model, rows)


def test_what_is_only_tried_out_is_let_go_in_the_pass(monkeypatch):
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    book, held, seen, computed = Book(model, list(model.parameters())), [], [], []
    note = book_module.noted_call

    def noted(*given):
        call = note(*given)
        held.append(weakref.ref(call.given[0][0]))
        return call

    def compute():
        losses = model(torch.randn(4, 3)).square().sum(1)
        losses.grad_fn.register_hook(lambda *_: seen.append(all(one() is None for one in held)))
        computed.append(losses)
        return losses

    monkeypatch.setattr(book_module, "noted_call", noted)
    book.try_out(compute, torch.ones(4))
    assert seen == [True, True]  # nothing but the pass itself holds what layers were given
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(computed[0].sum(), model[0].weight)
    assert not book.is_tried
    book.try_out(pytest.fail, torch.ones(4))  # before and after an update
    book.begin_step()
    book.try_out(compute, torch.ones(4))
    assert book.is_tried
    book.try_out(pytest.fail, torch.ones(4))
    book.close()


def test_what_is_only_tried_out_may_not_pass_layers():
    model = nn.Linear(3, 2)
    book = Book(model, list(model.parameters()))
    with pytest.raises(ParameterError, match="weight"):
        book.try_out(lambda: model(torch.ones(4, 3)).sum(1) + model.weight.sum(), torch.ones(4))
    book.close()


def test_losses_of_a_batch_that_tells_nothing_are_not_computed():
    model = nn.Linear(3, 2)
    book = Book(model, list(model.parameters()))
    book.try_out(pytest.fail, torch.tensor([0.0, 1.0, 0.0]))
    assert not book._trials._pairs
    book.try_out(lambda: model(torch.randn(1, 3)).sum(1), torch.tensor([0.0]))  # alone in its batch
    assert book._trials._pairs == 1
    book.close()


def test_without_weights_nothing_is_tried_out():
    """So that a batch can be recorded, whatever was tried out before."""
    model = nn.Linear(3, 2)
    book = Book(model, list(model.parameters()))
    for _ in range(4):
        book.open()
        book.read(model(torch.randn(4, 3)).square().sum(1))
    assert not book.is_tried
    book.close()
