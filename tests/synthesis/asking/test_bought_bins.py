"""Cells between bought quantiles: fine where rows are, paid for first, and the same when read again."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import ParameterError
from discreet.noise import replay
from discreet.privacy.offer import Offer
from discreet.synthesis.asking.bought_bins import cut_points, divided_offer
from discreet.synthesis.columns.coded_column import coded
from discreet.synthesis.models.measured import MeasuredTable

COST = np.minimum(np.random.default_rng(0).lognormal(3, 1, 3000), 10_000).round(2)
ASKED = {"rho": 1, "method": "spanning tree", "bins": {"cost": 10}}


@pytest.fixture
def clinic(tmp_path):
    rows = pd.DataFrame({"p": np.arange(3000), "cost": COST, "city": np.where(COST > 20, "a", "b")})
    columns = {"cost": dp.Bounds(0, 10_000, step=0.01), "city": dp.Keys(["a", "b"])}
    table = dp.Table(rows, person="p", limits=dp.Limits(rows=1), columns=columns)
    return dp.Curator({"t": table}, budget=dp.Budget(rho=100, delta=1e-3), ledger=tmp_path / "c.ledger")


def test_cells_hold_about_as_many_rows_for_a_part_of_one_price(clinic):
    preview = clinic.preview_synthesis("t", ["cost", "city"], **ASKED)
    assert "cells of cost are bought: 10 of about as many rows" in str(preview)
    assert clinic.spent.requests == 0
    with replay(0):
        found = clinic.synthesize("t", ["cost", "city"], **ASKED)
    assert clinic.spent.requests == 2
    price = float(found.measured.event.concentrated_rho)
    assert price == pytest.approx(float(preview.event.concentrated_rho))
    assert 0.99 < price <= 1
    (bought,) = found.label["bought"]
    assert bought["what"].startswith("cells of cost")
    column = found.data.domain.columns[0]
    assert 6 <= column.cells <= 11
    shares = np.bincount(column.codes(COST), minlength=column.cells) / len(COST)
    assert shares[:-1].max() < 0.3  # of cells of equal width one would hold nearly all
    assert not found.label["private"]
    with replay(1):
        again = clinic.synthesize("t", ["cost", "city"], **ASKED)
    assert again.stored
    assert again.to_pandas().equals(found.to_pandas())
    assert "answered before" in str(clinic.preview_synthesis("t", ["cost", "city"], **ASKED))


def test_facts_still_cut_where_they_must(clinic):
    fact = dp.Impossible({"cost": (None, 20), "city": "a"})
    rows = clinic.synthesize("t", ["cost", "city"], facts=fact, **ASKED).to_pandas(2000)
    assert not ((rows["cost"] < 20) & (rows["city"] == "a")).any()


@pytest.mark.parametrize(
    "wrong",
    [
        {"bins": {"city": 3}},
        {"bins": {"cost": 1}},
        {"bins": {"cost": 1000}},
        {"bins": {"height": 3}},
        {"bins": {"cost": 3}, "width": {"cost": 10}},
    ],
)
def test_refusals_come_before_the_charge(clinic, wrong):
    with pytest.raises(ParameterError):
        clinic.synthesize("t", ["cost", "city"], **{**ASKED, **wrong})
    assert clinic.spent.requests == 0


@given(st.lists(st.integers(-5, 50), min_size=2, max_size=40), st.integers(2, 9))
def test_quantiles_are_those_of_sorted_rows(counts, many):
    column = coded("x", dp.Bounds(0, len(counts) - 1), missing=False)
    measured = MeasuredTable(columns=(0,), counts=np.array(counts), variance=1.0)
    cuts = cut_points(column, measured, many)
    assert cuts == tuple(sorted(set(cuts)))
    assert all(0 < cut < len(counts) for cut in cuts)
    assert len(cuts) < many
    if min(counts) > 0:
        rows = np.repeat(np.arange(len(counts)), counts)
        parts = {int(rows[-(-len(rows) * part // many) - 1]) + 1 for part in range(1, many)}
        assert set(cuts) == {cut for cut in parts if cut < len(counts)}


@pytest.mark.parametrize("offer", [Offer(epsilon=1, delta=1e-6), Offer.concentrated(1, 1e-6), Offer(rho=1)])
def test_an_offer_is_divided_without_a_rest(offer):
    part, rest = divided_offer(offer, Fraction(1, 4))
    for name in ("epsilon", "rho"):
        whole = getattr(offer, name)
        if whole is not None:
            assert getattr(part, name) + getattr(rest, name) == whole
    if offer.epsilon is not None:
        assert part.delta + rest.delta == offer.delta
    else:
        assert part.delta is None
        assert rest.delta == offer.delta
