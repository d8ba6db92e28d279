"""What an answer says that it is about: rows of each person, and bounds of values."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from cli.program import discreet
from curator.doors import BY_CITY, COLUMNS, clinic, visits
from discreet.curator import Budget
from discreet.curator.release.about import counted, counted_groups, price
from discreet.data import AUTO, EACH_ROW, Bounds, Keys, Limits, Table
from discreet.front import Curator
from discreet.privacy import events

PERSONS = 5000
MANY = pd.DataFrame({"person": [n % PERSONS for n in range(12_000)], "age": [n % 80 for n in range(12_000)]})
"""12,000 rows of 5,000 people, most of whom have more than one."""


@pytest.fixture
def one_row(place):
    table = Table(MANY, person="person", limits=Limits(rows=1), columns={"age": Bounds(0, 120)})
    return Curator({"visits": table}, budget=Budget(epsilon=10), ledger=place / "l")


def test_one_row_of_each_person_is_said_in_print_and_html(one_row):
    said = "at most 1 row per person counted, age within 0 to 120; intervals at 95%"
    release = one_row.ask("SELECT COUNT(*) AS n, AVG(age) AS m FROM visits", epsilon=1)
    assert release["n"][0] < 6000
    assert said in str(release).splitlines()
    assert said in release._repr_html_()
    assert release.label["counted"] == "at most 1 row per person counted, age within 0 to 120"
    assert one_row.ask("SELECT COUNT(*) AS n, AVG(age) AS m FROM visits", epsilon=1).label["left"] == "9"


def test_one_row_of_each_person_is_said_in_the_shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    MANY.to_csv("visits.csv", index=False)
    assert discreet("init --source visits.csv --person person --rows-per-person 1 --budget 3").code == 0
    found = discreet("query --epsilon 1", "SELECT COUNT(*) AS n FROM visits")
    assert "at most 1 row per person counted; intervals at 95%" in found.output.splitlines()
    found = discreet("preview --epsilon 1", "SELECT COUNT(*) AS n FROM visits")
    assert "at most 1 row per person counted" in found.output


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(rows=1), "at most 1 row per person counted"),
        (Limits(rows=1200), "at most 1,200 rows per person counted"),
        (Limits(groups=1, rows_per_group=2), "at most 2 rows per person counted in 1 group"),
        (Limits(groups=2, rows_per_group=1), "at most 1 row per person counted in each of 2 groups"),
    ],
)
def test_every_kind_of_limit(place, limits, words):
    curator = clinic(place, tables={"visits": visits(limits=limits)})
    assert curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1).label["counted"] == words


def test_limits_of_the_question_and_bought_ones(place):
    curator = clinic(place, tables={"visits": visits(limits=Limits(rows=30))}, budget=Budget(epsilon=100))
    sql = "SELECT COUNT(*) AS n FROM visits"
    assert curator.ask(sql, epsilon=1, limits=Limits(rows=2)).label["counted"].startswith("at most 2 rows")
    bought = curator.ask(sql, epsilon=50, limits=AUTO)
    (rows,) = re.findall(r"at most ([0-9]+) rows? per person counted", str(bought))
    assert re.search(rf"at most {rows} rows? of each person, a limit that was bought", str(bought))


def test_rows_without_persons_and_one_row_for_each_person(place):
    table = visits(person=EACH_ROW, limits=None)
    curator = clinic(place, tables={"visits": table})
    label = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1).label
    assert label["counted"] == "every row counted, each as a person"
    curator = clinic(place, name="second.ledger")
    sql = "SELECT AVG(t) AS m FROM (SELECT patient, SUM(cost) AS t FROM visits GROUP BY patient) AS x"
    words = curator.ask(sql, epsilon=1).label["counted"]
    assert words.startswith("at most 1 row per person counted: nobody has more, t within ")


def test_bounds_that_literals_made_are_not_said(place):
    curator = clinic(place)
    sql = "SELECT SUM(cost * 77) AS s, AVG(age) AS m FROM visits"
    words = counted(curator.request(sql, epsilon=1), curator.tables)
    assert "values of s within their bounds" in words
    assert "age within 0 to 110" in words
    assert "385" not in words
    stated = curator.request(
        "SELECT SUM(cost) AS s FROM visits", epsilon=1, bounds={"cost": Bounds(0, 99, step=0.01)}
    )
    assert counted(stated, curator.tables).endswith("cost within its bounds")
    found = curator.preview(sql, epsilon=1)
    assert "values of s within 0 to 385,000, age within 0 to 110" in str(found)


@pytest.mark.parametrize(
    ("term", "label", "printed"),
    [
        ("AVG(CLIP(CAST(age AS INTEGER), 1, 99))", "age within its bounds", "age within 1 to 99"),
        ("AVG(CASE WHEN age IS NOT NULL THEN cost END)", "cost within 0 to 5,000", "cost within 0 to 5,000"),
        ("AVG(age) FILTER (WHERE cost > 7)", "age within 0 to 110", "age within 0 to 110"),
        (
            "SUM(CASE WHEN age > 17 THEN 3 ELSE 0 END)",
            "values of adults within their bounds",
            "values of adults within 0 to 3",
        ),
        (
            "AVG(CLIP(age, 1, 9)) - AVG(CLIP(age, 1, 8))",
            "age within its bounds",
            "age within 1 to 9, age within 1 to 8",
        ),
    ],
)
def test_no_compiled_expression_is_printed_but_a_name_and_numbers(place, term, label, printed):
    """The one who asked sees the bounds that they stated; the label, which may be filed, does not."""
    release = clinic(place).ask(f"SELECT {term} AS adults FROM visits", epsilon=1)  # noqa: S608
    assert release.label["counted"] == f"at most 3 rows per person counted, {label}"
    assert f"at most 3 rows per person counted, {printed}; intervals at 95%" in str(release)
    assert f"at most 3 rows per person counted, {printed}; intervals at 95%" in release._repr_html_()


def test_one_name_at_the_end_of_another_keeps_its_own_bounds(place):
    frame = pd.DataFrame({"person": range(20), "a b": [1] * 20, "b": [1] * 20})
    table = Table(
        frame, person="person", limits=Limits(rows=1), columns={"a b": Bounds(0, 9), "b": Bounds(0, 9)}
    )
    curator = Curator({"t": table}, budget=Budget(epsilon=10), ledger=place / "l")
    release = curator.ask('SELECT SUM(CLIP(b, 1, 2)) AS s, SUM(CLIP("a b", 3, 4)) AS t FROM t', epsilon=1)
    assert "b within 1 to 2, a b within 3 to 4" in str(release)


def test_a_prepared_table_draws_before_conditions(place):
    table = Table(MANY, person="person", limits=Limits(rows=2), prepare=True)
    curator = Curator({"visits": table}, budget=Budget(epsilon=10), ledger=place / "l")
    young = curator.ask("SELECT COUNT(*) AS n FROM visits WHERE age < 20", epsilon=1)
    assert young.label["counted"] == "at most 2 rows per person counted, drawn before any condition"
    assert "drawn" not in curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1).label["counted"]


def test_joined_tables_and_statements_of_several_answers(place):
    people = pd.DataFrame({"patient": range(20), "group": [n % 2 for n in range(20)]})
    tables = {
        "visits": visits(),
        "people": Table(people, person="patient", limits=Limits(rows=1), columns={"group": Keys([0, 1])}),
    }
    curator = clinic(place, tables=tables, budget=Budget(epsilon=100))
    joined = curator.ask(
        'SELECT p."group", COUNT(*) AS n FROM visits v JOIN people p ON v.patient = p.patient '
        'GROUP BY p."group"',
        epsilon=1,
    )
    assert joined.label["counted"] == "at most 3 rows per person counted"
    both = curator.ask(
        "SELECT (SELECT COUNT(*) FROM visits) AS v, (SELECT COUNT(*) FROM people) AS p", epsilon=1
    )
    assert "visits: at most 3 rows per person counted" in str(both)
    assert "people: at most 1 row per person counted" in both._repr_html_()
    sql = f"WITH a AS ({BY_CITY}) SELECT MAX(n) AS most, MAX(mean_cost) AS m FROM a"  # noqa: S608
    same = curator.ask(sql, epsilon=1)
    assert same.label["counted"] == "at most 3 rows per person counted, cost within 0 to 5,000"


def test_chosen_keys(place):
    curator = clinic(place, budget=Budget(epsilon=100, delta=1e-3))
    sql = "SELECT household, COUNT(*) AS n FROM visits GROUP BY household"
    assert curator.ask(sql, epsilon=20, delta=1e-4).label["counted"] == "at most 3 rows per person counted"
    sql = "SELECT household, COUNT(DISTINCT patient) AS n FROM visits GROUP BY household"
    assert curator.ask(sql, epsilon=20, delta=1e-4).label["counted"] == "at most 3 keys per person counted"


def test_the_number_of_groups_in_words(place):
    columns = {**COLUMNS, "household": Keys(range(7))}
    curator = clinic(place, tables={"visits": visits(columns=columns)})

    def words(sql):
        return counted_groups(curator.request(sql, epsilon=1))

    assert words("SELECT COUNT(*) AS n FROM visits") == "1 group is answered: all rows together"
    assert words(BY_CITY) == "3 groups are answered, of 3 keys of city"
    by_both = "SELECT city, household, COUNT(*) AS n FROM visits GROUP BY"
    assert (
        words(f"{by_both} city, household") == "21 groups are answered, of 3 keys of city and 7 of household"
    )
    assert words(f"{by_both} ROLLUP (city, household)").startswith("25 groups are answered, of 3 keys")
    assert words(f"{by_both} ROLLUP (city, household)").endswith(", and totals")
    most = f"(SELECT MAX(n) FROM ({BY_CITY}) AS t)"  # noqa: S608
    statement = f"SELECT (SELECT COUNT(*) FROM visits) AS one, {most} AS other"  # noqa: S608
    assert words(statement) == "2 questions are measured, for 1 and 3 groups"


def test_previews_say_both(place):
    found = clinic(place).preview(BY_CITY, epsilon=1)
    said = (
        "3 groups are answered, of 3 keys of city; at most 3 rows per person counted, cost within 0 to 5,000"
    )
    assert said in str(found).splitlines()
    assert said in found._repr_html_()
    with pytest.raises(KeyError, match="'x'; the question has n, mean_cost"):
        found["x"]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (events.DiscreteLaplace(sensitivity=1, scale=3), "epsilon 0.333334"),
        (events.Laplace(epsilon="0.5") * 2, "epsilon 1"),
        (events.Gaussian(noise_multiplier=2), "rho 0.125"),
        (events.Approximate(epsilon=1, delta="1e-6"), "epsilon 1 and delta 1e-6"),
    ],
)
def test_prices_in_words(event, words):
    assert price(event) == words


def test_of_many_columns_the_first_are_named_and_the_others_counted(place):
    names = [f"c{number}" for number in range(6)]
    frame = pd.DataFrame({"person": range(20), **dict.fromkeys(names, 1)})
    table = Table(frame, person="person", limits=Limits(rows=1), columns=dict.fromkeys(names, Bounds(0, 9)))
    curator = Curator({"t": table}, budget=Budget(epsilon=10), ledger=place / "l")
    sums = ", ".join(f"SUM({name}) AS s{name}" for name in names)
    said = curator.ask(f"SELECT {sums} FROM t", epsilon=1).label["counted"]  # noqa: S608
    assert said.endswith("c3 within 0 to 9, 2 more columns within their bounds")
    assert "c4 within" not in said
