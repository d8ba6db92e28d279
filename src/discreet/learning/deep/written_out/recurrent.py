"""Recurrent layers and cells, written out: two linear layers at each step, and gates between them.

At step t a layer has the state h (and c) of the step before it, and reads x_t. With a = W_ih x_t + b_ih and
b = W_hh h + b_hh, cut into gates,

- `nn.RNN`:  h' = tanh(a + b), or the rectifier of it;
- `nn.GRU`:  r, z = sigmoid of the first two gates of a + b;  n = tanh(a_3 + r b_3);  h' = n + z (h - n);
- `nn.LSTM`: i, f, o = sigmoid of gates 1, 2 and 4, g = tanh of gate 3 of a + b;  c' = f c + i g;
  h' = o tanh(c'), or W_hr times that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence

from discreet.errors import ParameterError
from discreet.learning.deep.written_out.linear_parts import LinearParts, LinearSteps

__all__ = ["write_cell", "write_layers"]

HeldState = tuple[Tensor, ...]
RecurrentStep = Callable[[Tensor, Tensor, HeldState], HeldState]
"""Takes what the linear layers made of the input and of the state, and the state; returns the next state."""


def _plain(activation: Callable[[Tensor], Tensor]) -> RecurrentStep:
    def step(from_input: Tensor, from_state: Tensor, state: HeldState) -> HeldState:
        del state
        return (activation(from_input + from_state),)

    return step


def _gated(from_input: Tensor, from_state: Tensor, state: HeldState) -> HeldState:
    (before,) = state
    of_input, of_state = from_input.chunk(3, 1), from_state.chunk(3, 1)
    reset, update = (torch.sigmoid(of_input[gate] + of_state[gate]) for gate in (0, 1))
    new = torch.tanh(of_input[2] + reset * of_state[2])
    return (new + update * (before - new),)


def _long_short(from_input: Tensor, from_state: Tensor, state: HeldState) -> HeldState:
    taken, kept, new, shown = (from_input + from_state).chunk(4, 1)
    cell = torch.sigmoid(kept) * state[1] + torch.sigmoid(taken) * torch.tanh(new)
    return torch.sigmoid(shown) * torch.tanh(cell), cell


def _step_of(module: Any) -> RecurrentStep:
    if isinstance(module, nn.LSTM | nn.LSTMCell):
        return _long_short
    if isinstance(module, nn.GRU | nn.GRUCell):
        return _gated
    return _plain(torch.relu if module.nonlinearity == "relu" else torch.tanh)


def write_cell(parts: LinearParts, module: Any, given: Tensor, state: Any = None) -> Any:
    """Return what `nn.RNNCell`, `nn.GRUCell` or `nn.LSTMCell` returns; None for what is no batch."""
    if given.dim() != 2:
        return None
    is_long_short = isinstance(module, nn.LSTMCell)
    if state is None:
        zeros = given.new_zeros(len(given), module.hidden_size)
        state = (zeros, zeros) if is_long_short else zeros
    held: HeldState = state if is_long_short else (state,)
    from_input = parts.linear(given, "weight_ih", "bias_ih")
    from_state = parts.linear(held[0], "weight_hh", "bias_hh")
    found = _step_of(module)(from_input, from_state, held)
    return found if is_long_short else found[0]


def write_layers(parts: LinearParts, module: Any, given: Any, state: Any = None) -> Any:
    """Return what `nn.RNN`, `nn.GRU` or `nn.LSTM` returns; None for what is no batch."""
    if isinstance(given, PackedSequence):
        raise ParameterError(
            "model",
            f"gives packed sequences to its {type(module).__name__}, which tell no examples apart",
            "padded sequences: rnn(padded)[0][torch.arange(len(padded)), lengths - 1] is the state after the "
            "last word of each",
        )
    if given.dim() != 3:
        return None
    is_long_short, directions = isinstance(module, nn.LSTM), 2 if module.bidirectional else 1
    values = given if module.batch_first else given.transpose(0, 1)
    begun = _begun(module, values, directions) if state is None else (state if is_long_short else (state,))
    lasts: list[HeldState] = []
    for layer in range(module.num_layers):
        if layer > 0:
            values = functional.dropout(values, module.dropout, module.training)
        both = []
        for direction in range(directions):
            own = tuple(one[len(lasts)] for one in begun)
            found, last = _along(parts, module, values, own, layer, is_reversed=direction == 1)
            both.append(found)
            lasts.append(last)
        values = torch.cat(both, 2) if directions > 1 else both[0]
    ends = tuple(torch.stack(each) for each in zip(*lasts, strict=True))
    returned = values if module.batch_first else values.transpose(0, 1)
    return returned, ends if is_long_short else ends[0]


def _begun(module: Any, values: Tensor, directions: int) -> HeldState:
    """Return the states before the first step, where none are given."""
    sizes = [module.proj_size or module.hidden_size]
    if isinstance(module, nn.LSTM):
        sizes.append(module.hidden_size)
    count = module.num_layers * directions
    return tuple(values.new_zeros(count, len(values), size) for size in sizes)


def _along(
    parts: LinearParts, module: Any, values: Tensor, state: HeldState, layer: int, *, is_reversed: bool
) -> tuple[Tensor, HeldState]:
    """Run one layer in one direction, and return the state h of each step, and the last one."""
    examples, positions = values.shape[:2]
    end = f"_l{layer}" + ("_reverse" if is_reversed else "")
    from_input = parts.linear(values, f"weight_ih{end}", f"bias_ih{end}").unbind(1)
    sizes = {"examples": examples, "positions": positions}
    from_state = LinearSteps(parts, f"weight_hh{end}", f"bias_hh{end}", **sizes)
    projected = LinearSteps(parts, f"weight_hr{end}", "", **sizes) if module.proj_size else None
    step, found = _step_of(module), [state[0]] * positions
    for position in reversed(range(positions)) if is_reversed else range(positions):
        state = step(from_input[position], from_state(position, state[0]), state)
        if projected is not None:
            state = (projected(position, state[0]), *state[1:])
        found[position] = state[0]
    from_state.end()
    if projected is not None:
        projected.end()
    return torch.stack(found, 1), state
