"""What a graph is said to keep apart has no gradient at other examples, and what mixes is never said to."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from discreet.errors import ParameterError
from discreet.learning.deep.watching import book as book_module
from discreet.learning.deep.watching.book import Book
from discreet.learning.deep.watching.layer_calls import WatchedLayer, noted_call
from discreet.learning.deep.watching.trials import separate_examples
from discreet.learning.deep.watching.trials.mixing_trials import MixingTrials
from discreet.learning.deep.watching.trials.separate_examples import are_kept_apart
from effort import examples
from learning.deep.training_runs import linear_data, small_run

EXAMPLES = 4
LAYER = WatchedLayer("layer", nn.Linear(1, 1), lambda *_: {}, {})


def layer_output(*shape):
    """What a recorded layer has returned, of some examples, and its call."""
    output = torch.rand(EXAMPLES, *shape).add(0.1).requires_grad_()
    output = output.view_as(output)
    return output, noted_call(LAYER, (torch.zeros(EXAMPLES, 1),), {}, [output])


def is_mixed(output, losses):
    """By gradients, loss by loss."""
    found = [
        torch.autograd.grad(loss, output, retain_graph=True, allow_unused=True)[0]
        for loss in losses.flatten()
    ]
    return any(
        bool(gradient[other].abs().sum() > 0)
        for place, gradient in enumerate(found)
        if gradient is not None
        for other in range(EXAMPLES)
        if other != place
    )


def labels(*shape):
    return torch.zeros(EXAMPLES, *shape, dtype=torch.long)


IMAGES, TEXTS = (2, 4, 4), (3, 5)
FROZEN = {"running_mean": torch.zeros(2), "running_var": torch.ones(2)}

# Every operation with a use that keeps examples apart: (name of its kind, shape of an example, function).
KEEPING = [
    *(
        (name, TEXTS, getattr(torch, name.lower()))
        for name in (
            "Abs",
            "Cos",
            "Erf",
            "Exp",
            "Expm1",
            "Log",
            "Log1P",
            "Neg",
            "Reciprocal",
            "Rsqrt",
            "Sin",
            "Sqrt",
        )
    ),
    *(
        (kind, TEXTS, function)
        for kind, function in {
            "Elu": functional.elu,
            "Gelu": functional.gelu,
            "Hardsigmoid": functional.hardsigmoid,
            "Hardswish": functional.hardswish,
            "Hardtanh": functional.hardtanh,
            "LeakyRelu": functional.leaky_relu,
            "LogSigmoid": functional.logsigmoid,
            "Mish": functional.mish,
            "Relu": functional.relu,
            "Sigmoid": torch.sigmoid,
            "Tanh": torch.tanh,
            "Silu": functional.silu,
            "Softplus": functional.softplus,
            "Threshold": lambda x: functional.threshold(x, 0.5, 0.0),
        }.items()
    ),
    ("Add", TEXTS, lambda x: x + x.sum(1, keepdim=True)),
    ("Sub", TEXTS, lambda x: x - x[:, :1]),
    ("Mul", TEXTS, lambda x: x * torch.rand(3, 5)),
    ("Div", TEXTS, lambda x: x / x.mean(2, keepdim=True)),
    ("Rsub", TEXTS, lambda x: torch.rsub(x, 1)),
    ("Pow", TEXTS, lambda x: x**2),
    ("Clamp", TEXTS, lambda x: x.clamp(0.2, 0.8)),
    ("ClampMax", TEXTS, lambda x: x.clamp_max(0.5)),
    ("ClampMin", TEXTS, lambda x: x.clamp_min(0.5)),
    ("Maximum", TEXTS, lambda x: torch.maximum(x, x.flip(1))),
    ("Minimum", TEXTS, lambda x: torch.minimum(x, x.roll(1, 2))),
    ("MaskedFill", TEXTS, lambda x: x.masked_fill(x > 0.5, 0.0)),
    ("Where", TEXTS, lambda x: torch.where(x > 0.5, x, 0.0)),
    ("NativeDropout", TEXTS, lambda x: torch.native_dropout(x, 0.5, train=True)[0]),
    ("Clone", TEXTS, torch.clone),
    ("ToCopy", TEXTS, lambda x: x.to(torch.float64)),
    ("Alias", TEXTS, torch.ops.aten.alias),
    ("ReshapeAlias", TEXTS, lambda x: x[:, :2].reshape(EXAMPLES, 2, 5, 1)),
    ("View", TEXTS, lambda x: x.view(EXAMPLES * 3, 5).view(EXAMPLES, 15)),
    ("UnsafeView", TEXTS, lambda x: x @ torch.rand(5, 2)),
    ("Squeeze", (1, 5), lambda x: x.squeeze(1)),
    ("Unsqueeze", TEXTS, lambda x: x.unsqueeze(1)),
    ("Cat", TEXTS, lambda x: torch.cat([x, x], -1)),
    ("Cumsum", TEXTS, lambda x: x.cumsum(1)),
    ("Gather", TEXTS, lambda x: x.gather(2, labels(3, 1))),
    ("Glu", (6,), lambda x: functional.glu(x, -1)),
    ("LogSoftmax", TEXTS, lambda x: x.log_softmax(-1)),
    ("Softmax", TEXTS, lambda x: x.softmax(1)),
    ("SafeSoftmax", TEXTS, lambda x: torch.ops.aten._safe_softmax(x, -1)),
    ("Max", TEXTS, lambda x: x.max(1).values),
    ("Min", TEXTS, lambda x: x.min(-1).values),
    ("Select", TEXTS, lambda x: x[:, -1]),
    ("Slice", TEXTS, lambda x: x[..., 1:]),
    ("Split", TEXTS, lambda x: x.split(2, 1)[1]),
    ("SplitWithSizes", TEXTS, lambda x: x.split([1, 2], 1)[0]),
    ("Stack", TEXTS, lambda x: torch.stack([x, x], 1)),
    ("Unbind", TEXTS, lambda x: x.unbind(1)[2]),
    ("Amax", TEXTS, lambda x: x.amax((1, 2))),
    ("Amin", TEXTS, lambda x: x.amin(1)),
    ("LinalgVectorNorm", TEXTS, lambda x: torch.linalg.vector_norm(x, dim=-1)),
    ("Logsumexp", TEXTS, lambda x: x.logsumexp(1)),
    ("Mean", TEXTS, lambda x: x.mean(-1)),
    ("Std", TEXTS, lambda x: x.std(1)),
    ("Sum", TEXTS, lambda x: x.sum((1, 2))),
    ("Var", TEXTS, lambda x: x.var(1)),
    ("Flip", TEXTS, lambda x: x.flip(1)),
    ("Roll", TEXTS, lambda x: x.roll(1, 1)),
    ("Expand", (1, 5), lambda x: x.expand(EXAMPLES, 3, 5)),
    ("Permute", TEXTS, lambda x: x.permute(0, 2, 1)),
    ("Transpose", TEXTS, lambda x: x.transpose(-1, -2)),
    ("Bmm", TEXTS, lambda x: torch.bmm(x, x.transpose(1, 2))),
    ("Addmm", (5,), lambda x: torch.addmm(x, x, torch.rand(5, 5))),
    ("Mm", (5,), lambda x: x @ torch.rand(5, 2)),
    ("Convolution", IMAGES, lambda x: functional.conv2d(x, torch.rand(3, 2, 3, 3))),
    ("NativeLayerNorm", TEXTS, lambda x: functional.layer_norm(x, (3, 5))),
    ("NativeBatchNorm", IMAGES, lambda x: functional.batch_norm(x, **FROZEN)),
    ("ConstantPadNd", TEXTS, lambda x: functional.pad(x, (1, 1, 2, 0))),
    (
        "ScaledDotProductFlashAttentionForCpu",
        (2, 3, 5),
        lambda x: functional.scaled_dot_product_attention(x, x, x),
    ),
    ("AdaptiveAvgPool2D", IMAGES, lambda x: functional.adaptive_avg_pool2d(x, 2)),
    ("AvgPool2D", IMAGES, lambda x: functional.avg_pool2d(x, 2)),
    ("MaxPool2DWithIndices", IMAGES, lambda x: functional.max_pool2d(x, 2)),
    ("UpsampleNearest2D", IMAGES, lambda x: functional.interpolate(x, scale_factor=2)),
    ("NllLoss", (5,), lambda x: functional.nll_loss(x, labels(), reduction="none")),
    ("NllLoss2D", IMAGES, lambda x: functional.nll_loss(x, labels(4, 4), reduction="none")),
    (
        "BinaryCrossEntropy",
        TEXTS,
        lambda x: functional.binary_cross_entropy(x.sigmoid(), torch.rand(x.shape), reduction="none"),
    ),
    (
        "BinaryCrossEntropyWithLogits",
        TEXTS,
        lambda x: functional.binary_cross_entropy_with_logits(x, torch.rand(x.shape), reduction="none"),
    ),
    ("HuberLoss", TEXTS, lambda x: functional.huber_loss(x, torch.rand(x.shape), reduction="none")),
    ("MseLoss", TEXTS, lambda x: functional.mse_loss(x, torch.rand(x.shape), reduction="none")),
    ("SmoothL1Loss", TEXTS, lambda x: functional.smooth_l1_loss(x, torch.rand(x.shape), reduction="none")),
]
OF_ACCELERATORS = {
    "CudnnBatchNorm",
    "ScaledDotProductCudnnAttention",
    "ScaledDotProductEfficientAttention",
    "ScaledDotProductFlashAttention",
}

# The same operations, and others, along the axis of the examples.
MIXING = {
    "sum": lambda x: x + x.sum(0),
    "kept sum": lambda x: x + x.sum(0, keepdim=True),
    "added along another axis": lambda x: x[..., :4] + x[:, 0, 0],
    "joined behind each other": lambda x: torch.cat([x, x])[:, 0, 0].clone().view(4, 2),
    "a batch of one": lambda x: torch.bmm(torch.rand(1, 4, 4), x.view(1, 4, 15)),
    "total": lambda x: x / x.sum(),
    "mean of all": lambda x: x - x.mean(),
    "maximum of all": lambda x: x - x.max(),
    "softmax": lambda x: x.softmax(0),
    "softmax from the end": lambda x: x.softmax(-3),
    "maximum": lambda x: x - x.max(0).values,
    "norm": lambda x: x / torch.linalg.vector_norm(x),
    "deviation": lambda x: x / x.std(),
    "rows in another order": lambda x: x.flip(0),
    "moved": lambda x: x.roll(1, 0),
    "moved as if flat": lambda x: x.roll(7),
    "cumulated": lambda x: x.cumsum(0),
    "chosen": lambda x: x[[1, 0, 3, 2]],
    "gathered": lambda x: x.gather(0, torch.tensor([1, 0, 3, 2])[:, None, None].expand(4, 3, 5)),
    "first of all": lambda x: x + x[:1],
    "shifted slices": lambda x: torch.cat([x[1:], x[:1]]),
    "halves": lambda x: torch.cat(x.split(2)[::-1]),
    "unbound": lambda x: torch.stack(x.unbind(0)[::-1]),
    "shifted by padding": lambda x: functional.pad(x, (0, 0, 0, 0, 1, -1)),
    "transposed": lambda x: x.view(4, 15).T.reshape(4, 15),
    "permuted": lambda x: x.permute(1, 0, 2).reshape(4, 3, 5),
    "inner products": lambda x: x.view(4, 15) @ x.view(4, 15).T,
    "batch normalization": lambda x: functional.batch_norm(x, None, None, training=True),
    "normalized over all": lambda x: functional.layer_norm(x, (4, 3, 5)),
    "attention": lambda x: functional.scaled_dot_product_attention(*[x.view(1, 4, 15)] * 3),
    "attention of two axes": lambda x: functional.scaled_dot_product_attention(*[x.view(4, 15)] * 3),
    "written over": lambda x: x.clone().index_copy(0, torch.tensor([0]), x[1:2]),
    "repeated": lambda x: x.repeat(2, 1, 1)[2:6],
    "interpolated": lambda x: (
        functional.interpolate(x.view(1, 4, 15), size=15, mode="linear") + x.sum(0).sum()
    ),
    "a number of each example for a column": lambda x: functional.linear(
        x[:, 0], torch.rand(4, 5), x[:, 0, 0]
    ),
    "weights from examples": lambda x: torch.rand(4, 4) @ x.view(4, 15),
    "filters from examples": lambda x: functional.conv1d(torch.rand(4, 3, 5), x),
    "mean loss": lambda x: functional.mse_loss(x, torch.zeros(4, 3, 5)) + torch.zeros(4),
}


def losses_of(values):
    """One loss for each example, by operations that keep examples apart."""
    return values.reshape(EXAMPLES, -1).sum(1)


@pytest.mark.parametrize(("kind", "shape", "function"), KEEPING, ids=[kind for kind, *_ in KEEPING])
def test_what_keeps_examples_apart_is_known(kind, shape, function):
    output, call = layer_output(*shape)
    losses = losses_of(function(output).double())
    assert not is_mixed(output, losses)
    assert are_kept_apart([call], losses)
    names, waiting = set(), [losses.grad_fn]
    while waiting:
        node = waiting.pop()
        names.add(separate_examples._KIND.sub("", node.name()))
        waiting += [child for child, _ in node.next_functions if child is not None]
    assert kind in names


def test_every_operation_that_is_known_is_tested():
    assert {kind for kind, *_ in KEEPING} | OF_ACCELERATORS == set(separate_examples._KNOWN)


@pytest.mark.parametrize("function", MIXING.values(), ids=MIXING)
def test_nothing_is_proven_of_what_mixes_examples(function):
    output, call = layer_output(*TEXTS)
    losses = losses_of(function(output))
    assert is_mixed(output, losses)
    assert not are_kept_apart([call], losses)


def test_a_first_axis_of_another_kind_is_not_taken_for_examples():
    """Of a square, two axes cannot be told apart by their length."""
    output, call = layer_output(EXAMPLES)
    for losses in (output.select(0, 1), output.T.sum(1), output.sum(0), output.max(0).values):
        assert is_mixed(output, losses)
        assert not are_kept_apart([call], losses)


def test_layers_behind_layers_are_reached_by_what_they_were_given():
    first, one = layer_output(5)
    given = first.flip(0)
    output = (given * 2).view_as(given)
    second = noted_call(WatchedLayer("second", LAYER.module, LAYER.rule, {}), (given,), {}, [output])
    assert not are_kept_apart([one, second], output.sum(1))
    straight = (first * 2).view_as(first)
    second = noted_call(WatchedLayer("second", LAYER.module, LAYER.rule, {}), (first,), {}, [straight])
    assert are_kept_apart([one, second], straight.sum(1))


class Posing(torch.autograd.Function):
    """Mixes examples, and has an attribute as a leaf of a graph has."""

    @staticmethod
    def forward(ctx, x):
        ctx.variable = x
        return x.flip(0)

    @staticmethod
    def backward(ctx, slopes):
        return slopes.flip(0)


class Mish(torch.autograd.Function):
    """Mixes examples, under the name of an operation that does not."""

    @staticmethod
    def forward(ctx, x):
        return x - x.mean(0)

    @staticmethod
    def backward(ctx, slopes):
        return slopes - slopes.mean(0)


class MishBackward0(Mish):
    """Under that of its node."""


@pytest.mark.parametrize("function", [Mish, MishBackward0])
def test_nothing_is_proven_of_a_function_with_the_name_of_an_operation(function):
    output, call = layer_output(5)
    assert not are_kept_apart([call], function.apply(output).sum(1))


def test_nothing_is_proven_of_an_operation_that_poses_as_a_leaf():
    output, call = layer_output(5)
    assert not are_kept_apart([call], Posing.apply(output).sum(1))


def test_nothing_is_proven_of_a_module_without_a_rule():
    output, _ = layer_output(5)
    call = noted_call(WatchedLayer("whole", nn.Linear(1, 1), None, {}), (torch.zeros(4, 1),), {}, [output])
    assert not are_kept_apart([call], output.sum(1))


STEPS = [function for kind, shape, function in KEEPING if shape == TEXTS] + [*MIXING.values()]


@given(st.lists(st.sampled_from(STEPS), min_size=1, max_size=5))
@settings(max_examples=examples(150), deadline=None)
def test_no_graph_that_mixes_is_taken_for_one_that_does_not(steps):
    output, call = layer_output(*TEXTS)
    values = output
    for step in steps:
        try:
            made = step(values)
        except (RuntimeError, IndexError, ValueError, UserWarning):  # of another shape
            continue
        values = made if made.requires_grad and made.numel() % EXAMPLES == 0 and made.numel() else values
    if values.dim() and values.requires_grad:
        losses = losses_of(values)
        if are_kept_apart([call], losses):
            assert not is_mixed(output, losses)


@pytest.mark.parametrize(
    "kind", ["Add", "Bmm", "Cat", "ConstantPadNd", "Cumsum", "Flip", "Gather", "Permute", "Roll", "Softmax"]
)
def test_a_rule_that_does_not_look_is_seen(kind, monkeypatch):
    """The control: with a rule that forgets axes, something that mixes is taken for what does not."""
    monkeypatch.setitem(separate_examples._KNOWN, kind, separate_examples._as_it_is_stored)
    missed = []
    for name, function in MIXING.items():
        output, call = layer_output(*TEXTS)
        if are_kept_apart([call], losses_of(function(output))):
            missed.append(name)
    assert missed


@pytest.fixture
def little_room(monkeypatch):
    """As on an accelerator."""
    monkeypatch.setattr(book_module, "_has_room", lambda losses: False)


def test_a_loop_over_known_operations_takes_one_backward_pass_where_there_is_little_room(
    monkeypatch, little_room
):
    monkeypatch.setattr(MixingTrials, "try_out", pytest.fail)
    model = nn.Sequential(nn.Conv1d(1, 2, 2), nn.ReLU(), nn.Flatten(), nn.Linear(4, 1))
    optimizer, model = small_run(model, data=linear_data(16), batch=16, physical=16, steps=6)
    for rows, targets in optimizer.batches():
        optimizer.step((model(rows[:, None])[:, 0] - targets) ** 2)
    assert optimizer._book.is_tried


def trained_until_refused(made, steps=20):
    """Take steps whose losses mix examples from the seventh on, and return the last."""
    optimizer, model = small_run(data=linear_data(16), batch=16, physical=16, steps=steps)

    def train():
        for rows, targets in optimizer.batches():
            found = made((model(rows)[:, 0] - targets) ** 2)
            optimizer.step(found - found.mean() if optimizer.taken > 6 else found)

    with pytest.raises(ParameterError, match="mixes examples"):
        train()
    return optimizer.taken


def test_a_loop_that_begins_to_mix_is_refused_at_once_if_its_graph_was_known():
    assert trained_until_refused(torch.tanh) == 7
    assert trained_until_refused(torch.sinh) == 8  # when it is tried out again


def test_it_is_so_where_there_is_little_room(little_room):
    assert trained_until_refused(torch.tanh) == 7


def read(book, model, made, weights):
    book.begin_step()
    book.open()
    book.read(made(model(torch.rand(EXAMPLES, 3))).sum(1), weights=torch.tensor(weights))


def test_a_graph_that_is_known_no_more_is_tried_out_when_a_batch_can_tell(monkeypatch, little_room):
    model, found, tried = nn.Linear(3, 2), [], MixingTrials.try_out
    monkeypatch.setattr(MixingTrials, "try_out", lambda *given: found.append(0) or tried(*given))
    book = Book(model, list(model.parameters()))
    for _ in range(9):
        read(book, model, torch.tanh, [1.0, 1.0, 1.0, 0.0])
    read(book, model, torch.sinh, [1.0, 0.0, 0.0, 0.0])
    assert not found
    for _ in range(5):
        read(book, model, torch.sinh, [1.0, 1.0, 0.0, 0.0])
    assert len(found) == 2  # both halves of a pair
    book.close()


def test_a_proof_and_trials_make_a_pair_together(little_room):
    model = nn.Linear(3, 2)
    book = Book(model, list(model.parameters()))
    for made in (torch.tanh, torch.sinh, torch.sinh, torch.tanh):
        assert not book.is_tried
        read(book, model, made, [1.0] * EXAMPLES)
    assert book.is_tried
    book.close()


def test_what_hooks_do_to_gradients_is_tried_out_where_there_is_room():
    """A graph does not show it."""
    optimizer, model = small_run(data=linear_data(16), batch=16, physical=16)
    batches = optimizer.batches()
    rows, targets = next(batches)
    scores = model(rows)
    scores.register_hook(lambda slopes: slopes - slopes.mean(0))
    with pytest.raises(ParameterError, match="mixes examples"):
        optimizer.step((scores[:, 0] - targets) ** 2)
