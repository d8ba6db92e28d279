"""Gradients of every layer with a rule are those of examples that are run alone."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional

from discreet.learning.deep import layers
from discreet.learning.deep.layers import as_read_by_kernels, cast_by_autocast, rule_of
from discreet.learning.deep.uses import TurnedRowsUse
from discreet.learning.deep.watching.book import Book
from learning.deep.gradient_oracle import booked, compare, oracle


class Conv1D(nn.Module):
    """The layer of Hugging Face's GPT-2, with its name: a linear layer with a transposed matrix."""

    def __init__(self, nf, nx):
        super().__init__()
        self.nf = nf
        self.weight = nn.Parameter(torch.randn(nx, nf) * 0.3)
        self.bias = nn.Parameter(torch.randn(nf))

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(*x.shape[:-1], self.nf)


LAYERS = {
    "linear": (nn.Linear(5, 3), (5,)),
    "linear without a bias": (nn.Linear(5, 3, bias=False), (5,)),
    "linear on a sequence": (nn.Linear(5, 3), (7, 5)),
    "linear on few positions": (nn.Linear(20, 30), (2, 20)),
    "linear on a grid": (nn.Linear(4, 3), (2, 3, 4)),
    "convolution of sequences": (nn.Conv1d(3, 4, 3, stride=2, padding=1), (3, 11)),
    "convolution of images": (nn.Conv2d(2, 5, (3, 2), stride=(2, 1), padding=(1, 0)), (2, 7, 6)),
    "convolution with many channels": (nn.Conv2d(12, 16, 2), (12, 3, 3)),
    "convolution in groups": (nn.Conv2d(4, 6, 3, groups=2, bias=False), (4, 6, 5)),
    "dilated convolution": (nn.Conv2d(2, 3, 2, dilation=2, padding="same"), (2, 6, 6)),
    "convolution around a circle": (nn.Conv1d(2, 3, 3, padding=1, padding_mode="circular"), (2, 6)),
    "convolution with reflections": (nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), (2, 5, 4)),
    "convolution of volumes": (nn.Conv3d(2, 3, 2, stride=2), (2, 4, 5, 4)),
    "layer norm": (nn.LayerNorm(6), (4, 6)),
    "layer norm of a vector": (nn.LayerNorm(6), (6,)),
    "layer norm of two axes": (nn.LayerNorm((3, 4)), (2, 3, 4)),
    "layer norm without a bias": (nn.LayerNorm(6, bias=False), (4, 6)),
    "group norm": (nn.GroupNorm(2, 6), (6, 3, 4)),
    "group norm of a vector": (nn.GroupNorm(2, 6), (6,)),
    "root mean square norm": (nn.RMSNorm(6), (4, 6)),
    "transposed linear": (Conv1D(3, 5), (4, 5)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_are_those_of_examples_alone(name):
    torch.manual_seed(1)
    layer, shape = LAYERS[name]
    assert rule_of(layer) is not None
    compare(nn.Sequential(layer), torch.randn(6, *shape))


@pytest.mark.parametrize("padding", [None, 2])
def test_embeddings_are_those_of_examples_alone(padding):
    torch.manual_seed(2)
    model = nn.Sequential(nn.Embedding(5, 4, padding_idx=padding), nn.Tanh(), nn.Linear(4, 2))
    compare(model, torch.randint(0, 5, (6, 8)))


def test_frozen_parameters_have_no_gradients():
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    model[0].weight.requires_grad_(False)
    model[2].bias.requires_grad_(False)
    compare(model, torch.randn(5, 4))


def test_a_layer_that_computes_otherwise_has_no_rule():
    class Doubled(nn.Linear):
        def forward(self, x):
            return 2 * super().forward(x)

    assert rule_of(Doubled(2, 2)) is None
    assert rule_of(nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))) is None
    assert rule_of(nn.Tanh()) is None


