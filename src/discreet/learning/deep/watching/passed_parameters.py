"""Parameters that losses depend on otherwise than by the layers that were recorded.

The graph of the losses is walked from their end. Where it meets what a recorded layer returned, it goes on
with what that layer was given: so what is left are the ways past the layers, and a trained parameter on one
of them would have a gradient that nobody has noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from discreet.errors import ParameterError
from discreet.learning.deep.watching.graph_walk import walked_past

__all__ = ["refuse_passed_parameters"]

_HIDING = "CheckpointFunctionBackward"  # of torch.utils.checkpoint with use_reentrant=True


def refuse_passed_parameters(
    returned: Sequence[Sequence[Any]], given: Sequence[Sequence[Any]], losses: Tensor, trained: set[int]
) -> None:
    """Refuse losses to which a trained parameter comes past the recorded layers.

    Parameters
    ----------
    returned, given : sequences
        For each recorded call, the gradient edges of what it returned, or None, and of what it was given.
    losses : tensor
    trained : set of int
        The identities of the trained parameters.
    """
    for node, _ in walked_past(returned, given, losses):
        if node is None:
            continue
        if hasattr(node, "variable"):
            if id(node.variable) in trained:
                raise ParameterError(
                    "model",
                    "uses a parameter outside of the module that owns it",
                    "calls of modules: self.layer(x) instead of functional.linear(x, self.layer.weight); "
                    "what a layer returned not written over: y = y + x instead of y += x; and "
                    "torch.compiler.reset() if it was compiled and called before it was made private",
                )
        elif node.name() == _HIDING:
            raise ParameterError(
                "model",
                "hides layers from the graph of its losses",
                "torch.utils.checkpoint.checkpoint(…, use_reentrant=False)",
            )
