"""Names of parts become Python that finds them."""

from __future__ import annotations

import pytest
from torch import nn

from discreet.learning.deep.watching.module_places import place_in_model


class Net(nn.Module):
    """One with parts of every kind."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.ReLU(), nn.ModuleList([nn.ReLU(), nn.Linear(2, 2)]))
        self.named = nn.ModuleDict({"left": nn.ReLU(), "class": nn.ReLU()})
        self.ordered = nn.Sequential()
        self.ordered.add_module("norm", nn.BatchNorm1d(2))
        self.add_module("7", nn.ReLU())
        self.add_module("class", nn.ReLU())


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("", "model"),
        ("features.1.0", "model.features[1][0]"),
        ("ordered.norm", "model.ordered.norm"),
        ("named.left", 'model.named["left"]'),
        ("7", 'model._modules["7"]'),
        ("class", 'model._modules["class"]'),
    ],
)
def test_a_place_is_written_as_one_would(name, place):
    assert place_in_model(Net(), name) == place


def test_all_places_can_be_read_and_written():
    model = Net()
    for name, module in list(model.named_modules())[1:]:
        place, known = place_in_model(model, name), {"model": model}
        assert eval(place, known) is module  # noqa: S307 - what is tested is that it is Python
        exec(f"{place} = new", known | {"new": module})  # noqa: S102
        assert model.get_submodule(name) is module
