"""No example weighs more than 1 under any clipping."""

from __future__ import annotations

from math import sqrt

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.clipping import (
    AdaptiveClipping,
    AutomaticClipping,
    FlatClipping,
    PerLayerClipping,
    norm_groups,
    stated_clipping,
)

KINDS = [FlatClipping(0.7), PerLayerClipping(0.7), AutomaticClipping(), AdaptiveClipping(0.3)]


@pytest.mark.parametrize("clipping", KINDS, ids=lambda kind: type(kind).__name__)
@given(norms=st.lists(st.floats(0, 1e150), min_size=1, max_size=5))
def test_no_example_weighs_more_than_one(clipping, norms):
    each = [torch.tensor([norm], dtype=torch.float64) for norm in norms]
    groups = len(norms) if clipping.per_layer else 1
    parts = [
        norm * clipping.factors(norm, groups, clipping.bound) for norm in (each if groups > 1 else each[:1])
    ]
    assert float(torch.stack(parts).square().sum()) <= 1 + 1e-12


def test_short_gradients_stay_as_they_are():
    norms = torch.tensor([0.1, 0.5], dtype=torch.float64)
    assert (FlatClipping(2.0).factors(norms, 1, 2.0) * 2.0 == 1).all()
    torch.testing.assert_close(PerLayerClipping(2.0).factors(norms, 4, 2.0) * 2.0, torch.ones(2).double())


def test_automatic_clipping_makes_lengths_alike():
    norms = torch.tensor([0.5, 50.0], dtype=torch.float64)
    lengths = norms * AutomaticClipping(stability=0.01).factors(norms, 1, 1.0)
    assert 0.97 < lengths[0] < lengths[1] < 1


def test_layers_share_a_bound():
    clipping = PerLayerClipping(3.0)
    norms = torch.tensor([1e6], dtype=torch.float64)
    assert float(norms * clipping.factors(norms, 9, 3.0)) == pytest.approx(1 / sqrt(9))


def test_parameters_of_a_layer_have_one_norm():
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1, bias=False))
    parameters = list(model.parameters())
    assert norm_groups(model, parameters, per_layer=False) == [[0, 1, 2]]
    assert norm_groups(model, parameters, per_layer=True) == [[0, 1], [2]]
    assert norm_groups(model, parameters[1:], per_layer=True) == [[0], [1]]


def test_an_adaptive_bound_follows_its_quantile():
    clipping = AdaptiveClipping(1.0, quantile=0.5, rate=0.2)
    assert clipping.moved(1.0, 0.9) < 1 < clipping.moved(1.0, 0.1)
    assert clipping.moved(1.0, 0.5) == 1
    assert clipping.moved(1.0, 1e9) == clipping.moved(1.0, 1.0)


@pytest.mark.parametrize("clip", [0, -1.0, float("nan"), float("inf"), "1", True, None])
def test_bounds_that_are_none_are_refused(clip):
    with pytest.raises(ParameterError, match="clip"):
        stated_clipping(clip)


@pytest.mark.parametrize("options", [{"quantile": 1}, {"noise": 0.0}, {"rate": 2}, {"start": -1.0}])
def test_adaptive_parameters_are_checked(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        AdaptiveClipping(**options)
