"""Attention that is written out returns what PyTorch's does, with the gradients of examples."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from discreet.errors import ParameterError
from discreet.learning.deep.written_out import attention
from discreet.learning.deep.written_out.attention import write_attention
from discreet.learning.deep.written_out.linear_parts import LinearParts
from learning.deep.gradient_oracle import booked, compare, oracle

MODULES = {
    "plain": {},
    "without a bias": {"bias": False},
    "other widths": {"kdim": 4, "vdim": 5},
}
CAUSAL = nn.Transformer.generate_square_subsequent_mask(4).double()
PADDING = torch.tensor([[False, False, True], [False, True, True], [False, False, False]])
OPTIONS = {
    "nothing": {},
    "weights by head": {"average_attn_weights": False},
    "no weights": {"need_weights": False},
    "padding": {"key_padding_mask": PADDING},
    "padding without weights": {"key_padding_mask": PADDING, "need_weights": False},
    "a mask": {"attn_mask": torch.tensor([[False, True, False]] * 4)},
    "a mask of numbers": {"attn_mask": torch.linspace(-1, 1, 12).double().reshape(4, 3)},
    "a mask for each head": {"attn_mask": torch.linspace(-1, 1, 72).double().reshape(6, 4, 3)},
    "both": {
        "attn_mask": torch.tensor([[False, False, True]] * 4),
        "key_padding_mask": PADDING,
        "need_weights": False,
    },
}


def defaults(**options):
    """All arguments of a call after the third, in their order."""
    every = {
        "key_padding_mask": None,
        "need_weights": True,
        "attn_mask": None,
        "average_attn_weights": True,
        "is_causal": False,
    }
    return tuple((every | options).values())


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("form", MODULES.values(), ids=MODULES)
def test_what_is_returned_is_what_pytorch_returns(form, options):
    torch.manual_seed(1)
    module = nn.MultiheadAttention(6, 2, batch_first=True, **form).double()
    query = torch.randn(3, 4, 6).double()
    key, value = (torch.randn(3, 3, form.get(size, 6)).double() for size in ("kdim", "vdim"))
    expected = module(query, key, value, **options)
    found = write_attention(LinearParts(module, set()), module, query, key, value, *defaults(**options))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"need_weights": False}, {"key_padding_mask": torch.eye(4)[:3] > 0}])
def test_causal_attention_is_what_pytorch_returns(options):
    module, rows = nn.MultiheadAttention(6, 3, batch_first=True).double(), torch.randn(3, 4, 6).double()
    options = options | {"attn_mask": CAUSAL < 0, "is_causal": True}
    if "key_padding_mask" in options:  # a first word that is left out would have nothing to attend to
        options["key_padding_mask"][:, 0] = False
    expected = module(rows, rows, rows, **options)
    found = write_attention(LinearParts(module, set()), module, rows, rows, rows, *defaults(**options))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


class Attending(nn.Module):
    """Queries, keys and values of an example; weights are read, too."""

    def __init__(self, *, is_crossed, **form):
        super().__init__()
        self.first, self.is_crossed = nn.Linear(6, 6), is_crossed
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True, **form)

    def forward(self, x):
        x = self.first(x)
        key, value = (
            (x[..., : self.attention.kdim].tanh(), x[:, :, : self.attention.vdim].flip(1))
            if self.is_crossed
            else (x, x)
        )
        found, weights = self.attention(x, key, value)
        return torch.cat([found.flatten(1), weights.flatten(1)], 1)


@pytest.mark.parametrize("form", MODULES.values(), ids=MODULES)
def test_gradients_are_those_of_examples_alone(form):
    torch.manual_seed(2)
    compare(Attending(is_crossed=True, **form), torch.randn(4, 5, 6))
    if "kdim" not in form:
        compare(Attending(is_crossed=False, **form), torch.randn(4, 5, 6))


def test_gradients_of_frozen_parts_are_left_out():
    torch.manual_seed(3)
    for name in ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"):
        for is_crossed in (True, False):
            model = Attending(is_crossed=is_crossed)
            model.attention.get_parameter(name).requires_grad_(False)
            compare(model, torch.randn(4, 5, 6))


@pytest.mark.parametrize("is_first", [True, False])
def test_layers_of_transformers_are_those_of_examples_alone(is_first):
    torch.manual_seed(4)
    layer = nn.TransformerEncoderLayer(6, 2, 8, 0.0, batch_first=True, norm_first=is_first)
    compare(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), torch.randn(4, 5, 6))
    both = nn.TransformerDecoderLayer(6, 2, 8, 0.0, batch_first=True, norm_first=is_first)

    class Decoding(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = both

        def forward(self, x):
            return self.layer(x[:, :3], x[:, 3:])

    compare(Decoding(), torch.randn(4, 5, 6))


def test_masks_of_dropout_are_those_of_the_gradients(monkeypatch):
    """A second model multiplies its weights by the masks that were drawn, as one of its inputs."""
    torch.manual_seed(5)
    model, rows = Attending(is_crossed=False, dropout=0.5), torch.randn(4, 5, 6)
    masks, draw = [], functional.dropout

    def dropout(values, p):
        masks.append(draw(torch.ones_like(values), p))
        return values * masks[-1]

    monkeypatch.setattr(attention.functional, "dropout", dropout)
    found = booked(model, rows)
    _, mask = masks  # the first is of the pass whose result is replaced
    assert 0 < int((mask == 0).sum()) < mask.numel()

    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, both):
            x, own = both[:, :30].unflatten(1, (5, 6)), both[:, 30:].unflatten(1, (2, 5, 5))
            inner = self.model.attention
            x = self.model.first(x)
            parts = functional.linear(x, inner.in_proj_weight, inner.in_proj_bias)
            q, k, v = parts.unflatten(2, (3, 2, 3)).permute(2, 0, 3, 1, 4)
            weights = torch.softmax(q @ k.transpose(2, 3) / 3**0.5, 3) * own
            out = inner.out_proj((weights @ v).transpose(1, 2).flatten(2))
            return torch.cat([out.flatten(1), weights.mean(1).flatten(1)], 1)

    expected = oracle(Masked(), torch.cat([rows.flatten(1), mask.flatten(1)], 1))
    for (use,), each in zip(found, expected, strict=True):
        torch.testing.assert_close(use.each(), each, rtol=1e-4, atol=1e-5)


def test_gradients_with_dropout_are_those_of_the_losses():
    """Added up over examples, they are the gradient of one backward pass with the same masks."""
    torch.manual_seed(6)
    layer = nn.TransformerEncoderLayer(6, 2, 8, 0.3, batch_first=True)
    rows, summed = torch.randn(4, 5, 6), []
    whole = dict(layer.named_parameters())

    def loss(output, targets):
        found = ((output.flatten(1) - targets) ** 2).sum(1)
        kept = [whole[name] for name in ("linear1.weight", "norm1.bias", "norm2.weight")]
        summed.extend(torch.autograd.grad(found.sum(), kept, retain_graph=True))
        return found

    found = dict(zip(whole, booked(layer, rows, loss), strict=True))
    for name, expected in zip(("linear1.weight", "norm1.bias", "norm2.weight"), summed, strict=True):
        total = sum(use.each() for use in found[name]).sum(0)
        torch.testing.assert_close(total.float(), expected.flatten(), rtol=1e-4, atol=1e-4)


def test_no_masks_are_drawn_in_evaluation():
    compare(Attending(is_crossed=False, dropout=0.5).eval(), torch.randn(4, 5, 6))


@pytest.mark.parametrize(
    ("form", "rows", "options"),
    [
        ({"add_bias_kv": True}, (3, 4, 6), {}),
        ({"add_zero_attn": True}, (3, 4, 6), {}),
        ({"batch_first": False}, (3, 4, 6), {}),
        ({}, (4, 6), {}),
        ({}, (3, 4, 6), {"is_causal": True}),
    ],
    ids=["bias of keys", "zeros", "positions first", "no batch", "no mask"],
)
def test_other_forms_are_not_written_out(form, rows, options):
    module, values = nn.MultiheadAttention(6, 2, **({"batch_first": True} | form)), torch.randn(*rows)
    parts = LinearParts(module, set())
    assert write_attention(parts, module, values, values, values, *defaults(**options)) is None


@pytest.mark.parametrize("form", [{"add_bias_kv": True}, {"add_zero_attn": True}], ids=str)
def test_other_forms_are_still_those_of_examples_alone(form):
    torch.manual_seed(7)
    compare(Attending(is_crossed=False, **form), torch.randn(4, 5, 6))


def test_planted_faults_are_seen(monkeypatch):
    """Slopes of values are taken for those of keys."""
    real = attention._third
    monkeypatch.setattr(
        attention, "_third", lambda place, *given, **named: real((0, 2, 1)[place], *given, **named)
    )
    with pytest.raises(AssertionError):
        compare(Attending(is_crossed=True), torch.randn(4, 5, 6))


def test_other_examples_do_not_change_a_bit_of_a_gradient():
    torch.manual_seed(8)
    model = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    one, other = torch.randn(2, 32, 4, 8)
    other[:16] = one[:16]
    found = [[use.each() for uses in booked(model, rows) for use in uses] for rows in (one, other)]
    for same, changed in zip(*found, strict=True):
        assert torch.equal(same[:16], changed[:16])


def test_an_output_that_is_written_over_is_refused():
    class WritesOver(Attending):
        def forward(self, x):
            found = self.attention(x, x, x)[0]
            found += x
            return found

    with pytest.raises(ParameterError, match=r"y = y \+ x instead of y \+= x"):
        booked(WritesOver(is_crossed=False), torch.randn(4, 5, 6))
