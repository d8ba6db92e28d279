"""Convolutions on an accelerator: the same gradients as by patches, added up as integers."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep import layers
from discreet.learning.deep.accelerator.convolution_uses import (
    ImagesUse,
    PatchesUse,
    TapRowsUse,
    convolution_uses,
)
from discreet.learning.deep.accelerator.device_noise import DeviceNoise
from discreet.learning.deep.accelerator.device_plan import DevicePlan
from discreet.learning.deep.accelerator.integer_rows import integer_form
from discreet.learning.deep.accelerator.integer_sum import IntegerSum
from discreet.learning.deep.clipping import FlatClipping
from discreet.learning.deep.uses import OuterUse, RowsUse, inner_products, squared_norms

# NumPy, which interprets the kernels where there is no accelerator, tells of what is not a number.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

CONVOLUTIONS = {
    "images": (nn.Conv2d(2, 5, (3, 2), stride=(2, 1), padding=(1, 0)), (2, 7, 6)),
    "images by threes": (nn.Conv2d(9, 5, 3, padding=1), (9, 7, 6)),
    "without a bias": (nn.Conv2d(9, 5, 3, stride=2, bias=False), (9, 7, 6)),
    "sequences": (nn.Conv1d(3, 4, 3, stride=2, padding=1), (3, 11)),
    "sequences by threes": (nn.Conv1d(10, 4, 3, dilation=2, padding=3), (10, 11)),
    "the same size, by an even kernel": (nn.Conv2d(2, 3, 2, dilation=3, padding="same"), (2, 6, 6)),
    "nothing around": (nn.Conv2d(2, 3, 2, padding="valid"), (2, 6, 6)),
    "around a circle": (nn.Conv1d(2, 3, 3, padding=1, padding_mode="circular"), (2, 6)),
    "with reflections": (nn.Conv2d(9, 3, 3, padding=(2, 1), padding_mode="reflect"), (9, 6, 5)),
    "points": (nn.Conv2d(4, 3, 1), (4, 3, 5)),
}
FEW_POSITIONS = {
    "images": (nn.Conv2d(30, 40, 3, stride=2, padding=1), (30, 5, 4)),
    "sequences": (nn.Conv1d(30, 20, 3, dilation=2), (30, 7)),
    "with reflections": (nn.Conv2d(40, 33, 2, padding=1, padding_mode="reflect"), (40, 2, 3)),
    "a single position": (nn.Conv2d(40, 40, 2), (40, 2, 2)),
}


def numbers(layer, shape, many=4, seed=3):
    """Inputs of a layer, and slopes of its output."""
    torch.manual_seed(seed)
    inputs = torch.randn(many, *shape, device=DEVICE)
    return inputs, torch.randn_like(layer.to(DEVICE)(inputs)).detach()


def by_patches(layer, inputs, slopes):
    return layers._convolution(layer.cpu(), inputs.cpu(), slopes.cpu())


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel:UserWarning")
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_gradients_are_those_by_patches(name):
    layer, shape = CONVOLUTIONS[name]
    inputs, slopes = numbers(layer, shape)
    found = convolution_uses(layer, inputs, slopes)
    expected = by_patches(layer, inputs, slopes)
    assert isinstance(found["weight"].made, TapRowsUse)
    check_same(found, expected)


@pytest.mark.parametrize("name", FEW_POSITIONS)
def test_of_few_positions_slopes_and_patches_are_kept(name):
    layer, shape = FEW_POSITIONS[name]
    inputs, slopes = numbers(layer, shape)
    found = convolution_uses(layer, inputs, slopes)
    if slopes[0, 0].numel() == 1:
        assert isinstance(found["weight"], OuterUse)
    else:
        assert isinstance(found["weight"].made, PatchesUse)
        assert found["weight"].made.patches.dtype == torch.bfloat16
    check_same(found, by_patches(layer, inputs, slopes))


def check_same(found, expected):
    for part in ("weight", "bias"):
        exact = expected[part].each()
        assert (found[part].each().cpu() - exact).norm() <= 0.006 * exact.norm()


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Conv3d(2, 3, 2), (2, 4, 5, 4)),
        (nn.Conv2d(4, 6, 3, groups=2), (4, 6, 5)),
    ],
    ids=["volumes", "groups"],
)
def test_patches_of_32_bits_are_taken_where_they_must(layer, shape):
    assert convolution_uses(layer, *numbers(layer, shape)) is None


def test_doubles_are_left_to_patches():
    layer, shape = CONVOLUTIONS["points"]
    inputs, slopes = numbers(layer, shape)
    assert convolution_uses(layer, inputs, slopes) is not None
    assert convolution_uses(layer, inputs.double(), slopes.double()) is None


class Seen(torch.Tensor):
    """A tensor that says that it is on an accelerator."""

    is_cuda = True


def test_the_rule_of_a_layer_goes_by_where_numbers_are():
    layer, shape = CONVOLUTIONS["images by threes"]
    inputs, slopes = numbers(layer, shape)
    assert not isinstance(by_patches(layer, inputs, slopes)["weight"], TapRowsUse)
    found = layers.rule_of(layer)(layer, inputs.as_subclass(Seen), slopes.as_subclass(Seen))
    assert isinstance(found["weight"].made, TapRowsUse)
    groups = nn.Conv2d(9, 6, 3, padding=1, groups=3)
    inputs, slopes = numbers(groups, shape)
    found = layers.rule_of(groups)(groups, inputs.as_subclass(Seen), slopes.as_subclass(Seen))
    assert isinstance(found["weight"], RowsUse)


def measured(many=3, seed=1):
    torch.manual_seed(seed)
    rows = torch.randn(many, 4, 6, 5, device=DEVICE).bfloat16()
    use = TapRowsUse(rows, rows.double().square().sum((1, 3)) * (1 + 2.0**-16))
    return use, RowsUse(rows.transpose(2, 3).flatten(1).double())


def test_measured_rows_are_rows():
    use, plain = measured()
    factors = torch.tensor([0.5, 0.0, 2.0], dtype=torch.float64, device=DEVICE)
    assert torch.equal(use.each(), plain.each())
    found, expected = (
        one.weighted_sum(factors, torch.empty(120, dtype=torch.float64, device=DEVICE))
        for one in (use, plain)
    )
    assert torch.allclose(found, expected, rtol=1e-14)
    assert use.terms == plain.terms == 3
    assert (use.mass() >= plain.mass()).all()
    assert torch.equal(use.squares(use.mass()), use.bounds.sum(1))
    assert torch.allclose(squared_norms([use], [use.mass()]), plain.squares(plain.mass()), rtol=1e-4)


def test_patches_are_measured_and_added_like_their_gradients():
    layer, shape = FEW_POSITIONS["images"]
    use = convolution_uses(layer, *numbers(layer, shape))["weight"].made
    plain = RowsUse(use.each())
    assert use.terms == 4 * use.slopes.shape[1]
    assert (use.mass() >= plain.mass()).all()
    assert torch.allclose(squared_norms([use], [use.mass()]), plain.squares(plain.mass()))
    factors = torch.tensor([0.5, 0.0, 2.0, 1.0], dtype=torch.float64, device=DEVICE)
    found, expected = (
        one.weighted_sum(factors, torch.empty(40 * 270, dtype=torch.float64, device=DEVICE))
        for one in (use, plain)
    )
    assert torch.allclose(found, expected)
    kept = torch.tensor([True, False, True, True], device=DEVICE)
    assert torch.equal(use.without(kept).each(), plain.without(kept).each())


def test_patches_meet_those_of_a_single_position():
    """Of a layer that is called twice: both are in the order of the parameter then."""
    layer, shape = FEW_POSITIONS["images"]
    given = [numbers(layer, size) for size in (shape, (30, 1, 1))]
    one, other = (integer_form(convolution_uses(layer, *each)["weight"].made).kept() for each in given)
    assert torch.allclose(inner_products(one, other), (one.each() * other.each()).sum(1))
    for kept, each in zip((one, other), given, strict=True):
        exact = by_patches(layer, *each)["weight"].each()
        assert (kept.each().cpu() - exact).norm() <= 0.01 * exact.norm()


def test_all_numbers_of_a_row_are_rounded():
    form = integer_form(measured()[0])
    assert 0.5 * 120**0.5 < form.rounding() < 0.52 * 120**0.5
    assert form.most() is None


def test_rows_that_are_not_kept_are_zeros():
    use, plain = measured()
    use.rows[1] = torch.nan
    use.bounds[1] = torch.nan
    kept = torch.tensor([True, False, True], device=DEVICE)
    found = use.without(kept)
    assert torch.equal(found.each(), plain.without(kept).each())
    assert found.mass().tolist()[1] == 0


def test_measured_rows_meet_other_uses():
    """Of a layer that is called twice, once on few positions."""
    use, plain = measured()
    other = OuterUse(torch.randn(3, 2, 4, device=DEVICE), torch.randn(3, 2, 30, device=DEVICE))
    assert torch.allclose(inner_products(use, other), (plain.each() * other.each()).sum(1))
    assert torch.allclose(inner_products(use, use), plain.squares(plain.mass()))


def plan_for(parameters):
    return DevicePlan(
        batch=20,
        population=1000,
        steps=50,
        epsilon=1,
        delta=1e-5,
        size=sum(parameter.numel() for parameter in parameters),
        clipping=FlatClipping(0.7),
    )


def summed(uses, parameters, weights):
    """The integers of one batch, and which examples count."""
    groups = [list(range(len(parameters)))]
    total = IntegerSum(parameters, groups, plan_for(parameters), DeviceNoise(DEVICE))
    counted = total.add(uses, torch.tensor(weights, dtype=torch.float64, device=DEVICE), 0.7)
    total.settle()
    return total._total.tolist(), counted.tolist()


ROWS, PATCHES = (9, 5, (7, 6)), (12, 14, (2, 3))
"""Channels, outputs and an image of which gradients are written out, and of which patches are kept."""


def convolved(seed, calls=1, sizes=ROWS):
    """A convolution of images, called once or more, with the uses of its matrix and bias."""
    channels, outputs, image = sizes
    layer = nn.Conv2d(channels, outputs, 3, padding=1).to(DEVICE)
    given = [numbers(layer, (channels, *image), seed=seed + call) for call in range(calls)]
    found = [convolution_uses(layer, *one) for one in given]
    return list(layer.parameters()), [[use[part] for use in found] for part in ("weight", "bias")]


@pytest.mark.parametrize("sizes", [ROWS, PATCHES])
@pytest.mark.parametrize("calls", [1, 2])
def test_a_batch_is_the_sum_of_its_examples_and_each_is_short_enough(calls, sizes):
    parameters, uses = convolved(7, calls, sizes)
    assert isinstance(uses[0][0].made, TapRowsUse if sizes is ROWS else PatchesUse)
    weights = [1.0, 0.25, 1.0, 0.5]
    together, counted = summed(uses, parameters, weights)
    assert all(counted)
    alone = [
        summed(uses, parameters, [weight * float(other == place) for other in range(4)])[0]
        for place, weight in enumerate(weights)
    ]
    assert together == [sum(values) for values in zip(*alone, strict=True)]
    for weight, found in zip(weights, alone, strict=True):
        length = Fraction(weight) * plan_for(parameters).integers
        assert (length * Fraction(98, 100)) ** 2 <= sum(value * value for value in found) <= length**2


@pytest.mark.parametrize("name", ["images", "sequences"])
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16])
def test_what_is_longer_than_an_image_is_made_when_it_is_needed(name, kind):
    layer, shape = FEW_POSITIONS[name]
    inputs, slopes = (values.to(kind) for values in numbers(layer, shape))
    use = convolution_uses(layer, inputs, slopes)["weight"]
    total = IntegerSum([layer.weight], [[0]], plan_for([layer.weight]), DeviceNoise(DEVICE))
    kept = total.keep({"weight": use})["weight"]
    assert isinstance(kept, ImagesUse)
    assert kept.given.numel() == inputs.numel()
    assert kept.given.dtype == kept.slopes.dtype == (kind if kind == torch.float16 else torch.bfloat16)
    expected, _ = summed([[use]], [layer.weight], [1.0] * 4)
    inputs.fill_(torch.nan)  # what is kept is a copy, as others may write to what was given
    slopes.fill_(torch.nan)
    found, counted = summed([[kept]], [layer.weight], [1.0] * 4)
    assert all(counted)
    longest = plan_for([layer.weight]).integers
    # of floats, slopes are rounded before they are summed instead of after it
    most = 2**-8 * longest if kind == torch.float32 else 0
    assert max(abs(one - other) for one, other in zip(found, expected, strict=True)) <= most


def test_slopes_are_summed_up_in_floats():
    layer, shape = FEW_POSITIONS["images"]
    inputs, slopes = (values.bfloat16() for values in numbers(layer, shape))
    assert convolution_uses(layer, inputs, slopes)["bias"].rows.dtype == torch.float32


def test_more_inputs_than_the_proof_is_for_are_refused():
    layer = nn.Conv1d(2**16 + 1, 3, 2).to(DEVICE)
    total = IntegerSum([layer.weight], [[0]], plan_for([layer.weight]), DeviceNoise(DEVICE))
    use = convolution_uses(layer, *numbers(layer, (2**16 + 1, 3), many=2))["weight"]
    for one in (use, total.keep({"weight": use})["weight"]):
        with pytest.raises(ParameterError, match="too many inputs"):
            total.measure([[one]], torch.ones(2, dtype=torch.float64, device=DEVICE), 0.7)


def test_rows_that_are_longer_than_images_are_made_when_they_are_needed():
    layer = nn.Conv2d(12, 14, 3, padding=1).to(DEVICE)
    for image, is_made in (((6, 6), False), ((40, 40), True)):
        use = convolution_uses(layer, *numbers(layer, (12, *image)))["weight"]
        assert isinstance(use, TapRowsUse if is_made else ImagesUse)
        assert isinstance(use.made, TapRowsUse)


@pytest.mark.parametrize("images", [((3, 4), (3, 3)), ((3, 4), (9, 9)), ((9, 9), (3, 3), (3, 4))])
def test_calls_on_images_of_several_sizes_are_measured_together(images):
    """Each leaves the same gradient in another form: orders that differ would hide how long the sum is."""
    torch.manual_seed(5)
    layer = nn.Conv2d(12, 14, 3).to(DEVICE)
    patch, slope = torch.randn(2, 12, 3, 3, device=DEVICE), torch.randn(2, 14, device=DEVICE)
    found, kinds = [], {(3, 3): OuterUse, (3, 4): PatchesUse, (9, 9): TapRowsUse}
    for image in images:
        inputs = torch.randn(2, 12, *image, device=DEVICE)
        inputs[:, :, :3, :3] = patch
        slopes = torch.zeros_like(layer(inputs)).detach()
        slopes[:, :, 0, 0] = slope
        found.append(convolution_uses(layer, inputs, slopes)["weight"])
        assert isinstance(found[-1].made, kinds[image])
    longest = plan_for([layer.weight]).integers
    for place in range(2):
        weights = [float(place == other) for other in range(2)]
        integers, _ = summed([found], [layer.weight], weights)
        assert (longest * 0.98) ** 2 <= sum(value * value for value in integers) <= longest**2


@pytest.mark.parametrize(("sizes", "most"), [(ROWS, 1e-4), (PATCHES, 1e-3)])
def test_the_sum_is_that_of_the_rows_in_the_order_of_the_parameter(sizes, most):
    parameters, uses = convolved(8, sizes=sizes)
    found, _ = summed(uses, parameters, [1.0] * 4)
    each = torch.cat([use.each() for (use,) in uses], 1)
    expected = (each / each.norm(dim=1, keepdim=True).clamp(min=0.7)).sum(0).tolist()
    longest = plan_for(parameters).integers
    assert max(abs(got / longest - want) for got, want in zip(found, expected, strict=True)) < most


def test_a_bound_that_is_too_small_would_make_an_example_too_long():
    """Planted: squares of other numbers than those that are stored."""
    parameters, uses = convolved(9)
    (use,), bias = uses
    rows = use.made
    found, _ = summed([[TapRowsUse(rows.rows, rows.bounds / 2)], bias], parameters, [1.0, 0, 0, 0])
    assert sum(value * value for value in found) > (1.1 * plan_for(parameters).integers) ** 2


@pytest.mark.parametrize("odd", [torch.nan, torch.inf])
def test_an_example_that_is_not_finite_counts_as_zero(odd):
    layer = nn.Conv2d(9, 5, 3, padding=1).to(DEVICE)
    inputs, slopes = numbers(layer, (9, 7, 6))
    inputs[2, 1, 1, 1] = odd
    found = convolution_uses(layer, inputs, slopes)
    uses, parameters = [[found["weight"]], [found["bias"]]], list(layer.parameters())
    together, counted = summed(uses, parameters, [1.0] * 4)
    assert counted == [True, True, False, True]
    assert together == summed(uses, parameters, [1.0, 1.0, 0.0, 1.0])[0]
