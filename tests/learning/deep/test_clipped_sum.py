"""The sum that gets noise: no person moves it further than is charged, and the noise is what is charged."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep import released_parts
from discreet.learning.deep.clipped_sum import ClippedSum, _norms
from discreet.learning.deep.clipping import (
    AdaptiveClipping,
    AutomaticClipping,
    FlatClipping,
    PerLayerClipping,
)
from discreet.learning.deep.float_uses import FloatRowsUse
from discreet.learning.deep.plan import GRID_STEPS, TrainingPlan
from discreet.learning.deep.processor_plan import ProcessorPlan
from discreet.learning.deep.uses import LookupUse, OuterUse, RowsUse
from discreet.noise import current, replay
from discreet.noise.layered_gaussian import LayeredDraws
from discreet.noise.one_word_draws import one_word_parts
from effort import examples
from learning.deep.gradient_oracle import booked, oracle
from significance import FALSE_ALARM

KINDS = [FlatClipping(0.7), PerLayerClipping(0.7), AutomaticClipping(), AdaptiveClipping(0.7)]


def plan_for(size, clipping=KINDS[0], people=100):
    return TrainingPlan(
        batch=20, population=people, steps=5, epsilon=2, delta=1e-5, size=size, clipping=clipping
    )


def summed(parameters, uses, weights, clipping, groups=None):
    """A sum of clipped gradients with one batch in it."""
    size = sum(parameter.numel() for parameter in parameters)
    total = ClippedSum(parameters, groups or [list(range(len(parameters)))], plan_for(size, clipping))
    total.add(uses, torch.tensor(weights, dtype=torch.float64), clipping.bound)
    return total


@given(
    clipping=st.sampled_from(KINDS),
    scale=st.floats(-40, 40),
    seed=st.integers(0, 2**31),
    left_out=st.integers(0, 7),
)
@settings(max_examples=examples(160))
def test_no_person_moves_a_sum_further_than_is_charged(clipping, scale, seed, left_out):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
    inputs = torch.randn(8, 3, 4) * (2.0**scale) ** torch.rand(8, 1, 1)
    uses, parameters = booked(model, inputs), list(model.parameters())
    groups = [[0, 1], [2, 3]] if clipping.per_layer else None
    with_all = summed(parameters, uses, [1.0] * 8, clipping, groups).steps()
    weights = [float(place != left_out) for place in range(8)]
    without = summed(parameters, uses, weights, clipping, groups).steps()
    plan = plan_for(sum(value.numel() for value in parameters), clipping)
    moved = int(((with_all - without).astype(object) ** 2).sum())
    assert moved <= plan.squared_sensitivity
    if scale > 8 and not isinstance(clipping, PerLayerClipping | AutomaticClipping):
        assert moved > 0


def test_without_clipping_a_person_would_move_it_further():
    class Unclipped(FlatClipping):
        def factors(self, norms, groups, bound):
            return torch.ones_like(norms)

    uses = [[RowsUse(torch.full((3, 5), 10.0))]]
    parameters = [torch.zeros(5)]
    steps = [summed(parameters, uses, weights, Unclipped(0.7)).steps() for weights in ([1, 1, 1], [1, 0, 1])]
    assert int(((steps[0] - steps[1]) ** 2).sum()) > plan_for(5).squared_sensitivity


def test_the_sum_is_that_of_clipped_gradients_written_out():
    torch.manual_seed(5)
    model, inputs = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), torch.randn(6, 4)
    parameters, weights = list(model.parameters()), [1.0, 0.5, 0.0, 1.0, 1.0, 1.0]
    each = torch.cat(oracle(model, inputs), 1)
    lengths = each.norm(dim=1, keepdim=True)
    bound = float(lengths.median())  # so that some are shortened and some are not
    found = summed(parameters, booked(model, inputs), weights, FlatClipping(bound)).steps() / GRID_STEPS
    clipped = each * (bound / lengths).clamp(max=1) * torch.tensor(weights)[:, None]
    expected = clipped.sum(0) / bound
    assert np.abs(found - expected.numpy()).max() < 1e-5


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_an_example_that_is_not_finite_counts_as_zero_and_is_named(bad):
    rows = torch.ones(4, 6)
    rows[2, 1] = bad
    left, right = torch.ones(4, 2, 3), torch.ones(4, 2, 2)
    left[2, 0, 0] = bad
    slopes = torch.ones(4, 2, 3)
    slopes[2] = bad
    index = torch.zeros(4, 2, dtype=torch.long)
    parameters = [torch.zeros(6), torch.zeros(3, 2), torch.zeros(4, 3)]
    uses = [[RowsUse(rows)], [OuterUse(left, right)], [LookupUse(index, slopes, 4)]]
    total = ClippedSum(parameters, [[0, 1, 2]], plan_for(24))
    counted = total.add(uses, torch.ones(4, dtype=torch.float64), 0.7)
    assert counted.tolist() == [True, True, False, True]
    good = [[RowsUse(torch.ones(4, 6))], [OuterUse(torch.ones(4, 2, 3), right)]]
    good.append([LookupUse(index, torch.ones(4, 2, 3), 4)])
    assert (total.steps() == summed(parameters, good, [1, 1, 0, 1], FlatClipping(0.7)).steps()).all()


@pytest.mark.parametrize("held", [float("nan"), float("inf"), 1e30, 5.0, 0.0])
@pytest.mark.parametrize(
    ("size", "make"), [(3, RowsUse), (9, lambda rows: OuterUse(rows[:, None], rows[:, None]))]
)
def test_padding_counts_for_nothing_whatever_it_holds(held, size, make):
    """Wherever it is."""
    rows = torch.ones(5, 3)
    rows[1] = rows[4] = held
    total = summed([torch.zeros(size)], [[make(rows)]], [1, 0, 1, 1, 0], FlatClipping(0.7))
    only = summed([torch.zeros(size)], [[make(torch.ones(3, 3))]], [1, 1, 1], FlatClipping(0.7))
    assert (total.steps() == only.steps()).all()
    assert (total.steps() != 0).all()


def test_zero_gradients_and_no_examples_give_noise_alone():
    total = summed([torch.zeros(3)], [[RowsUse(torch.zeros(4, 3))]], [1, 1, 1, 1], FlatClipping(0.7))
    assert (total.steps() == 0).all()
    assert (summed([torch.zeros(3)], [[]], [0, 0], FlatClipping(0.7)).steps() == 0).all()


@given(st.integers(0, 2**31), st.booleans())
@settings(max_examples=examples(80))
def test_norms_are_never_below_the_exact_ones(seed, cancels):
    """Against fractions: Gram matrices may lose all digits where terms cancel."""
    generator = torch.Generator().manual_seed(seed)
    left, right = torch.randn(1, 4, 3, generator=generator), torch.randn(1, 4, 2, generator=generator)
    if cancels:
        left[0, 2:], right[0, 2:] = -left[0, :2], right[0, :2] * (1 + 2.0**-20)
    entries = [
        sum(Fraction(float(left[0, t, r])) * Fraction(float(right[0, t, c])) for t in range(4))
        for r in range(3)
        for c in range(2)
    ]
    exact = sum(entry**2 for entry in entries)
    bound = float(_norms([[OuterUse(left, right)]], torch.ones(1, dtype=torch.float64)))
    assert Fraction(bound) ** 2 >= exact
    if not cancels:
        assert bound <= sqrt(exact) * (1 + 1e-5)


@pytest.mark.parametrize("tiny", [2.0**-1040, 2.0**-540, 2.0**-210])
def test_doubles_that_underflow_in_a_norm_move_no_sum_further_than_is_charged(tiny):
    """The square of a tiny number is 0, its product with a huge one is not; clipping must not miss it."""
    huge, clipping = 2.0**511, FlatClipping(1e-12)
    left, right = (torch.full((1, 1, 2), size, dtype=torch.float64) for size in (tiny, huge))
    index = torch.zeros(1, 1, dtype=torch.long)
    plan = plan_for(4, clipping)
    for uses in (
        [OuterUse(left, right)],
        [OuterUse(right, left)],
        [OuterUse(left.expand(1, 3, 2), right.expand(1, 3, 2))],
        [LookupUse(index, left, 2)],
        [RowsUse(torch.full((1, 4), tiny, dtype=torch.float64))],
    ):
        moved = summed([torch.zeros(2, 2)], [uses], [1.0], clipping).steps().astype(object)
        assert (moved**2).sum() <= plan.squared_sensitivity


def test_doubles_in_range_are_kept_and_others_decide_about_themselves_alone():
    rows = torch.tensor([[2.0**-199, 2.0**199], [2.0**-201, 1.0], [2.0**201, 1.0]], dtype=torch.float64)
    bounds = _norms([[RowsUse(rows)]], torch.ones(3, dtype=torch.float64))
    assert Fraction(float(bounds[0])) ** 2 >= sum(Fraction(float(value)) ** 2 for value in rows[0])
    assert bounds.isfinite().tolist() == [True, True, False]
    assert RowsUse(rows).each()[1].tolist() == [0.0, 1.0]


def test_all_uses_of_a_parameter_are_added_at_once():
    """Beside a total of 2^33, each of three uses alone would be lost; together they round once."""
    uses = [RowsUse(torch.full((2, 1), 0.1)) for _ in range(3)]
    total = ClippedSum([torch.zeros(1)], [[0]], plan_for(1, FlatClipping(2.0**18)))
    total._totals[0][0], total._is_empty[0] = 2.0**33 * GRID_STEPS, False
    total.add([uses], torch.ones(2, dtype=torch.float64), 2.0**18)
    found, ulp = float(total._totals[0][0]) / GRID_STEPS, 2.0**-19
    assert abs(found - 2.0**33 - 0.6 * 2.0**-18) <= ulp / 2


@given(st.integers(0, 2**31))
@settings(max_examples=examples(80))
def test_sums_are_within_their_rounding_of_exact_ones(seed):
    """Against fractions: 2^-31 of the bound for each example, whatever the gradients' sizes."""
    generator = torch.Generator().manual_seed(seed)
    sizes = 2.0 ** torch.randint(-60, 60, (5, 1, 1), generator=generator)
    left, right = torch.randn(5, 3, 2, generator=generator) * sizes, torch.randn(5, 3, 2, generator=generator)
    use = OuterUse(left, right)
    factors = 1 / _norms([[use]], torch.ones(5, dtype=torch.float64))
    found = use.weighted_sum(factors, torch.empty(4, dtype=torch.float64))
    for place in range(4):
        row, column = divmod(place, 2)
        exact = sum(
            Fraction(float(factors[i]))
            * Fraction(float(left[i, t, row]))
            * Fraction(float(right[i, t, column]))
            for i in range(5)
            for t in range(3)
        )
        assert abs(Fraction(float(found[place])) - exact) <= 5 * Fraction(1, 2**31)


