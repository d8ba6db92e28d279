"""A price summary of line items: eight aggregates, products of decimals, from little epsilon to plenty."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow
import pytest
from scipy import stats

from discreet.curator import Budget, Draw
from discreet.curator.request.coarse_noise import CoarseNoise
from discreet.data import Bounds, Keys, Limits, Table
from discreet.front import Curator
from significance import FALSE_ALARM

SUMMARY = """
    SELECT flag, status, SUM(quantity) AS quantities, SUM(price) AS base,
        SUM(price * (1 - discount)) AS reduced, SUM(price * (1 - discount) * (1 + tax)) AS charged,
        AVG(quantity) AS quantity, AVG(price) AS price, AVG(discount) AS discount, COUNT(*) AS items
    FROM items WHERE shipped <= DATE '1998-12-01' - INTERVAL '90' DAY
    GROUP BY flag, status ORDER BY flag, status"""
LAST = datetime.date(1998, 9, 2)
NAMES = ("flag", "status", "customer", "shipped", "quantity", "price", "discount", "tax")


def line_items(rows=3000):
    draw = np.random.default_rng(11)
    cents = pyarrow.decimal128(15, 2)

    def decimals(hundredths):
        return pyarrow.array([Decimal(int(one)).scaleb(-2) for one in hundredths], cents)

    days = [datetime.date(1992, 1, 2) + datetime.timedelta(int(one)) for one in draw.integers(0, 2600, rows)]
    columns = [
        pyarrow.array(draw.choice(["A", "N", "R"], rows)),
        pyarrow.array(draw.choice(["F", "O"], rows)),
        pyarrow.array(np.arange(rows) // 5),
        pyarrow.array(days, pyarrow.date32()),
        decimals(100 * draw.integers(1, 51, rows)),
        decimals(draw.integers(90_000, 10_500_000, rows)),
        decimals(draw.integers(0, 11, rows)),
        decimals(draw.integers(0, 9, rows)),
    ]
    return pyarrow.table(columns, names=[*NAMES])


ITEMS = line_items()


def exact_answers():
    """Sums of exact decimals, by flag and status in order; means are their quotients."""
    frame = ITEMS.to_pandas()
    frame = frame[frame["shipped"] <= LAST]
    frame["reduced"] = frame["price"] * (1 - frame["discount"])
    frame["charged"] = frame["reduced"] * (1 + frame["tax"])
    groups = frame.groupby(["flag", "status"])
    return pd.DataFrame(
        {
            "quantities": groups["quantity"].sum(),
            "base": groups["price"].sum(),
            "reduced": groups["reduced"].sum(),
            "charged": groups["charged"].sum(),
            "quantity": groups["quantity"].mean(),
            "price": groups["price"].mean(),
            "discount": groups["discount"].mean(),
            "items": groups.size(),
        }
    ).astype(float)


EXACT = exact_answers()


@pytest.fixture
def shop(tmp_path):
    table = Table(
        ITEMS,
        person="customer",
        limits=Limits(rows=50),
        columns={
            "flag": Keys(["A", "N", "R"]),
            "status": Keys(["F", "O"]),
            "quantity": Bounds(0, 50, step="0.01"),
            "price": Bounds(0, 105_000, step="0.01"),
            "discount": Bounds(0, "0.1", step="0.01"),
            "tax": Bounds(0, "0.08", step="0.01"),
        },
    )
    return Curator(
        {"items": table}, budget=Budget(epsilon=10**7, delta="1e-3"), ledger=tmp_path / "shop.ledger"
    )


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", 1, 10, 1000, 10**6])
def test_a_price_summary_is_answered_at_every_epsilon(shop, epsilon):
    """Failures here are noise beyond its stated tail: of 48 values, once in 10^7 runs."""
    answer = shop.ask(SUMMARY, epsilon=epsilon, confidence=1 - Fraction(1, 10**9))
    assert request_cost(answer) <= Fraction(epsilon)
    for name in EXACT:
        column = next(one for one in answer.outputs if one.name == name)
        assert (column.lower - 1e-9 * EXACT[name] <= EXACT[name].to_numpy()).all()
        assert (EXACT[name].to_numpy() <= column.upper + 1e-9 * EXACT[name]).all()


def request_cost(answer):
    return answer.request.event.pure_epsilon


def test_with_plenty_of_epsilon_the_summary_is_exact(shop):
    answer = shop.ask(SUMMARY, epsilon=10**6)
    assert not any(isinstance(part.mechanism, CoarseNoise) for part in answer.request.parts)
    for name in EXACT:
        assert answer[name] == pytest.approx(EXACT[name].to_numpy(), rel=1e-4)
    for name in ("quantities", "quantity", "discount", "items"):
        assert answer[name] == pytest.approx(EXACT[name].to_numpy(), rel=1e-5)


def coarse_part(request):
    (output,) = [one for one in request.outputs if one.name == "charged"]
    part = request.part_of(output.measures[0])
    assert isinstance(part.mechanism, CoarseNoise)
    return output, part


def test_fine_grids_are_rounded_by_public_facts_alone(shop):
    """The step of totals is about 2^-39 of the noise, so that it is neither seen nor felt."""
    _, part = coarse_part(shop.request(SUMMARY, epsilon="0.01"))
    scale = float(part.mechanism.noise.event.scale)
    assert 2**38 < scale <= 2**40
    assert part.statistic.step == Fraction(1, 10**6)
    again = shop.request(SUMMARY, epsilon="0.01")
    assert again.identity == shop.request(SUMMARY, epsilon="0.01").identity
    assert f"of totals rounded to {part.mechanism.step} steps" in shop.explain(SUMMARY, epsilon="0.01")


@pytest.mark.parametrize("offer", [{"epsilon": "0.01"}, {"rho": "1e-5"}, {"epsilon": "0.1", "delta": "1e-6"}])
def test_intervals_of_rounded_sums_hold_as_often_as_they_say(shop, offer):
    request = shop.request(SUMMARY, confidence="0.8", **offer)
    output, part = coarse_part(request)
    totals = (EXACT["charged"].to_numpy() * 10**6).round().astype(np.int64)
    runs, misses = 500, np.zeros(len(totals))
    for _ in range(runs):
        draw = Draw(part=part, steps=part.mechanism.release(totals))
        column = output.finish([draw], request.confidence)
        misses += ~((column.lower <= totals / 10**6) & (totals / 10**6 <= column.upper))
    assert (misses <= stats.binom.isf(FALSE_ALARM, runs, 0.2)).all()
    assert misses.sum() >= stats.binom.ppf(FALSE_ALARM, runs * len(totals), 0.15)  # and are not too wide


def test_a_stored_summary_is_read_again(shop):
    first = shop.ask(SUMMARY, epsilon="0.01")
    again = shop.ask(SUMMARY, epsilon="0.01")
    assert again.stored
    assert (again["charged"] == first["charged"]).all()


def test_a_wanted_error_of_a_product_is_met(shop):
    found = shop.preview(SUMMARY, error={"charged": 10**9})
    assert found["charged"].margin <= 10**9


@pytest.mark.parametrize(
    "aggregate",
    ["SUM(POWER(price, 2))", "SUM(price * price)", "AVG(price * price * quantity)", "STDDEV(price)"],
)
@pytest.mark.parametrize("epsilon", ["0.01", 1, 10**6])
def test_powers_and_products_are_answered(shop, aggregate, epsilon):
    answer = shop.ask(f"SELECT {aggregate} AS found FROM items", epsilon=epsilon, confidence="0.999999")  # noqa: S608
    frame = ITEMS.to_pandas().astype({"price": float, "quantity": float})
    exact = {
        "SUM(POWER(price, 2))": (frame["price"] ** 2).sum(),
        "SUM(price * price)": (frame["price"] ** 2).sum(),
        "AVG(price * price * quantity)": (frame["price"] ** 2 * frame["quantity"]).mean(),
        "STDDEV(price)": frame["price"].std(),
    }[aggregate]
    (column,) = answer.outputs
    assert column.lower[0] * (1 - 1e-5) <= exact <= column.upper[0] * (1 + 1e-5)
