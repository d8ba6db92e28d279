"""Every interval covers the bounded statistic at least as often as it says, for every aggregate that has one.

The exact integers come once from the engine; noise and intervals are those that ship, in as many groups as
there are releases. The true values are worked out here, from the rows, by NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil

import numpy as np
import pyarrow
import pytest

from discreet.curator.release.release import finish, pack, unpack
from discreet.curator.request.request import Draw
from discreet.data import Bounds, Keys, Limits, Table, compute, fresh_salt
from discreet.queries import Offer, build_request, parse
from queries.spread_data import allowed_misses

pytestmark = pytest.mark.statistical

LEVEL = Fraction(95, 100)
FEW, MANY = 1_000, 20_000
OFFERS = {
    "pure": Offer(epsilon=0.8),
    "approximate": Offer(epsilon=0.8, delta=1e-3),
    "zCDP": Offer(rho=0.02),
}
PERSONS = 400


def _rows():
    draw = np.random.default_rng(11)
    person = np.repeat(np.arange(PERSONS), draw.integers(1, 4, PERSONS))
    age = np.clip(draw.normal(40, 22, person.size), -30, 100).round().astype(np.int64)
    cost = (age / 8 + draw.normal(3, 2, person.size)).round(1)
    absent = draw.random(person.size) < 0.1
    return person, age, cost, absent, draw.integers(0, 12, person.size)


PERSON, AGE, COST, ABSENT, CODE = _rows()
X = np.clip(AGE, -20, 80)
Y = np.clip(np.floor(COST / 0.5 + 0.5) * 0.5, 0, 12)
PRESENT = Y[~ABSENT]


def quantile(share):
    """The least c such that at least the share of all values are at most c."""
    return float(np.sort(X)[ceil(Fraction(share) * X.size) - 1])


def covariance(correction):
    x, y = X[~ABSENT], PRESENT
    return ((x - x.mean()) * (y - y.mean())).sum() / (x.size - correction)


@dataclass(frozen=True)
class Case:
    """An aggregate of SQL, its true value, and whether its interval comes from the law of one noise."""

    sql: str
    true: float
    exact: bool = False


CASES = {
    "count": Case("COUNT(*)", X.size, exact=True),
    "count of values": Case("COUNT(cost)", PRESENT.size, exact=True),
    "persons": Case("COUNT(DISTINCT patient)", PERSONS, exact=True),
    "count distinct": Case("COUNT(DISTINCT code)", np.unique(CODE).size, exact=True),
    "sum": Case("SUM(cost)", PRESENT.sum(), exact=True),
    "sum of signed values": Case("SUM(age)", X.sum(), exact=True),
    "mean": Case("AVG(cost)", PRESENT.mean()),
    "variance": Case("VAR_POP(age)", X.var()),
    "sample variance": Case("VARIANCE(age)", X.var(ddof=1)),
    "deviation": Case("STDDEV_POP(cost)", PRESENT.std()),
    "sample deviation": Case("STDDEV(cost)", PRESENT.std(ddof=1)),
    "covariance": Case("COVAR_POP(age, cost)", covariance(0)),
    "sample covariance": Case("COVAR_SAMP(age, cost)", covariance(1)),
    "correlation": Case("CORR(age, cost)", np.corrcoef(X[~ABSENT], PRESENT)[0, 1]),
    "median": Case("MEDIAN(age)", quantile("1/2")),
    "lower quantile": Case("QUANTILE(age, 0.1)", quantile("1/10")),
    "upper quantile": Case("QUANTILE(age, 0.9)", quantile("9/10")),
    "minimum": Case("MIN(code)", CODE.min()),
    "maximum": Case("MAX(code)", CODE.max()),
    "minimum at the bound": Case("MIN(age)", X.min()),
    "maximum at the bound": Case("MAX(age)", X.max()),
    "ratio": Case("SUM(cost) / COUNT(*)", PRESENT.sum() / X.size),
    "rounded mean": Case("ROUND(AVG(cost), 1)", np.floor(10 * PRESENT.mean() + 0.5) / 10),
    "difference": Case("SUM(age) - 2 * SUM(cost)", X.sum() - 2 * PRESENT.sum()),
    "difference of counts": Case("COUNT(*) - COUNT(cost)", X.size - PRESENT.size),
    "spread": Case("MAX(code) - MIN(code)", CODE.max() - CODE.min()),
    "percentage": Case(
        "100.0 * SUM(CASE WHEN age < 30 THEN 1 ELSE 0 END) / COUNT(*)", 100 * (AGE < 30).mean()
    ),
    "relative deviation": Case("STDDEV_POP(cost) / AVG(cost)", PRESENT.std() / PRESENT.mean()),
    "branch that noise decides": Case(
        f"CASE WHEN COUNT(*) > {X.size} THEN SUM(cost) ELSE 0 - SUM(cost) END", -PRESENT.sum()
    ),
}


@cache
def tables(groups):
    frame = pyarrow.table(
        {
            "patient": PERSON,
            "copy": np.zeros(PERSON.size, np.int64),
            "age": AGE,
            "cost": pyarrow.array(COST, mask=ABSENT),
            "code": CODE,
        }
    )
    columns = {
        "copy": Keys(range(groups)),
        "age": Bounds(-20, 80),
        "cost": Bounds(0, 12, step=0.5),
        "code": Bounds(-10, 30),
    }
    return {"visits": Table(frame, person="patient", limits=Limits(rows=3), columns=columns)}


def answers(question, offer, releases, offers=OFFERS):
    """The columns of an answer in as many groups as releases, each with the exact integers of the first."""
    known = tables(releases)
    request = build_request(parse(question, known), known, offers[offer], confidence=LEVEL)
    keys = request.plan.keys[1:]
    inner = int(np.prod([len(key.values) for key in keys], dtype=np.int64)) if keys else 1
    exact = compute(request.plan, known, salt=fresh_salt())
    draws = []
    for part in request.parts:
        integers = np.asarray(exact[part.measure]).reshape(releases * inner, -1)[:inner]
        copied = np.tile(integers, (releases, 1)).reshape(-1)
        draws.append(Draw(part=part, steps=np.asarray(part.mechanism.release(copied))))
    return finish(request, unpack(request, pack(draws)), {"private": True})


def missed(column, true, *, shrunk=0.0):
    """How many intervals miss a value, if each is made narrower by a share of itself."""
    below, above = column.values - column.lower, column.upper - column.values
    lower, upper = column.lower + shrunk * below, column.upper - shrunk * above
    slack = 1e-9 * max(1.0, abs(true))  # NumPy's own rounding
    return int(((lower > true + slack) | (true - slack > upper)).sum())


def check(name, releases, cases=CASES, offers=OFFERS):
    """Test the intervals of one aggregate under each offer, and return how often each covers."""
    case, coverage = cases[name], {}
    for offer in offers:
        sql = f"SELECT copy, {case.sql} AS x FROM visits GROUP BY copy"  # noqa: S608
        misses = missed(answers(sql, offer, releases, offers).outputs[0], case.true)
        coverage[offer] = 1 - misses / releases
        assert misses <= allowed_misses(releases, float(1 - LEVEL)), (name, offer)
    print(name, {offer: f"{share:.2%}" for offer, share in coverage.items()})
    return coverage


@pytest.mark.few(5)
@pytest.mark.parametrize("name", CASES)
def test_every_interval_covers(name):
    check(name, FEW)


@pytest.mark.parametrize("name", ["ratio", "rounded mean", "difference", "percentage"])
def test_intervals_of_calculations_cover(name):
    check(name, FEW // 2)


@pytest.mark.few(0, slow=2)
@pytest.mark.parametrize("name", CASES)
def test_every_interval_covers_in_twenty_thousand_releases(name):
    check(name, MANY)


HISTOGRAM = "SELECT copy, WIDTH_BUCKET(age, 0, 60, 3) AS bin, COUNT(*) AS x FROM visits GROUP BY copy, bin"


def check_histogram(releases):
    counts = np.histogram(X, bins=[-99, 0, 20, 40, 99])[0][:3]
    for offer in OFFERS:
        release = answers(HISTOGRAM, offer, releases)
        bins = np.array(release.keys["bin"])
        column = release.outputs[0]
        for number, true in enumerate(counts):
            here = bins == number
            one = type(column)(
                name="x", values=column.values[here], lower=column.lower[here], upper=column.upper[here]
            )
            misses = missed(one, true)
            assert misses <= allowed_misses(releases, float(1 - LEVEL)), (number, offer)
            print("histogram", number, offer, f"{1 - misses / releases:.2%}")


def test_every_bin_of_a_histogram_is_covered():
    check_histogram(FEW)


@pytest.mark.exhaustive
def test_every_bin_of_a_histogram_is_covered_in_twenty_thousand_releases():
    check_histogram(MANY)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.exact])
def test_intervals_a_tenth_narrower_are_noticed(name):
    """The control: the same test refuses intervals that are narrower by a tenth."""
    case, misses = CASES[name], 0
    sql = f"SELECT copy, {case.sql} AS x FROM visits GROUP BY copy"  # noqa: S608
    for offer in OFFERS:
        misses += missed(answers(sql, offer, MANY).outputs[0], case.true, shrunk=0.1)
    assert misses > allowed_misses(MANY * len(OFFERS), float(1 - LEVEL))
