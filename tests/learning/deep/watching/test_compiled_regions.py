"""Models that were compiled train as others do, or are refused; nothing passes the book unseen."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch._functorch import config
from torch.nn import functional

from discreet.errors import ParameterError
from discreet.learning.deep.watching.compiled_regions import first_of_two_passes, uncompiled
from discreet.noise import replay
from learning.deep.training_runs import losses_of, small_run, train

pytestmark = [  # of what the compiler does inside
    pytest.mark.filterwarnings("ignore:The .grad attribute"),
    pytest.mark.filterwarnings("ignore:`torch.jit"),
]


@pytest.fixture(autouse=True)
def nothing_compiled():
    """Forget what other tests have compiled."""
    torch.compiler.reset()
    yield
    torch.compiler.reset()


class Gain(nn.Module):
    """A module without a rule, which has parameters of its own."""

    def __init__(self):
        super().__init__()
        self.gain, self.inside = nn.Parameter(torch.linspace(0.5, 1.5, 3)), nn.Linear(3, 4)

    def forward(self, x):
        return self.inside(x * self.gain)


class Attending(nn.Module):
    """Layers with and without rules, one called twice, and much between them that a backward pass reads."""

    def __init__(self):
        super().__init__()
        self.first, self.twice, self.norm = Gain(), nn.Linear(4, 4), nn.LayerNorm(4)
        self.last = nn.Linear(4, 1)

    def forward(self, x):
        values = self.first(x)  # from one layer straight to the next
        for _ in range(2):
            values = self.twice(values)
            values = values * torch.softmax(torch.tanh(values * values), 1).exp()
        return self.last(self.norm(values))


class Small(nn.Module):
    """One layer, called twice."""

    def __init__(self):
        super().__init__()
        self.twice = nn.Linear(3, 3)

    def forward(self, x):
        return self.twice(torch.tanh(self.twice(x)))


def in_place(model, backend):
    """As `nn.Module.compile` does."""
    model.compile(backend=backend)
    return model, model


def outside(model, backend):
    """The optimizer knows the model, and the loop its compiled form."""
    return model, torch.compile(model, backend=backend)


def given(model, backend):
    """The optimizer knows the compiled form alone."""
    compiled = torch.compile(model, backend=backend)
    return compiled, compiled


def part(model, backend):
    """One layer is compiled in place of itself, and its parent has the compiled form."""
    model.twice = torch.compile(model.twice, backend=backend)
    return model, model


def every_module(model, backend):
    """All parts are compiled in place."""
    for module in model.modules():
        module.compile(backend=backend)
    return model, model


def weights_after(compiled, backend, before=None, make=Attending):
    """Weights after a few steps with the same samples and noise."""
    torch.manual_seed(5)
    model = make()
    with replay(11):
        known, run = compiled(model, backend)
        optimizer, _ = small_run(known, data=(torch.randn(60, 3), torch.randn(60)), epsilon=8)
        if before is not None:
            before(run)
        train(optimizer, run)
    optimizer.close()
    return torch.cat([value.detach().flatten() for value in model.parameters()])


def plainly(model, backend):
    """Nothing is compiled."""
    return model, model


def check_same(found, atol, make=Attending):
    torch.testing.assert_close(found, weights_after(plainly, None, make=make), rtol=0, atol=atol)


@pytest.mark.parametrize("compiled", [in_place, outside, given, part])
def test_a_compiled_model_trains_as_it_is(compiled):
    check_same(weights_after(compiled, "eager", make=Small), 0, make=Small)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [in_place, outside, given, part, every_module])
@pytest.mark.parametrize(("backend", "atol"), [("aot_eager", 1e-6), ("inductor", 1e-5)])
def test_a_model_in_compiled_parts_trains_as_it_is(compiled, backend, atol):
    """Also where compilers write their own kernels, of which one pass writes over what another left."""
    check_same(weights_after(compiled, backend), atol)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_evaluation_with_gradients_before_the_first_batch_leaves_nothing_stale(backend):
    def evaluate(model):
        model(torch.randn(8, 3)).sum().backward()

    check_same(weights_after(outside, backend, before=evaluate), 1e-5)


@pytest.mark.slow
def test_compiled_losses_train_as_they_are():
    torch.manual_seed(5)
    model, data = Attending(), (torch.randn(60, 3), torch.randn(60))
    with replay(11):
        optimizer, _ = small_run(model, data=data, epsilon=8)
        losses = torch.compile(lambda batch: losses_of(model, batch), backend="inductor")
        for batch in optimizer.batches():
            optimizer.step(losses(batch))
    check_same(torch.cat([value.detach().flatten() for value in model.parameters()]), 1e-5)


def compiled_and_called(model):
    """Compile a model, and call it with gradients before it is made private: no hook is in what was found."""
    compiled = torch.compile(model, backend="eager")
    compiled(torch.randn(8, 3))
    return compiled


def test_a_model_that_was_compiled_before_it_was_watched_is_refused():
    model = nn.Linear(3, 1)
    compiled = compiled_and_called(model)
    optimizer, _ = small_run(model)
    with pytest.raises(ParameterError, match=r"do not come from the model.*torch\.compiler\.reset"):
        train(optimizer, compiled)
    torch.compiler.reset()
    optimizer.close()
    again, _ = small_run(model)
    train(again, compiled)
    assert again.taken == 3


def test_a_part_that_was_compiled_before_it_was_watched_is_refused():
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
    model[0] = compiled_and_called(model[0])
    optimizer, _ = small_run(model)
    with pytest.raises(ParameterError, match=r"outside of the module.*torch\.compiler\.reset"):
        train(optimizer, model)


@pytest.mark.parametrize("watched_too", [False, True])
def test_losses_that_pass_the_book_are_refused_in_later_batches_too(watched_too):
    """Even if the model was called besides, so that all layers have been recorded."""
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
    compiled = compiled_and_called(model)
    optimizer, _ = small_run(model)
    batches = optimizer.batches()
    optimizer.step(losses_of(model, next(batches)))
    batch = next(batches)
    if watched_too:
        model(batch[0])
    with pytest.raises(
        ParameterError, match=r"(do not come from|outside of) the mod.*torch\.compiler\.reset"
    ):
        optimizer.step(losses_of(compiled, batch))


def test_a_layer_that_passes_the_book_in_a_later_batch_is_refused():
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
    compiled = compiled_and_called(model[0])
    optimizer, _ = small_run(model)
    batches = optimizer.batches()
    optimizer.step(losses_of(model, next(batches)))
    rows, targets = next(batches)
    with pytest.raises(ParameterError, match="outside of the module"):
        optimizer.step((model[1](compiled(rows))[:, 0] - targets) ** 2)


def test_a_call_beside_the_losses_does_not_hide_a_parameter():
    model = nn.Linear(3, 1)
    optimizer, _ = small_run(nn.Sequential(model, nn.Linear(1, 1)))
    rows, targets = next(batches := optimizer.batches())
    model(rows)
    with pytest.raises(ParameterError, match="outside of the module"):
        optimizer.step(
            (optimizer._model[1](functional.linear(rows, model.weight, model.bias))[:, 0] - targets) ** 2
        )
    del batches


class After(nn.Module):
    """Uses a weight after the module that owns it, or before."""

    def __init__(self, *, is_after):
        super().__init__()
        self.layer, self.is_after = nn.Linear(3, 1), is_after

    def forward(self, x):
        if self.is_after:
            return self.layer(x) + functional.linear(x, self.layer.weight)
        return functional.linear(x, self.layer.weight) + self.layer(x)


class Overwriting(nn.Module):
    """Writes over what a layer was given."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        values = x * 2
        found = torch.tanh(self.layer(values))
        values += 1
        return found + values[:, :1]


