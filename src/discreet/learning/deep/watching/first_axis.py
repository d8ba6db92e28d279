"""Layers whose first axis is not that of the examples, or mixes them: refused, with what mends it."""

from __future__ import annotations

from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.watching.layer_calls import WatchedLayer
from discreet.learning.deep.watching.not_by_example import written_place

__all__ = ["refused_axis", "refused_mixing"]


def refused_axis(watched: WatchedLayer, problem: str) -> ParameterError:
    """Return the refusal of a layer with such a problem."""
    return ParameterError("model", f"has a {watched.title} whose {problem}", _mend(watched))


def refused_mixing(watched: WatchedLayer) -> ParameterError:
    """Return the refusal of losses of which one has a gradient at another example of a layer's output."""
    mend = (
        'losses of which each depends on its own example: no batch normalization, and reduction="none" '
        "instead of a mean"
    )
    if isinstance(watched.module, nn.Embedding):
        mend += f"; {_expanded(watched)}, if it embeds places"
    problem = f"mixes examples: the loss of one depends on another at its {watched.title}"
    return ParameterError("model", problem, mend)


def _expanded(watched: WatchedLayer) -> str:
    """Return how an embedding of places, which all examples share, is called for each of them."""
    return f"{written_place(watched.name)}(torch.arange(length).expand(batch, -1))"


def _mend(watched: WatchedLayer) -> str:
    if isinstance(watched.module, nn.Embedding | nn.EmbeddingBag):
        return (
            f"{_expanded(watched)}, if it embeds places, which all examples share; else examples along "
            "the first axis"
        )
    if isinstance(watched.module, nn.RNNBase):
        return f"examples along the first axis: torch.nn.{type(watched.module).__name__}(…, batch_first=True)"
    return (
        "examples along the first axis of every layer: several views of an example by torch.stack(views, 1) "
        "instead of torch.cat(views), and no axis that is folded into the first one by reshape or flatten"
    )
