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
from discreet.synthesis.asking.bought_bins import cut_points, divided_offer, supposed_cuts
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


def stairs(tmp_path, facts=None, cells=40, keys=2):
    """A curator of numbers that follow from each other."""
    steps = np.arange(1000) % cells
    rows = pd.DataFrame({"p": np.arange(1000), "a": steps, "b": 2 * steps, "k": steps % keys})
    columns = {"a": dp.Bounds(0, cells - 1), "b": dp.Bounds(0, 2 * cells - 2), "k": dp.Keys(range(keys))}
    table = dp.Table(rows, person="p", limits=dp.Limits(rows=1), columns=columns, facts=facts)
    return dp.Curator({"t": table}, budget=dp.Budget(rho=100), ledger=tmp_path / "c.ledger")


@pytest.mark.parametrize(
    "fact", [dp.Determined("b", by="a"), dp.Impossible({"a": (0, 10), "b": (0, 10)})], ids=["follow", "never"]
)
def test_quantiles_do_not_see_the_facts_of_the_owner(tmp_path, fact):
    asked = {"rho": 10, "method": "independent", "bins": {"a": 4, "b": 4}}
    found = stairs(tmp_path, facts=fact).synthesize("t", ["a", "b"], **asked)
    drawn = found.to_pandas(500)
    assert list(drawn) == ["a", "b"]
    (bought,) = found.measured.bought
    assert not bought.mechanism.synthesizer.facts.options
    if isinstance(fact, dp.Impossible):
        assert not ((drawn["a"] < 10) & (drawn["b"] < 10)).any()


def test_bins_of_a_mapped_column_are_refused_before_the_charge(tmp_path):
    fact = dp.Determined("b", by="a", mapping={(None, 10): 1, (10, None): 2})
    clinic = stairs(tmp_path, facts=fact)
    with pytest.raises(ParameterError, match="follows from another column by a mapping"):
        clinic.synthesize("t", ["a", "b"], rho=1, bins={"b": 4})
    assert clinic.spent.requests == 0


def test_cells_that_may_be_bought_are_refused_before_the_charge(tmp_path):
    """Edges of facts at even cuts: quantiles elsewhere leave more cells than even cuts do."""
    clinic = stairs(tmp_path, cells=1024, keys=99)
    fact = dp.Impossible({"a": [(start, start + 4) for start in range(0, 1024, 8)], "k": 0})
    with pytest.raises(ParameterError, match="facts"):
        clinic.synthesize("t", ["a", "k"], rho=50, bins={"a": 256}, facts=fact)
    assert clinic.spent.requests == 0


@given(
    st.integers(2, 30), st.sets(st.integers(1, 39)), st.lists(st.integers(0, 50), min_size=40, max_size=40)
)
def test_no_bought_cuts_leave_more_cells_than_supposed_ones(many, edges, counts):
    column = coded("x", dp.Bounds(0, 39), missing=False)
    measured = MeasuredTable(columns=(0,), counts=np.array(counts), variance=1.0)
    supposed = supposed_cuts(column, many, edges)
    assert len(supposed) < many
    assert len(edges.union(supposed)) >= len(edges.union(cut_points(column, measured, many)))
