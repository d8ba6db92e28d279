"""Modules without a rule: run again for each example, and nothing else is."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.uses import RowsUse
from discreet.learning.deep.watching.book import Book
from discreet.learning.deep.watching.whole_modules import tensors_of
from learning.deep.gradient_oracle import booked, compare
from learning.deep.training_runs import linear_data, losses_of, small_run, train


class Attended(nn.Module):
    """Multi-head attention of a sequence to itself."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True, add_bias_kv=True)

    def forward(self, x):
        x = self.first(x)
        return self.attention(x, x, x, need_weights=False)[0]


class Token(nn.Module):
    """A parameter of its own, around layers."""

    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 3))
        self.inside = nn.Linear(3, 2)

    def forward(self, x, *, scale):
        return self.inside(x + self.token) * scale


class Named(nn.Module):
    """Calls a module with arguments by name."""

    def __init__(self):
        super().__init__()
        self.token, self.last = Token(), nn.Linear(2, 2)

    def forward(self, x):
        return self.last(self.token(x, scale=2.0))


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (Attended(), (4, 5, 6)),
        (Named(), (4, 3)),
        (nn.PReLU(3), (4, 3)),
        (nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)), (4, 3)),
        (nn.Sequential(nn.ConvTranspose1d(2, 3, 3), nn.InstanceNorm1d(3, affine=True)), (4, 2, 5)),
    ],
    ids=["attention", "token", "slope", "weight norm", "transposed convolution"],
)
def test_gradients_are_those_of_examples_alone(model, shape):
    compare(model, torch.randn(*shape))


def test_only_the_module_without_a_rule_is_written_out():
    found = booked(nn.Sequential(nn.Linear(3, 4), nn.PReLU(4), nn.Linear(4, 2)), torch.randn(5, 3))
    assert [isinstance(use, RowsUse) for (use,) in found] == [False, True, True, False, True]


def test_dropout_inside_is_refused():
    class Dropping(nn.PReLU):
        def forward(self, x):
            return nn.functional.dropout(super().forward(x))

    with pytest.raises(ParameterError, match="without dropout"):
        booked(nn.Sequential(Dropping()), torch.randn(4, 3))


def test_a_module_around_all_is_run_whole():
    model = Named().token
    model.forward = model.forward
    book = Book(model, list(model.parameters()))
    book.open()
    uses = book.read(model(torch.randn(4, 3), scale=3.0).sum(1))
    book.close()
    assert [len(found) for found in uses] == [1, 1, 1]


def test_tensors_are_found_in_any_nest():
    one, two = torch.zeros(1), torch.ones(2)
    assert [len(found) for found in tensors_of(({"a": one}, [two, None, torch.tensor([1])]))] == [1, 2]


class Beside(nn.Module):
    """Holds a gain, and mixes examples before anything leaves it."""

    def __init__(self, mix):
        super().__init__()
        self.gain, self._mix = nn.Parameter(torch.ones(3)), mix

    def forward(self, x):
        return self._mix(x * self.gain)


def attend_over_batch(x):
    return torch.softmax(x @ x.T, dim=1) @ x


MIXES = [lambda x: x - x.mean(0), lambda x: x / x.abs().amax(0), attend_over_batch, lambda x: x.flip(0)]


class WrittenOver(nn.Module):
    """Writes over what a part has returned, beside something that is nobody's."""

    def __init__(self, part):
        super().__init__()
        self.part, self.last = part, nn.Linear(3, 1)

    def forward(self, x):
        return self.last(self.part(x)[0].relu_())


class BesideMean(Beside):
    """Also returns a number that has no axis of examples, and one that is not finite."""

    def forward(self, x):
        return super().forward(x), self.gain.sum(), x * torch.inf


@pytest.mark.parametrize("mix", MIXES[:1])
def test_what_is_written_over_or_not_finite_hides_no_mixing(mix):
    model = WrittenOver(BesideMean(mix))
    optimizer, model = small_run(model, data=linear_data(40), batch=40, physical=40)
    with pytest.raises(ParameterError, match="mixes examples"):
        train(optimizer, model)
    optimizer.close()


class Temperature(nn.Module):
    """Returns one number for each example."""

    def __init__(self):
        super().__init__()
        self.heat, self.layer = nn.Parameter(torch.zeros(())), nn.Linear(3, 1)

    def forward(self, x):
        return self.layer(x).squeeze(1) * self.heat.exp()


def test_a_module_may_return_a_number_for_each_example():
    optimizer, model = small_run(Temperature(), data=linear_data(40), batch=40, physical=40)
    for rows, targets in optimizer.batches():
        optimizer.step((model(rows) - targets) ** 2)
    compare(nn.Sequential(Temperature(), nn.Unflatten(0, (-1, 1))), torch.randn(4, 3))


class Alone(nn.Module):
    """Is given no tensor."""

    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
        self.last = nn.Linear(3, 1)

    def forward(self, count):
        return (self.one * self.other).expand(count, 3)


class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.alone, self.last = Alone(), nn.Linear(3, 1)

    def forward(self, x):
        return self.last(x + self.alone(len(x)))


def test_a_module_that_is_given_no_tensor_is_refused():
    optimizer, model = small_run(Around(), data=linear_data(40), batch=40, physical=40)
    with pytest.raises(ParameterError, match="Alone"):
        train(optimizer, model)
    optimizer.close()


def by_loop(optimizer, model):
    train(optimizer, model)


def by_run(optimizer, model):
    list(optimizer.run(lambda *batch: losses_of(model, batch)))


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("way", [by_loop, by_run])
def test_mixing_inside_of_a_module_without_a_rule_is_refused(mix, way):
    model = nn.Sequential(Beside(mix), nn.Linear(3, 1))
    optimizer, model = small_run(model, data=linear_data(40), batch=40, physical=40)
    with pytest.raises(ParameterError, match="mixes examples"):
        way(optimizer, model)
    optimizer.close()


@pytest.mark.parametrize("mix", [torch.tanh, lambda x: x.clone().relu_(), lambda x: x / 0])
def test_what_is_the_same_for_an_example_alone_is_taken(mix):
    model = nn.Sequential(Beside(mix), nn.Linear(3, 1))
    optimizer, model = small_run(model, data=linear_data(40), batch=40, physical=40)
    train(optimizer, model)
    assert optimizer.taken == 3
