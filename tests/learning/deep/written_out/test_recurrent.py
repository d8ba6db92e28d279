"""Recurrent layers and cells that are written out return what PyTorch's do, and the gradients of examples."""

from __future__ import annotations

import copy
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from discreet.errors import ParameterError
from discreet.learning.deep.uses import OuterUse
from discreet.learning.deep.watching.book import Book
from discreet.learning.deep.written_out import recurrent
from discreet.learning.deep.written_out.linear_parts import LinearParts
from discreet.learning.deep.written_out.recurrent import write_cell, write_layers
from effort import examples
from learning.deep.gradient_oracle import booked, compare, oracle, squared_loss

pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections")

KINDS = (nn.RNN, nn.GRU, nn.LSTM)
FORMS = [
    {},
    {"num_layers": 3},
    {"bidirectional": True},
    {"num_layers": 2, "bidirectional": True, "bias": False},
]
LAYERS = [
    *((kind, form) for kind in KINDS for form in FORMS),
    (nn.RNN, {"nonlinearity": "relu", "num_layers": 2}),
    (nn.LSTM, {"proj_size": 2}),
    (nn.LSTM, {"proj_size": 2, "num_layers": 2, "bidirectional": True}),
]
CELLS = [(nn.RNNCell, {}), (nn.RNNCell, {"nonlinearity": "relu"}), (nn.GRUCell, {}), (nn.LSTMCell, {})]
NAMES = {"ids": lambda value: value.__name__ if isinstance(value, type) else None}


class Recurrent(nn.Module):
    """A recurrent layer on sequences of examples; all that it returns is read, each number differently."""

    def __init__(self, layer, *, begins=False):
        super().__init__()
        self.first, self.layer = nn.Linear(layer.input_size, layer.input_size), layer
        many = layer.num_layers * (2 if layer.bidirectional else 1)
        sizes = [layer.proj_size or layer.hidden_size]
        sizes += [layer.hidden_size] if isinstance(layer, nn.LSTM) else []
        self.shapes = [(many, size) for size in sizes]
        self.begins = nn.ModuleList(
            [nn.Linear(layer.input_size, many * size) for many, size in self.shapes] if begins else []
        )

    def forward(self, x):
        x = self.first(x)
        states = [
            begin(x[:, 0]).unflatten(1, shape).transpose(0, 1).contiguous()
            for begin, shape in zip(self.begins, self.shapes, strict=False)
        ]
        own = x if self.layer.batch_first else x.transpose(0, 1)
        hx = None if not states else tuple(states) if isinstance(self.layer, nn.LSTM) else states[0]
        found, last = self.layer(own, hx)
        found = found if self.layer.batch_first else found.transpose(0, 1)
        lasts = last if isinstance(last, tuple) else (last,)
        every = torch.cat([found.flatten(1), *(one.transpose(0, 1).flatten(1) for one in lasts)], 1)
        return every * torch.linspace(0.5, 1.5, every.shape[1], dtype=every.dtype)


class Looped(nn.Module):
    """A cell that is called for each position, with a state of its own choice at the beginning or not."""

    def __init__(self, cell, *, begins=False):
        super().__init__()
        self.cell = cell
        self.begin = nn.Linear(cell.input_size, cell.hidden_size) if begins else None

    def forward(self, x):
        state = None
        if self.begin is not None:
            state = self.begin(x[:, 0])
            state = (state, state.tanh()) if isinstance(self.cell, nn.LSTMCell) else state
        for position in range(x.shape[1]):
            state = self.cell(x[:, position], state)
        return torch.cat(state, 1) if isinstance(state, tuple) else state


@pytest.mark.parametrize(("kind", "form"), LAYERS, **NAMES)
@pytest.mark.parametrize("batch_first", [True, False])
def test_what_is_returned_is_what_pytorch_returns(kind, form, batch_first):
    torch.manual_seed(1)
    layer = kind(4, 5, batch_first=batch_first, **form).double()
    rows = torch.randn(3, 6, 4).double()
    for hx in (None, states_of(layer, examples=6 if not batch_first else 3)):
        expected = layer(rows, hx)
        found = write_layers(LinearParts(layer, set()), layer, rows, hx)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def states_of(layer, examples):
    """States to begin with."""
    many = layer.num_layers * (2 if layer.bidirectional else 1)
    first = torch.randn(many, examples, layer.proj_size or layer.hidden_size).double()
    return (first, torch.randn(many, examples, layer.hidden_size).double()) if layer.mode == "LSTM" else first


