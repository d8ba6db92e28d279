"""Compiled batches give the gradients that others give, with fresh randomness, or are refused."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional

from discreet.errors import ParameterError
from discreet.learning.deep.accelerator.example_products import in_short_floats
from discreet.learning.deep.clipping import AdaptiveClipping
from discreet.learning.deep.private_epochs import private_epochs
from discreet.learning.deep.uses import RowsUse
from discreet.learning.deep.watching.book import Book
from discreet.learning.deep.watching.traced_batch import TracedBatch
from discreet.noise import replay
from learning.deep.training_runs import linear_data, losses_of, small_run
from learning.deep.watching.test_book import Residual, SmallGPT, Tied, Twice
from learning.deep.watching.test_compiled_regions import Attending

pytestmark = [  # of what the compiler does inside
    pytest.mark.filterwarnings("ignore:The .grad attribute"),
    pytest.mark.filterwarnings("ignore:`torch.jit"),
]

AHEAD = partial(torch.compile, backend="aot_eager", fullgraph=True)
KERNELS = partial(torch.compile, fullgraph=True)


def as_it_is(graph):
    """Compile nothing."""
    return graph


@pytest.fixture(autouse=True)
def nothing_compiled():
    """Forget what other tests have compiled."""
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def squares(model, rows):
    """One loss for each example, of outputs of any shape."""
    return (model(rows).flatten(1) - 0.5).square().sum(1)


def read_and_traced(model, rows, compiler, losses=squares):
    """A book that has read a batch, its uses, and the same batch traced."""
    book = Book(model, [value for value in model.parameters() if value.requires_grad])
    book.open()
    torch.manual_seed(3)
    uses = book.read(losses(model, rows))
    return uses, TracedBatch(model, book, partial(losses, model), [rows], compiler)


def written(uses):
    """The gradients of each example, written out."""
    return torch.cat([sum(use.each() for use in found) for found in uses], 1)


MODELS = [
    (Twice, torch.linspace(-1, 1, 24).reshape(6, 4)),
    (Residual, torch.linspace(-1, 1, 6 * 36).reshape(6, 1, 6, 6)),
    (Attending, torch.linspace(-1, 1, 18).reshape(6, 3)),
    (Tied, torch.arange(30).reshape(6, 5) % 7),
    (SmallGPT, torch.arange(30).reshape(6, 5) % 7),
]


@pytest.mark.parametrize(("make", "rows"), MODELS[:3])
def test_a_graph_gives_the_gradients_that_the_book_reads(make, rows):
    torch.manual_seed(1)
    uses, traced = read_and_traced(make(), rows, as_it_is)
    again = traced.uses([rows])
    torch.testing.assert_close(written(again), written(uses), rtol=0, atol=1e-6)
    assert [[type(one) for one in found] for found in again] == [
        [type(one) for one in found] for found in uses
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("make", "rows"), MODELS)
@pytest.mark.parametrize("compiler", [AHEAD, KERNELS])
def test_a_compiled_graph_gives_the_gradients_that_the_book_reads(make, rows, compiler):
    torch.manual_seed(1)
    uses, traced = read_and_traced(make(), rows, compiler)
    torch.testing.assert_close(written(traced.uses([rows])), written(uses), rtol=0, atol=1e-4)


def test_a_graph_reads_the_weights_and_buffers_of_now():
    class Shifted(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 2)
            self.register_buffer("shift", torch.zeros(3))

        def forward(self, x):
            return self.layer(x + self.shift)

    model, rows = Shifted(), torch.randn(4, 3)
    _, traced = read_and_traced(model, rows, as_it_is)
    with torch.no_grad():
        model.layer.weight += 1
        model.shift = torch.ones(3)
    book = traced._book
    book.open()
    torch.testing.assert_close(written(traced.uses([rows])), written(book.read(squares(model, rows))))


def test_a_model_that_gets_another_buffer_is_refused():
    model, rows = nn.Linear(3, 2), torch.randn(4, 3)
    _, traced = read_and_traced(model, rows, as_it_is)
    model.register_buffer("later", torch.zeros(2))
    with pytest.raises(ParameterError, match="other parameters or buffers"):
        traced.uses([rows])


class Dropping(nn.Module):
    """Masks of the first layer's outputs reach the second layer."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 64), nn.Linear(64, 1)

    def forward(self, x):
        return self.second(functional.dropout(self.first(x).square() + 1, 0.5))