def test_the_noise_is_the_law_that_is_charged():
    """Replayed, the same words give the same integers as the sampler of the charged law."""
    plan = plan_for(6)
    with replay(7):
        (found,), bound, is_private = ClippedSum([torch.zeros(2, 3)], [[0]], plan).release(0.7)
    with replay(7):
        noise = LayeredDraws(Fraction(plan.variance), 6, current()).next(6)
    assert not is_private
    assert bound == 0.7
    assert (found.flatten().numpy() == (noise * (0.7 / (GRID_STEPS * 20))).astype(np.float32)).all()


class KnownNoise:
    """Stands for draws: integers that are written down before."""

    drawn = np.random.default_rng(8).integers(-(2**30), 2**30, 56_392)

    def __init__(self, variance, size, source):
        self._place = 0
        assert size == len(self.drawn)

    def next(self, count):
        self._place += count
        return self.drawn[self._place - count : self._place].copy()


@pytest.mark.parametrize("kind", [torch.float32, torch.float64], ids=str)
def test_what_is_released_is_the_sum_on_the_grid_and_its_noise(monkeypatch, kind):
    """Number for number, over several parameters, parts in the cache and batches; doubles stay doubles."""
    monkeypatch.setattr(released_parts, "LayeredDraws", KnownNoise)
    rows = [torch.randn(3, size, dtype=kind) for size in (40_000, 7, 16_384)]
    parameters = [torch.zeros(row.shape[1], dtype=kind) for row in rows]
    plan = plan_for(56_391, AdaptiveClipping(0.7))
    total = ClippedSum(parameters, [[0, 1, 2]], plan)
    for batches in (2, 1):  # the same place in memory serves every step
        total = total.cleared()
        for _ in range(batches):
            total.add([[RowsUse(row)] for row in rows], torch.ones(3, dtype=torch.float64), 0.7)
        each = torch.cat(rows, 1).double()
        norms = torch.stack([RowsUse(row).mass() for row in rows]).norm(dim=0)
        assert (norms / each.norm(dim=1) - 1).abs().max() <= 2.0**-16
        exact = (each * (1 / norms.clamp(min=0.7))[:, None]).sum(0).numpy() * GRID_STEPS
        steps = total.steps()
        assert np.abs(steps[:-1] - batches * exact).max() <= 0.6
        found, bound, is_private = total.release(0.7)
        assert is_private
        released = (steps + KnownNoise.drawn) * (0.7 / (GRID_STEPS * 20))
        assert [one.dtype for one in found] == [kind] * 3
        expected = released[:-1].astype(np.float32 if kind == torch.float32 else np.float64)
        assert np.array_equal(torch.cat(found).numpy(), expected)
        share = 0.5 + (steps + KnownNoise.drawn)[-1] / (2 * plan.count_weight * 20)
        assert bound == pytest.approx(plan.clipping.moved(0.7, share))
        left = torch.cat(total._totals).numpy()  # nothing that is private stays behind
        assert np.array_equal(left, (steps + KnownNoise.drawn)[:-1])