@pytest.mark.parametrize(("kind", "form"), CELLS, **NAMES)
def test_what_cells_return_is_what_pytorch_returns(kind, form):
    cell, rows, state = kind(4, 5, **form).double(), torch.randn(6, 4).double(), torch.randn(6, 5).double()
    for hx in (None, (state, state + 1) if kind is nn.LSTMCell else state):
        found = write_cell(LinearParts(cell, set()), cell, rows, hx)
        torch.testing.assert_close(found, cell(rows, hx), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("kind", "form"), LAYERS, **NAMES)
@pytest.mark.parametrize(("batch_first", "begins"), list(product([True, False], repeat=2)))
def test_gradients_are_those_of_examples_alone(kind, form, batch_first, begins):
    torch.manual_seed(2)
    compare(Recurrent(kind(4, 3, batch_first=batch_first, **form), begins=begins), torch.randn(5, 6, 4))


@pytest.mark.parametrize(("kind", "form"), CELLS, **NAMES)
@pytest.mark.parametrize("begins", [True, False])
def test_gradients_of_cells_are_those_of_examples_alone(kind, form, begins):
    torch.manual_seed(3)
    compare(Looped(kind(4, 3, **form), begins=begins), torch.randn(5, 4, 4))


@pytest.mark.parametrize("kind", KINDS, **NAMES)
def test_a_layer_on_inputs_themselves_and_one_that_is_frozen_in_part(kind):
    torch.manual_seed(4)
    layer = kind(4, 3, num_layers=2, batch_first=True)
    layer.weight_ih_l0.requires_grad_(False)
    layer.bias_hh_l1.requires_grad_(False)
    model = Recurrent(layer)
    model.first.requires_grad_(False)
    compare(model, torch.randn(5, 6, 4))


def test_weights_that_layers_share_have_the_gradients_of_both():
    torch.manual_seed(5)
    layer = nn.GRU(3, 3, num_layers=2, batch_first=True)
    layer.weight_hh_l1, layer.bias_ih_l1 = layer.weight_hh_l0, layer.bias_ih_l0
    compare(Recurrent(layer), torch.randn(4, 5, 3))


def test_weights_of_many_numbers_are_not_written_out():
    found = booked(Recurrent(nn.LSTM(20, 16, batch_first=True)), torch.randn(4, 3, 20))
    assert [isinstance(uses[0], OuterUse) for uses in found[2:4]] == [True, True]
    assert all(len(uses) == 1 for uses in found)


@st.composite
def chains(draw):
    """Recurrent layers and others in random order, and a batch for them."""
    width, layers = draw(st.integers(2, 4)), []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from([*KINDS, nn.Linear, nn.LayerNorm]))
        if kind is nn.LayerNorm:
            layers.append(kind(width))
            continue
        wide = draw(st.integers(2, 4))
        if kind is nn.Linear:
            layers.append(kind(width, wide))
            width = wide
            continue
        options = {name: draw(st.booleans()) for name in ("bias", "bidirectional", "batch_first")} | {
            "num_layers": draw(st.integers(1, 2))
        }
        if kind is nn.LSTM and wide > 2:
            options["proj_size"] = draw(st.integers(0, wide - 1))
        layers.append(Turned(kind(width, wide, **options)))
        width = (options.get("proj_size") or wide) * (2 if options["bidirectional"] else 1)
    rows = torch.randn(draw(st.integers(2, 4)), draw(st.integers(1, 4)), width)
    first = nn.Linear(width, next(one for one in map(width_of, layers)))
    return nn.Sequential(first, *layers), rows


