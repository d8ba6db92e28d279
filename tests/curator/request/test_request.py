"""A request is frozen, known by one hash, and covers what one person can change in its tables."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from curator.doors import BY_CITY, COLUMNS, COUNT, clinic, usual_visits, visits
from discreet.curator import Part, Request
from discreet.curator.ledger.ledger import MOST_BYTES
from discreet.curator.request.request import LARGEST_ANSWER, column_names
from discreet.curator.table_records import declare
from discreet.data import Bounds, Keys, Limits, col, count
from discreet.errors import ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.neighbors import REPLACE_PERSON
from discreet.queries import CountOutput, Offer, build_request, parse

SECRET = bytes(32)
TABLES = {"visits": usual_visits()}


def ask(sql=BY_CITY, tables=TABLES, offer=None, **options):
    return build_request(parse(sql, tables), tables, offer or Offer(epsilon=1), **options)


def digest(request, tables=TABLES, secret=SECRET):
    return request.digest(secret, declare(tables))


def test_the_same_question_in_other_words_is_the_same_request(place):
    curator = clinic(place)
    frame = curator.table("visits").filter(col("age") < 40).group_by("city").agg(n=count())
    spelled = "select city, count( * ) n from visits where age<40.0 group by city"
    first, second = (curator.request(question, epsilon="1/2") for question in (frame, spelled))
    assert digest(first) == digest(second)
    assert first.identity == second.identity


def changed_tables(**options):
    return {"visits": visits(**options)}


ASKED_OTHERWISE = {
    "usual": {},
    "literal": {"sql": f"{COUNT} AND age < 40"},
    "another literal": {"sql": f"{COUNT} AND age < 41"},
    "offer": {"offer": Offer(epsilon=2)},
    "kind of offer": {"offer": Offer(rho=1)},
    "confidence": {"confidence": "0.9"},
    "split": {"split": {"n": 1, "mean_cost": 3}},
    "order": {"sql": "SELECT city, AVG(cost) AS mean_cost, COUNT(*) AS n FROM visits GROUP BY city"},
    "output": {"sql": BY_CITY.replace("AVG", "SUM")},
}
DECLARED_OTHERWISE = {
    "version": {"version": "2"},
    "person": {"person": "household"},
    "limits": {"limits": Limits(rows=4)},
    "groups": {"limits": Limits(groups=3, rows_per_group=1)},
    "bounds": {"columns": {**COLUMNS, "cost": Bounds(0, 5000, step=0.01, null=0)}},
    "keys": {"columns": {**COLUMNS, "city": Keys(["Taipei", "Oslo", "Hamilton"])}},
}


def test_whatever_differs_has_another_hash():
    found = {digest(ask(**options)) for options in ASKED_OTHERWISE.values()}
    for options in DECLARED_OTHERWISE.values():
        tables = changed_tables(**options)
        found.add(digest(ask(tables=tables), tables))
    assert len(found) == len(ASKED_OTHERWISE) + len(DECLARED_OTHERWISE)
    assert digest(ask()) == digest(ask())
    assert digest(ask(), secret=b"\1" * 32) != digest(ask())


def test_the_unit_is_part_of_the_hash_even_where_the_request_is_the_same():
    households = changed_tables(person="household")
    assert ask(tables=households).identity == ask().identity
    assert digest(ask(tables=households), households) != digest(ask())


def test_other_tables_are_no_part_of_the_hash():
    more = {**TABLES, "staff": visits([], version="9")}
    assert digest(ask(), more) == digest(ask())


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda bound: Laplace(sensitivity=int(bound.l1) - 1, epsilon=1),
        lambda bound: Laplace(sensitivity=float(bound.l1), epsilon=1),
        lambda bound: Laplace(sensitivity=int(bound.l1), epsilon=1, neighbors=REPLACE_PERSON),
        lambda bound: Gaussian(sensitivity=2, rho=1),
        lambda bound: Gaussian(sensitivity=3.0, rho=1),
        lambda bound: Gaussian(sensitivity=3, rho=1, neighbors=REPLACE_PERSON),
        lambda bound: "Laplace",
        lambda bound: None,
    ],
)
def test_noise_must_cover_the_statistic(mechanism):
    statistic = ask().parts[0].statistic
    assert statistic.sensitivity.l1 == 3
    with pytest.raises(ParameterError, match="does not cover"):
        Part(statistic=statistic, mechanism=mechanism(statistic.sensitivity))


def test_more_noise_than_needed_is_no_harm():
    statistic = ask().parts[0].statistic
    Part(statistic=statistic, mechanism=Laplace(sensitivity=4, epsilon=1))
    Part(statistic=statistic, mechanism=Gaussian(sensitivity=4, rho=1))


def wrong_parts(request):
    first, *rest = request.parts
    smaller = Part(statistic=first.statistic, mechanism=Laplace(sensitivity=3, epsilon=1, size=2))
    return [
        {"parts": request.parts[1:]},
        {"parts": tuple(reversed(request.parts))},
        {"parts": (smaller, *rest)},
        {"versions": ()},
        {"versions": (("staff", "1"),)},
        {"versions": (*request.versions, ("staff", "1"))},
        {"outputs": request.outputs[:1]},
        {"confidence": Fraction(0)},
        {"confidence": Fraction(1)},
        {"outputs": (CountOutput(name="n", measure=request.plan.measures[0]),)},
    ]


@pytest.mark.parametrize("number", range(10))
def test_a_request_that_does_not_fit_together_is_none(number):
    request = ask()
    with pytest.raises(ParameterError):
        replace(request, **wrong_parts(request)[number])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(age) AS a, COUNT(*) AS a_lower FROM visits",
        "SELECT COUNT(*) AS a_upper, SUM(age) AS a FROM visits",
        "SELECT SUM(age) AS a, COUNT(*) AS A_Lower FROM visits",
    ],
)
def test_the_ends_of_intervals_keep_their_names(sql):
    with pytest.raises(UnsupportedQuery, match="n_lower and n_upper"):
        ask(sql)


@pytest.mark.slow
def test_an_answer_must_fit_into_the_ledger():
    """What could be computed but not kept would be charged and never answered."""
    wide = changed_tables(columns={**COLUMNS, "household": Keys(range(1_000_000))})
    counts = "COUNT(*) AS n, COUNT(patient) AS p, COUNT(household) AS h, COUNT(age) AS a"
    request = ask(f"{BY_CITY.replace('COUNT(*) AS n, AVG(cost) AS mean_cost', counts)}, household", wide)
    assert request.plan.cells * len(request.parts) == LARGEST_ANSWER
    with pytest.raises(UnsupportedQuery, match="numbers"):
        ask(f"{BY_CITY.replace('COUNT(*) AS n', counts)}, household", wide)
    assert LARGEST_ANSWER * len(f"{-(2**63)},") < MOST_BYTES


def test_names_of_columns():
    assert column_names("n") == ("n", "n_lower", "n_upper")


def test_a_request_is_checked_against_the_tables():
    request = ask()
    request.check(TABLES)
    request.check({**TABLES, "staff": visits([])})
    for others in (
        {},
        {"staff": usual_visits()},
        changed_tables(version="2"),
        changed_tables(limits=Limits(rows=4)),
        changed_tables(limits=Limits(rows=2)),
    ):
        with pytest.raises(ParameterError, match="made for these tables"):
            request.check(others)
    with pytest.raises(UndeclaredColumn):
        request.check(changed_tables(columns={**COLUMNS, "cost": Bounds(0, 4000, step=0.01)}))
    with pytest.raises(UndeclaredColumn):
        request.check(changed_tables(columns={**COLUMNS, "city": Keys(["Taipei"])}))


def test_a_made_up_statistic_is_found_out():
    """Whoever claims that one person moves a count by one, where the limit is three, gets nowhere."""
    request = ask(COUNT)
    (part,) = request.parts
    bound = replace(part.statistic.sensitivity, l1=Fraction(1), squared_l2=Fraction(1), linf=Fraction(1))
    cheap = Part(
        statistic=replace(part.statistic, sensitivity=bound),
        mechanism=Laplace(sensitivity=1, epsilon=1, size=1),
    )
    with pytest.raises(ParameterError, match="other declarations"):
        replace(request, parts=(cheap,)).check(TABLES)


def test_what_is_printed_holds_no_literal():
    request = ask(f"{COUNT} AND age < 777123 AND city = 'Sesame'")
    text = repr(request) + str(request) + repr(request.parts) + repr(request.event)
    assert "777123" not in text
    assert "Sesame" not in text
    assert b"777123" in request.identity


def test_a_request_is_frozen():
    request = ask()
    with pytest.raises(AttributeError):
        request.plan = None
    assert isinstance(request, Request)
