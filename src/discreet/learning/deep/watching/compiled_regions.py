"""Forward passes of which `torch.compile` has rewritten parts: what is watched stays as it is.

A compiler reads Python once and keeps what it found: a hook that it reads would note how often a tensor had
been written to when it was compiled, not when it is run. So what a hook notes is hidden from it. And a
backward pass that was compiled to be run once writes over what its forward pass has left; where a model is
tried out, which takes two backward passes of one forward pass, it is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from discreet.errors import ParameterError

__all__ = ["compiler_is_loaded", "first_of_two_passes", "uncompiled"]

Hidden = TypeVar("Hidden", bound=Callable[..., Any])

_REASON = (
    "private training looks at what every layer is given and returns; "
    "allowed: torch.compile without fullgraph=True, or optimizer.run(losses, compiler=torch.compile)"
)


def compiler_is_loaded() -> bool:
    """Whether something may be compiled. To load a compiler takes a second: it is not loaded here."""
    return "torch._dynamo" in sys.modules


def uncompiled(function: Hidden) -> Hidden:
    """Return the same function for a compiler, which is loaded, to call and not to read."""
    hidden = torch.compiler.disable(function)
    hidden._torchdynamo_disable_msg = _REASON  # which newer versions show
    return hidden


def first_of_two_passes(losses: Tensor, edges: list[Any]) -> tuple[Tensor | None, ...]:
    """Return gradients of a loss at edges, and keep all that another backward pass reads."""
    try:
        return torch.autograd.grad(losses, edges, allow_unused=True, retain_graph=True)
    except RuntimeError as error:
        if "donated" not in str(error):
            raise
        raise ParameterError(
            "losses",
            "were compiled before, for a backward pass that can be run once; one that is tried out needs two",
            "torch._functorch.config.donated_buffer = False, then torch.compiler.reset()",
        ) from error
