"""Where what is shared meets examples is read from the graph, and nothing else passes for it."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge
from torch.utils.checkpoint import checkpoint

from discreet.errors import ParameterError
from discreet.learning.deep.watching.graph_walk import place_of
from discreet.learning.deep.watching.sharing.shared_graph import SharedGraph, shape_at
from learning.deep.gradient_oracle import booked, compare

EXAMPLES = 4


def meetings(use, shape=(5, 3), *, saves=True, is_public=lambda index: True):
    """Return the meetings of a parameter that a function uses with tensors of examples."""
    parameter, rows = nn.Parameter(torch.randn(shape)), torch.randn(EXAMPLES, 5, 3, requires_grad=True)
    losses = use(rows, parameter).reshape(EXAMPLES, -1).sum(1)
    place = place_of(get_gradient_edge(parameter))
    found = SharedGraph([], losses, [], lambda leaf: leaf is parameter, is_public).meetings(
        [place], saves=saves
    )
    return None if found is None else found[0]


def test_a_meeting_says_what_is_repeated_and_by_what_it_is_multiplied():
    (added,) = meetings(lambda x, p: torch.sub(x, p.exp(), alpha=3))
    assert added.shape == (5, 3)
    assert added.factor == -3.0
    assert added.edge[0].name() == "ExpBackward0"
    assert shape_at((added.node, 0)) == (EXAMPLES, 5, 3)
    assert len(added.others) == 1
    (scaled,) = meetings(lambda x, p: x * p)
    assert torch.is_tensor(scaled.factor)
    assert scaled.factor.shape == (EXAMPLES, 5, 3)
    (expanded,) = meetings(lambda x, p: p.expand(EXAMPLES, -1, -1).clone())
    assert expanded.factor == 1.0
    assert expanded.others == []
    assert len(meetings(lambda x, p: (x + p[:2].sum()) * p)) == 2


OTHERWISE = {
    "a product of matrices": lambda x, p: x @ p.T,
    "a quotient": lambda x, p: x / p,
    "its rows are those of examples": lambda x, p: x + p[:4, None],
    "by itself": lambda x, p: p[:4],
    "a matrix of its own": lambda x, p: x + (p.T @ p)[0],
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_is_done_otherwise_is_no_meeting(name):
    assert meetings(OTHERWISE[name]) is None


def test_saved_numbers_and_an_index_of_somebody_are_not_read():
    assert meetings(lambda x, p: x * p, saves=False) is None
    assert meetings(lambda x, p: x + p[torch.tensor([0, 3, 1, 1, 2])]) is not None
    index = torch.tensor([0, 3, 1, 1, 2])
    assert meetings(lambda x, p: x + p[index], is_public=lambda index: False) is None
    assert meetings(lambda x, p: x + p[index], saves=False) is None


class Mixed(nn.Module):
    """Lets all examples read what a parameter makes of each."""

    def __init__(self, use):
        super().__init__()
        self.gain, self.shift, self.use = nn.Parameter(torch.randn(3)), nn.Parameter(torch.randn(3)), use

    def forward(self, x):
        return self.use(self, x)


MIXED = {
    "a number of all": lambda model, x: x + model.gain * x.mean() + model.shift,
    "centered": lambda model, x: (x - x.mean(0)) * model.gain + model.shift,
    "sum": lambda model, x: x + (x * model.gain + model.shift).sum(0),
    "repeated": lambda model, x: ((x * model.gain + model.shift)[None] + x[:, None]).flatten(1),
    "expanded": lambda model, x: (x * model.gain + model.shift).expand(len(x), -1, -1).flatten(1),
    "masked by others": lambda model, x: x + torch.where(x > 0, model.gain, model.shift).mean(0),
}


@pytest.mark.parametrize("name", MIXED)
def test_what_is_made_of_examples_is_not_shared(name):
    with pytest.raises(ParameterError):
        booked(Mixed(MIXED[name]), torch.randn(EXAMPLES, 3))


class Checkpointed(nn.Module):
    """Multiplies by a parameter in a part whose numbers are computed again."""

    def __init__(self):
        super().__init__()
        self.gain, self.first, self.last = nn.Parameter(torch.randn(3)), nn.Linear(3, 3), nn.Linear(3, 2)

    def part(self, x):
        return torch.tanh(self.first(x) * self.gain)

    def forward(self, x):
        return self.last(checkpoint(self.part, x, use_reentrant=False))


class Scaling(Checkpointed):
    """The same inside of a module that is a part itself."""

    def forward(self, x):
        return self.part(x)


class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.part, self.last = nn.Linear(3, 3), Scaling(), nn.Linear(3, 2)
        self.part.last = None

    def forward(self, x):
        return self.last(checkpoint(self.part, self.first(x), use_reentrant=False))


def test_parts_that_are_computed_again_are_run_as_a_whole_or_refused():
    torch.manual_seed(4)
    compare(Around(), torch.randn(EXAMPLES, 3))
    with pytest.raises(ParameterError, match="cannot be taken example by example"):
        booked(Checkpointed(), torch.randn(EXAMPLES, 3))