class Turned(nn.Module):
    """What a recurrent layer returns for sequences of examples."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        if self.layer.batch_first:
            return self.layer(x)[0]
        return self.layer(x.transpose(0, 1))[0].transpose(0, 1)


def width_of(layer):
    """How wide the inputs of a layer are."""
    if isinstance(layer, Turned):
        return layer.layer.input_size
    return layer.in_features if isinstance(layer, nn.Linear) else layer.normalized_shape[0]


@given(chains(), st.integers(0, 2**31))
@settings(max_examples=examples(60), deadline=None)
def test_random_chains_are_those_of_examples_alone(chain, seed):
    torch.manual_seed(seed)
    model, rows = chain
    compare(model.double(), rows.double(), tolerance=1e-9)


def test_masks_between_layers_are_those_of_the_gradients(monkeypatch):
    """A second pass, by layers that PyTorch knows, multiplies by the masks that were drawn."""
    torch.manual_seed(6)
    model, rows = Recurrent(nn.LSTM(4, 3, num_layers=2, batch_first=True, dropout=0.5)), torch.randn(5, 6, 4)
    masks, draw = [], functional.dropout

    def dropout(values, p, training):
        masks.append(draw(torch.ones_like(values), p, training))
        return values * masks[-1]

    monkeypatch.setattr(recurrent.functional, "dropout", dropout)
    found = booked(model, rows)
    (mask,) = masks
    assert 0 < int((mask == 0).sum()) < mask.numel()

    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = copy.deepcopy(model.first)
            layers = [nn.LSTM(size, 3, batch_first=True) for size in (4, 3)]
            self.layers = nn.ModuleList(layers)
            for number, layer in enumerate(layers):
                layer.load_state_dict(
                    {
                        f"{name}_l0": getattr(model.layer, f"{name}_l{number}")
                        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
                    }
                )

        def forward(self, pair):
            x, own = pair[..., :4], pair[..., 4:]
            one, (h0, c0) = self.layers[0](self.first(x))
            two, (h1, c1) = self.layers[1](one * own)
            every = torch.cat([two.flatten(1), h0[0], h1[0], c0[0], c1[0]], 1)
            return every * torch.linspace(0.5, 1.5, every.shape[1], dtype=every.dtype)

    expected = oracle(Masked(), torch.cat([rows, mask], 2))
    for (use,), each in zip(found, expected, strict=True):
        torch.testing.assert_close(use.each(), each, rtol=1e-4, atol=1e-5)


def test_there_is_no_dropout_in_evaluation():
    torch.manual_seed(7)
    compare(Recurrent(nn.GRU(4, 3, num_layers=2, dropout=0.5)).eval(), torch.randn(4, 5, 4))


@pytest.mark.parametrize("kind", KINDS, **NAMES)
def test_other_examples_do_not_change_a_bit_of_a_gradient(kind):
    torch.manual_seed(8)
    model = Recurrent(kind(6, 8, num_layers=2, bidirectional=True, batch_first=True))
    one, other = torch.randn(2, 32, 5, 6)
    other[:16] = one[:16]
    found = [[use.each() for uses in booked(model, rows) for use in uses] for rows in (one, other)]
    for same, changed in zip(*found, strict=True):
        assert torch.equal(same[:16], changed[:16])


class MixesStates(nn.Module):
    """Begins each example with the last state of the one before it."""

    def __init__(self):
        super().__init__()
        self.layer = nn.GRU(3, 2, batch_first=True)

    def forward(self, x):
        last = self.layer(x)[1]
        return self.layer(x, last.roll(1, dims=1))[0]


class PassesTheBook(nn.Module):
    """Uses a weight before the recurrent layer, past the module that owns it."""

    def __init__(self):
        super().__init__()
        self.first, self.layer = nn.Linear(3, 3), nn.LSTM(3, 2, batch_first=True)

    def forward(self, x):
        return self.layer(self.first(x) + functional.linear(x, self.first.weight))[0]


class ReadsWeights(PassesTheBook):
    """Uses a weight of the recurrent layer past it."""

    def forward(self, x):
        return self.layer(self.first(x))[0] + self.layer.weight_hh_l0.sum()


@pytest.mark.parametrize(
    ("model", "message"),
    [(MixesStates(), "mixes examples"), (PassesTheBook(), "outside"), (ReadsWeights(), "outside")],
    ids=lambda value: type(value).__name__,
)
def test_models_that_are_not_per_example_are_refused(model, message):
    with pytest.raises(ParameterError, match=message):
        booked(model, torch.randn(4, 5, 3))


def test_sequences_along_the_first_axis_are_refused_with_the_line_that_mends_it():
    class Wrong(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.LSTM(3, 2)

        def forward(self, x):
            return self.layer(x)[0]

    with pytest.raises(ParameterError, match="batch_first=True"):
        booked(Wrong(), torch.randn(4, 5, 3))


def test_packed_sequences_are_refused_with_the_line_that_mends_it():
    class Packs(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.LSTM(3, 2, batch_first=True)

        def forward(self, x):
            packed = nn.utils.rnn.pack_padded_sequence(x, [5, 4, 2, 1], batch_first=True)
            return nn.utils.rnn.pad_packed_sequence(self.layer(packed)[0], batch_first=True)[0]

    with pytest.raises(ParameterError, match=r"padded\[?.*lengths - 1|lengths - 1"):
        booked(Packs(), torch.randn(4, 5, 3))


def test_the_mend_of_packed_sequences_works():
    """Of padded sequences, the state after the last word is that of the packed ones."""
    layer, padded, lengths = nn.LSTM(3, 2, batch_first=True), torch.randn(3, 5, 3), torch.tensor([5, 2, 1])
    packed = nn.utils.rnn.pack_padded_sequence(padded, lengths, batch_first=True)
    torch.testing.assert_close(
        layer(padded)[0][torch.arange(len(padded)), lengths - 1], layer(packed)[1][0][0]
    )


def test_examples_without_a_batch_are_not_written_out():
    layer, cell = nn.GRU(3, 2), nn.GRUCell(3, 2)
    assert write_layers(LinearParts(layer, set()), layer, torch.randn(5, 3)) is None
    assert write_cell(LinearParts(cell, set()), cell, torch.randn(3)) is None


@pytest.mark.parametrize("fault", ["state", "slopes", "reverse"])
def test_planted_faults_are_seen(fault, monkeypatch):
    """What the comparison is worth: each of these is a gradient of something else."""
    if fault == "state":
        monkeypatch.setattr(recurrent.LinearSteps, "__call__", shifted_call)
    elif fault == "slopes":
        monkeypatch.setattr(recurrent, "_gated", without_reset)
    else:
        monkeypatch.setattr(recurrent, "reversed", lambda places: places, raising=False)
    with pytest.raises(AssertionError):
        compare(Recurrent(nn.GRU(4, 3, bidirectional=True, batch_first=True)), torch.randn(5, 6, 4))


def shifted_call(self, position, given):
    """Notes the input of the step before."""
    self._given[(position + 1) % len(self._given)] = given
    return torch.addmm(self._each[position], given, self._turned)


def without_reset(from_input, from_state, state):
    """A gated unit whose second bias is not scaled by the reset gate."""
    gates = (from_input + from_state).chunk(3, 1)
    update, new = torch.sigmoid(gates[1]), torch.tanh(gates[2])
    return (new + update * (state[0] - new),)


def test_what_is_recomputed_in_the_backward_pass_is_the_same():
    class Checkpointed(Recurrent):
        def forward(self, x):
            return torch.utils.checkpoint.checkpoint(super().forward, x, use_reentrant=False)

    torch.manual_seed(9)
    compare(Checkpointed(nn.LSTM(4, 3, batch_first=True)), torch.randn(4, 5, 4))


def test_a_model_that_is_not_watched_now_runs_as_pytorch_runs_it(monkeypatch):
    model = Recurrent(nn.LSTM(4, 3, batch_first=True))
    book = Book(model, list(model.parameters()))
    monkeypatch.setattr(recurrent, "_step_of", pytest.fail)
    squared_loss(model(torch.randn(3, 5, 4)), 0.5).sum().backward()
    book.close()
    assert all(value.grad is not None for value in model.parameters())


@pytest.mark.parametrize("kind", KINDS, **NAMES)
def test_an_output_that_is_written_over_keeps_its_gradients(kind):
    class WritesOver(Turned):
        def forward(self, x):
            found = self.layer(x)[0]
            found += x
            return found

    compare(WritesOver(kind(3, 3, batch_first=True)), torch.randn(4, 5, 3))
