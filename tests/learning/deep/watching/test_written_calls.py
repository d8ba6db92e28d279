"""Modules that are written out train in every way in which others do."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional

from discreet.learning.deep.layers import rule_of
from discreet.learning.deep.watching import book as book_module
from discreet.learning.deep.watching.arriving_slopes import first_places
from discreet.learning.deep.watching.book import Book
from discreet.learning.deep.watching.layer_calls import WatchedLayer
from discreet.learning.deep.watching.traced_batch import TracedBatch
from discreet.learning.deep.watching.written_calls import is_recomputed, writer_of
from discreet.noise import replay
from learning.deep.gradient_oracle import booked, compare
from learning.deep.training_runs import losses_of, small_run, train

pytestmark = [  # of what the compiler does inside
    pytest.mark.filterwarnings("ignore:The .grad attribute"),
    pytest.mark.filterwarnings("ignore:`torch.jit"),
]

AHEAD = pytest.param(
    partial(torch.compile, backend="aot_eager", fullgraph=True), marks=pytest.mark.slow, id="compiled"
)
TRACED = pytest.param(lambda graph: graph, id="traced")


class Sequence(nn.Module):
    """A recurrent layer, a cell and attention, one after another, on rows of three positions."""

    def __init__(self, kind=nn.LSTM, cell=nn.GRUCell, dropout=0.0):
        super().__init__()
        self.layer = kind(2, 4, num_layers=2, batch_first=True, dropout=dropout)
        self.cell = cell(4, 4)
        self.attention = nn.MultiheadAttention(4, 2, dropout=dropout, batch_first=True)
        self.last = nn.Linear(4, 1)

    def forward(self, x):
        x = self.layer(torch.stack([x, x.square()], 2))[0]
        steps = [None]
        for position in range(x.shape[1]):
            steps.append(self.cell(x[:, position], steps[-1]))
        x = torch.stack([step[0] if isinstance(step, tuple) else step for step in steps[1:]], 1)
        return self.last(self.attention(x, x, x, need_weights=False)[0].mean(1))


@pytest.fixture(autouse=True)
def nothing_compiled():
    """Forget what other tests have compiled."""
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def test_modules_without_a_form_have_no_writer():
    linear, layer = nn.Linear(3, 2), nn.GRU(3, 2)
    assert writer_of(WatchedLayer("a", linear, rule_of(linear), dict(linear.named_parameters()))) is None
    assert writer_of(WatchedLayer("a", layer, None, dict(layer.named_parameters()))) is not None


def test_calls_are_those_of_linear_layers_with_the_parameters_of_the_module():
    cell = nn.GRUCell(3, 2)
    write = writer_of(WatchedLayer("a", cell, None, dict(cell.named_parameters())))
    returned, calls = write((torch.randn(4, 3),), {})
    assert returned.shape == (4, 2)
    assert [call.watched.title for call in calls] == ["GRUCell (a)"] * 2
    assert [list(call.watched.trained.values()) for call in calls] == [
        [cell.weight_ih, cell.bias_ih],
        [cell.weight_hh, cell.bias_hh],
    ]


def test_models_of_all_of_them_are_those_of_examples_alone():
    torch.manual_seed(1)
    for kind, cell in ((nn.LSTM, nn.GRUCell), (nn.GRU, nn.LSTMCell), (nn.RNN, nn.RNNCell)):
        compare(Sequence(kind, cell), torch.randn(5, 3))


def test_slopes_that_are_handed_over_as_on_an_accelerator_give_the_same(monkeypatch):
    monkeypatch.setattr(book_module, "_asked", first_places)
    torch.manual_seed(2)
    compare(Sequence(), torch.randn(5, 3))


def test_the_outputs_of_a_watched_model_are_those_of_the_model():
    torch.manual_seed(3)
    model, rows = Sequence().double(), torch.randn(5, 3).double()
    expected = model(rows)
    book = Book(model, list(model.parameters()))
    book.open()
    torch.testing.assert_close(model(rows), expected, rtol=0, atol=1e-12)
    book.close()


def squares(model, rows):
    """One loss for each example."""
    return (model(rows).flatten(1) - 0.5).square().sum(1)


def written(uses):
    """The gradients of each example, written out."""
    return torch.cat([sum(use.each() for use in found) for found in uses], 1)


@pytest.mark.parametrize("compiler", [TRACED, AHEAD])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_a_graph_gives_the_gradients_that_the_book_reads(kind, compiler):
    torch.manual_seed(4)
    model, rows = Sequence(kind), torch.randn(5, 3)
    book = Book(model, list(model.parameters()))
    book.open()
    uses = book.read(squares(model, rows))
    traced = TracedBatch(model, book, partial(squares, model), [rows], compiler)
    torch.testing.assert_close(written(traced.uses([rows])), written(uses), rtol=0, atol=1e-5)
    with torch.no_grad():
        model.layer.weight_hh_l0 += 1
    book.open()
    changed = written(book.read(squares(model, rows)))
    torch.testing.assert_close(written(traced.uses([rows])), changed, rtol=0, atol=1e-5)
    book.close()


def test_masks_of_a_traced_graph_are_drawn_anew():
    model, rows = Sequence(dropout=0.5), torch.randn(5, 3)
    book = Book(model, list(model.parameters()))
    book.open()
    book.read(squares(model, rows))
    traced = TracedBatch(model, book, partial(squares, model), [rows], lambda graph: graph)
    found = [written(traced.uses([rows])) for _ in range(2)]
    assert not torch.equal(*found)
    book.close()


@pytest.mark.parametrize("compiler", [None, TRACED, AHEAD])
def test_a_run_is_the_loop_over_its_batches(compiler):
    torch.testing.assert_close(trained(None), trained(compiler, is_run=True), rtol=0, atol=1e-5)


def trained(compiler, *, is_run=False):
    """The weights after a few steps, with the same draws."""
    torch.manual_seed(5)
    model, data = Sequence(), torch.randn(60, 3)
    with replay(7):
        optimizer, _ = small_run(model, (data, data.sum(1)), steps=4)
        if is_run:
            list(optimizer.run(lambda *batch: losses_of(model, batch), compiler=compiler))
        else:
            train(optimizer, model)
    optimizer.close()
    return [value.detach().clone() for value in model.parameters()]


def test_models_with_dropout_train():
    model, data = Sequence(dropout=0.5), torch.randn(60, 3)
    for compiler in (None, lambda graph: graph):
        optimizer, _ = small_run(model, (data, data.sum(1)), steps=3)
        assert list(optimizer.run(lambda *batch: losses_of(model, batch), compiler=compiler)) == [1, 2, 3]
        optimizer.close()


@pytest.mark.slow
def test_a_model_in_compiled_parts_has_the_same_gradients():
    torch.manual_seed(6)
    model, rows = Sequence(), torch.randn(5, 3)
    expected = booked(model, rows)
    book = Book(model, list(model.parameters()))
    compiled = torch.compile(model, backend="aot_eager")
    book.open()
    found = book.read(((compiled(rows).flatten(1) - 0.5) ** 2).sum(1))
    book.close()
    torch.testing.assert_close(written(found), written(expected), rtol=0, atol=1e-5)


def test_autocast_gives_nearly_the_same():
    class Reduced(Sequence):
        def forward(self, x):
            with torch.autocast("cpu", torch.bfloat16):
                return super().forward(x).float()

    torch.manual_seed(7)
    model, rows = Reduced(), torch.randn(5, 3)
    found = written(booked(model, rows))
    expected = written(booked(functional_twin(model), rows))
    assert (found - expected).norm() <= 0.05 * expected.norm()


def functional_twin(model):
    """The same weights without autocast."""
    twin = Sequence()
    twin.load_state_dict(model.state_dict())
    return twin


def test_a_backward_pass_is_known():
    values, seen = torch.ones(2, requires_grad=True), []
    doubled = functional.relu(values)
    doubled.register_hook(lambda slope: seen.append(is_recomputed()))
    doubled.sum().backward()
    assert seen == [True]
    assert not is_recomputed()