def masks_of(traced, rows):
    """What dropout let pass."""
    return traced.uses([rows])[2][0].right != 0


def check_masks(compiler):
    rows = torch.randn(6, 2)
    _, traced = read_and_traced(Dropping(), rows, compiler)
    torch.manual_seed(4)
    first, second = masks_of(traced, rows), masks_of(traced, rows)
    flat = torch.cat([first, second]).flatten(1).float()
    assert 0.35 < flat.mean() < 0.65
    assert len(torch.unique(flat, dim=0)) == 12
    torch.manual_seed(4)
    assert torch.equal(masks_of(traced, rows), first)
    torch.manual_seed(5)
    assert not torch.equal(masks_of(traced, rows), first)


def test_masks_are_drawn_anew_for_every_batch_from_pytorchs_generator():
    """Each place has another mask, each batch too, and the state of the generator decides about all."""
    check_masks(as_it_is)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", [AHEAD, KERNELS])
def test_masks_of_compiled_batches_are_drawn_anew_for_every_batch(compiler):
    check_masks(compiler)


def test_masks_in_a_run_come_from_a_secret_state():
    """Two runs with the same known seed have other masks, and so other weights, if only masks are random."""
    found = []
    for seed in (1, 2):
        torch.manual_seed(0)
        model, seen = Dropping(), []
        optimizer, _ = small_run(model, data=(torch.ones(30, 2), torch.ones(30)), batch=30, physical=30)

        def keep(graph, seen=seen):
            def run(*given):
                returned = graph(*given)
                seen.append([value for value in returned if value.shape == (30, 64)])
                return returned

            return run

        torch.manual_seed(7)
        for _ in optimizer.run(
            lambda rows, targets, model=model: losses_of(model, (rows, targets)), compiler=keep
        ):
            torch.manual_seed(7)
        assert len(seen) == 2
        found += [[value != 0 for value in values] for values in seen]
        del seed
    patterns = {tuple(value.flatten().tolist()) for values in found for value in values}
    assert len(patterns) == 4


def trained(by, make=Attending, width=3, **options):
    """Weights after a few steps with the same samples and noise."""
    torch.manual_seed(8)
    model = make()
    data = (torch.randn(60, width), torch.randn(60))
    with replay(12):
        optimizer, _ = small_run(model, data=data, **({"epsilon": 8} | options))
        by(optimizer, lambda rows, targets: losses_of(model, (rows, targets)))
    return torch.cat([value.detach().flatten() for value in model.parameters()])


def loop(optimizer, losses):
    """A loop over batches."""
    for rows, targets in optimizer.batches():
        optimizer.step(losses(rows, targets))


def compiled_run(compiler):
    """A run with a compiler."""

    def by(optimizer, losses):
        assert list(optimizer.run(losses, compiler=compiler)) == [1, 2, 3]

    return by


@pytest.mark.parametrize("options", [{"physical": 64}, {"physical": 8}, {"clip": AdaptiveClipping(0.5)}])
def test_a_traced_run_is_the_loop_over_its_batches(options):
    found, expected = trained(compiled_run(as_it_is), **options), trained(loop, **options)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", [AHEAD, KERNELS])
def test_a_compiled_run_is_the_loop_over_its_batches(compiler):
    torch.testing.assert_close(trained(compiled_run(compiler)), trained(loop), rtol=0, atol=1e-5)


def test_a_traced_run_in_epochs_is_the_loop_over_its_batches():
    found = []
    for by_run in (False, True):
        torch.manual_seed(2)
        model, data = nn.Linear(3, 1), linear_data(40)
        with replay(3):
            optimizer = private_epochs(
                torch.optim.SGD(model.parameters(), lr=0.1),
                model,
                data,
                epsilon=4,
                delta=1e-5,
                epochs=2,
                steps=3,
            )

            def losses(rows, targets, model=model):
                return losses_of(model, (rows, targets))

            if by_run:
                list(optimizer.run(losses, compiler=as_it_is))
            else:
                loop(optimizer, losses)
        found.append(model.weight.detach())
    torch.testing.assert_close(*found, rtol=0, atol=1e-6)


