"""Parameters beside layers, and layers of places: what examples share, and where it is repeated over them.

A module that holds a parameter itself is noted in two ways: as a whole, to be run again for each example, and
by the layers inside. Where the graph of the losses shows that each such parameter meets examples in ways that
are known (`shared_graph`), the layers inside are enough: at y = c x + c' p, the gradient of example i by p is
that of y at i times c'_i, added up over all that p was repeated over. Else the module is a whole. A layer
that is given what all examples share (`shared_inputs`) is noted by its call; where its output meets examples,
its gradients are those of a layer that is given the same for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge

from discreet.learning.deep.uses import RowsUse, Use
from discreet.learning.deep.watching.graph_walk import Place, place_of
from discreet.learning.deep.watching.layer_calls import NotedCall, WatchedLayer
from discreet.learning.deep.watching.sharing.shared_graph import Meeting, SharedGraph
from discreet.learning.deep.watching.sharing.shared_inputs import SharedInputs, given_to

__all__ = ["chosen_calls"]


def chosen_calls(
    calls: list[NotedCall], losses: Tensor, shared: SharedInputs
) -> tuple[list[NotedCall], list[NotedCall]]:
    """Return calls of which each module that was noted in two ways is there in one.

    Calls of layers that were given what all examples share are there as calls for each example. Returned
    beside them are calls of modules that are divided and multiply examples by what they hold: what they do
    to examples before is not seen by slopes (`whole_modules`).

    Parameters
    ----------
    calls : list of NotedCall
    losses : tensor
        One number for each example, with a graph.
    shared : SharedInputs
        Of which a batch has begun.
    """
    roots = shared.candidates(calls)
    alone = [call for call in calls if _is_alone(call)]
    while True:
        wholes = {call.watched: call for call in calls if call.loose and call not in alone}
        layers = [call for call in calls if not call.loose or call in alone]
        graph = SharedGraph(layers, losses, [*roots, *alone], shared.owner, shared.is_public_factor)
        if not (wholes or roots or alone or graph.parameters):
            return calls, []
        failed = [call for call in alone if _meetings(_source_of(call), graph, losses)[0] is None]
        if not failed:
            break
        alone = [call for call in alone if call not in failed]
    recomputed = {call.watched for call in calls if call.is_recomputed}
    met = dict[int, list[NotedCall] | None]()  # for each parameter, whichever modules hold it
    through, owners = dict[int, list[NotedCall]](), dict[int, WatchedLayer]()
    for place in graph.parameters:
        watched, name = cast("tuple[WatchedLayer, str]", shared.owner(place[0].variable))
        source = _Source(watched, {name: watched.trained[name]}, place, None, saves=not recomputed)
        held = id(watched.trained[name])
        owners[held] = watched
        met[held], through[held] = _meetings(source, graph, losses)
    others = {held for held, found in met.items() if found is None}
    passed = {held for held in others if owners[held].rule is not None}
    for watched, call in sorted(wholes.items(), key=lambda pair: len(pair[0].trained)):
        loose = {id(watched.trained[name]) for name in call.loose}
        inside = {id(value) for value in watched.trained.values()}
        if loose & others or inside & passed:  # the innermost does again what passes its layers
            others |= loose
            passed -= inside
    divided = _divided(wholes, others)
    whole = {id(one.trained[name]) for one in wholes if one not in divided for name in wholes[one].loose}
    own = [held for held, found in met.items() if found is not None and held not in whole]
    added = [one for held in own for one in met[held] or ()]
    gone, waiting = set[NotedCall](), [*roots, *alone, *(one for held in own for one in through[held])]
    while waiting:
        call = waiting.pop()
        if call in gone or not any(edge is not None for edge in call.edges):
            continue
        found, reached = _meetings(_source_of(call), graph, losses)
        if found is not None:
            if call in roots:
                shared.check(call, roots[call])
            gone.add(call)
            added += found
            waiting += reached
    kept = [call for call in calls if call.watched not in divided and call not in gone] + added
    parts = {id(one) for call in kept if call.watched.rule is None for one in _inside(call, kept)}
    factors = {held for held, found in met.items() if any(_has_factor(one) for one in found or ())}
    changed = {one for one in divided if any(id(one.trained[name]) in factors for name in wholes[one].loose)}
    return [call for call in kept if id(call) not in parts], [one for one in calls if one.watched in changed]


@dataclass(frozen=True, eq=False)
class _Source:
    """A parameter that a module holds, or a call of a layer that was given what all examples share."""

    watched: WatchedLayer
    trained: dict[str, Tensor]
    place: Place
    call: NotedCall | None
    saves: bool

    def uses(self, rows: Tensor) -> dict[str, Use]:
        """Return the uses of its parameters, from the gradients of each example at it."""
        if self.call is None:
            return {name: RowsUse(rows.reshape(len(rows), -1)) for name in self.trained}
        if self.watched.rule is None:
            found = _pulled(rows, self.place, list(self.call.loose.values()))
            return {name: RowsUse(own.flatten(1)) for name, own in zip(self.call.loose, found, strict=True)}
        given = given_to(self.call.given)
        return self.watched.rule(self.watched.module, given.expand(len(rows), *given.shape), rows)


def _is_alone(call: NotedCall) -> bool:
    """Whether a module was given no tensor, so that what it returned is made of its own parameters."""
    return set(call.loose) == set(call.watched.trained) and not call.versions and len(call.edges) == 1


def _pulled(rows: Tensor, place: Place, edges: list[Any]) -> tuple[Tensor, ...]:
    """Return the gradients of each example at edges of a graph, from those at a later place of it."""
    begin = [GradientEdge(*place)]
    return torch.autograd.grad(begin, edges, [rows], is_grads_batched=True, retain_graph=True)


@dataclass(frozen=True, eq=False)
class _Repeated:
    """The rule of what is shared: from the slopes of what it was repeated in."""

    source: _Source
    edge: Place
    shape: tuple[int, ...]
    factor: float | None

    def __call__(self, module: Any, given: Tensor, slopes: Tensor) -> dict[str, Use]:
        """Add slopes up over what it was repeated over, but for the examples.

        Parameters
        ----------
        module : nn.Module
        given : tensor
            What the shared tensor was multiplied by, if `factor` is None; else of the examples.
        slopes : tensor
            For each example one row, or several next to each other.
        """
        if self.factor != 1:
            slopes = slopes * (given if self.factor is None else self.factor)
        rows = self._added_up(slopes, len(given))
        if self.edge != self.source.place:
            (rows,) = _pulled(rows, self.edge, [GradientEdge(*self.source.place)])
        return self.source.uses(rows)

    def _added_up(self, slopes: Tensor, examples: int) -> Tensor:
        """Return the gradients of each example at the shared tensor."""
        is_long = len(self.shape) == slopes.dim()
        if is_long and self.shape[0] > 1:  # all of it was repeated, for one example after another
            return slopes.reshape(examples, *self.shape)
        own = self.shape[1:] if is_long else self.shape
        new = slopes.dim() - len(own)
        axes = [1, *(axis + 1 for axis in range(1, slopes.dim()) if axis < new or own[axis - new] == 1)]
        slopes = slopes.reshape(examples, -1, *slopes.shape[1:])  # positions that were folded into examples
        is_one = all(slopes.shape[axis] == 1 for axis in axes)  # which is its own sum, and is not copied
        return (slopes if is_one else slopes.sum(axes)).reshape(examples, *self.shape)


def _source_of(call: NotedCall) -> _Source:
    place = place_of(call.edges[0])
    return _Source(call.watched, call.watched.trained, place, call, saves=not call.is_recomputed)


def _meetings(
    source: _Source, graph: SharedGraph, losses: Tensor
) -> tuple[list[NotedCall] | None, list[NotedCall]]:
    """Return a call for each meeting with examples, or None if something else is done; and layers between."""
    found = graph.meetings([source.place], saves=source.saves)
    if found is None:
        return None, []
    return [_noted(source, met, losses) for met in found[0]], found[1]


def _noted(source: _Source, met: Meeting, losses: Tensor) -> NotedCall:
    is_number = isinstance(met.factor, float)
    rule = _Repeated(source, met.edge, met.shape, met.factor if is_number else None)
    layer = WatchedLayer(source.watched.name, source.watched.module, rule, source.trained)
    given = losses.detach() if is_number else met.factor  # of losses nothing but the number is read
    edges, before = [GradientEdge(met.node, 0)], [GradientEdge(*place) for place in met.others]
    return NotedCall(layer, ((given,), {}), [], edges, before)


def _has_factor(call: NotedCall) -> bool:
    return isinstance(call.watched.rule, _Repeated) and call.watched.rule.factor is None


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