class Reduced(nn.Module):
    """A layer that PyTorch runs with shorter floats, and what comes after it."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, inputs):
        with torch.autocast("cpu", torch.bfloat16):
            return self.layer(inputs)


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_under_autocast_are_nearly_those(name):
    """Inputs have 32 bits and slopes 16 there, or the other way round."""
    layer, shape = LAYERS[name]
    torch.manual_seed(4)
    inputs = torch.randn(6, *shape)
    expected = oracle(layer, inputs)
    for uses, each in zip(booked(Reduced(layer), inputs), expected, strict=True):
        written = sum(use.each() for use in uses)
        assert (written - each).norm() <= 0.03 * each.norm()


@pytest.mark.parametrize("name", LAYERS)
def test_autocast_around_a_whole_loop_is_for_the_model_alone(name):
    """Gradients of examples are made from what was kept, in the numbers that it has."""
    layer, shape = LAYERS[name]
    torch.manual_seed(4)
    inputs = torch.randn(6, *shape)
    expected = booked(Reduced(layer), inputs)
    with torch.autocast("cpu", torch.bfloat16):
        found = booked(Reduced(layer), inputs)
    for uses, others in zip(found, expected, strict=True):
        for one, other in zip(uses, others, strict=True):
            assert type(one) is type(other)
            assert torch.equal(one.each(), other.each())


@pytest.mark.parametrize("name", LAYERS)
def test_autocast_gives_the_same_output_to_a_layer_that_is_watched(name):
    layer, shape = LAYERS[name]
    torch.manual_seed(4)
    model, inputs = Reduced(layer), torch.randn(6, *shape)
    expected = model(inputs)
    book = Book(model, list(layer.parameters()))
    book.open()
    found = model(inputs)
    book.close()
    assert found.dtype == expected.dtype
    assert torch.equal(found, expected)


@pytest.mark.parametrize(("layer", "is_cast"), [(nn.Linear(4, 3), True), (nn.LayerNorm(4), False)])
def test_what_is_kept_under_autocast_is_what_the_layer_computes_with(layer, is_cast):
    model = Reduced(layer)
    book = Book(model, list(layer.parameters()))
    seen = []
    layer.register_forward_hook(lambda module, args, returned: seen.append(args[0].dtype))
    for is_open in (True, False):
        if is_open:
            book.open()
        model(torch.randn(6, 4))
        book.stop()
    assert seen == [torch.bfloat16 if is_cast else torch.float32, torch.float32]
    book.close()


@pytest.mark.parametrize("kind", [torch.float64, torch.int64])
def test_what_autocast_leaves_alone_is_not_cast(kind):
    values, cast = torch.ones(2, 3, dtype=kind), cast_by_autocast(rule_of(nn.Linear(3, 2)))
    with torch.autocast("cpu", torch.bfloat16):
        assert cast(values) is values
        assert cast(values.half()).dtype == torch.bfloat16
    assert cast(values.float()).dtype == torch.float32


@pytest.mark.parametrize("layer", [nn.LayerNorm(4), nn.GroupNorm(2, 4)])
def test_normalizing_layers_are_given_longer_floats_by_an_accelerators_autocast(layer, monkeypatch):
    cast = cast_by_autocast(rule_of(layer))
    with FakeTensorMode():
        given = torch.empty(2, 4, device="cuda", dtype=torch.bfloat16)
        assert cast(given) is given
        monkeypatch.setattr(torch, "is_autocast_enabled", lambda kind: kind == "cuda")
        assert cast(given).dtype == torch.float32
        for kept in (given.float(), given.double(), torch.empty(2, 4, dtype=torch.bfloat16)):
            assert cast(kept) is kept
    monkeypatch.undo()
    with torch.autocast("cpu", torch.bfloat16):
        short = torch.ones(2, 4, dtype=torch.bfloat16)
        assert cast(short) is short


@pytest.mark.skipif(not torch.cuda.is_available(), reason="autocast of an accelerator")
@pytest.mark.parametrize("layer", [nn.LayerNorm(4), nn.GroupNorm(2, 4)])
def test_an_accelerators_autocast_does_the_same(layer):
    given = torch.randn(3, 4, device="cuda", dtype=torch.bfloat16)
    with torch.autocast("cuda", torch.bfloat16):
        found = layer.cuda()(given)
        assert torch.equal(found, layer(cast_by_autocast(rule_of(layer))(given)))
    assert found.dtype == torch.float32


def test_no_other_layer_is_given_other_floats():
    assert [cast_by_autocast(rule_of(layer)) for layer in (nn.Embedding(3, 2), nn.RMSNorm(4))] == [None] * 2


def test_what_a_graph_leaves_to_kernels_is_short_and_has_channels_next_to_each_other():
    """Of images on an accelerator, which tensors without values may be said to be on."""
    with FakeTensorMode():
        images, slopes = (torch.empty(2, size, 5, 4, device="cuda") for size in (3, 6))
        rule = rule_of(nn.Conv2d(3, 6, 3))
        for values in as_read_by_kernels(rule, images, slopes):
            assert values.dtype == torch.bfloat16
            assert values.is_contiguous(memory_format=torch.channels_last)
        halves = as_read_by_kernels(rule, images.half(), slopes.half())
        assert [values.dtype for values in halves] == [torch.float16] * 2
        for one, given, seen in (
            (rule, images.cpu(), slopes.cpu()),
            (rule, torch.empty(2, 3, 5, device="cuda"), torch.empty(2, 6, 5, device="cuda")),
            (rule, images.double(), slopes.double()),
            (rule_of(nn.Linear(4, 3)), images, slopes),
        ):
            assert as_read_by_kernels(one, given, seen) == (given, seen)


@pytest.mark.parametrize("examples", [12, 7])
@pytest.mark.parametrize("most", [1, 400, 1300])
def test_convolutions_in_blocks_are_those_at_once(monkeypatch, most, examples):
    module = nn.Conv2d(2, 3, 3, stride=2, padding=1)
    given = torch.randn(examples, 2, 9, 9)
    slopes = torch.randn_like(module(given))
    whole = rule_of(module)(module, given, slopes)["weight"]
    monkeypatch.setattr(layers, "_IN_CACHE", most)  # an example has 450 numbers of patches
    found = rule_of(module)(module, given, slopes)["weight"]
    assert isinstance(found, TurnedRowsUse)
    torch.testing.assert_close(found.each().float(), whole.each().float())
    expected = torch.einsum("bop,bcp->boc", slopes.flatten(2), functional.unfold(given, 3, 1, 1, 2)).flatten(
        1
    )
    torch.testing.assert_close(found.each().float(), expected)