def test_errors_that_a_caller_asks_numpy_for_do_not_stop_a_release():
    total = ClippedSum([torch.zeros(9)], [[0]], plan_for(9, FlatClipping(1e-30)))
    total.add([[RowsUse(torch.full((2, 9), 1e-32))]], torch.ones(2, dtype=torch.float64), 1e-30)
    with np.errstate(all="raise"):
        (found,), _, _ = total.release(1e-30)
    assert found.isfinite().all()


def test_a_parameter_that_is_not_used_in_a_step_has_noise_alone():
    total = ClippedSum([torch.zeros(4), torch.zeros(3)], [[0, 1]], plan_for(7))
    ones = [[RowsUse(torch.ones(2, 4))], [RowsUse(torch.ones(2, 3))]]
    weights = torch.ones(2, dtype=torch.float64)
    total.add(ones, weights, 0.7)
    total = total.cleared()
    total.add([ones[0], []], weights, 0.7)
    assert (total.steps()[:4] > 0).all()
    assert (total.steps()[4:] == 0).all()
    assert (total.cleared().steps() == 0).all()


def test_each_parameter_has_its_part_of_a_sum_where_it_is():
    devices, sizes = ["cpu", "cpu", "meta", "cpu"], [4, 3, 5, 2]
    parameters = [torch.zeros(size, device=device) for size, device in zip(sizes, devices, strict=True)]
    total = ClippedSum(parameters, [[0, 1, 2, 3]], plan_for(14))
    assert [part.device.type for part in total._totals] == devices
    assert [len(part) for part in total._totals] == sizes
    assert [len(held) for held in total._sums] == [7, 5, 2]
    total._totals[1].fill_(1.0)
    assert total._sums[0].tolist() == [0.0] * 4 + [1.0] * 3


