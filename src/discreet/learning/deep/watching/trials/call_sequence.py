"""Every batch calls the same layers, in the same order, with as many positions.

How many terms the sum of a gradient has decides how far it is shortened (docs/proofs/private_gradients.md,
lemma 3). A cell that is unrolled to the longest text of a batch, or a batch that is cut to it, would let the
one whose text that is decide about all others.
"""

from __future__ import annotations

from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.watching.layer_calls import NotedCall

__all__ = ["CallSequence"]

_Calls = list[tuple[str, list[tuple[int, ...]]]]


class CallSequence:
    """Holds the calls of the first batch, for each mode of a model, and refuses others."""

    def __init__(self) -> None:
        self._first: dict[bool, _Calls] = {}

    def is_known(self, model: nn.Module) -> bool:
        """Whether a batch was seen in the mode that a model is in."""
        return model.training in self._first

    def check(self, model: nn.Module, calls: list[NotedCall]) -> None:
        """Refuse calls of other layers than in the first batch, or with tensors of another shape.

        How many examples there are is not looked at: batches have a fixed size.
        """
        found = [(call.watched.name, _shapes_of(call)) for call in calls]
        first = self._first.setdefault(model.training, found)
        if [name for name, _ in first] != [name for name, _ in found]:
            raise ParameterError(
                "model",
                "calls other layers than in the first batch, so that one example could decide how many terms "
                "the gradients of others have",
                "the same calls for every batch: loops of a fixed length, and layers whose output is "
                "multiplied by 0 instead of left out (layerdrop=0)",
            )
        if first != found:
            name = next(name for (name, one), (_, other) in zip(first, found, strict=True) if one != other)
            raise ParameterError(
                "model",
                f"gives its {name or 'outermost layer'} an input of another shape than in the first batch, "
                "or reads another part of its parameters, which one example could decide",
                "inputs of a fixed shape: texts that are padded to a fixed length, not to the longest",
            )


def _shapes_of(call: NotedCall) -> list[tuple[int, ...]]:
    """Return the shapes of what a call was given and has returned, or a parameter was added to."""
    returned = [edge.node._input_metadata[edge.output_nr] for edge in call.edges if edge is not None]
    return [tuple(value.shape[1:]) for value in (*(value for value, _ in call.versions), *returned)]
