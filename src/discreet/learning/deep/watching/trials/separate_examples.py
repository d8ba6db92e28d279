"""Whether the graph of the losses keeps examples apart: read from its operations, one by one.

A tensor is *in order* if it consists of as many equal runs of numbers, one after the other, as there are
examples, and the run of an example depends on no other example. What a recorded layer returns is in order if
what it was given is: a rule is for layers that treat examples along their first axis alone. Every operation
between layers must keep the order: what it returns is in order if all that it is given with a gradient is.
Then each loss has no gradient at other examples, whatever the numbers are.

Operations that are not known here, or whose axes are not, may do anything: nothing is proven of such a graph,
and it is tried out (`mixing_trials`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, TypeAlias

from torch import Tensor
from torch.autograd.function import BackwardCFunction

from discreet.learning.deep.watching.graph_walk import walked_past
from discreet.learning.deep.watching.layer_calls import NotedCall

__all__ = ["are_kept_apart"]

_Shape: TypeAlias = tuple[int, ...]
_Keeps: TypeAlias = Callable[[Any, list[_Shape], list[_Shape | None], int], bool]
"""Takes an operation, the shapes of what it returned, the shapes of what it was given, None for what has no
gradient, and the number of examples, and returns whether it keeps the order."""

_LEAF = "torch::autograd::AccumulateGrad"
_KIND = re.compile(r"Backward\d+$")  # of PyTorch's own: functions of users have no number
_WRAPPED = 1 << 63  # axes that are counted from the end are stored without their sign, in 64 bits


def are_kept_apart(calls: Sequence[NotedCall], losses: Tensor) -> bool:
    """Say whether the graph of the losses proves that no loss has a gradient at other examples.

    Parameters
    ----------
    calls : sequence of NotedCall
        The recorded calls of layers.
    losses : tensor
        One for each example.
    """
    if not all(isinstance(call.watched.rule, FunctionType) for call in calls):
        return False  # modules that are run as wholes, and parameters that are added to examples
    walk = walked_past([call.edges for call in calls], [call.before for call in calls], losses)
    return all(
        node is None or node.name() == _LEAF or _keeps_order(node, read, len(losses)) for node, read in walk
    )


def _keeps_order(node: Any, read: Sequence[tuple[Any, int]], examples: int) -> bool:
    keeps = _KNOWN.get(_KIND.sub("", node.name()))
    if keeps is None or isinstance(node, BackwardCFunction):
        return False
    returned = [tuple(one.shape) for one in node._input_metadata]
    given = [None if child is None else tuple(child._input_metadata[number].shape) for child, number in read]
    return keeps(node, returned, given, examples)


def _has_rows(shapes: Sequence[_Shape | None], examples: int) -> bool:
    """Whether all have one first axis, which is cut into as many equal parts as there are examples."""
    found = {shape[:1] for shape in shapes if shape is not None}
    return len(found) == 1 and all(
        first != () and first[0] > 0 and first[0] % examples == 0 for first in found
    )


def _number_by_number(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
    """Every number is made of those in the same place, or of those that are repeated along other axes."""
    del node
    out = returned[0]
    return all(
        shape in (None, out) or (len(shape) == len(out) and _has_rows([shape, out], examples))
        for shape in given
    )


def _in_the_same_row(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
    """What has the same place along the first axis is made of each other."""
    del node
    return _has_rows([*returned, *given], examples)


def _as_it_is_stored(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
    """Numbers stay in their order: another shape has no other runs."""
    del node, returned, given, examples
    return True


def _repeated(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
    """Numbers are repeated along other axes than the first."""
    is_deep = all(len(shape) == len(returned[0]) for shape in given if shape is not None)
    return is_deep and _in_the_same_row(node, returned, given, examples)


def _along(name: str) -> _Keeps:
    """The same row, of an operation along stated axes, of which the first is none."""

    def keeps(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
        depth = max(len(shape) for shape in (*returned, *given) if shape is not None)
        axes = _axes(getattr(node, name, None), depth)
        return len(axes) > 0 and 0 not in axes and _in_the_same_row(node, returned, given, examples)

    return keeps


def _turned(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
    """The first axis stays the first."""
    axes = _axes(node._saved_dims, len(returned[0]))
    return axes[:1] == [0] and _in_the_same_row(node, returned, given, examples)


def _exchanged(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
    """Two axes that are not the first."""
    axes = _axes((node._saved_dim0, node._saved_dim1), len(returned[0]))
    return 0 not in axes and _in_the_same_row(node, returned, given, examples)


def _without_reduction(keeps: _Keeps) -> _Keeps:
    def keep(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
        return node._saved_reduction == 0 and keeps(node, returned, given, examples)

    return keep


def _last_without_gradient(
    node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int
) -> bool:
    """Rows of one matrix times another one, which is a constant, and added to a matrix."""
    is_constant = given[-1] is None and all(len(shape) == 2 for shape in given if shape is not None)
    return is_constant and _in_the_same_row(node, returned, given, examples)


def _convolved(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
    """Filters are constants."""
    is_constant = all(shape is None for shape in given[1:])
    return is_constant and _in_the_same_row(node, returned, given, examples)


def _normalized(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
    """Over the last axes, and not over all."""
    is_inner = len(node._saved_normalized_shape) < len(returned[0]) and given[1:] in ([], [None, None])
    return is_inner and _in_the_same_row(node, returned, given, examples)


def _frozen(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
    """By statistics from before, which are constants."""
    is_constant = node._saved_training is False and all(shape is None for shape in given[1:])
    return is_constant and _in_the_same_row(node, returned, given, examples)


def _padded(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
    """At the ends of other axes than the first."""
    is_inner = len(node._saved_pad) < 2 * len(returned[0])
    return is_inner and _in_the_same_row(node, returned, given, examples)


def _of_three_axes(node: Any, returned: list[_Shape], given: list[_Shape | None], examples: int) -> bool:
    """Along the last two axes, of at least three."""
    is_deep = all(len(shape) > 2 for shape in given if shape is not None)
    return is_deep and _in_the_same_row(node, returned, given, examples)


def _axes(stored: Any, depth: int) -> list[int]:
    """Return axes of a tensor of so many, counted from its beginning; none if all are meant."""
    found = stored if isinstance(stored, tuple) else () if stored is None else (stored,)
    signed = [axis - 2 * _WRAPPED if axis >= _WRAPPED else axis for axis in found]
    return [axis + depth if axis < 0 else axis for axis in signed]


def _all(names: str, keeps: _Keeps) -> dict[str, _Keeps]:
    return dict.fromkeys(names.split(), keeps)


_KNOWN: dict[str, _Keeps] = {
    **_all(
        "Abs Add Clamp ClampMax ClampMin Clone Cos Div Elu Erf Exp Expm1 Gelu Hardsigmoid", _number_by_number
    ),
    **_all("Hardswish Hardtanh LeakyRelu Log Log1P LogSigmoid MaskedFill Maximum Minimum", _number_by_number),
    **_all("Mish Mul NativeDropout Neg Pow Reciprocal Relu Rsqrt Rsub Sigmoid Silu Sin", _number_by_number),
    **_all("Softplus Sqrt Sub Tanh Threshold ToCopy Where", _number_by_number),
    **_all("Alias ReshapeAlias Squeeze UnsafeView Unsqueeze View", _as_it_is_stored),
    **_all(
        "Cat Cumsum Gather Glu LogSoftmax Max Min SafeSoftmax Select Slice Softmax Split",
        _along("_saved_dim"),
    ),
    **_all("SplitWithSizes Stack Unbind", _along("_saved_dim")),
    **_all("Amax Amin LinalgVectorNorm Logsumexp Mean Std Sum Var", _along("_saved_dim")),
    **_all("Flip Roll", _along("_saved_dims")),
    "Expand": _repeated,
    "Permute": _turned,
    "Transpose": _exchanged,
    "Bmm": _of_three_axes,
    **_all("Addmm Mm", _last_without_gradient),
    "Convolution": _convolved,
    "NativeLayerNorm": _normalized,
    **_all("CudnnBatchNorm NativeBatchNorm", _frozen),
    "ConstantPadNd": _padded,
    **_all("ScaledDotProductCudnnAttention ScaledDotProductEfficientAttention", _of_three_axes),
    **_all("ScaledDotProductFlashAttention ScaledDotProductFlashAttentionForCpu", _of_three_axes),
    **_all("AdaptiveAvgPool2D AvgPool2D MaxPool2DWithIndices UpsampleNearest2D", _of_three_axes),
    **_all("NllLoss NllLoss2D", _without_reduction(_in_the_same_row)),
    **_all(
        "BinaryCrossEntropy BinaryCrossEntropyWithLogits HuberLoss MseLoss",
        _without_reduction(_number_by_number),
    ),
    "SmoothL1Loss": _without_reduction(_number_by_number),
}
