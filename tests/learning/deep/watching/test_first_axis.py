"""What is refused for its first axis is refused with the line that mends it, and the line does."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.watching.first_axis import refused_axis, refused_mixing
from discreet.learning.deep.watching.layer_calls import WatchedLayer
from learning.deep.gradient_oracle import booked, compare


class Placed(nn.Module):
    """Words with their places, each as they are embedded by a function."""

    def __init__(self, embed):
        super().__init__()
        self.words, self.parts = nn.Embedding(7, 3), nn.ModuleList([nn.Embedding(5, 3)])
        self.embed = embed

    def forward(self, x):
        return self.words(x) + self.embed(self.parts[0], x)


@pytest.mark.parametrize(
    "embed",
    [
        lambda places, x: places(torch.arange(x.shape[1])),
        lambda places, x: places(torch.arange(x.shape[1])[None]),
    ],
)
@pytest.mark.parametrize("batch", [4, 5])
def test_places_that_examples_share_are_refused_with_the_line_that_mends_it(embed, batch):
    with pytest.raises(ParameterError) as caught:
        booked(Placed(embed), torch.randint(0, 7, (batch, 5)))
    assert "model.parts[0](torch.arange(length).expand(batch, -1))" in str(caught.value)


def test_the_line_mends_it():
    model = Placed(lambda places, x: places(torch.arange(x.shape[1]).expand(len(x), -1)))
    compare(model, torch.randint(0, 7, (4, 5)))


class Views(nn.Module):
    """Two views of each example, joined in some way and taken apart again."""

    def __init__(self, join, take):
        super().__init__()
        self.layer, self.join, self.take = nn.Linear(3, 2), join, take

    def forward(self, x):
        return self.take(self.layer(self.join([x, x + 1])))


def test_views_along_the_first_axis_are_refused_with_what_mends_it():
    with pytest.raises(ParameterError, match=r"torch.stack\(views, 1\)"):
        booked(Views(torch.cat, lambda out: torch.cat(out.chunk(2), 1)), torch.randn(4, 3))
    compare(Views(lambda views: torch.stack(views, 1), lambda out: out), torch.randn(4, 3))


def test_every_kind_of_layer_has_its_own_line():
    def mend(module, refuse=refused_axis, *given):
        return str(refuse(WatchedLayer("a.0", module, None, {}), *given))

    assert "model.a[0](torch.arange" in mend(nn.Embedding(2, 2), refused_axis, "input is not that")
    assert "torch.nn.GRU(…, batch_first=True)" in mend(nn.GRU(2, 2), refused_axis, "input")
    assert "torch.stack" in mend(nn.Linear(2, 2), refused_axis, "input")
    assert "expand" in mend(nn.Embedding(2, 2), refused_mixing)
    assert "expand" not in mend(nn.Linear(2, 2), refused_mixing)