def test_the_first_step_is_taken_without_a_compiler_and_no_other_batch_is():
    """All batches of a step are computed alike: else who was drawn would decide how an example is rounded."""
    optimizer, model = small_run(data=linear_data(40), batch=40, physical=8)
    called, graphs = [], []

    def losses(rows, targets):
        called.append(type(rows).__name__)
        return losses_of(model, (rows, targets))

    def compiler(graph):
        def run(*given):
            graphs.append(len(called))
            return graph(*given)

        return run

    assert list(optimizer.run(losses, compiler=compiler)) == [1, 2, 3]
    tried = 2 + 4  # times, with a forward pass more: for gradients, and in other company
    again = ["Tensor"] * 2  # for gradients after an update
    assert called == ["Tensor"] * (5 + tried) + ["FakeTensor"] + again
    assert graphs == [14] * 10


def test_losses_that_mix_examples_are_refused_before_anything_is_compiled():
    optimizer, model = small_run()
    with pytest.raises(ParameterError, match="mixes examples"):
        for _ in optimizer.run(
            lambda rows, targets: losses_of(model, (rows, targets)).cumsum(0), compiler=pytest.fail
        ):
            pass


def changed_later(change):
    """Run one step as usual, and the others with something else, which is traced."""
    optimizer, model = small_run(Attending(), data=(torch.randn(60, 3), torch.randn(60)), physical=64)
    steps = []

    def losses(rows, targets):
        found = losses_of(model, (rows, targets))
        return change(model, rows, found) if steps else found

    for step in optimizer.run(losses, compiler=as_it_is):
        steps.append(step)


def switched_later(model, name):
    """Run one step as usual, and the others with something switched on, which is traced."""
    optimizer, _ = small_run(model)
    for _ in optimizer.run(lambda rows, targets: losses_of(model, (rows, targets)), compiler=as_it_is):
        setattr(model, name, True)


def uses_a_value(model, rows, losses):
    return losses * 2 if losses.sum() > 0 else losses


def becomes_a_number(model, rows, losses):
    return losses * float(losses.sum())


def leaves_pytorch(model, rows, losses):
    return losses * torch.from_numpy(losses.detach().numpy())


@pytest.mark.parametrize("change", [uses_a_value, becomes_a_number, leaves_pytorch])
def test_losses_that_depend_on_values_are_refused(change):
    with pytest.raises(ParameterError, match="cannot be traced"):
        changed_later(change)


def test_losses_that_call_other_layers_than_those_tried_are_refused():
    with pytest.raises(ParameterError, match="other layers"):
        changed_later(lambda model, rows, losses: losses + model.last(torch.ones(len(rows), 4))[:, 0])


def test_losses_that_change_the_model_are_refused():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.is_counting = nn.Linear(3, 1), False
            self.register_buffer("mean", torch.zeros(3))

        def forward(self, x):
            if self.is_counting:
                self.mean += x.mean(0)
            return self.layer(x)

    with pytest.raises(ParameterError, match="changes a buffer or parameter"):
        switched_later(model := Counting(), "is_counting")
    assert torch.equal(model.mean, torch.zeros(3))


