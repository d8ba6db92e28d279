"""A backward pass that hands over the gradient of each layer's output when it arrives, and keeps none.

Gradients of all outputs at the same time take as much memory as the outputs themselves. Most are only needed
once, by the layer: so they are handed over from a hook, after the backward pass of the layer's last
operation, which may take much memory for a while. A backward pass goes on to what it is asked for, so it is
asked for those outputs that no other output is made from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from discreet.errors import ParameterError

__all__ = ["Backward", "first_places", "hand_over_slopes", "run_once"]

Edges = Sequence[Any]
"""Where gradients of the tensors that a call has returned arrive; None for those that have none."""

Backward = Callable[[Tensor, list[Any]], tuple[Tensor | None, ...]]
"""Returns the gradients of a loss at edges."""


def run_once(loss: Tensor, edges: list[Any]) -> tuple[Tensor | None, ...]:
    """Return the gradients of a loss at edges, and let go what the forward pass has left."""
    return torch.autograd.grad(loss, edges, allow_unused=True)


def first_places(calls: Sequence[Edges], losses: Tensor) -> set[int]:
    """Return the calls whose slopes a backward pass is to be asked for, so that it reaches all calls.

    These are calls with several outputs, and calls from whose output no other call is reached.
    """
    alone = {calls[place][0].node: place for place in range(len(calls)) if _is_single(calls[place])}
    asked = {place for place in range(len(calls)) if not _is_single(calls[place])}
    asked |= {place for place in range(len(calls)) if _is_single(calls[place])} - set(alone.values())
    targets = {edge.node for place in asked for edge in calls[place] if edge is not None}
    leads = dict[Any, bool]()  # whether a call is reached from a node, other than by itself
    waiting: list[tuple[Any, bool]] = [(losses.grad_fn, False)]
    while waiting:
        node, is_done = waiting.pop()
        after = [child for child, _ in node.next_functions if child is not None]
        if is_done:
            leads[node] = any(leads.get(child) or child in alone or child in targets for child in after)
        elif node not in leads:
            leads[node] = False
            waiting.append((node, True))
            waiting += [(child, False) for child in after]
    return asked | {place for node, place in alone.items() if not leads.get(node, False)}


def _is_single(edges: Edges) -> bool:
    return len(edges) == 1 and edges[0] is not None


def hand_over_slopes(
    calls: Sequence[Edges],
    loss: Tensor,
    asked: set[int],
    take: Callable[[int, list[Tensor | None]], None],
    backward: Backward = run_once,
) -> None:
    """Run backward from a loss, and call `take(place, slopes)` for every call that it reaches.

    Parameters
    ----------
    calls : sequence
        For each call, where the gradients of what it returned arrive.
    loss : tensor
        One number.
    asked : set of int
        What `first_places` returned for calls of the same layers.
    take : callable
        Gets the place of a call, and the gradient of each tensor that it returned.
    backward : callable, optional
    """
    edges = [edge for place in sorted(asked) for edge in calls[place] if edge is not None]

    def hook(place: int) -> Callable[..., None]:
        number = calls[place][0].output_nr

        def arrive(passed_on: Any, gradients: tuple[Tensor | None, ...]) -> None:
            if gradients[number] is not None:
                take(place, [gradients[number]])

        return arrive

    handles = [
        edges_of[0].node.register_hook(hook(place))
        for place, edges_of in enumerate(calls)
        if place not in asked
    ]
    try:
        slopes = iter(backward(loss, edges))
    except RuntimeError as error:
        if "second time" not in str(error):
            raise
        raise ParameterError(
            "losses", "were passed backward before", "optimizer.step(losses) alone, without backward()"
        ) from error
    finally:
        for handle in handles:
            handle.remove()
    for place in sorted(asked):
        own = [next(slopes) if edge is not None else None for edge in calls[place]]
        if any(slope is not None for slope in own):
            take(place, own)
