"""Counts under computed conditions, alone and beside other aggregates: the worked example, and errors."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import exp

import numpy as np
import pandas as pd
import pyarrow
import pytest
from scipy import stats

from discreet.curator import Budget, Draw
from discreet.curator.request.histogram_choices import Choices
from discreet.data import Bounds, Keys, Limits, Table, compute, fresh_salt
from discreet.front import Curator
from discreet.queries.noise import joint_request
from discreet.queries.noise.joint_counts import JointCountOutput
from effort import releases
from significance import FALSE_ALARM

MASS = "weight / (height * height)"
FOUR = (
    f"SELECT COUNT(*) FILTER (WHERE sex = 'f') AS women, "  # noqa: S608
    f"SUM(CASE WHEN {MASS} > 25 THEN 1 ELSE 0 END) AS heavy, "
    f"COUNT_IF(sex = 'f' AND {MASS} > 25) AS heavy_women, "
    f"COUNT(CASE WHEN sex = 'm' AND NOT {MASS} <= 25 THEN 'x' END) AS heavy_men FROM people"
)
TWO_SEXES = f"{FOUR} WHERE sex IN ('f', 'm')"
NAMES = ("women", "heavy", "heavy_women", "heavy_men")
MANY = 100
"""An epsilon at which counts are exact, up to their rounding."""


def people(rows=4000):
    draw = np.random.default_rng(3)
    height = np.round(draw.normal(1.7, 0.1, rows), 2)
    height[::101] = 0  # no quotient
    frame = pd.DataFrame(
        {
            "person": np.arange(rows),
            "sex": draw.choice(["f", "m", None], rows, p=[0.5, 0.45, 0.05]),
            "height": height,
            "weight": np.round(draw.normal(72, 15, rows), 1),
            "age": draw.integers(18, 95, rows),
            "paid": [Decimal(int(cents)).scaleb(-2) for cents in draw.integers(0, 5000, rows)],
            "name": draw.choice(["Ann", "Bea", "Bob", "ann", None], rows),
        }
    )
    frame.loc[::53, "weight"] = np.nan
    return frame


FRAME = people()


def clinic(folder, limits=None):
    stored = pyarrow.Table.from_pandas(FRAME, preserve_index=False)
    table = Table(
        stored,
        person="person",
        limits=limits or Limits(rows=1),
        columns={
            "sex": Keys(["f", "m"]),
            "height": Bounds(0, "2.5", step="0.01"),
            "weight": Bounds(20, 250, step="0.1"),
            "age": Bounds(0, 110),
            "paid": Bounds(0, 50, step="0.01"),
        },
    )
    return Curator(
        {"people": table}, budget=Budget(epsilon=10**4, delta="1e-3"), ledger=folder / "people.ledger"
    )


@pytest.fixture
def curator(tmp_path):
    return clinic(tmp_path)


def mass():
    with np.errstate(divide="ignore", invalid="ignore"):
        found = FRAME["weight"] / (FRAME["height"] * FRAME["height"])
    return found.where(FRAME["height"] != 0)


def together(request):
    return [output.name for output in request.outputs if isinstance(output, JointCountOutput)]


def variances(preview):
    return {one.name: one.standard_deviation**2 for one in preview.expectations}


def of_laplace(scale):
    """The variance of discrete Laplace noise, by its series."""
    ratio = exp(-1 / scale)
    return 2 * ratio / (1 - ratio) ** 2


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(2)])
def test_the_worked_example_costs_12_and_not_128(curator, epsilon):
    joint = variances(curator.preview(TWO_SEXES, epsilon=epsilon))
    alone = variances(curator.preview(TWO_SEXES, epsilon=epsilon, split=dict.fromkeys(NAMES, 1)))
    cell, naive = of_laplace(1 / epsilon), of_laplace(4 / epsilon)
    assert joint == pytest.approx(
        {"women": 2 * cell, "heavy": 2 * cell, "heavy_women": cell, "heavy_men": cell}
    )
    assert alone == pytest.approx(dict.fromkeys(NAMES, naive))
    if epsilon < 1:  # integers have a hair less than the continuous law
        assert sum(joint.values()) * float(epsilon) ** 2 == pytest.approx(12, rel=0.03)
        assert sum(alone.values()) * float(epsilon) ** 2 == pytest.approx(128, rel=0.01)


def test_without_the_filter_other_sexes_are_one_more_class(curator):
    squares = variances(curator.preview(FOUR, epsilon="0.01"))
    assert sum(squares.values()) * 1e-4 == pytest.approx(14, rel=1e-3)


@pytest.mark.slow
@pytest.mark.statistical
def test_the_worked_example_errs_as_much_as_is_said(curator):
    request = curator.request(TWO_SEXES, epsilon=Fraction(1, 4))
    (part,) = request.parts
    exact = np.arange(1, part.measure.width + 1) * 100
    truths = [output.design.workload.row(output.row) @ exact for output in request.outputs]
    runs, errors = 4000, []
    for _ in range(runs):
        draw = Draw(part=part, steps=part.mechanism.release(exact))
        errors.append([output.finish([draw], request.confidence).values[0] for output in request.outputs])
    squares = ((np.array(errors) - truths) ** 2).sum(axis=1)
    said = sum(output.variance for output in request.outputs)
    assert said == pytest.approx(6 * of_laplace(4))
    # By Chebyshev's inequality this fails with probability at most 1/49 if the squares had any such spread;
    # the mean of 4000 is as good as normal, and then it fails with less than 1e-11.
    assert abs(squares.mean() - said) < 7 * squares.std() / np.sqrt(runs)


def test_counts_under_computed_conditions_are_those_of_the_rows(curator):
    answer = curator.ask(FOUR, epsilon=MANY)
    assert together(answer.request) == [*NAMES]
    heavy, sex = mass() > 25, FRAME["sex"]
    exact = [(sex == "f").sum(), heavy.sum(), (heavy & (sex == "f")).sum(), (heavy & (sex == "m")).sum()]
    assert [answer[name][0] for name in NAMES] == pytest.approx(exact, abs=3)


CONDITIONS = {
    f"{MASS} < 18.5": lambda: mass() < 18.5,
    f"{MASS} BETWEEN 18.5 AND 25": lambda: mass().between(18.5, 25),
    f"NOT ({MASS} <= 30 OR age < 40)": lambda: (mass() > 30) & (FRAME["age"] >= 40),
    f"{MASS} IS NULL": lambda: mass().isna() & FRAME["weight"].isna() | (FRAME["height"] == 0),
    "paid > 12.34": lambda: FRAME["paid"] > Decimal("12.34"),
    "paid IN (1.00, 2.5, 49.99)": lambda: FRAME["paid"].isin([Decimal(1), Decimal("2.5"), Decimal("49.99")]),
    "age < weight": lambda: FRAME["age"] < FRAME["weight"],
    "weight <= age": lambda: FRAME["weight"] <= FRAME["age"],
    "name LIKE 'B%'": lambda: FRAME["name"].isin(["Bea", "Bob"]),
    "name IN ('Ann', 'Bob')": lambda: FRAME["name"].isin(["Ann", "Bob"]),
    "name < 'Bob'": lambda: FRAME["name"].isin(["Ann", "Bea"]),
}


@pytest.mark.parametrize("chosen", [(0, 1, 2, 3), (4, 5), (6, 7), (8, 9, 10), (1, 4, 6)])
def test_whatever_is_compared_is_counted_right(curator, chosen):
    listed = [[*CONDITIONS.items()][place] for place in chosen]
    counts = ", ".join(f"COUNT_IF({sql}) AS c{place}" for place, (sql, _) in enumerate(listed))
    answer = curator.ask(f"SELECT COUNT(*) AS n, {counts} FROM people", epsilon=MANY)  # noqa: S608
    assert len(together(answer.request)) == len(chosen) + 1
    assert answer["n"][0] == pytest.approx(len(FRAME), abs=4)
    for place, (_, rows) in enumerate(listed):
        assert answer[f"c{place}"][0] == pytest.approx(rows().sum(), abs=4)


BESIDE = f"SELECT sex, COUNT(*) AS n, COUNT_IF({MASS} > 25) AS h, COUNT_IF({MASS} > 30) AS o, SUM(age) AS a, "
MIXED = {
    "a sum": f"{BESIDE} SUM(weight * height) AS w FROM people GROUP BY sex",
    "a mean": f"{BESIDE} AVG(weight) AS w FROM people GROUP BY sex",
    "a median": f"{BESIDE} MEDIAN(age) AS m FROM people GROUP BY sex",
    "persons": f"{BESIDE} COUNT(DISTINCT person) AS p, COUNT(age) AS k FROM people GROUP BY sex",
    "a variance": f"{BESIDE} STDDEV(weight) AS d FROM people GROUP BY sex",
}
OFFERS = [
    {"epsilon": 1},
    {"epsilon": 1, "delta": "1e-6"},
    {"epsilon": "0.05", "delta": "1e-3"},
    {"rho": "0.01"},
]


def in_rows(request):
    """The error that offers are divided by, written once more: variances over what a row can move."""
    total = 0.0
    for output in request.outputs:
        if isinstance(output, JointCountOutput):
            total += output.expect([], request.confidence, 0).standard_deviation ** 2
            continue
        for measure, weight in zip(output.measures, output.weights, strict=True):
            mechanism = request.part_of(measure).mechanism
            total += float(weight) ** 2 * mechanism.error.variance
    return total


@pytest.mark.few(6)
@pytest.mark.parametrize("offer", OFFERS, ids=str)
@pytest.mark.parametrize("name", ["a sum", "a mean", "persons", "a variance"])
def test_beside_other_aggregates_the_error_of_all_is_less(curator, name, offer):
    request = curator.request(MIXED[name], **offer)
    names = [output.name for output in request.outputs]
    assert {"h", "o"} <= {*together(request)} < {*names}
    alone = curator.request(MIXED[name], split=dict.fromkeys(names, 1), **offer)
    assert not together(alone)
    assert in_rows(request) < in_rows(alone)
    assert all(part.mechanism for part in request.parts)


@pytest.mark.few(2)
@pytest.mark.parametrize("offer", OFFERS, ids=str)
def test_no_division_between_counts_and_the_rest_is_much_better(curator, offer, monkeypatch):
    """The share of the counts is the best of a hundred, up to the roundness of integers."""
    best = in_rows(curator.request(MIXED["a sum"], **offer))
    found = []
    for hundredth in range(5, 100, 10):
        monkeypatch.setattr(joint_request, "share_of_counts", lambda *_, to=hundredth: Fraction(to, 100))
        found.append(in_rows(curator.request(MIXED["a sum"], **offer)))
    assert best <= min(found) * 1.001
    assert max(found) > 1.2 * best  # so that a wrong share would be noticed


@pytest.mark.few(6)
@pytest.mark.parametrize("offer", OFFERS, ids=str)
@pytest.mark.parametrize("name", MIXED)
def test_all_parts_cost_together_what_is_offered(tmp_path, name, offer):
    budget = Budget(**offer)
    curator = clinic(tmp_path)
    request = curator.request(MIXED[name], **offer)
    assert together(request)
    if "rho" in offer:
        assert request.event.concentrated_rho <= budget.rho
    elif "delta" not in offer:
        assert request.event.pure_epsilon == 1
    for part in request.parts:
        assert getattr(part.mechanism, "covers", lambda _: True)(part.statistic)
    assert curator.preview(MIXED[name], **offer).fits > 0


@pytest.mark.parametrize("name", MIXED)
def test_answers_beside_counts_are_those_of_the_rows(curator, name):
    answer = curator.ask(MIXED[name], epsilon=MANY)
    assert {"h", "o"} <= {*together(answer.request)}
    for place, sex in enumerate(answer.keys["sex"]):
        rows = FRAME["sex"] == sex
        exact = {
            "n": rows.sum(),
            "h": (rows & (mass() > 25)).sum(),
            "o": (rows & (mass() > 30)).sum(),
            "a": FRAME["age"][rows].sum(),
            "p": rows.sum(),
            "k": rows.sum(),
            "m": FRAME["age"][rows].median(),
            "w": FRAME["weight"][rows].mean(),
            "d": FRAME["weight"][rows].std(),
        }
        for column in set(exact) & {output.name for output in answer.request.outputs}:
            if (name, column) != ("a sum", "w"):
                assert answer[column][place] == pytest.approx(exact[column], rel=0.01, abs=4)


def test_percentages_are_calculated_from_counts_together(curator):
    share = f"100.0 * SUM(CASE WHEN {MASS} > 25 THEN 1 ELSE 0 END) / COUNT(*)"
    answer = curator.ask(f"SELECT sex, {share} AS p FROM people GROUP BY sex", epsilon=MANY)  # noqa: S608
    assert len(together(answer.request)) == 2
    for place, sex in enumerate(answer.keys["sex"]):
        rows = FRAME["sex"] == sex
        assert answer["p"][place] == pytest.approx(100 * (rows & (mass() > 25)).sum() / rows.sum(), abs=0.3)


def check_intervals(request, tables, many):
    """Draw what has additive noise again and again, and compare with what exact integers give."""
    exact = compute(request.plan, tables, salt=fresh_salt())
    draws, without = {}, {}
    for part in request.parts:
        if isinstance(part.mechanism, Choices):
            continue  # of quantiles, as without counts beside them
        integers = np.asarray(exact[part.measure])
        steps = np.concatenate([part.mechanism.release(integers) for _ in range(many)])
        draws[part.measure] = Draw(part=part, steps=steps)
        without[part.measure] = Draw(part=part, steps=integers)
    for output in request.outputs:
        if not draws.keys() >= {*output.measures}:
            continue
        if isinstance(output, JointCountOutput):
            classes = np.asarray(exact[output.histogram]).reshape(request.plan.cells, -1)
            true = classes @ output.design.workload.row(output.row)
        else:
            read = [without[measure] for measure in output.measures]
            true = np.asarray(output.finish(read, request.confidence).values, float)
        column = output.finish([draws[measure] for measure in output.measures], request.confidence)
        lower, upper = (end.reshape(many, -1) for end in (column.lower, column.upper))
        assert lower.shape[1] == request.plan.cells
        slack = 1e-9 * np.maximum(1, np.abs(true))
        missed = ((lower > true + slack) | (true - slack > upper)).sum(axis=0)
        print(output.name, f"{1 - missed.max() / many:.2%}")
        assert (missed <= stats.binom.isf(FALSE_ALARM, many, float(1 - request.confidence))).all()


def test_intervals_of_counts_beside_others_hold_as_often_as_they_say(tmp_path):
    curator = clinic(tmp_path)
    request = replace(curator.request(MIXED["a mean"], epsilon=1), confidence=Fraction(4, 5))
    check_intervals(request, curator.tables, 400)


@pytest.mark.few(0, slow=2)
@pytest.mark.parametrize("offer", OFFERS, ids=str)
@pytest.mark.parametrize("name", MIXED)
def test_intervals_beside_counts_cover_in_many_releases(tmp_path, name, offer):
    curator = clinic(tmp_path)
    request = replace(curator.request(MIXED[name], **offer), confidence=Fraction(9, 10))
    assert together(request)
    check_intervals(request, curator.tables, releases(10_000))


def several(condition, count):
    counts = [f"COUNT_IF({condition.format(place + 1)}) AS c{place}" for place in range(count)]
    return f"SELECT {', '.join(counts)} FROM people"  # noqa: S608


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (TWO_SEXES, r"counts are measured together: 11\.\d times less squared error than one by one"),
        (MIXED["a sum"], r"measured together: \d\.?\d* times less squared error of all that is asked than"),
        (several("age > {}", 51), "counts are measured one by one: there are more than 50 conditions"),
        (several("age * {} > weight", 11), "one by one: their conditions divide rows into more than 512"),
        (several("age * {} > weight", 31), "one by one: their conditions compare too many values, or"),
        (
            "SELECT COUNT_IF(age > 3) AS a, COUNT_IF(age > 3) AS b FROM people",
            "one by one: all of them count the same rows",
        ),
    ],
)
def test_it_is_said_whether_counts_are_measured_together_or_why_not(curator, sql, words):
    preview, explained = curator.preview(sql, epsilon=1), curator.explain(sql, epsilon=1)
    for text in (str(preview), preview._repr_html_(), explained):
        assert re.search(words, text.replace("&#x27;", "'"))
    assert "weight" not in preview.remark


def test_nothing_is_said_where_there_is_nothing_to_choose(curator):
    assert not curator.preview("SELECT COUNT(*) AS n, AVG(age) AS a FROM people", epsilon=1).remark
    assert not curator.preview(FOUR, epsilon=1, split=dict.fromkeys(NAMES, 1)).remark
