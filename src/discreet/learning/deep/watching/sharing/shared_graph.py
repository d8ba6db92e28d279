"""Where what all examples share meets them, as the graph of the losses shows it.

A parameter, or what a layer made of places, is shared. So is what operations without examples make of it:
slices, turned axes, a function of each number, a layer. At last it is repeated over examples: added to a
tensor of theirs, multiplied by one, masked by one, or expanded. There the slope of an example is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import get_gradient_edge

from discreet.learning.deep.layers import adds_up_positions
from discreet.learning.deep.watching.graph_walk import Place, place_of
from discreet.learning.deep.watching.layer_calls import NotedCall

__all__ = ["Meeting", "SharedGraph", "shape_at"]

_OF_ONE = {
    f"{name}Backward"
    for name in [
        "Alias",
        "Clone",
        "Exp",
        "Expand",
        "Flip",
        "Gelu",
        "Mean",
        "NativeDropout",
        "Neg",
        "Permute",
        "Pow",
        "ReshapeAlias",
        "Relu",
        "Rsqrt",
        "Select",
        "Sigmoid",
        "Silu",
        "Slice",
        "Softplus",
        "Split",
        "SplitWithSizes",
        "Sqrt",
        "Squeeze",
        "Sum",
        "T",
        "Tanh",
        "ToCopy",
        "Transpose",
        "Unbind",
        "UnsafeView",
        "Unsqueeze",
        "UpsampleBicubic2D",
        "UpsampleBilinear2D",
        "View",
    ]
}
"""Operations of one tensor and of public numbers."""
_OF_SEVERAL = {"AddBackward", "SubBackward", "MulBackward", "CatBackward", "StackBackward"}
_WITH_FACTOR = {"MulBackward", "WhereBackward", "MaskedFillBackward"}
_REPEATING = {"ExpandBackward", "RepeatBackward"}


@dataclass(frozen=True, eq=False)
class Meeting:
    """One operation that repeats a shared tensor over examples.

    Attributes
    ----------
    edge : pair
        The shared tensor, and `shape` its shape.
    node : node
        The operation; `others` are what else it reads.
    factor : float or tensor
        By what the shared tensor is multiplied: a number, or a tensor with a row for each example.
    """

    edge: Place
    shape: tuple[int, ...]
    node: Any
    others: list[Place]
    factor: float | Tensor


class SharedGraph:
    """The graph of the losses, read from its leaves.

    Parameters
    ----------
    calls : list of NotedCall
        Layers; at each the graph is continued with what it was given.
    losses : tensor
        One number for each example, with a graph.
    roots : collection of NotedCall
        Those that were given nothing of examples.
    parameters : callable
        Whether a leaf of the graph is a trained parameter.
    is_public : callable
        Whether an index is nobody's.

    Attributes
    ----------
    parameters : list of Place
        Trained parameters that are read outside of these layers.
    """

    def __init__(
        self,
        calls: list[NotedCall],
        losses: Tensor,
        roots: Iterable[NotedCall],
        parameters: Callable[[Tensor], object],
        is_public: Callable[[Tensor], bool],
    ) -> None:
        self._layers = {place_of(edge): call for call in calls for edge in call.edges if edge is not None}
        self._examples, self._roots, self._is_public = len(losses), set(roots), is_public
        self._readers: dict[Place, list[tuple[Any, int]]] = {}
        self._read(losses)
        leaves = [place for place in self._readers if hasattr(place[0], "variable")]
        self.parameters = [place for place in leaves if parameters(place[0].variable)]
        self._known = dict[Place, bool].fromkeys(self.parameters, True)

    def _read(self, losses: Tensor) -> None:
        end = place_of(get_gradient_edge(losses))
        self._readers[end] = [(None, 0)]
        waiting, seen = [end], set[Any]()
        while waiting:
            place = waiting.pop()
            call = self._layers.get(place)
            reader: Any = place[0] if call is None else call
            if reader in seen:
                continue
            seen.add(reader)
            for index, child in enumerate(self._children(place)):
                if child is not None:
                    self._readers.setdefault(child, []).append((reader, index))
                    waiting.append(child)

    def _children(self, place: Place) -> list[Place | None]:
        """Return what an operation reads, or what a layer was given; None for constants."""
        call = self._layers.get(place)
        if call is not None:
            return [place_of(edge) for edge in call.before]
        return [None if child is None else (child, number) for child, number in place[0].next_functions]

    def meetings(self, places: list[Place], *, saves: bool) -> tuple[list[Meeting], list[NotedCall]] | None:
        """Return all meetings of a shared tensor with examples, and the layers on the way, or None.

        None: something else is done with it.

        Parameters
        ----------
        places : list
            The tensor, by its places.
        saves : bool
            Whether what operations have saved can be read: not while it is to be computed again.
        """
        found, through = list[Meeting](), dict[NotedCall, None]()
        waiting, seen = list(places), set(places)
        while waiting:
            place = waiting.pop()
            for reader, index in self._readers.get(place, ()):
                if reader is None:
                    return None
                if isinstance(reader, NotedCall):
                    if len(reader.before) != 1 or not adds_up_positions(reader.watched.rule):
                        return None
                    through[reader] = None
                    after = [place_of(edge) for edge in reader.edges if edge is not None]
                elif (met := self._met(reader, index, place, saves=saves)) is not None:
                    found.append(met)
                    continue
                elif self._stays_shared(reader, index, saves=saves):
                    after = [(reader, number) for number in range(len(reader._input_metadata))]
                else:
                    return None
                waiting += [one for one in after if one not in seen]
                seen.update(after)
        return found, list(through)

    def _stays_shared(self, node: Any, index: int, *, saves: bool) -> bool:
        """Whether what an operation returns is shared as what it is given is."""
        kind = _kind(node)
        if kind in _OF_ONE:
            return True
        others = [child for place, child in enumerate(self._children((node, 0))) if place != index]
        if kind in _OF_SEVERAL and all(child is not None and self._is_shared(child) for child in others):
            return True
        if not saves or not all(child is None or self._is_shared(child) for child in others):
            return False
        if kind == "IndexBackward":
            return all(one is None or self._is_public(one) for one in node._saved_indices)
        if kind == "EmbeddingBackward":
            return self._is_public(node._saved_indices)
        factor = _factor(node, index)
        if factor is None or kind != "MulBackward" or factor.dim() > 0:
            return factor is not None and self._is_public(factor)
        # A number of Python is kept as a double: of other numbers without axes none can be told from a mean.
        return factor.dtype == torch.float64 != node._input_metadata[0].dtype

    def _is_shared(self, place: Place) -> bool:
        """Whether a tensor was made of parameters and shared layers by such operations alone."""
        if (known := self._known.get(place)) is not None:
            return known
        call, (node, _) = self._layers.get(place), place
        children = self._children(place)
        self._known[place] = False
        if call is not None:
            found = call in self._roots or (bool(children) and adds_up_positions(call.watched.rule))
        elif hasattr(node, "variable"):
            found = False  # a leaf that is no parameter, such as an input that asks for its gradient
        elif _kind(node) in _REPEATING and self._is_repeated(children[0], place):
            found = False
        else:
            found = _kind(node) in _OF_ONE or _kind(node) in _OF_SEVERAL
        self._known[place] = found and all(one is not None and self._is_shared(one) for one in children)
        return self._known[place]

    def _is_repeated(self, given: Place | None, returned: Place) -> bool:
        """Whether an operation gives a tensor a first axis, which may be that of the examples."""
        wide, shape = shape_at(returned), () if given is None else shape_at(given)
        if not wide or wide[0] % self._examples:
            return False
        if len(shape) == len(wide) and _kind(returned[0]) == "RepeatBackward":
            return wide[0] == shape[0] * self._examples  # all of it, for one example after another
        return len(shape) < len(wide) or (shape[0] == 1 and (wide[0] > 1 or self._examples == 1))

    def _met(self, node: Any, index: int, place: Place, *, saves: bool) -> Meeting | None:
        """Return the meeting at an operation, if it is one."""
        shape, wide, kind = shape_at(place), shape_at((node, 0)), _kind(node)
        if not self._is_repeated(place, (node, 0)):
            return None
        children = self._children((node, 0))
        others = [child for other, child in enumerate(children) if other != index and child is not None]
        if any(self._is_shared(child) for child in others):
            return None
        factor: float | Tensor = 1.0
        if kind in ("AddBackward", "SubBackward"):
            factor = float(node._saved_alpha) if index == 1 else 1.0
            factor = -factor if index == 1 and kind == "SubBackward" else factor
        elif kind in _WITH_FACTOR:
            saved = _factor(node, index) if saves and wide[0] == self._examples else None
            if saved is None or saved.shape[:1] != wide[:1] or saved.dim() != len(wide):
                return None
            factor = saved.detach()
        elif kind == "RepeatBackward":
            if wide[1:] not in (shape, shape[1:]):
                return None
        elif kind != "ExpandBackward":
            return None
        return Meeting(place, shape, node, others, factor)


def shape_at(place: Place) -> tuple[int, ...]:
    """Return the shape of a tensor."""
    node, number = place
    return tuple(node._input_metadata[number].shape)


def _kind(node: Any) -> str:
    """Return what an operation is, whichever of its forms."""
    return str(node.name()).rstrip("0123456789")


def _factor(node: Any, index: int) -> Tensor | None:
    """Return by what an operation multiplies one of its arguments: a mask keeps numbers, or makes them 0."""
    kind = _kind(node)
    if kind == "MulBackward":
        found = node._saved_other if index == 0 else node._saved_self
    elif kind == "WhereBackward":
        found = node._saved_condition if index == 0 else ~node._saved_condition
    elif kind == "MaskedFillBackward" and index == 0:
        found = ~node._saved_mask
    else:
        found = None
    return found if isinstance(found, Tensor) else None
