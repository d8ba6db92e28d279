"""Gradients in floats: norms are from above, and sums are as close as is charged."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.learning.deep.float_uses import (
    FloatOuterUse,
    FloatRowsUse,
    FloatTurnedRowsUse,
    in_floats,
    multiplies_floats,
)
from discreet.learning.deep.uses import LookupUse, OuterUse, RowsUse, TurnedRowsUse
from effort import examples

UNIT = Fraction(1, 2**24)


def square_of(row):
    return sum(Fraction(value) ** 2 for value in row.flatten().tolist())


@given(seed=st.integers(0, 2**31), scale=st.integers(-140, 60), spread=st.integers(0, 60))
@settings(max_examples=examples(60))
def test_norms_are_from_above_and_hardly_more(seed, scale, spread):
    """Against fractions, where squares underflow as well."""
    generator = torch.Generator().manual_seed(seed)
    sizes = 2.0 ** (scale - spread * torch.rand(4, 300, generator=generator))
    rows = torch.randn(4, 300, generator=generator) * sizes
    for row, norm in zip(rows, FloatRowsUse(rows).mass().tolist(), strict=True):
        assert Fraction(norm) ** 2 >= square_of(row)
        assert norm <= float(square_of(row)) ** 0.5 * (1 + 2.0**-14) + 2.0**-54
    left, right = rows[:, None, :40], rows[:, None, 40:].flip(0) * 2.0 ** min(0, -scale)
    for one, other, norm in zip(left, right, FloatOuterUse(left, right).mass().tolist(), strict=True):
        assert Fraction(norm) ** 2 >= square_of(one) * square_of(other)


def test_a_norm_without_its_margin_would_be_too_short():
    rows = torch.rand(64, 1000, generator=torch.Generator().manual_seed(1))
    plain = torch.linalg.vector_norm(rows, dim=-1).double()
    assert any(Fraction(norm) ** 2 < square_of(row) for row, norm in zip(rows, plain.tolist(), strict=True))


def test_squares_that_underflow_do_not_pass_for_zeros():
    left, right = torch.full((1, 1, 3), 2.0**-100), torch.full((1, 1, 3), 2.0**60)
    assert float(FloatOuterUse(left, right).mass()) >= 3 * 2.0**-40


@pytest.mark.parametrize("bad", [2.0**65, float("inf"), float("nan")])
def test_what_is_too_large_or_no_number_has_no_finite_norm(bad):
    rows = torch.ones(3, 1, 4)
    rows[1, 0, 2] = bad
    masses = FloatOuterUse(rows, torch.ones(3, 1, 5)).mass()
    assert masses.isfinite().tolist() == [True, False, True]
    assert FloatRowsUse(rows[:, 0]).mass().isfinite().tolist() == [True, False, True]


@given(seed=st.integers(0, 2**31), count=st.integers(1, 40), sign=st.booleans())
@settings(max_examples=examples(60))
def test_sums_are_within_what_is_charged_of_exact_ones(seed, count, sign):
    """Against fractions: K terms differ by K 2^-24 / (1 - K 2^-24) of their absolute values at most."""
    generator = torch.Generator().manual_seed(seed)
    sizes = 2.0 ** torch.randint(-20, 20, (count, 1), generator=generator)
    left, right = (
        torch.randn(count, 3, generator=generator) * sizes,
        torch.randn(count, 5, generator=generator),
    )
    if sign:
        left, right = left.abs(), right.abs()
    factors = torch.rand(count, generator=generator) / sizes[:, 0]
    out = torch.full((15,), torch.nan)
    FloatOuterUse(left[:, None], right[:, None]).float_sum(factors, out)
    scaled = left * factors[:, None]  # what an example is by definition
    share = count * UNIT / (1 - count * UNIT)
    for place, found in enumerate(out.tolist()):
        row, column = divmod(place, 5)
        terms = [Fraction(float(scaled[i, row])) * Fraction(float(right[i, column])) for i in range(count)]
        assert abs(Fraction(found) - sum(terms)) <= share * sum(map(abs, terms))
    rows, written = right, torch.full((5,), torch.nan)
    FloatRowsUse(rows).float_sum(factors, written)
    for column, found in enumerate(written.tolist()):
        terms = [Fraction(float(factors[i])) * Fraction(float(rows[i, column])) for i in range(count)]
        assert abs(Fraction(found) - sum(terms)) <= share * sum(map(abs, terms))


@pytest.mark.parametrize(
    "use",
    [
        RowsUse(torch.randn(5, 24)),
        TurnedRowsUse(RowsUse(torch.randn(5, 24)), (2, 6, 2), (1, 2, 0)),
        OuterUse(torch.randn(5, 1, 6), torch.randn(5, 1, 4)),
        OuterUse(torch.randn(5, 1, 4), torch.randn(5, 1, 6)),
    ],
)
def test_sums_in_floats_are_those_in_doubles(use):
    made, factors = in_floats(use), torch.rand(5)
    out = torch.empty(24)
    made.float_sum(factors, out)
    expected = use.weighted_sum(factors.double(), torch.empty(24).double())
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(
        made.weighted_sum(factors.double(), torch.empty(24).double()), expected, rtol=0, atol=0
    )
    first, rest = torch.empty(24), torch.empty(24)
    made.part(slice(0, 2)).float_sum(factors[:2], first)
    made.part(slice(2, 4)).float_sum(factors[2:4], rest)
    made.part(slice(4, 9)).float_sum(factors[4:], out)
    torch.testing.assert_close((first + rest + out).double(), expected, rtol=1e-5, atol=1e-6)


def test_an_example_that_is_left_out_changes_no_form():
    """Else others would be rounded in another way, by who is there."""
    kept = torch.tensor([True, False, True])
    for use in (
        RowsUse(torch.ones(3, 24)),
        TurnedRowsUse(RowsUse(torch.ones(3, 24)), (2, 6, 2), (1, 2, 0)),
        OuterUse(torch.ones(3, 1, 6), torch.ones(3, 1, 4)),
    ):
        made = in_floats(use)
        assert type(made.without(kept)) is type(made)
        assert made.without(kept).each()[:, 0].tolist() == [1.0, 0.0, 1.0]


def test_forms_are_those_of_types_and_shapes():
    rows = torch.ones(2, 6)
    assert isinstance(in_floats(RowsUse(rows)), FloatRowsUse)
    assert isinstance(in_floats(TurnedRowsUse(RowsUse(rows), (2, 3), (1, 0))), FloatTurnedRowsUse)
    assert isinstance(in_floats(OuterUse(rows[:, None], rows[:, None])), FloatOuterUse)
    for use in (
        RowsUse(rows.double()),
        RowsUse(rows.half()),
        RowsUse(torch.ones(2, 2**14 + 1)),
        TurnedRowsUse(RowsUse(rows.double()), (2, 3), (1, 0)),
        OuterUse(rows[:, None], rows[:, None].double()),
        OuterUse(rows[:, None], torch.ones(2, 1, 2**14 + 1)),
        OuterUse(torch.ones(2, 2, 3), torch.ones(2, 2, 3)),
        LookupUse(torch.zeros(2, 1, dtype=torch.int64), torch.ones(2, 1, 3), 4),
    ):
        assert in_floats(use) is use


def test_settings_that_shorten_floats_are_read(monkeypatch):
    assert multiplies_floats()
    for precision in ("high", "medium"):
        torch.set_float32_matmul_precision(precision)
        try:
            assert not multiplies_floats()
        finally:
            torch.set_float32_matmul_precision("highest")
    assert multiplies_floats()
    monkeypatch.setenv("DNNL_DEFAULT_FPMATH_MODE", "BF16")
    assert not multiplies_floats()
    monkeypatch.setenv("DNNL_DEFAULT_FPMATH_MODE", "strict")
    assert multiplies_floats()
    monkeypatch.setenv("ONEDNN_DEFAULT_FPMATH_MODE", "BF16")
    assert not multiplies_floats()


@pytest.mark.skipif(not hasattr(torch.backends.mkldnn, "fp32_precision"), reason="of a later PyTorch")
@pytest.mark.parametrize("precision", ["tf32", "bf16", "ieee"])
def test_settings_of_a_backend_are_read(precision):
    """PyTorch refuses to say what precision there is when backends have their own."""
    for held in (torch.backends.mkldnn, torch.backends.mkldnn.matmul):
        held.fp32_precision = precision
        try:
            assert multiplies_floats() == (precision == "ieee")
        finally:
            held.fp32_precision = "none"
    assert multiplies_floats()


def test_a_pytorch_without_settings_of_backends_says_what_it_does(monkeypatch):
    monkeypatch.setattr(torch.backends, "mkldnn", object())
    assert multiplies_floats()
