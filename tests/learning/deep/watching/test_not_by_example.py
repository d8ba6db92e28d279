"""Modules that cannot be run example by example are refused with the line that mends them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.watching.not_by_example import refused_module, written_place
from learning.deep.gradient_oracle import booked


class Scaled(nn.Module):
    """A parameter that multiplies, beside other modules."""

    def __init__(self, *inside):
        super().__init__()
        self.gain, self.inside = nn.Parameter(torch.ones(3)), nn.Sequential(nn.Linear(3, 3), *inside)

    def forward(self, x):
        return self.inside(x * self.gain)


class First(nn.Module):
    """The first of what a recurrent layer returns."""

    def __init__(self):
        super().__init__()
        self.layer = nn.GRU(3, 3, batch_first=True)

    def forward(self, x):
        return self.layer(x)[0]


def test_lines_are_those_of_a_program():
    assert [written_place(name) for name in ("", "norm", "layers.0.self_attn")] == [
        "model",
        "model.norm",
        "model.layers[0].self_attn",
    ]


@pytest.mark.parametrize(
    ("inside", "part", "off"),
    [
        (nn.Dropout(0.5), r"Dropout \(inside.1\)", r"model\[0\].inside\[1\].p = 0.0"),
        (First(), r"GRU \(inside.1.layer\)", r"model\[0\].inside\[1\].layer.requires_grad_\(False\)"),
    ],
    ids=["dropout", "recurrent"],
)
def test_a_parameter_beside_what_cannot_be_run_again_is_named(inside, part, off):
    with pytest.raises(ParameterError, match="example by example") as caught:
        booked(nn.Sequential(Scaled(inside)), torch.randn(4, 5, 3))
    assert "model[0].gain in a small module of its own" in str(caught.value)
    assert caught.match(part)
    assert caught.match(off)


def test_attention_with_keys_of_its_own_and_dropout_is_refused_with_the_line():
    class Attending(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(
                [nn.MultiheadAttention(4, 2, dropout=0.1, batch_first=True, add_bias_kv=True)]
            )

        def forward(self, x):
            return self.layers[0](x, x, x)[0]

    model = Attending()
    with pytest.raises(ParameterError, match=r"allowed: model.layers\[0\].dropout = 0.0"):
        booked(model, torch.randn(4, 5, 4))
    model.layers[0].dropout = 0.0
    booked(model, torch.randn(4, 5, 4))


def test_what_is_not_known_is_refused_as_a_whole():
    module = nn.PReLU()
    assert "model.a.requires_grad_(False)" in str(refused_module(module, "a", {"weight"}))
    assert "PReLU (a)" in str(refused_module(module, "a", {"weight"}))


@pytest.mark.parametrize("part", [nn.Dropout(0.0), nn.Dropout(0.5).eval(), nn.Identity()])
def test_what_draws_nothing_does_not_hinder(part):
    booked(Scaled(part), torch.randn(4, 3))