def processor_plan(size, clipping=KINDS[0], people=100, batch=20):
    return ProcessorPlan(
        batch=batch, population=people, steps=5, epsilon=2, delta=1e-5, size=size, clipping=clipping
    )


def summed_in_floats(parameters, uses, weights, clipping, groups=None):
    """A sum of clipped gradients with one batch in it, in floats where they are allowed."""
    size = sum(parameter.numel() for parameter in parameters)
    total = ClippedSum(parameters, groups or [list(range(len(parameters)))], processor_plan(size, clipping))
    kept = [list(total.keep(dict(enumerate(some))).values()) for some in uses]
    total.add(kept, torch.tensor(weights, dtype=torch.float64), clipping.bound)
    return total


@given(
    clipping=st.sampled_from(KINDS),
    scale=st.floats(-40, 40),
    seed=st.integers(0, 2**31),
    left_out=st.integers(0, 7),
)
@settings(max_examples=examples(160))
def test_no_person_moves_a_sum_in_floats_further_than_is_charged(clipping, scale, seed, left_out):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
    inputs = torch.randn(8, 4) * (2.0**scale) ** torch.rand(8, 1)
    uses, parameters = booked(model, inputs), list(model.parameters())
    groups = [[0, 1], [2, 3]] if clipping.per_layer else None
    whole = summed_in_floats(parameters, uses, [1.0] * 8, clipping, groups)
    assert all(whole._is_waiting)
    weights = [float(place != left_out) for place in range(8)]
    without = summed_in_floats(parameters, uses, weights, clipping, groups).steps()
    plan = processor_plan(sum(value.numel() for value in parameters), clipping)
    moved = int(((whole.steps() - without).astype(object) ** 2).sum())
    assert moved <= plan.squared_sensitivity
    if scale > 8 and not isinstance(clipping, PerLayerClipping | AutomaticClipping):
        assert moved > 0


