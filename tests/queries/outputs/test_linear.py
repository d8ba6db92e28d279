"""Combinations of answers: intervals of the law of their noises, which cover and are not twice too wide."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

import discreet as dp
from discreet.data import Bounds, CountRows, Keys, Limits
from discreet.data.language.expressions import Arithmetic, Column, columns_of, literal
from discreet.queries.outputs.counts_sums_means import CountOutput
from discreet.queries.outputs.linear import Term, linear_parts
from queries.spread_data import allowed_misses

GROUPS = 1500


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(5)
    size = 20 * GROUPS
    present = random.random(size) < 0.7
    return {
        "who": np.arange(size),
        "k": random.integers(0, GROUPS, size),
        "a": np.where(present, random.integers(0, 51, size), 0),
        "has": present,
        "b": random.integers(-20, 31, size),
    }


@pytest.fixture(scope="module")
def curator(rows, tmp_path_factory):
    table = dp.Table(
        pyarrow.table({**rows, "a": pyarrow.array(rows["a"], mask=~rows["has"])}),
        person="who",
        limits=Limits(rows=1),
        columns={"k": Keys(range(GROUPS)), "a": Bounds(0, 50), "b": Bounds(-20, 30)},
    )
    found = dp.Curator(
        {"t": table}, budget=dp.Budget(rho=10_000), ledger=tmp_path_factory.mktemp("linear") / "ledger"
    )
    yield found
    found.close()


@pytest.fixture(scope="module")
def exact(rows):
    def per_group(weights):
        return np.bincount(rows["k"], weights, minlength=GROUPS)

    n, c = per_group(np.ones(len(rows["k"]))), per_group(rows["has"])
    a, b = per_group(rows["a"]), per_group(rows["b"])
    before = np.concatenate([[np.nan], n[:-1]])
    around = np.array([n[max(k - 3, 0) : k + 4].mean() for k in range(GROUPS)])
    return {
        RUNNING_LESS_OWN: [n[max(k - 20, 0) : k].sum() for k in range(GROUPS)],
        RUNNING_LESS_EARLIER: np.where(np.arange(GROUPS) > 0, a, np.nan),
        OWN_LESS_AROUND: n - around,
        TWO_FRAMES: [n[max(k - 29, 0) : k + 1].sum() - n[k + 1 : k + 31].sum() for k in range(GROUPS)],
        "COUNT(*) - COUNT(a)": n - c,
        "SUM(a) - SUM(b)": a - b,
        "2 * SUM(a) - 0.5 * COUNT(*) + 3": 2 * a - 0.5 * n + 3,
        "COUNT(*) + COUNT(a)": n + c,
        "ROUND(ABS(SUM(a) - 3 * SUM(b)) / 7, 1)": np.round(np.abs(a - 3 * b) / 7, 1),
        "100.0 * (SUM(a) - SUM(b)) / COUNT(*)": 100 * (a - b) / n,
        "COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY k)": n - before,
        "COUNT(*) - 2 * COUNT(a) + LAG(COUNT(*)) OVER (ORDER BY k)": n - 2 * c + before,
        "COUNT(*) - FIRST_VALUE(COUNT(*)) OVER (ORDER BY k)": n - n[0],
    }


RUNNING = "ROWS BETWEEN 20 PRECEDING AND"
RUNNING_LESS_OWN = f"SUM(COUNT(*)) OVER (ORDER BY k {RUNNING} CURRENT ROW) - COUNT(*)"
RUNNING_LESS_EARLIER = (
    f"SUM(SUM(a)) OVER (ORDER BY k {RUNNING} CURRENT ROW) "
    f"- SUM(SUM(a)) OVER (ORDER BY k {RUNNING} 1 PRECEDING)"
)
OWN_LESS_AROUND = "COUNT(*) - AVG(COUNT(*)) OVER (ORDER BY k ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING)"
TWO_FRAMES = (
    "SUM(COUNT(*)) OVER (ORDER BY k ROWS BETWEEN 29 PRECEDING AND CURRENT ROW) - "
    "SUM(COUNT(*)) OVER (ORDER BY k ROWS BETWEEN 1 FOLLOWING AND 30 FOLLOWING)"
)


APART = {RUNNING_LESS_OWN: 21, OWN_LESS_AROUND: 7, TWO_FRAMES: 60}


def answer(curator, expression, **offer):
    asked = " ".join(["SELECT k,", expression, "AS d FROM t GROUP BY k"])
    found = curator.ask(asked, **offer).columns()
    return (np.array(found[name], float) for name in ("d", "d_lower", "d_upper"))


EXPRESSIONS = [
    "COUNT(*) - COUNT(a)",
    "SUM(a) - SUM(b)",
    "2 * SUM(a) - 0.5 * COUNT(*) + 3",
    "COUNT(*) + COUNT(a)",
    "ROUND(ABS(SUM(a) - 3 * SUM(b)) / 7, 1)",
    "100.0 * (SUM(a) - SUM(b)) / COUNT(*)",
    "COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY k)",
    "COUNT(*) - 2 * COUNT(a) + LAG(COUNT(*)) OVER (ORDER BY k)",
    RUNNING_LESS_OWN,
    RUNNING_LESS_EARLIER,
    OWN_LESS_AROUND,
    TWO_FRAMES,
]


@pytest.mark.statistical
@pytest.mark.parametrize("offer", [{"epsilon": 1}, {"rho": "1/20"}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_intervals_of_combinations_cover_in_thousands_of_releases(curator, exact, expression, offer):
    """Each of the 1,500 groups has noises of its own; of frames, those are taken that share none."""
    apart = APART.get(expression, 1)
    value, lower, upper = (column[::apart] for column in answer(curator, expression, **offer))
    true = np.asarray(exact[expression])[::apart]
    known = ~np.isnan(true) & ~np.isnan(value)
    missed = (lower[known] > true[known] + 1e-9) | (true[known] > upper[known] + 1e-9)
    assert int(missed.sum()) <= allowed_misses(int(known.sum()), 0.05)
    assert (lower[known] <= value[known]).all()
    assert (value[known] <= upper[known]).all()


@pytest.mark.statistical
@pytest.mark.parametrize(
    "expression",
    [
        "SUM(a) - SUM(b)",
        "COUNT(*) - COUNT(a)",
        "COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY k)",
        RUNNING_LESS_EARLIER,
        OWN_LESS_AROUND,
        TWO_FRAMES,
    ],
    ids=["sums", "counts", "earlier", "running", "around", "frames"],
)
def test_intervals_of_differences_are_as_wide_as_their_noise(curator, exact, expression):
    """With interval arithmetic they hold 99.6% and more, and are nearly twice as wide."""
    value, lower, upper = answer(curator, expression, epsilon=1)
    error = np.abs(value - exact[expression])
    needed = np.nanquantile(error, 0.95)
    assert np.nanmedian(upper - lower) / 2 <= 1.25 * needed + 1


def test_what_cancels_is_exact(curator):
    """The first group less itself is 0, and the interval says so; others have two noises."""
    value, lower, upper = answer(curator, "COUNT(*) - FIRST_VALUE(COUNT(*)) OVER (ORDER BY k)", epsilon=1)
    assert (value[0], lower[0], upper[0]) == (0, 0, 0)
    assert (upper[1:] - lower[1:] > 2).all()


def test_sums_of_counts_are_not_negative(curator):
    """Ends are raised to 0, except where the released number itself is below."""
    value, lower, upper = answer(curator, "COUNT(*) + LAG(COUNT(*)) OVER (ORDER BY k)", epsilon="1/100")
    assert (lower[1:] >= np.minimum(value[1:], 0)).all()
    assert (upper[1:] >= 0).all()


def test_a_margin_of_one_noise_alone_is_noticed(curator, exact, monkeypatch):
    """The control: with the margin of the first noise for the combination, too few are covered."""
    from discreet.queries.outputs import linear

    def first_alone(cells, parts, confidence):
        return _margin(cells[:1], parts, confidence)

    _margin = linear._margin
    monkeypatch.setattr(linear, "_margin", first_alone)
    difference = "COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY k)"
    # Wide noise, so that rounding its margin up to a whole step does not cover for the other.
    _, lower, upper = answer(curator, difference, epsilon="1/20")
    true = exact[difference]
    missed = int(((lower > true) | (true > upper)).sum())
    assert missed > allowed_misses(GROUPS, 0.05)


def minus(one, other):
    return Arithmetic(operator="-", left=one, right=other)


def test_linear_parts_are_found_and_named_apart():
    """A name that a column has is not taken, and a part that would not help is left as it is."""
    output = CountOutput(name="a", measure=CountRows())
    terms = {name: Term(output=output) for name in ("a", "b", "combination 1")}
    a, b, c = (Column(name=name) for name in ("a", "b", "combination 1"))
    product = Arithmetic(operator="*", left=minus(a, b), right=c)
    found = linear_parts(product, terms, 3)
    assert list(found.parts) == ["combination 2"]
    assert found.entering == 2
    assert columns_of(found.expression) == {"combination 1", "combination 2"}
    form = found.parts["combination 2"][1]
    assert form.coefficients == {"a": 1, "b": -1}
    for plain in (minus(a, literal(1)), minus(a, a), Arithmetic(operator="*", left=a, right=b)):
        left = linear_parts(plain, terms, 2)
        assert (left.expression, dict(left.parts), left.entering) == (plain, {}, 2)
    both = Arithmetic(
        operator="/", left=minus(a, b), right=minus(a, Arithmetic(operator="+", left=b, right=b))
    )
    assert linear_parts(both, terms, 2).entering == 2


def test_previews_say_what_intervals_will_be(curator):
    asked = "SELECT k, SUM(a) - SUM(b) AS d FROM t GROUP BY k"
    (expected,) = curator.preview(asked, epsilon=1).expectations
    _, lower, upper = answer(curator, "SUM(a) - SUM(b)", epsilon=1)
    assert expected.margin == pytest.approx(np.median(upper - lower) / 2)