class Counting(nn.Module):
    """Keeps something of the examples in a buffer."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        with torch.no_grad():
            self.mean += x.mean(0)
        return self.layer(x)


class Centered(nn.Module):
    """Takes the mean of a batch away."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        values = self.layer(x)
        return values - values.mean(0)


REFUSED = [
    (lambda: After(is_after=True), "outside of the module"),
    (lambda: After(is_after=False), "outside of the module"),
    (Overwriting, "writes over the input"),
    (Counting, "buffer"),
    (Centered, "mixes examples"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_what_is_refused_is_refused_of_a_compiled_model_too(make, message):
    with pytest.raises(ParameterError, match=message):
        weights_after(outside, "aot_eager", make=make)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [in_place, given, every_module])
@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_what_is_refused_is_refused_of_a_model_with_other_kernels(compiled, make, message):
    with pytest.raises(ParameterError, match=message):
        weights_after(compiled, "inductor", make=make)


def test_a_model_in_one_graph_is_refused_with_the_mend():
    optimizer, model = small_run()
    with pytest.raises(RuntimeError, match="without fullgraph=True"):
        train(optimizer, torch.compile(model, backend="eager", fullgraph=True))


def test_a_compiler_calls_what_is_hidden_and_does_not_read_it():
    seen = []

    @uncompiled
    def note(value):
        seen.append((type(value), value._version))

    def twice(value):
        value = value * 2
        value += 1
        note(value)
        return value

    compiled = torch.compile(twice, backend="aot_eager")
    compiled(torch.ones(2))
    compiled(torch.ones(2))
    assert [kind for kind, _ in seen] == [torch.Tensor] * 2


def test_what_was_compiled_to_be_run_backward_once_is_refused_with_the_mend():
    weight, rows = torch.randn(3, 3, requires_grad=True), torch.randn(2, 3)
    compiled = torch.compile(lambda x: torch.relu(x @ weight) @ weight, backend="aot_eager")
    compiled(rows).sum().backward()
    with pytest.raises(ParameterError, match=r"donated_buffer = False, then torch\.compiler\.reset"):
        first_of_two_passes(compiled(rows).sum(), [weight])
    with config.patch(donated_buffer=False):
        torch.compiler.reset()
        compiled(rows).sum().backward()
        found = compiled(rows).sum()
        assert torch.equal(*first_of_two_passes(found, [weight]), *torch.autograd.grad(found, [weight]))


def test_other_faults_of_a_backward_pass_are_shown_as_they_are():
    with pytest.raises(RuntimeError, match="does not require grad"):
        first_of_two_passes(torch.zeros(()), [torch.zeros(1)])