def test_sums_in_floats_are_those_in_doubles_whatever_their_batches_are():
    """Several batches, several parts of a batch, and parameters of which only some are in floats."""
    torch.manual_seed(6)
    parameters = [torch.zeros(3, 4), torch.zeros(3), torch.zeros(5)]
    plan = processor_plan(20, people=1000, batch=500)
    assert plan.rows_in_floats == 64
    total = ClippedSum(parameters, [[0, 1, 2]], plan)
    for is_mixed in (False, True, False):
        total = total.cleared()
        expected = np.zeros(20)
        for _ in range(2):
            left, right = torch.randn(150, 1, 3), torch.randn(150, 1, 4)
            rows = torch.randn(150, 5, dtype=torch.float64 if is_mixed else torch.float32)
            uses = [OuterUse(left, right), RowsUse(left[:, 0]), RowsUse(rows)]
            kept = [[one] for one in total.keep(dict(enumerate(uses))).values()]
            total.add(kept, torch.ones(150, dtype=torch.float64), 0.7)
            each = torch.cat([use.each() for use in uses], 1)
            clipped = each / each.norm(dim=1, keepdim=True).clamp(min=0.7)
            expected += clipped.sum(0).numpy() * plan.bound_in_steps
        assert np.abs(total.steps() - expected).max() < plan.bound_in_steps * 1e-4
        assert np.abs(expected).max() > plan.bound_in_steps


def test_several_uses_of_a_parameter_are_added_up_in_doubles():
    """They may cancel: the norm of their sum bounds none of them, nor what floats round."""
    rows = 10 * torch.randn(9, 6)
    other = torch.randn(9, 6) - rows
    total = summed_in_floats(
        [torch.zeros(6)], [[RowsUse(rows), RowsUse(other)]], [1.0] * 9, FlatClipping(0.7)
    )
    assert not any(total._is_waiting)
    each = rows.double() + other.double()
    clipped = each / each.norm(dim=1, keepdim=True).clamp(min=0.7)
    expected = clipped.sum(0).numpy() * processor_plan(6, FlatClipping(0.7)).bound_in_steps
    assert np.abs(total.steps() - expected).max() < processor_plan(6).bound_in_steps * 1e-4


def test_uses_that_nearly_cancel_are_hardly_shortened_more_than_what_they_add_up_to():
    """Norms from above in floats say little of what is left of terms that are a hundred times as long."""
    left, right = torch.ones(4, 1, 3), torch.ones(4, 1, 2)
    uses = [OuterUse(sign * left, right) for sign in (100.0, -99.0)]
    total = summed_in_floats([torch.zeros(3, 2)], [uses], [1.0] * 4, FlatClipping(0.7))
    length = processor_plan(6, FlatClipping(0.7)).bound_in_steps
    assert total.steps()[:6] / length == pytest.approx([4 * 6**-0.5] * 6, rel=2e-3)


