"""Sums of integers: exact in any company, no longer than they may be, and near the gradients."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.accelerator import integer_rows, integer_sum
from discreet.learning.deep.accelerator.device_noise import DeviceNoise
from discreet.learning.deep.accelerator.device_plan import DevicePlan
from discreet.learning.deep.accelerator.integer_sum import IntegerSum
from discreet.learning.deep.clipping import (
    AdaptiveClipping,
    AutomaticClipping,
    FlatClipping,
    PerLayerClipping,
)
from discreet.learning.deep.uses import LookupUse, OuterUse, RowsUse
from discreet.noise import is_private, replay
from effort import examples
from learning.deep.gradient_oracle import booked, oracle

# NumPy, which interprets the kernels where there is no accelerator, tells of what is not a number.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
KINDS = [FlatClipping(0.7), PerLayerClipping(0.7), AutomaticClipping(), AdaptiveClipping(0.7)]


def sum_for(parameters, clipping=KINDS[0], groups=None, epsilon=1):
    plan = DevicePlan(
        batch=20,
        population=1000,
        steps=50,
        epsilon=epsilon,
        delta=1e-5,
        size=sum(parameter.numel() for parameter in parameters),
        clipping=clipping,
    )
    groups = groups or [list(range(len(parameters)))]
    return IntegerSum(parameters, groups, plan, DeviceNoise(DEVICE))


def kept_of(total, *uses):
    """What is kept of one use of every parameter."""
    return [[one] for one in total.keep(dict(enumerate(uses))).values()]


def longest(clipping=KINDS[0], size=12):
    """The bound of clipping in the integers of the sums here."""
    return sum_for([torch.zeros(size)], clipping)._integers


def summed(parameters, uses, weights, clipping=KINDS[0], groups=None):
    """The integers of one batch, and which examples count."""
    total = sum_for(parameters, clipping, groups)
    counted = total.add(uses, torch.tensor(weights, dtype=torch.float64, device=DEVICE), clipping.bound)
    total.settle()
    return [int(value) for value in total._total], counted


def leave_out_noise(total, monkeypatch):
    """Draw zeros for noise."""

    def add_to(steps, scale):
        steps.copy_((steps.float() * scale + 0.5 * scale).view(torch.int32))

    monkeypatch.setattr(
        total._noise, "draw", lambda count: torch.zeros(count, dtype=torch.int32, device=DEVICE)
    )
    monkeypatch.setattr(total._noise, "add_to", add_to)


def square(integers):
    return sum(value * value for value in integers)


class Model(nn.Module):
    """A table, positions, a layer that is used twice, and a norm."""

    def __init__(self):
        super().__init__()
        self.table, self.twice = nn.Embedding(6, 5), nn.Linear(5, 5)
        self.norm, self.last = nn.LayerNorm(5), nn.Linear(5, 3)

    def forward(self, index):
        return self.last(self.norm(self.twice(torch.tanh(self.twice(self.table(index))))))


def model_and_inputs(kind, seed):
    torch.manual_seed(seed)
    if kind == "table":
        return Model().to(DEVICE), torch.randint(0, 6, (4, 3)).to(DEVICE)
    if kind == "positions":
        model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 9))
        return model.to(DEVICE), torch.randn(4, 20, 4).to(DEVICE)
    model = nn.Sequential(nn.Conv1d(2, 3, 2), nn.Flatten(), nn.Linear(12, 3))
    return model.to(DEVICE), torch.randn(4, 2, 5).to(DEVICE)


@pytest.mark.parametrize("kind", ["table", "positions", "convolution"])
@pytest.mark.parametrize("clipping", KINDS, ids=lambda one: type(one).__name__)
def test_a_batch_is_the_sum_of_its_examples_and_each_is_short_enough(kind, clipping):
    """The whole theorem: what one person adds is the same in any company, to the last bit."""
    model, inputs = model_and_inputs(kind, 3)
    uses, parameters = booked(model, inputs), list(model.parameters())
    groups = [[place] for place in range(len(parameters))] if clipping.per_layer else None
    weights = [1.0, 0.25, 1.0, 0.5]
    together, counted = summed(parameters, uses, weights, clipping, groups)
    assert counted.all()
    alone = []
    for place, weight in enumerate(weights):
        only = [weight * float(other == place) for other in range(4)]
        alone.append(summed(parameters, uses, only, clipping, groups)[0])
    assert together == [sum(values) for values in zip(*alone, strict=True)]
    size = sum(parameter.numel() for parameter in parameters)
    for weight, found in zip(weights, alone, strict=True):
        assert square(found[:size]) <= (Fraction(weight) * longest(clipping, size) + 1) ** 2


@given(
    exponents=st.tuples(st.integers(-130, 110), st.integers(-130, 110)),
    positions=st.sampled_from([1, 2, 7]),
    cancels=st.booleans(),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=examples(60), deadline=None)
def test_no_example_is_longer_than_its_weight(exponents, positions, cancels, seed):
    """Huge and tiny numbers, single entries, positions that cancel: integers are never too long."""
    generator = torch.Generator().manual_seed(seed)
    left = torch.randn(2, positions, 3, generator=generator, dtype=torch.float64)
    right = torch.randn(2, positions, 4, generator=generator, dtype=torch.float64)
    if cancels and positions > 1:
        left[:, 1], right[:, 1] = -left[:, 0], right[:, 0] * (1 + 1e-3)
    right[1, :, 1:] = 0
    left, right = left * 2.0 ** exponents[0], right * 2.0 ** exponents[1]
    use = OuterUse(left.float().to(DEVICE), right.float().to(DEVICE))
    for weights in ([1.0, 0.0], [0.0, 1.0], [0.01, 0.0]):
        found, _ = summed([torch.zeros(3, 4, device=DEVICE)], [[use]], weights)
        assert square(found) <= (max(weights) * longest() + 1) ** 2


def use_of(kind, generator, exponent):
    """A use of a matrix of 3 by 4, of two examples."""
    if kind == "table":
        index = torch.randint(0, 3, (2, 5), generator=generator)
        slopes = torch.randn(2, 5, 4, generator=generator) * 2.0**exponent
        return LookupUse(index.to(DEVICE), slopes.to(DEVICE), 3)
    if kind == "rows":
        return RowsUse((torch.randn(2, 12, generator=generator) * 2.0**exponent).to(DEVICE))
    left = torch.randn(2, int(kind), 3, generator=generator) * 2.0**exponent
    return OuterUse(left.to(DEVICE), torch.randn(2, int(kind), 4, generator=generator).to(DEVICE))


def turned_around(use, near):
    """The same use with the other sign, and a little off."""
    if isinstance(use, LookupUse):
        return LookupUse(use.index, -use.slopes * (1 + near), use.rows)
    if isinstance(use, RowsUse):
        return RowsUse(-use.rows * (1 + near))
    return OuterUse(-use.left * (1 + near), use.right)


KINDS_OF_USES = ["1", "2", "5", "table", "rows"]


@given(
    kinds=st.lists(st.sampled_from(KINDS_OF_USES), min_size=1, max_size=3),
    exponent=st.sampled_from([0, 8, 30, 60, 100]),
    near=st.sampled_from([0, 1e-6, 1e-3, 0.03]),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=examples(60), deadline=None)
def test_uses_that_cancel_make_no_example_longer_than_its_weight(kinds, exponent, near, seed):
    generator = torch.Generator().manual_seed(seed)
    uses = [use_of(kind, generator, exponent) for kind in kinds]
    uses += [turned_around(uses[0], near)]
    weights, alone = [1.0, 0.3], []
    for place in range(2):
        only = [weight * (other == place) for other, weight in enumerate(weights)]
        alone.append(summed([torch.zeros(3, 4, device=DEVICE)], [uses], only)[0])
        assert square(alone[-1]) <= (Fraction(weights[place]) * longest() + 1) ** 2
    together, _ = summed([torch.zeros(3, 4, device=DEVICE)], [uses], weights)
    assert together == [sum(values) for values in zip(*alone, strict=True)]


@pytest.mark.parametrize("kind", ["table", "5"])
def test_without_a_limit_uses_that_cancel_would_be_too_long(kind, monkeypatch):
    """Planted: a product of each use is rounded as if the norm of all bounded it."""
    monkeypatch.setattr(integer_sum, "joined_forms", lambda forms: forms)
    monkeypatch.setattr(integer_rows._PositionsForm, "most_beside_others", lambda form: None)
    first = OuterUse(torch.ones(1, 2, 3, device=DEVICE), torch.ones(1, 2, 4, device=DEVICE))
    index = torch.arange(3, device=DEVICE).repeat(2)[None]
    table = LookupUse(index, torch.full((1, 6, 4), -1.01, device=DEVICE), 3)
    other = table if kind == "table" else turned_around(first, 0.01)
    found, _ = summed([torch.zeros(3, 4, device=DEVICE)], [[first, other]], [1.0])
    assert square(found) > (2 * longest()) ** 2


def test_uses_over_positions_are_one_sum_which_may_cancel():
    """A layer of which the difference of two calls is taken has nearly the length of its bound."""
    first = OuterUse(torch.randn(1, 3, 16, device=DEVICE), torch.randn(1, 3, 16, device=DEVICE))
    uses = [[first, turned_around(first, 0.1)]]
    found, _ = summed([torch.zeros(16, 16, device=DEVICE)], uses, [1.0])
    assert square(found) > (0.9 * longest(size=256)) ** 2
    many = OuterUse(torch.ones(1, 2**12, 3, device=DEVICE), torch.ones(1, 2**12, 4, device=DEVICE))
    forms = [integer_rows.integer_form(many) for _ in range(3)]
    assert len(integer_rows.joined_forms(forms[:2])) == 1
    assert integer_rows.joined_forms(forms) == forms, "more positions than are proven"


def test_without_room_for_rounding_an_example_would_be_too_long(monkeypatch):
    monkeypatch.setattr(integer_sum, "_roundings", lambda found: ([], 0.0))
    # Rounded up in every coordinate: the bound over the root of their number has such a fraction.
    size = next(
        size for size in range(250_000, 251_000) if longest(FlatClipping(1.0), size) / size**0.5 % 1 > 0.6
    )
    use = RowsUse(torch.full((1, size), 100.0, device=DEVICE))
    found, _ = summed([torch.zeros(size, device=DEVICE)], [[use]], [1.0], FlatClipping(1.0))
    assert square(found) > longest(FlatClipping(1.0), size) ** 2


def test_an_input_that_is_not_part_of_the_norm_would_be_too_long(monkeypatch):
    """Planted: norms of the inputs as they came, not as they are kept."""
    honest = integer_rows.round_inputs
    monkeypatch.setattr(
        integer_rows,
        "round_inputs",
        lambda values: (*honest(values)[:2], honest(values)[2] // 4),
    )
    use = OuterUse(torch.ones(1, 1, 3, device=DEVICE), torch.ones(1, 1, 4, device=DEVICE))
    found, _ = summed([torch.zeros(3, 4, device=DEVICE)], [[use]], [1.0])
    assert square(found) > (2 * 0.9 * longest()) ** 2


@pytest.mark.parametrize("kind", ["table", "positions", "convolution"])
def test_the_sum_is_near_that_of_clipped_gradients_written_out(kind):
    model, inputs = model_and_inputs(kind, 5)
    found, _ = summed(list(model.parameters()), booked(model, inputs), [1.0] * 4)
    each = torch.cat(oracle(model, inputs), dim=1)
    expected = (each / each.norm(dim=1, keepdim=True).clamp(min=0.7)).sum(0)
    got = torch.tensor(found, dtype=torch.float64) / longest(size=len(found))
    assert (got - expected.cpu()).norm() < 0.02 * expected.norm()


@pytest.mark.parametrize("odd", [torch.nan, torch.inf, 2.0**127])
@pytest.mark.parametrize("side", ["left", "right"])
def test_an_example_that_is_not_finite_counts_as_zero(odd, side):
    sides = {"left": torch.ones(3, 2, 3, device=DEVICE), "right": torch.ones(3, 2, 4, device=DEVICE)}
    sides[side][1, 0, 0] = odd
    uses, parameters = [[OuterUse(**sides)]], [torch.zeros(3, 4, device=DEVICE)]
    found, counted = summed(parameters, uses, [1.0, 1.0, 1.0])
    without, _ = summed(parameters, uses, [1.0, 0.0, 1.0])
    assert found == without
    assert counted.tolist() == [True, False, True]


def test_padding_counts_for_nothing_whatever_it_holds():
    rows = torch.ones(2, 5, device=DEVICE)
    rows[1] = torch.nan
    index = torch.zeros(2, 1, dtype=torch.int64, device=DEVICE)
    uses = [[RowsUse(rows)], [LookupUse(index, rows[:, None, :], 3)]]
    parameters = [torch.zeros(5, device=DEVICE), torch.zeros(3, 5, device=DEVICE)]
    found, counted = summed(parameters, uses, [1.0, 0.0])
    assert counted.all()
    assert square(found) > 0


def test_a_release_is_the_sum_with_noise_and_marked_when_replayed():
    parameter = torch.zeros(6, device=DEVICE)
    total = sum_for([parameter])
    total.add([[RowsUse(torch.full((1, 6), 5.0, device=DEVICE))]], torch.ones(1, device=DEVICE).double(), 0.7)
    with replay(1):
        (found,), bound, private = total.release(0.7)
        again = total.release(0.7)[0][0]
    assert found.shape == (6,)
    assert bound == 0.7
    assert not private
    assert total._waiting is None  # nothing that is private stays behind
    assert not torch.equal(found, again)
    assert total.release(0.7)[2] is True
    assert is_private(0)
    deviation = float(total._plan.noise_multiplier) * 0.7 / 20
    assert (found - 0.7 / 6**0.5 / 20).abs().max() < 8 * deviation


def test_an_adaptive_bound_moves_by_a_noisy_count():
    total = sum_for([torch.zeros(2, device=DEVICE)], AdaptiveClipping(0.7))
    weights = torch.ones(2, device=DEVICE).double()
    total.add([[RowsUse(torch.full((2, 2), 1e-3, device=DEVICE))]], weights, 0.7)
    plan = total._plan
    assert int(total._waiting.count) == 2 * plan.count_weight << plan.shift
    assert total.release(0.7)[1] != 0.7


def test_a_count_has_noise_of_its_own_after_that_of_all_parameters():
    """Parameters that fill the room of their noise to the last number leave some for the count."""
    total = sum_for([torch.zeros(32, device=DEVICE)], AdaptiveClipping(0.7))
    total.add([[RowsUse(torch.ones(2, 32, device=DEVICE))]], torch.ones(2, device=DEVICE).double(), 0.7)
    drawn, honest = [], total._noise.draw
    total._noise.draw = lambda count: drawn.append(honest(count)) or drawn[0]
    _, count = total._release_batch(total._waiting, 1.0)
    assert count.data_ptr() == drawn[0].data_ptr() + 4 * 32
    assert len(drawn[0]) > 32


def test_uses_of_a_parameter_round_to_the_same_side_and_parameters_at_right_angles():
    ones = torch.ones(2, 2, 4, device=DEVICE)
    form = integer_rows.integer_form(OuterUse(ones, ones))
    single = integer_rows.integer_form(OuterUse(ones[:, :1], ones[:, :1]))
    some = [integer_sum._Parameters([place], [form] * uses) for place, uses in ((0, 3), (1, 1))]
    mixed = integer_sum._Parameters([2], [form, single])
    roundings, rounding = integer_sum._roundings([*some, mixed])
    assert rounding == pytest.approx((3 * form.rounding() + 3 * 2**6) ** 2 + form.rounding() ** 2)
    assert [one.tolist() for one in roundings] == [(single.rounding() + form.rounding() + 2 * 2**6).tolist()]


def test_a_sum_is_cleared():
    total = sum_for([torch.zeros(2, device=DEVICE)])
    for _ in range(2):
        total.add([[RowsUse(torch.ones(1, 2, device=DEVICE))]], torch.ones(1, device=DEVICE).double(), 0.7)
    assert total._total.any()
    assert total.cleared()._waiting is None
    assert not total._total.any()
    assert [value.shape for value in total.zeros()] == [(2,)]


@pytest.mark.parametrize("kind", ["table", "positions", "convolution"])
@pytest.mark.parametrize("clipping", KINDS, ids=lambda one: type(one).__name__)
def test_one_batch_is_released_as_a_total_of_batches_is(kind, clipping, monkeypatch):
    """Without noise: once rounded parameter by parameter, once as a total, to which nothing was added."""
    model, inputs = model_and_inputs(kind, 7)
    parameters, uses = list(model.parameters()), booked(model, inputs)
    groups = [[place] for place in range(len(parameters))] if clipping.per_layer else None
    total = sum_for(parameters, clipping, groups)

    leave_out_noise(total, monkeypatch)
    weights = torch.tensor([1.0, 0.25, 1.0, 0.5], dtype=torch.float64, device=DEVICE)
    total.add(uses, weights, clipping.bound)
    alone, bound, _ = total.release(clipping.bound)
    total.add(uses, weights, clipping.bound)
    total.add(uses, torch.zeros_like(weights), clipping.bound)
    together, same_bound, _ = total.release(clipping.bound)
    assert bound == same_bound
    for one, other, parameter in zip(alone, together, parameters, strict=True):
        assert one.shape == parameter.shape
        assert torch.equal(one, other)
    total.add(uses, weights, clipping.bound)
    total.add(uses, weights, clipping.bound)
    twice, *_ = total.release(clipping.bound)
    step = clipping.bound * 2**total._shift / (total._integers * 20)
    for one, other in zip(alone, twice, strict=True):  # each has the half of the law added once
        assert (2 * one - other - step / 2).abs().max() <= 1.01 * step + 2.0**-22 * other.abs().max()
        assert other.any()


def test_large_matrices_in_grid_steps_are_released_as_a_total_is(monkeypatch):
    """Two of them, which are written in grid steps of 32 bits where a step is one batch."""
    parameters = [torch.zeros(256, 256, device=DEVICE), torch.zeros(300, 240, device=DEVICE)]
    total, weights = sum_for(parameters), torch.tensor([1.0, 0.5], dtype=torch.float64, device=DEVICE)
    generator, seen = torch.Generator().manual_seed(2), []
    uses = [
        [OuterUse(*(torch.randn(2, 1, size, generator=generator).to(DEVICE) for size in parameter.shape))]
        for parameter in parameters
    ]

    honest = integer_rows.write_product
    monkeypatch.setattr(integer_rows, "write_product", lambda *given: seen.append(1) or honest(*given))
    leave_out_noise(total, monkeypatch)
    total.add(uses, weights, 0.7)
    alone, *_ = total.release(0.7)
    total.add(uses, weights, 0.7)
    total.add(uses, torch.zeros_like(weights), 0.7)
    together, *_ = total.release(0.7)
    assert seen == [1, 1]
    assert all(one.any() and torch.equal(one, other) for one, other in zip(alone, together, strict=True))


def table_use(examples, *, rows=1024, columns=64, positions=3):
    generator = torch.Generator().manual_seed(4)
    index = torch.randint(0, 5, (examples, positions), generator=generator)
    slopes = torch.randn(examples, positions, columns, generator=generator)
    return LookupUse(index.to(DEVICE), slopes.to(DEVICE), rows)


def test_large_tables_in_grid_steps_are_released_as_a_total_is(monkeypatch):
    """Few rows of it are read: others are noise alone."""
    parameters = [torch.zeros(1024, 64, device=DEVICE), torch.zeros(3, device=DEVICE)]
    total, weights = sum_for(parameters), torch.tensor([1.0, 0.5], dtype=torch.float64, device=DEVICE)
    uses = [[table_use(2)], [RowsUse(torch.ones(2, 3, device=DEVICE))]]
    seen, honest = [], integer_rows._LookupForm.write_steps
    monkeypatch.setattr(
        integer_rows._LookupForm, "write_steps", lambda *given: seen.append(1) or honest(*given)
    )
    leave_out_noise(total, monkeypatch)
    total.add(uses, weights, 0.7)
    alone, *_ = total.release(0.7)
    total.add(uses, weights, 0.7)
    total.add(uses, torch.zeros_like(weights), 0.7)
    together, *_ = total.release(0.7)
    assert seen == [1]
    assert all(torch.equal(one, other) for one, other in zip(alone, together, strict=True))
    assert len(set(alone[0].flatten().tolist())) > 64


def test_a_table_has_no_short_sum_where_32_bits_might_not_hold_it(monkeypatch):
    """As many examples as could add up to 2^29 grid steps, and one more."""
    total = sum_for([torch.zeros(1024, 64, device=DEVICE)])
    most = 2 ** (total._shift - 1)
    for many, is_short in ((most, True), (most + 1, False)):
        form = integer_rows.integer_form(table_use(many, positions=1), total._shift)
        assert form.has_short_sum is is_short
    long = table_use(1, positions=2**13)
    assert not integer_rows.integer_form(long, total._shift + 8).has_short_sum
    assert not integer_rows.integer_form(table_use(1, rows=5), total._shift).has_short_sum


@pytest.mark.parametrize(
    ("positions", "rows", "columns", "problem"),
    [
        (2**13 + 1, 1, 1, "too many positions"),
        (1, 1, 2**17 + 1, "too many inputs"),
    ],
)
def test_sizes_beyond_the_proof_are_refused(positions, rows, columns, problem):
    use = OuterUse(torch.zeros(1, positions, 1).expand(-1, -1, rows), torch.zeros(1, positions, 1))
    use._amend(right=use.right.expand(-1, -1, columns))
    with pytest.raises(ParameterError, match=problem):
        summed([torch.zeros(1, 1)], [[use]], [1.0])
    with pytest.raises(ParameterError, match=problem):
        kept_of(sum_for([torch.zeros(1, 1)]), use)


@pytest.mark.slow
def test_wide_layers_have_the_length_that_they_have():
    """A sum of 32 bits would wrap from 133,153 inputs on, and an example be nine times too long."""
    use = OuterUse(torch.full((1, 1, 2), 3.0, device=DEVICE), torch.full((1, 1, 2**17), 1.99, device=DEVICE))
    found, counted = summed([torch.zeros(2, 2**17, device=DEVICE)], [[use]], [1.0])
    assert counted.all()
    assert (0.9 * longest(size=2**18)) ** 2 < square(found) <= longest(size=2**18) ** 2


def test_an_overflow_below_zero_is_not_a_short_gradient(monkeypatch):
    """Planted: inner products that overflow with the sign of two positions that cancel."""
    monkeypatch.setattr(
        integer_rows,
        "squares_from_above",
        lambda slopes, *_: torch.full((len(slopes), 1), -torch.inf, device=DEVICE).double(),
    )
    use = OuterUse(torch.ones(2, 3, 4, device=DEVICE), torch.ones(2, 3, 4, device=DEVICE))
    found, counted = summed([torch.zeros(4, 4, device=DEVICE)], [[use]], [1.0, 1.0])
    assert not counted.any()
    assert square(found) == 0


@pytest.mark.parametrize(("positions", "power"), [(2, 63.9), (8, 63.5), (130, 62.0)])
@pytest.mark.parametrize("cancels", [False, True])
def test_a_product_that_overflows_is_not_added(positions, power, cancels):
    """Each inner product of positions is a float, and their norm a double, but the product is neither."""
    left = torch.full((1, positions, 1), 2.0**power, device=DEVICE)
    right = left.clone()
    if cancels:
        right[:, positions // 2 :] *= -1
    found, _ = summed([torch.zeros(1, 1, device=DEVICE)], [[OuterUse(left, right)]], [1.0])
    assert square(found) <= longest(size=1) ** 2


@pytest.fixture
def worst_products(monkeypatch):
    """Make products of floats as far off as assumption C allows: inner products too small, others too large.

    Inner products are those of tiles of positions, which are square.
    """
    if torch.cuda.is_available():
        pytest.skip("products of an accelerator are what they are")
    from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

    def dot(_, left, right, start, *__):
        exact = left.data.astype("float64") @ right.data.astype("float64")
        size = abs(left.data).astype("float64") @ abs(right.data).astype("float64")
        is_gram = exact.shape[0] == exact.shape[1] <= 64
        off = -size if is_gram else size * ((exact > 0) * 2.0 - 1)
        return TensorHandle((start.data + exact + 2.0**-16 * off).astype("float32"), start.dtype.scalar)

    monkeypatch.setattr(InterpreterBuilder, "create_dot", dot)


@pytest.mark.parametrize("positions", [2, 64, 127, 128, 129, 1000])
@pytest.mark.parametrize("uses", [1, 3])
def test_the_worst_products_of_floats_are_not_too_long(worst_products, positions, uses):
    """All positions alike: norms are as small, and products as large, as they may be."""
    ones = torch.ones(1, positions, 1, device=DEVICE)
    found, _ = summed([torch.zeros(1, 1, device=DEVICE)], [[OuterUse(ones, ones)] * uses], [1.0])
    assert (0.999 * longest(size=1)) ** 2 < square(found) <= longest(size=1) ** 2


@pytest.mark.parametrize("clip", [1e-3, 1e-6])
def test_positions_that_cancel_do_so_however_far_apart_their_sizes_are(clip):
    """A factor that is too large for a float would lose one of them, and leave the other unclipped."""
    left, right = torch.ones(1, 2, 64), torch.ones(1, 2, 64)
    right[0, 0], right[0, 1] = 0.99 * 2.0**99, 0.99 * 2.0**40
    left[0, 0], left[0, 1] = 2.0**-59, -1.0
    use = OuterUse(left.to(DEVICE), right.to(DEVICE))
    found, _ = summed([torch.zeros(64, 64, device=DEVICE)], [[use]], [1.0], FlatClipping(clip))
    assert square(found) <= longest(FlatClipping(clip), 4096) ** 2


def test_a_sum_that_was_interrupted_leaves_nothing_for_the_next_step(monkeypatch):
    """Planted: no memory is left in the middle of a sum."""
    parameters = [torch.zeros(3, 4, device=DEVICE), torch.zeros(2, 4, device=DEVICE)]
    total, weights = sum_for(parameters), torch.ones(1, device=DEVICE).double()
    uses = [
        [OuterUse(torch.ones(1, 1, rows, device=DEVICE), torch.ones(1, 1, 4, device=DEVICE))]
        for rows in (3, 2)
    ]
    honest, calls = integer_rows.add_product, []

    def fail_then(*given):
        calls.append(1)
        if len(calls) == 2:
            raise MemoryError
        honest(*given)

    monkeypatch.setattr(integer_rows, "add_product", fail_then)
    total.add(uses, weights, 0.7)
    with pytest.raises(MemoryError):
        total.settle()
    total.cleared()
    total.add(uses, torch.zeros_like(weights), 0.7)
    total.settle()
    assert not total._total.any()


def test_parameters_without_numbers_are_left_alone():
    parameters = [
        torch.zeros(0, device=DEVICE),
        torch.zeros(0, 4, device=DEVICE),
        torch.zeros(2, device=DEVICE),
    ]
    total = sum_for(parameters)
    rows, outer = (
        RowsUse(torch.ones(1, 0, device=DEVICE)),
        OuterUse(torch.ones(1, 1, 0, device=DEVICE), torch.ones(1, 1, 4, device=DEVICE)),
    )
    uses = kept_of(total, rows, outer, RowsUse(torch.ones(1, 2, device=DEVICE)))
    total.add(uses, torch.ones(1, device=DEVICE).double(), 0.7)
    found, *_ = total.release(0.7)
    assert [one.shape for one in found] == [parameter.shape for parameter in parameters]


def test_what_is_kept_is_not_what_others_may_write_to():
    """Between the norm and the sum of a batch the next is run, by some models in the same memory."""

    def numbers():
        left, right = (torch.ones(2, 3, size, device=DEVICE).bfloat16() for size in (8, 16))
        return left, right, table_use(2), torch.ones(2, 1, 5, device=DEVICE)

    def begin(left, right, table, slopes):
        total = sum_for([torch.zeros(8, 16), torch.zeros(1024, 64), torch.zeros(5)], groups=[[0, 1], [2]])
        total._device = DEVICE
        uses = [OuterUse(left, right), table, RowsUse(slopes[:, 0])]
        total.add(kept_of(total, *uses), torch.ones(2, device=DEVICE).double(), 0.7)
        return total

    left, right, table, slopes = numbers()
    total, expected = begin(left, right, table, slopes), begin(*numbers())
    for values in (left, right, table.slopes, table.index, slopes):
        values.mul_(2)
    total.settle()
    expected.settle()
    assert torch.equal(total._total, expected._total)


@pytest.mark.parametrize("calls", [1, 2])
def test_rows_that_a_graph_has_made_may_be_written_over_by_its_next_batch(calls):
    rows = [torch.ones(2, 5, device=DEVICE) for _ in range(calls)]
    found = []
    for is_written in (False, True):
        total = sum_for([torch.zeros(5)])
        total._device = DEVICE
        uses = [[kept_of(total, RowsUse(value))[0][0] for value in rows]]
        total.add(uses, torch.ones(2, device=DEVICE).double(), 0.7)
        for value in rows if is_written else []:
            value.mul_(100)
        total.settle()
        found.append(total._total.clone())
    assert torch.equal(*found)


def test_texts_without_words_add_nothing(monkeypatch):
    parameters = [torch.zeros(1024, 64, device=DEVICE), torch.zeros(300, 240, device=DEVICE)]
    total, weights = sum_for(parameters), torch.ones(2, device=DEVICE).double()
    outer = OuterUse(torch.zeros(2, 0, 300, device=DEVICE), torch.zeros(2, 0, 240, device=DEVICE))
    uses = kept_of(total, table_use(2, positions=0), outer)
    assert total.add(uses, weights, 0.7).all()
    leave_out_noise(total, monkeypatch)
    found, *_ = total.release(0.7)
    assert [one.shape for one in found] == [parameter.shape for parameter in parameters]
    assert len(torch.cat([one.flatten() for one in found]).unique()) == 1  # the half of the noise's law


def test_many_examples_that_agree_are_not_cut_off():
    """A thousand gradients of one number, all the same, are far beyond 32 bits of grid steps."""
    total = sum_for([torch.zeros(1, 1, device=DEVICE)])
    ones = torch.ones(1024, 1, 1, device=DEVICE)
    total.add(kept_of(total, OuterUse(ones, ones)), torch.ones(1024, device=DEVICE).double(), 0.7)
    (found,), *_ = total.release(0.7)
    assert float(found) == pytest.approx(0.7 * 1024 / 20, rel=0.05)
