"""A backward pass reads what is kept of a layer's input, and has the same numbers."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional

from discreet.learning.deep.watching.released_inputs import release_inputs

aten = torch.ops.aten


def rewritten(function, *given):
    """The graph of a function; its numbers are as before."""
    graph = make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)(*given)
    expected = graph(*given)
    release_inputs(graph)
    graph.graph.lint()
    for one, other in zip(graph(*given), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5, equal_nan=True)
    return graph


def many(graph, target):
    return len(graph.graph.find_nodes(op="call_function", target=target))


def backward_to(output, *inputs):
    return torch.autograd.grad(output.square().sum(), inputs)


CONVOLUTIONS = {
    "plain": (nn.Conv2d(3, 5, 3), (2, 3, 7, 6)),
    "by strides that leave some out": (nn.Conv2d(3, 5, (3, 2), stride=(2, 3), padding=(1, 0)), (2, 3, 8, 7)),
    "with holes, in groups": (nn.Conv2d(4, 6, 3, dilation=2, padding=2, groups=2), (2, 4, 9, 7)),
    "of sequences": (nn.Conv1d(3, 4, 5, stride=3, padding=2), (2, 3, 12)),
    "of volumes": (nn.Conv3d(2, 3, 2, stride=2), (2, 2, 5, 4, 5)),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_slopes_of_a_convolutions_input_do_not_hold_it(name):
    layer, shape = CONVOLUTIONS[name]

    def function(values, weight):
        images = values.clone().requires_grad_()
        size = {"stride": layer.stride, "padding": layer.padding, "dilation": layer.dilation}
        convolve = {3: functional.conv1d, 4: functional.conv2d, 5: functional.conv3d}[values.dim()]
        return backward_to(convolve(images, weight, **size, groups=layer.groups), images)

    graph = rewritten(function, torch.randn(shape), layer.weight.detach())
    assert many(graph, aten.convolution_backward.default) == 0
    assert many(graph, aten.convolution.default) == 2


def test_sizes_may_be_one_for_all_axes():
    def function(slopes, images, weight):
        sizes = ([2], [1], [1], False, [0], 1)
        found = aten.convolution_backward(slopes, images, weight, None, *sizes, [True, False, False])
        return (found[0],)

    graph = rewritten(function, torch.randn(2, 5, 4, 4), torch.randn(2, 3, 8, 7), torch.randn(5, 3, 3, 3))
    assert many(graph, aten.convolution_backward.default) == 0


@pytest.mark.parametrize("wanted", [(True, True), (False, True)])
def test_a_pass_to_weights_reads_the_input(wanted):
    def function(values, weight):
        both = [values.clone().requires_grad_(), weight.clone().requires_grad_()]
        asked = [one for one, is_wanted in zip(both, wanted, strict=True) if is_wanted]
        return backward_to(functional.conv2d(*both), *asked)

    graph = rewritten(function, torch.randn(2, 3, 6, 6), torch.randn(4, 3, 3, 3))
    assert many(graph, aten.convolution_backward.default) == 1


def test_a_transposed_convolution_is_left_as_it_is():
    def function(values, weight):
        images = values.clone().requires_grad_()
        return backward_to(functional.conv_transpose2d(images, weight, stride=2), images)

    graph = rewritten(function, torch.randn(2, 3, 4, 4), torch.randn(3, 4, 3, 3))
    assert many(graph, aten.convolution_backward.default) == 1


def rectified(values, kind):
    """The slopes of a rectifier, and a shorter copy of what it returned, made after them."""
    values = values.clone().requires_grad_()
    found = functional.relu(values * 2)
    (slopes,) = torch.autograd.grad(found.square().sum(), values)
    return slopes, found.detach().to(kind)


EDGES = torch.tensor([[-1.0, 0.0, 1e-30], [torch.nan, torch.inf, -torch.inf], [2.0**-130, 3.0, -0.0]])


def test_a_rectifier_reads_the_shorter_copy():
    graph = rewritten(lambda values: rectified(values, torch.bfloat16), EDGES)
    assert many(graph, aten.threshold_backward.default) == 0
    (mask,) = graph.graph.find_nodes(op="call_function", target=aten.le.Scalar)
    assert mask.args[0].target is aten._to_copy.default
    assert many(graph, aten._to_copy.default) == 1


def test_two_passes_through_one_rectifier_read_the_same_copy():
    def function(values):
        values = values.clone().requires_grad_()
        found = functional.relu(values * 2)
        losses = (found.square().sum(), found.exp().sum())
        slopes = [torch.autograd.grad(loss, values, retain_graph=True)[0] for loss in losses]
        return *slopes, found.detach().to(torch.bfloat16)

    graph = rewritten(function, torch.randn(4, 5))
    assert many(graph, aten.threshold_backward.default) == 0
    assert many(graph, aten._to_copy.default) == 1


def test_half_floats_which_lose_small_numbers_are_not_read():
    graph = rewritten(lambda values: rectified(values, torch.float16), EDGES)
    assert many(graph, aten.threshold_backward.default) == 1


def test_another_limit_is_not_about_signs():
    def function(slopes, values):
        return aten.threshold_backward(slopes, values, 0.5), values.detach().to(torch.bfloat16)

    graph = rewritten(function, torch.randn(4, 5), torch.randn(4, 5))
    assert many(graph, aten.threshold_backward.default) == 1


def test_a_copy_that_is_somewhere_else_is_not_read():
    def function(values):
        values = values.clone().requires_grad_()
        found = functional.relu(values * 2)
        away = found.detach().to("meta", torch.bfloat16)
        (slopes,) = torch.autograd.grad(found.square().sum(), values)
        return slopes, slopes + len(away)

    graph = rewritten(function, torch.randn(4, 5))
    assert many(graph, aten.threshold_backward.default) == 1


def test_a_copy_of_something_else_is_not_read():
    def function(values):
        slopes, short = rectified(values, torch.float64)
        return slopes, short, values.to(torch.bfloat16)

    graph = rewritten(function, torch.randn(4, 5))
    assert many(graph, aten.threshold_backward.default) == 1