def test_no_more_examples_are_added_in_floats_than_are_charged(monkeypatch):
    honest, counts = FloatRowsUse.float_sum, []

    def counted(use, factors, out):
        counts.append((len(use.rows), len(factors)))
        honest(use, factors, out)

    monkeypatch.setattr(FloatRowsUse, "float_sum", counted)
    plan = processor_plan(5, people=1000, batch=500)
    assert plan.rows_in_floats == 64
    total = ClippedSum([torch.zeros(5)], [[0]], plan)
    for examples_of_batch in (150, 64):
        use = total.keep({"rows": RowsUse(torch.randn(examples_of_batch, 5))})["rows"]
        total.add([[use]], torch.ones(examples_of_batch, dtype=torch.float64), 0.7)
    assert counts == [(64, 64), (64, 64), (22, 22), (64, 64)]
    # One sum that goes on in floats would be in the last part; what was there before is in the total.
    assert total._is_waiting == [True]
    last = total._floats[0].clone()
    assert not torch.equal(total._filled_totals()[0], last.double())


def test_where_floats_are_shortened_sums_are_in_doubles():
    rows, weights = torch.randn(9, 6), [1.0] * 9
    torch.set_float32_matmul_precision("medium")
    try:
        total = summed_in_floats([torch.zeros(6)], [[RowsUse(rows)]], weights, KINDS[0])
    finally:
        torch.set_float32_matmul_precision("highest")
    assert not any(total._is_waiting)
    assert not any(total._is_empty)
    assert any(summed_in_floats([torch.zeros(6)], [[RowsUse(rows)]], weights, KINDS[0])._is_waiting)


def test_processes_beside_each_other_have_sums_in_doubles():
    """Together they may have more places than are charged for."""
    total = ClippedSum([torch.zeros(6)], [[0]], processor_plan(6), is_alone=False)
    use = total.keep({"rows": RowsUse(torch.randn(9, 6))})["rows"]
    total.add([[use]], torch.ones(9, dtype=torch.float64), 0.7)
    assert not any(total._is_waiting)
    assert total._values()[0].dtype == np.float64


@pytest.mark.parametrize("held", [float("nan"), float("inf"), 2.0**70, 5.0, 0.0])
def test_padding_and_what_is_not_finite_count_for_nothing_in_floats(held):
    rows = torch.ones(5, 3)
    rows[1] = held
    for use in (RowsUse(rows), OuterUse(rows[:, None], torch.ones(5, 1, 1))):
        weights = [1, 0, 1, 1, 1]
        total = summed_in_floats([torch.zeros(3)], [[use]], weights, FlatClipping(0.7))
        only = summed_in_floats([torch.zeros(3)], [[RowsUse(torch.ones(4, 3))]], [1] * 4, FlatClipping(0.7))
        assert np.abs(total.steps() - only.steps()).max() <= 1 + 1e-6 * np.abs(only.steps()).max()
        assert all(total._is_waiting)


def test_tiny_and_huge_sides_of_a_product_stay_in_range():
    """Their factors alone would be infinite as floats."""
    for sizes in ((2.0**-120, 2.0**60), (2.0**60, 2.0**-120), (2.0**-126, 2.0**-126)):
        left, right = (torch.full((3, 1, 2), size) for size in sizes)
        plan = processor_plan(4, FlatClipping(1e-30))
        found = summed_in_floats(
            [torch.zeros(2, 2)], [[OuterUse(left, right)]], [1, 1, 1], FlatClipping(1e-30)
        )
        moved = found._values()[0].astype(float)
        assert np.isfinite(moved).all()
        assert (moved**2).sum() <= 9 * plan.squared_sensitivity


@pytest.mark.parametrize("batches", [1, 2])
def test_no_sum_of_floats_stays_behind_a_release(batches):
    """Of several batches the last is in floats, and in the total that is released."""
    total = ClippedSum([torch.zeros(6)], [[0]], processor_plan(6))
    for _ in range(batches):
        (use,) = total.keep({"rows": RowsUse(torch.randn(9, 6))}).values()
        total.add([[use]], torch.ones(9, dtype=torch.float64), 0.7)
    before = total._floats[0].clone()
    total.release(0.7)
    assert not (total._floats[0] == before).any()


