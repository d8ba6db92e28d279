"""The linear layers of which a written-out module is made: all that it does with its parameters.

A layer that is applied at one position after another has weights apart from their graph, as its gradient is
that of a tensor of its own. Other layers have weights in their graph, where a walk of the graph would meet
them if it met what the layer has returned no more (`watching.passed_parameters`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.learning.deep.layers import GradientRule, linear_uses

__all__ = ["LinearPart", "LinearParts", "LinearSteps"]


@dataclass(frozen=True, eq=False)
class LinearPart:
    """A linear layer that was applied, or one that was applied at each position.

    Parameters
    ----------
    names : dict
        The names of its parameters in the module, by those that they have in a linear layer.
    given, seen : tensors
        Its input, and a tensor whose gradient is that of its output; examples along the first axis of both.
    rule : callable, optional
    """

    names: dict[str, str]
    given: Tensor
    seen: Tensor
    rule: GradientRule = linear_uses


class LinearParts:
    """Applies linear layers with the parameters of a module, and notes those that are trained.

    Parameters
    ----------
    module : nn.Module
    trained : collection of str
        The names of its trained parameters.
    """

    def __init__(self, module: nn.Module, trained: Collection[str]) -> None:
        self._module, self._trained = module, trained
        self._used = set[str]()
        self.noted: list[LinearPart] = []

    @property
    def is_complete(self) -> bool:
        """Whether every trained parameter was used."""
        return self._used == set(self._trained)

    def value(self, name: str) -> Tensor | None:
        """Return a parameter as it is now; None if there is none of this name."""
        found: Any = reduce(lambda one, part: getattr(one, part, None), name.split("."), self._module)
        return found

    def named(self, weight: str, bias: str) -> dict[str, str]:
        """Return the names of those parameters of a linear layer that are trained."""
        both = {"weight": weight, "bias": bias}
        return {kind: name for kind, name in both.items() if name in self._trained}

    def note(self, part: LinearPart) -> None:
        """Note a layer that was applied."""
        self._used.update(part.names.values())
        self.noted.append(part)

    def linear(self, given: Tensor, weight: str, bias: str) -> Tensor:
        """Apply a linear layer whose parameters have these names."""
        returned = functional.linear(given, self.value(weight), self.value(bias))
        return self.seen(given, returned, self.named(weight, bias))

    def seen(
        self, given: Tensor, returned: Tensor, names: dict[str, str], rule: GradientRule = linear_uses
    ) -> Tensor:
        """Note a layer by what it has returned, and return that with a gradient."""
        if not names:
            return returned
        returned = with_gradient(returned)
        self.note(LinearPart(names, given, returned, rule))
        return returned


class LinearSteps:
    """A linear layer that is applied at one position after another.

    To each product, numbers of one tensor are added: the bias, at every position. Their gradient is that of
    what the layer returned there.

    Parameters
    ----------
    parts : LinearParts
    weight, bias : str
        The names of the parameters.
    examples, positions : int
    """

    def __init__(self, parts: LinearParts, weight: str, bias: str, *, examples: int, positions: int) -> None:
        self._parts, self._names = parts, parts.named(weight, bias)
        matrix, shift = parts.value(weight), parts.value(bias)
        assert matrix is not None  # noqa: S101 - biases may be missing
        self._turned = matrix.detach().T
        added = matrix.new_zeros(examples, positions, len(matrix))
        if shift is not None:
            added = added + shift.detach()
        self._added = with_gradient(added) if self._names else added
        self._each = self._added.unbind(1)
        self._given: list[Tensor | None] = [None] * positions

    def __call__(self, position: int, given: Tensor) -> Tensor:
        """Apply it at a position."""
        self._given[position] = given
        return torch.addmm(self._each[position], given, self._turned)

    def end(self) -> None:
        """Note the layer, which was applied at all positions."""
        if self._names:
            given = [value for value in self._given if value is not None]
            self._parts.note(LinearPart(self._names, torch.stack(given, 1), self._added))


def with_gradient(values: Tensor) -> Tensor:
    """Return numbers that have a gradient; those that had none stand at the beginning of a graph."""
    return values if values.requires_grad else values.requires_grad_().view_as(values)
