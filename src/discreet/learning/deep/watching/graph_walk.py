"""The graph of losses, walked from its end past the layers that were recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from torch import Tensor
from torch.autograd.graph import get_gradient_edge

__all__ = ["place_of", "walked_past"]

Place = tuple[Any, int]
"""A node of a graph, and which of its outputs; None instead of a node, if no gradient goes there."""


def place_of(edge: Any) -> Place:
    """Return where an edge of a graph ends."""
    return edge.node, edge.output_nr


def walked_past(
    returned: Sequence[Sequence[Any]], given: Sequence[Sequence[Any]], losses: Tensor
) -> Iterator[tuple[Any, Sequence[Place]]]:
    """Walk the graph of losses, at recorded calls on to what they were given.

    Each operation is met once, unless all of its outputs are those of calls: then it is not met at all. Each
    output of a call that is met counts as one step.

    Parameters
    ----------
    returned, given : sequences
        For each recorded call, the gradient edges of what it returned, or None, and of what it was given.
    losses : tensor

    Yields
    ------
    node
        An operation outside of the calls, or a parameter; None for a call.
    read : sequence of places
        What it reads: for an operation, one for each of its arguments.
    """
    calls = {
        place_of(edge): call for call, edges in enumerate(returned) for edge in edges if edge is not None
    }
    waiting, seen = [place_of(get_gradient_edge(losses))], set[Any]()
    while waiting:
        place = waiting.pop()
        call, node = calls.get(place), place[0]
        mark = node if call is None else place
        if mark in seen:
            continue
        seen.add(mark)
        read = node.next_functions if call is None else [place_of(edge) for edge in given[call]]
        yield (node if call is None else None), read
        waiting += [one for one in read if one[0] is not None]