def test_losses_that_write_over_an_input_are_refused():
    class Overwriting(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.is_writing = nn.Linear(3, 1), False

        def forward(self, x):
            values = x * 2
            found = self.layer(values)
            if self.is_writing:
                values += 1
            return found

    with pytest.raises(ParameterError, match="writes over the input"):
        switched_later(Overwriting(), "is_writing")


def test_batches_that_are_not_tensors_are_refused():
    class Named(torch.utils.data.Dataset):
        def __len__(self):
            return 30

        def __getitem__(self, place):
            return torch.ones(3), "name"

    optimizer, model = small_run(data=Named(), blank=(torch.zeros(3), "name"))
    with pytest.raises(ParameterError, match="batches of tensors"):
        for _ in optimizer.run(lambda rows, names: model(rows)[:, 0], compiler=as_it_is):
            pass


def test_batches_in_mappings_and_parts_that_are_compiled_already_are_traced():
    class Named(torch.utils.data.Dataset):
        def __len__(self):
            return 30

        def __getitem__(self, place):
            return {"rows": torch.full((3,), place / 30), "target": torch.tensor(1.0)}

    found = []
    for compiler in (None, as_it_is):
        torch.manual_seed(1)
        blank = {"rows": torch.zeros(3), "target": torch.tensor(0.0)}
        with replay(5):
            optimizer, model = small_run(nn.Linear(3, 1), data=Named(), blank=blank)
            run = torch.compile(model, backend="eager")
            scale = torch.tensor(0.5)  # of nobody's module

            def losses(batch, run=run, scale=scale):
                return scale * (run(batch["rows"])[:, 0] - batch["target"]) ** 2

            assert list(optimizer.run(losses, compiler=compiler)) == [1, 2, 3]
        found.append(model.weight.detach())
    torch.testing.assert_close(*found, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("is_around", "is_inside"), [(False, True), (True, True), (True, False)])
def test_shorter_floats_by_autocast_are_chosen_as_without_a_compiler(is_around, is_inside):
    """Around all, or inside of the losses, where it may also be off."""
    model, rows = Three(), torch.randn(8, 3)

    def losses(model, rows):
        with torch.autocast("cpu", torch.bfloat16, enabled=is_inside):
            return squares(model, rows)

    with torch.autocast("cpu", torch.bfloat16, enabled=is_around):
        uses, traced = read_and_traced(model, rows, as_it_is, losses)
        again = traced.uses([rows])
    kind = torch.bfloat16 if is_inside else torch.float32
    assert uses[2][0].left.dtype == again[2][0].left.dtype == kind
    assert torch.equal(written(uses), written(again))


def test_a_graph_leaves_uses_in_the_numbers_that_are_kept():
    """Made before the graph ends, so that no longer numbers leave it."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Embedding(7, 40), nn.LayerNorm(40), nn.Linear(40, 40))
    rows = torch.arange(30).reshape(6, 5) % 7
    book = Book(model, list(model.parameters()))
    book.open()
    uses, graphs = book.read(squares(model, rows)), []

    def noted(graph):
        graphs.append(graph)
        return graph

    traced = TracedBatch(model, book, partial(squares, model), [rows], noted, shortened=in_short_floats)
    again = traced.uses([rows])
    kinds = {type(use).__name__ for found in again for use in found}
    assert {"OuterUse", "LookupUse", "RowsUse"} <= kinds
    for found, expected in zip(again, uses, strict=True):
        for one, other in zip(found, expected, strict=True):
            assert torch.equal(one.each(), in_short_floats(other).each()) or isinstance(one, RowsUse)
    (graph,) = graphs
    left = graph(*traced._held().values(), rows)
    assert all(value.dtype != torch.float32 for value in left if value.dim() == 3 and value.shape[1] == 5)


def test_what_is_kept_is_made_call_by_call_and_let_go():
    torch.manual_seed(1)
    model, rows = Residual(), torch.linspace(-1, 1, 6 * 36).reshape(6, 1, 6, 6)
    uses, traced = read_and_traced(model, rows, as_it_is)
    names = []

    def keep(uses):
        names.append(sorted(uses))
        return {name: use.each() for name, use in uses.items()}

    again = traced.uses([rows], keep)
    assert len(names) == len(traced._left)
    torch.testing.assert_close(torch.cat([one for (one,) in again], 1), written(uses), rtol=0, atol=1e-6)


class Three(nn.Sequential):
    """Layers that autocast gives shorter floats."""

    def __init__(self):
        super().__init__(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))


@pytest.mark.slow
def test_other_examples_do_not_change_a_bit_of_a_compiled_gradient():
    """Assumption A of the proof, for kernels that the compiler writes: other neighbors, other places."""
    torch.manual_seed(6)
    for make, width in ((Three, (3,)), (Residual, (1, 8, 8))):
        rows = torch.randn(16, *width)
        _, traced = read_and_traced(make(), rows, KERNELS)
        expected = written(traced.uses([rows]))
        for place in (0, 7, 15):
            others = torch.randn(16, *width) * 10
            others[place] = rows[3]
            assert torch.equal(written(traced.uses([others]))[place], expected[3])
