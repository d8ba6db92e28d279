"""Parameters beside layers that are added to examples, or expanded over them, such as positions and tokens.

A module that holds a parameter itself is noted in two ways: as a whole, to be run again for each example, and
by the layers inside. Where the graph of the losses shows that each such parameter, or a slice of it, is only
added to tensors of examples, y = x + p, or expanded over them, the layers inside are enough: the gradient of
example i by p is that of y at i, added up over all that p was repeated over. Else the module is a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge, get_gradient_edge

from discreet.learning.deep.uses import RowsUse, Use
from discreet.learning.deep.watching.graph_walk import place_of, walked_past
from discreet.learning.deep.watching.layer_calls import NotedCall, WatchedLayer

__all__ = ["chosen_calls"]

Parents = dict[Any, list[tuple[Any, int]]]
"""For each node of a graph, the nodes that read it, and as which argument; None for what is no operation."""


def chosen_calls(calls: list[NotedCall], losses: Tensor) -> list[NotedCall]:
    """Return calls of which each module that was noted in two ways is there in one.

    Parameters
    ----------
    calls : list of NotedCall
    losses : tensor
        One number for each example, with a graph.
    """
    wholes = {call.watched: call for call in calls if call.loose}
    parents = _parents(calls, losses) if wholes else {}
    added = dict[int, list[NotedCall] | None]()  # for each parameter, whichever modules hold it
    for watched, call in wholes.items():
        for name, edge in call.loose.items():
            if id(watched.trained[name]) not in added:
                added[id(watched.trained[name])] = _added(watched, name, edge, parents, losses)
    divided = _divided(wholes, {held for held, found in added.items() if found is None})
    held = {id(one.trained[name]) for one in divided for name in wholes[one].loose}
    kept = [call for call in calls if call.watched not in divided]
    kept += [one for parameter, found in added.items() if parameter in held for one in found or ()]
    inside = {id(one) for call in kept if call.watched.rule is None for one in _inside(call, kept)}
    return [call for call in kept if id(call) not in inside]


def _divided(wholes: dict[WatchedLayer, NotedCall], others: set[int]) -> set[WatchedLayer]:
    """Return the modules of which no parameter is among others, nor held by a module of which one is."""
    held = {watched: {id(watched.trained[name]) for name in call.loose} for watched, call in wholes.items()}
    divided = set(wholes)
    while found := {watched for watched in divided if held[watched] & others}:
        divided -= found
        others = others.union(*(held[watched] for watched in found))
    return divided


def _inside(whole: NotedCall, calls: list[NotedCall]) -> list[NotedCall]:
    """Return the calls of layers that are parts of a module, and that its call has made.

    They are met between what it returned and what it was given. What it is a part of holds their gradients.
    """
    own = _identities(whole)
    parts = [call for call in calls if call is not whole and _identities(call) <= own]
    if not parts:
        return []
    places = dict[Any, list[NotedCall]]()  # a module may return what a part of it has returned
    for call in parts:
        for edge in call.edges:
            if edge is not None:
                places.setdefault(place_of(edge), []).append(call)
    seen = {place_of(edge) for edge in whole.before}
    waiting = [place_of(edge) for edge in whole.edges if edge is not None]
    found = dict[int, NotedCall]()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        found |= {id(call): call for call in places.get(place, ())}
        waiting += [(child, number) for child, number in place[0].next_functions if child is not None]
    return list(found.values())


def _identities(call: NotedCall) -> set[int]:
    return {id(value) for value in call.watched.trained.values()}


def _parents(calls: list[NotedCall], losses: Tensor) -> Parents:
    """Walk the graph of the losses, at layers on to what they were given."""
    layers = [call for call in calls if not call.loose]
    parents: Parents = {get_gradient_edge(losses).node: [(None, 0)]}
    walk = walked_past([call.edges for call in layers], [call.before for call in layers], losses)
    for node, read in walk:
        for index, (child, _) in enumerate(read):
            if child is not None:
                parents.setdefault(child, []).append((node, index))
    return parents


@dataclass(frozen=True)
class _Cut:
    """One view of a parameter: a slice of one axis, or a new axis of one."""

    sizes: tuple[int, ...]
    axis: int
    bounds: tuple[int, int, int] | None

    def undone(self, rows: Tensor) -> Tensor:
        """Return gradients of what was cut, from those of the view; examples are on an axis before."""
        if self.bounds is None:
            return rows.squeeze(self.axis + 1)
        whole = rows.new_zeros(len(rows), *self.sizes)
        return torch.slice_scatter(whole, rows, self.axis + 1, *self.bounds)


def _cut(node: Any) -> _Cut | None:
    """Return the view that a node of a graph makes; None for other operations."""
    if node.name() == "SliceBackward0":
        sizes = tuple(node._saved_self_sym_sizes)
        bounds = (_signed(node._saved_start), _signed(node._saved_end), node._saved_step)
        return _Cut(sizes, _signed(node._saved_dim) % len(sizes), bounds)
    if node.name() == "UnsqueezeBackward0":
        return _Cut((), _signed(node._saved_dim) % len(_shape(node)), None)
    return None


def _signed(value: int) -> int:
    """Return a number that PyTorch shows without its sign."""
    return value - 2**64 if value >= 2**63 else value


def _shape(node: Any) -> tuple[int, ...]:
    """Return the shape of what an operation has returned."""
    return tuple(node._input_metadata[0].shape)


@dataclass(frozen=True)
class _Repeated:
    """The rule of a parameter, of which a part of some shape was repeated over examples."""

    name: str
    shape: tuple[int, ...]
    cuts: tuple[_Cut, ...]

    def __call__(self, module: Any, given: Tensor, slopes: Tensor) -> dict[str, Use]:
        """Add slopes up over what it was repeated over, but for the examples."""
        own = self.shape[1:] if len(self.shape) == slopes.dim() else self.shape
        new = slopes.dim() - len(own)
        axes = [axis for axis in range(1, slopes.dim()) if axis < new or own[axis - new] == 1]
        rows = slopes.sum(axes, keepdim=True) if axes else slopes
        rows = rows.reshape(len(slopes), *self.shape)
        for cut in self.cuts:
            rows = cut.undone(rows)
        return {self.name: RowsUse(rows.reshape(len(rows), -1))}


def _added(
    watched: WatchedLayer, name: str, edge: Any, parents: Parents, losses: Tensor
) -> list[NotedCall] | None:
    """Return a call for each tensor that a parameter was added to, or None if something else was done."""
    parameter, found = watched.trained[name], []
    waiting: list[tuple[Any, tuple[int, ...], tuple[_Cut, ...]]] = [(edge.node, tuple(parameter.shape), ())]
    while waiting:
        node, shape, cuts = waiting.pop()
        for parent, index in parents.get(node, ()):
            if parent is None:
                return None
            if (cut := _cut(parent)) is not None:
                waiting.append((parent, _shape(parent), (cut, *cuts)))
            elif _is_broadcast(parent, index, shape, len(losses)):
                rule = _Repeated(name, shape, cuts)
                layer = WatchedLayer(watched.name, watched.module, rule, {name: parameter})
                others = [
                    GradientEdge(child, number)
                    for place, (child, number) in enumerate(parent.next_functions)
                    if place != index and child is not None
                ]
                given: tuple[Any, Any] = ((losses.detach(),), {})  # of which nothing but the examples is read
                found.append(NotedCall(layer, given, [], [GradientEdge(parent, 0)], others))
            else:
                return None
    return found


def _is_broadcast(node: Any, index: int, shape: tuple[int, ...], examples: int) -> bool:
    """Whether an operation repeats an argument over examples, and at most adds something to it."""
    kind = node.name()
    if kind == "AddBackward0":
        if index == 1 and node._saved_alpha != 1:
            return False
    elif kind not in ("ExpandBackward0", "RepeatBackward0"):
        return False
    wide = _shape(node)
    if not wide or wide[0] != examples or not (len(shape) < len(wide) or shape[0] == 1):
        return False
    return kind != "RepeatBackward0" or shape in (wide[1:], (1, *wide[1:]))
