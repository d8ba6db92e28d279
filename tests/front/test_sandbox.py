"""A sandbox: the same declarations over made-up rows, which nobody's data had a part in."""

from __future__ import annotations

import datetime

import pyarrow
import pytest

from curator.release.test_label import valid
from discreet.curator import Budget
from discreet.data import EACH_ROW, Bounds, Dates, Keys, Limits, PublicTable, Table, Type, through
from discreet.data.tables.fake_rows import made_up
from discreet.errors import ParameterError
from discreet.front import Curator

DAYS = Dates(datetime.date(2024, 3, 1), datetime.date(2024, 5, 31))
SCHEMA = pyarrow.schema(
    [
        ("who", pyarrow.string()),
        ("city", pyarrow.string()),
        ("ward", pyarrow.int64()),
        ("open", pyarrow.bool_()),
        ("cost", pyarrow.float64()),
        ("price", pyarrow.decimal128(12, 2)),
        ("age", pyarrow.int64()),
        ("day", pyarrow.date32()),
        ("seen", pyarrow.timestamp("us")),
        ("moment", pyarrow.timestamp("us", "UTC")),
        ("town", pyarrow.string()),
        ("tags", pyarrow.list_(pyarrow.string())),
    ]
)
COLUMNS = {
    "city": Keys(["Taipei", "Oslo"]),
    "ward": Keys([1, 2, None]),
    "cost": Bounds(0, 50, step=0.1),
    "price": Bounds(0, 9, step=0.01),
    "age": Bounds(0, 110),
    "day": DAYS,
    "moment": DAYS,
}


def visits(**options):
    given = {"person": "who", "limits": Limits(rows=3), "columns": COLUMNS, **options}
    return Table(pyarrow.Table.from_pylist([], schema=SCHEMA), **given)


def untouchable(table):
    """The same table without its rows: whatever reads them fails."""
    table._relation = table._all_rows = table._backend = None
    return table


CITIES = PublicTable(pyarrow.table({"name": ["Taipei", "Oslo"], "region": ["Asia", "Europe"]}))


@pytest.fixture
def curator(place):
    tables = {
        "visits": visits(),
        "ready": visits(prepare=True),
        "crowd": visits(person=EACH_ROW, limits=None),
        "cities": CITIES,
    }
    made = Curator(tables, budget=Budget(epsilon=1), ledger=place / "clinic.ledger")
    for name in ("visits", "ready", "crowd"):
        untouchable(made.tables[name])
    return made


def test_declarations_and_types_are_the_same_and_no_data_is_touched(curator):
    made = curator.sandbox(rows=500)
    for name, table in curator.tables.items():
        other = made.tables[name]
        assert other.schema == table.schema
        assert other.declaration == table.declaration
    assert made.tables["cities"] is CITIES
    assert made.tables["visits"].version == "made up 1"


def test_answers_are_marked(curator):
    made = curator.sandbox(rows=2000)
    answer = made.ask("SELECT city, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY city", epsilon=5)
    assert answer.label["private"] is False
    assert answer.label["made_up"] is True
    valid(answer.label)
    assert str(answer).endswith("made-up rows: not private")
    assert "made-up rows: not private" in answer._repr_html_()
    assert (answer["n"] > 100).all()
    assert "Sandbox(" in repr(made)
    chosen = made.ask("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", epsilon=5, delta=1e-6)
    assert chosen.label["private"] is False
    assert len(chosen.keys["town"]) == 11
    none = made.ask("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", epsilon=1e-4, delta=1e-9)
    assert none.keys["town"] == []
    assert none.label["private"] is False


def test_all_that_is_declared_can_be_asked(curator):
    made = curator.sandbox(rows=2000)
    for sql in (
        "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS n FROM ready GROUP BY month",
        "SELECT YEAR(moment) AS y, SUM(price) AS s FROM crowd GROUP BY y",
        "SELECT c.region AS r, MEDIAN(v.age) AS a FROM visits v JOIN cities c ON v.city = c.name GROUP BY r",
        "SELECT ward, COUNT(*) AS n FROM ready WHERE open GROUP BY ward",
    ):
        assert len(made.ask(sql, epsilon=5).columns()) >= 4


def test_nothing_is_spent_where_it_was_made(curator):
    before = list(curator.ledger.entries())
    curator.sandbox(rows=50).ask("SELECT COUNT(*) AS n FROM visits", epsilon=50)
    assert list(curator.ledger.entries()) == before
    assert curator.spent.requests == 0


def test_a_seed_makes_the_same_rows():
    tables = [made_up({"visits": visits()}, 1000, seed)["visits"] for seed in (1, 1, 2)]
    rows = [table._rows() for table in tables]
    assert rows[0].equals(rows[1])
    assert not rows[0].equals(rows[2])
    frame = rows[0].to_pandas()
    assert frame["cost"].min() < 0 or frame["cost"].max() > 50
    assert frame["cost"].isna().any()
    assert frame["who"].value_counts().max() > 3
    assert frame["day"].dropna().between(DAYS.first, DAYS.last).all()


def test_persons_may_be_decimals_or_integers():
    for kind in (pyarrow.decimal128(10, 0), pyarrow.int64()):
        table = Table(pyarrow.table({"who": pyarrow.array([], kind)}), person="who", limits=Limits(rows=1))
        assert made_up({"t": table}, 20, 0)["t"].schema == table.schema
    assert table.schema["who"] is Type.INTEGER


@pytest.mark.parametrize(
    "kind", [pyarrow.int64(), pyarrow.string(), pyarrow.decimal128(9, 0), pyarrow.date32()]
)
def test_rows_that_belong_to_parents_have_some(tmp_path, kind):
    keys = pyarrow.array([], kind)
    tables = {
        "notes": Table(
            pyarrow.table({"line": keys, "on": keys}),
            person=through("lines", on=["on", "line"], to=["order", "number"]),
            limits=Limits(rows=9),
        ),
        "lines": Table(
            pyarrow.table({"order": keys, "number": keys}),
            person=through("orders", on="order", to="id"),
            limits=Limits(rows=9),
            prepare=True,
        ),
        "orders": Table(
            pyarrow.table({"id": keys, "who": pyarrow.array([], pyarrow.int64())}),
            person="who",
            limits=Limits(rows=3),
        ),
    }
    curator = Curator(tables, budget=Budget(epsilon=9), ledger=tmp_path / "keys.ledger")
    made = curator.sandbox(rows=500)
    assert {name: one.declaration for name, one in made.tables.items()} == {
        name: one.declaration for name, one in curator.tables.items()
    }
    assert made.tables["notes"].version == "made up 1; lines: made up 1; orders: made up 1"
    sql = "SELECT COUNT(*) AS n FROM notes n JOIN orders o ON n.on = o.id"
    assert made.ask(sql, epsilon=9)["n"][0] > 100


@pytest.mark.parametrize("options", [{"rows": 0}, {"rows": 1.5}, {"seed": -1}, {"seed": "x"}])
def test_bad_sizes(curator, options):
    with pytest.raises(ParameterError):
        curator.sandbox(**options)