def test_a_release_in_floats_is_the_sum_on_the_grid_and_its_noise():
    """Number for number, in one thread and in two, with the count of an adaptive bound."""
    rows = [torch.randn(3, size) for size in (14_000, 7, 16_000)] * 5
    parameters, clipping = [torch.zeros(row.shape[1]) for row in rows], AdaptiveClipping(0.7)
    size, found = sum(row.shape[1] for row in rows), []
    plan, before = processor_plan(size, clipping), torch.get_num_threads()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        total = summed_in_floats(parameters, [[RowsUse(row)] for row in rows], [1.0] * 3, clipping)
        steps = total.steps()
        with replay(7):
            means, bound, is_private = total.release(0.7)
        with replay(7):
            parts = one_word_parts(plan.drawn, current())
        ends = [start for start, _ in parts[1:]] + [plan.size]
        pieces = [
            draws.next(min(2**15, end - place))
            for (start, draws), end in zip(parts, ends, strict=True)
            for place in range(start, end, 2**15)
        ]
        noise = np.concatenate([*pieces, parts[-1][1].next(1)]).astype(np.int64)
        noisy, scale = (steps + noise).astype(np.float32), 0.7 / (plan.bound_in_steps * 20)
        assert np.array_equal(torch.cat(means).numpy(), noisy[:-1] * np.float32(scale))
        assert not is_private
        share = 0.5 + float(steps[-1] + noise[-1]) / (2 * plan.count_weight * 20)
        assert bound == pytest.approx(clipping.moved(0.7, share))
        found.append(bound)
    torch.set_num_threads(before)
    assert found[0] == found[1]


@pytest.mark.statistical
def test_noise_has_the_stated_deviation():
    plan = plan_for(20_000)
    (found,), _, is_private = ClippedSum([torch.zeros(20_000)], [[0]], plan).release(0.7)
    stated = plan.noise_multiplier * 0.7 / 20
    statistic = float((found / stated).square().sum())
    assert is_private
    assert FALSE_ALARM / 2 < stats.chi2(20_000).cdf(statistic) < 1 - FALSE_ALARM / 2
    assert stats.chi2(20_000).cdf(statistic / 1.1**2) < FALSE_ALARM  # ten percent more would be noticed


def test_an_adaptive_bound_moves_toward_its_quantile():
    clipping = AdaptiveClipping(1.0, quantile=0.5, noise=0.01)
    for length, rises in ((1e-3, False), (1e3, True)):
        plan = TrainingPlan(
            batch=5000, population=5000, steps=1, epsilon=8, delta=1e-5, size=2, clipping=clipping
        )
        total = ClippedSum([torch.zeros(2)], [[0]], plan)
        total.add([[RowsUse(torch.full((5000, 2), length))]], torch.ones(5000, dtype=torch.float64), 1.0)
        _, bound, _ = total.release(1.0)
        assert (bound > 1.0) is rises


def test_positions_of_all_uses_of_a_parameter_count_together():
    """The squared norm of a sum of uses has the square of all their positions as terms."""
    one = torch.ones(1).double()
    outer = [OuterUse(torch.zeros(1, 2048, 1), torch.zeros(1, 2048, 1)) for _ in range(3)]
    table = LookupUse(torch.zeros(1, 2047, dtype=torch.int64), torch.zeros(1, 2047, 1), 1)
    row = RowsUse(torch.zeros(1, 1))
    _norms([[*outer, table, row]], one)
    _norms([[*outer, table], [*outer, row]], one)
    with pytest.raises(ParameterError, match="all calls together"):
        _norms([[*outer, table, row, row]], one)


def test_sizes_beyond_the_proof_are_refused():
    with pytest.raises(ParameterError, match="positions"):
        _norms([[OuterUse(torch.zeros(1, 8193, 1), torch.zeros(1, 8193, 1))]], torch.ones(1).double())
    with pytest.raises(ParameterError, match="2\\^28"):
        ClippedSum([torch.zeros(1).expand(2**28 + 1)], [[0]], plan_for(3))
