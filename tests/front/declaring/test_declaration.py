"""Declaration files: what they mean, and everything that is refused, by place and never by value."""

from __future__ import annotations

import copy
import datetime
import json
import tomllib
from contextlib import closing
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.curator import Budget
from discreet.data import AUTO, EACH_ROW, Bounds, Dates, Keys, Limits, PublicTable, Type, through
from discreet.errors import ParameterError
from discreet.front.declaring.declaration import Declaration, PublicFacts, read_declaration
from discreet.front.opening import open_file
from discreet.front.rehearsal import rehearse
from effort import examples
from front.declared_clinic import DECLARATION, write_clinic

LOCATION = 'location = "clinic.ledger"'
ADDRESS = "postgresql://ana:SECRET@host/db"


def read(tmp_path, text):
    file = tmp_path / "clinic.toml"
    file.write_text(text, encoding="utf-8")
    return read_declaration(file)


def refusal(tmp_path, old, new):
    """What is said when a part of the good file is replaced."""
    assert old in DECLARATION
    with pytest.raises(ParameterError) as caught:
        read(tmp_path, DECLARATION.replace(old, new))
    message = str(caught.value)
    assert message.startswith("clinic.toml")
    assert "SECRET" not in message
    return message


def test_a_whole_file(tmp_path):
    text = """\
tables.people = { source = "/data/people.parquet", each_row = true }

[ledger]
location = "sub/clinic.ledger"
anchor = "other/clinic.anchor"

[budget]
rho = "1/3"
delta = 0.00000100000000000000000001
renews = "monthly"
per_analyst = { epsilon = 0.1 }

[tables.visits]
source = "visits.parquet"
person = "patient id"
limits = { groups = 4, rows_per_group = 2 }
version = "2026-01"

[tables.visits.columns]
cost = { lower = -0.5, upper = 5000, step = 0.01, nan = 0, infinity = "drop", null = 12.34 }
"a b" = { keys = [1, 2], null_key = true }
day = { keys = [2026-01-01, 2026-01-02] }
urgent = { keys = [true, false] }
at = { type = "timestamp" }
"""
    found = read(tmp_path, text)
    share = Budget(epsilon=Fraction(1, 10))
    expected = Budget(
        rho=Fraction(1, 3), delta=Fraction(10**20 + 1, 10**26), renews="monthly", per_analyst=share
    )
    assert found.budget == expected
    assert found.ledger.file == tmp_path / "sub" / "clinic.ledger"
    assert (found.ledger.name, found.ledger.anchor) == (None, tmp_path / "other" / "clinic.anchor")
    assert list(found.tables) == ["people", "visits"]
    people, visits = found.tables["people"], found.tables["visits"]
    assert (str(people.source), people.person, people.limits) == ("/data/people.parquet", EACH_ROW, None)
    assert (people.columns, people.version) == ({}, "1")
    assert visits.source == tmp_path / "visits.parquet"
    assert (visits.person, visits.version) == ("patient id", "2026-01")
    assert visits.limits == Limits(groups=4, rows_per_group=2)
    assert visits.columns == {
        "cost": Bounds("-0.5", 5000, step="0.01", nan=0, infinity="drop", null=Fraction(1234, 100)),
        "a b": Keys([1, 2, None]),
        "day": Keys([datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)]),
        "urgent": Keys([True, False]),
        "at": Type.TIMESTAMP,
    }


def test_bounds_typed_as_integers_need_no_step(tmp_path):
    age = read(tmp_path, DECLARATION).tables["visits"].columns["age"]
    assert (age.step, age.step_was_given) == (1, False)
    message = refusal(tmp_path, "lower = 0, upper = 110", "lower = 0.0, upper = 110")
    assert "[tables.visits.columns.age]: step is needed" in message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[ledger]", "[ledgre]", ": ledgre is not a key of this section; allowed: ledger"),
        ("[budget]", "[budgets]", ": budgets is not a key of this section; allowed: budget"),
        ("epsilon = 20", "epsilo = 20", ", [budget]: epsilo is not a key of this section; allowed: epsilon"),
        (
            "source =",
            "path =",
            ", [tables.visits]: path is not a key of this section; allowed: source, source_env, csv, person",
        ),
        ("rows = 2", "row = 2", ", [tables.visits.limits]: row is not a key of this section; allowed: rows"),
        ("upper = 110", "upperr = 110", "[tables.visits.columns.age]: upperr is not a key"),
        (
            "keys =",
            "kyes =",
            "[tables.visits.columns.city]: kyes is not a key of this section; allowed: keys",
        ),
        (LOCATION, 'locaton = "x"', ", [ledger]: locaton is not a key"),
    ],
)
def test_unknown_keys_are_refused_with_a_suggestion(tmp_path, old, new, said):
    assert said in refusal(tmp_path, old, new)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            LOCATION,
            "",
            "location and location_env are both given or both missing",
        ),
        (
            LOCATION,
            'location = "SECRET"\nlocation_env = "X"',
            "both given or both missing",
        ),
        (LOCATION, 'location_env = "SECRET_UNSET"', "names a variable that is not set"),
        (LOCATION, "location = 3", "[ledger]: location is not text"),
        ("epsilon = 20", 'epsilon = "SECRET"', "[budget]: epsilon is text that is not a number"),
        ("epsilon = 20", "epsilon = nan", "[budget]: epsilon is not finite"),
        ("epsilon = 20", "epsilon = inf", "[budget]: epsilon is not finite"),
        ("epsilon = 20", "epsilon = -1", "[budget]: epsilon is negative"),
        ("epsilon = 20", "epsilon = true", "[budget]: epsilon is a boolean"),
        ("epsilon = 20", "epsilon = 1e999999999", "[budget]: epsilon is too large"),
        ("epsilon = 20", "epsilon = 20\nrho = 1", "[budget]: epsilon and rho are both given"),
        ("delta = 1e-6", "delta = 1", "[budget]: delta is out of range"),
        ("delta = 1e-6", 'renews = "SECRET"', "[budget]: renews is not a period"),
        ("delta = 1e-6", "renews = 3", "[budget]: renews is not a period"),
        ("delta = 1e-6", "per_analyst = 3", "[budget.per_analyst]: it is not a section"),
        ("delta = 1e-6", "per_analyst = { epsilon = -1 }", "[budget.per_analyst]: epsilon is negative"),
        ("delta = 1e-6", 'per_analyst = { renews = "daily" }', "[budget.per_analyst]: renews is not a key"),
        ('person = "patient_id"', "", "[tables.visits]: person and each_row are both given or both missing"),
        ('person = "patient_id"', 'person = "p"\neach_row = true', "both given or both missing"),
        ('person = "patient_id"', "each_row = false", "each_row is not true"),
        ('person = "patient_id"', "each_row = true", "limits are given, but each row is a person"),
        ('person = "patient_id"', "person = 3", "person is not text"),
        ('"patient_id"', '{ through = "t" }', "[tables.visits.person]: on is missing"),
        ('"patient_id"', '{ through = 3, on = "a" }', "[tables.visits.person]: through is not text"),
        ('"patient_id"', '{ through = "t", on = 3 }', "[tables.visits.person]: on is not a column"),
        (
            '"patient_id"',
            '{ through = "t", on = ["a"], to = [] }',
            "[tables.visits.person]: to is not a column",
        ),
        (
            '"patient_id"',
            '{ through = "t", on = "a", name = "" }',
            "[tables.visits.person]: name is not text",
        ),
        ('"patient_id"', '{ thru = "t", on = "a" }', "[tables.visits.person]: thru is not a key of this"),
        ("limits = { rows = 2 }", "", "limits are missing, which a person needs"),
        ("{ rows = 2 }", "{}", "[tables.visits.limits]: it is not a limit"),
        ("{ rows = 2 }", "{ rows = 2, groups = 1 }", "mixes two kinds"),
        ("{ rows = 2 }", "{ groups = 1 }", "it is not a limit"),
        ("{ rows = 2 }", "{ rows = 0 }", "[tables.visits.limits]: rows is out of range"),
        ("{ rows = 2 }", "{ rows = 2.5 }", "rows is not an integer"),
        ("{ rows = 2 }", "3", "it is not a section"),
        ("limits", "version = 2\nlimits", "version is not text"),
        ("upper = 110", "upper = 0", "[tables.visits.columns.age]: lower is not below upper"),
        ("lower = 0, upper = 110", "upper = 110", "[tables.visits.columns.age]: lower is missing"),
        ("step = 0.01", "step = 0", "[tables.visits.columns.cost]: step is not positive"),
        ("step = 0.01", "step = 0.03", "upper does not lie on the grid"),
        ("step = 0.01", 'step = 0.01, nan = "SECRET"', "nan is not a rule"),
        ("step = 0.01", 'keys = ["SECRET"]', "declares nothing, or several kinds at once"),
        ("{ lower = 0, upper = 110 }", "{}", "declares nothing, or several kinds at once"),
        ("{ lower = 0, upper = 110 }", "3", "[tables.visits.columns.age]: it is not a section"),
        (
            "{ lower = 0, upper = 110 }",
            '{ type = "SECRET" }',
            "type is not a type; allowed: boolean, integer",
        ),
        ("{ lower = 0, upper = 110 }", '{ type = "decimal" }', "type is not a type"),
        ("{ lower = 0, upper = 110 }", "{ type = 3 }", "type is not a type"),
        ("{ lower = 0, upper = 110 }", "{ null_key = true }", "keys is not a list of keys"),
        ('["Taipei", "Hamilton"]', "[]", "[tables.visits.columns.city]: keys lists no key"),
        ('["Taipei", "Hamilton"]', '"SECRET"', "keys is not a list of keys"),
        ('["Taipei", "Hamilton"]', '["SECRET", "SECRET"]', "keys lists a key twice"),
        ('["Taipei", "Hamilton"]', '["SECRET", 1]', "keys is not of one type"),
        ('["Taipei", "Hamilton"]', "[1.5]", "keys is not a list of keys"),
        ('["Taipei", "Hamilton"]', "[2026-01-01T00:00:00]", "keys is not a list of keys"),
        ('["Taipei", "Hamilton"]', "[{}]", "keys is not a list of keys"),
        ('["Taipei", "Hamilton"]', "[9223372036854775808]", "keys holds an integer beyond 64 bits"),
        ('["Taipei", "Hamilton"]', '["a"], null_key = 1', "null_key is neither true nor false"),
        ('["Taipei", "Hamilton"]', '["FILL IN"]', "keys must still be filled in"),
        ("epsilon = 20", 'epsilon = "FILL IN"', "[budget]: epsilon must still be filled in"),
    ],
)
def test_what_is_wrong_is_refused_by_its_place(tmp_path, old, new, said, monkeypatch):
    monkeypatch.delenv("SECRET_UNSET", raising=False)
    assert said in refusal(tmp_path, old, new)


@pytest.mark.parametrize(
    "text", ["", "tables = {}", "x = 1", '[ledger]\nlocation="l"\n[budget]\nepsilon=1\n[tables]']
)
def test_files_without_tables(tmp_path, text):
    with pytest.raises(ParameterError, match=r"is missing|is not a key|declares none"):
        read(tmp_path, text)


def test_the_address_of_a_database_comes_from_the_environment_and_is_never_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("CLINIC_LEDGER", ADDRESS)
    text = DECLARATION.replace(LOCATION, 'location_env = "CLINIC_LEDGER"\nname = "clinic"')
    found = read(tmp_path, text)
    assert (found.ledger.location, found.ledger.name, found.ledger.file) == (ADDRESS, "clinic", None)
    assert "SECRET" not in repr(found)
    assert "SECRET" not in repr(found.ledger)
    monkeypatch.setenv("CLINIC_LEDGER", "elsewhere.ledger")
    assert read(tmp_path, text).ledger.file == tmp_path / "elsewhere.ledger"
    monkeypatch.setenv("CLINIC_LEDGER", "")
    with pytest.raises(ParameterError, match="not set"):
        read(tmp_path, text)


def test_a_name_for_a_file_is_refused_when_it_is_opened(tmp_path):
    text = DECLARATION.replace(LOCATION, 'location = "clinic.ledger"\nname = "clinic"')
    with pytest.raises(ParameterError, match="name is given for a file"):
        read(tmp_path, text).ledger.open()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_declaration(tmp_path / "none.toml")


GOOD = tomllib.loads(DECLARATION)
VALUES = st.recursive(
    st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.dates()
    | st.sampled_from(["rows", "keys", "drop", "date", "monthly", "FILL IN"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["rows", "groups", "lower", "upper", "step", "keys", "type"]), inner
        )
    ),
    max_leaves=6,
)


def toml(value):
    """Write a value as TOML, all in one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value).replace("\x7f", "\\u007f")
    return value.isoformat() if isinstance(value, datetime.date) else repr(value)


@settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(place=st.sampled_from([("budget",), ("ledger",), ("tables",), ("tables", "visits")]), data=st.data())
def test_whatever_stands_in_a_file_is_read_or_refused(tmp_path, place, data):
    content = copy.deepcopy(GOOD)
    section = content
    for key in place:
        section = section[key]
    if place == ("tables", "visits") and data.draw(st.booleans()):
        section = section["columns"]
    section[data.draw(st.sampled_from(sorted(section)) | st.text(max_size=5))] = data.draw(VALUES)
    text = "\n".join(f"{key} = {toml(value)}" for key, value in content.items())
    try:
        said = None if isinstance(read(tmp_path, text), Declaration) else "nothing"
    except ParameterError as refused:
        said = str(refused)
    assert said is None or said.startswith("clinic.toml")


def test_days(tmp_path):
    dates = "day = { dates = { first = 2020-01-01, last = 2024-12-31 } }\n"
    columns = read(tmp_path, DECLARATION + dates).tables["visits"].columns
    assert columns["day"] == Dates(datetime.date(2020, 1, 1), datetime.date(2024, 12, 31))
    city = 'city = { keys = ["Taipei", "Hamilton"] }'
    for new, words in (
        ("{ first = 2024-01-01, last = 2020-01-01 }", "is after last"),
        ("{ first = 2020-01-01 }", "last is missing"),
        ('{ first = "2020-31-01", last = 2024-12-31 }', "is not a date"),
        ("{ first = 2020-01-01T00:00:00, last = 2024-12-31 }", "is not a date"),
        ("{ first = 2020-01-01, last = 2024-12-31, step = 1 }", "step is not a key"),
        ("2020-01-01", "is not a section"),
    ):
        said = refusal(tmp_path, city, f"city = {{ dates = {new} }}")
        assert words in said
        assert "[tables.visits.columns.city.dates]" in said
    assert "several kinds at once" in refusal(
        tmp_path, city, 'city = { type = "date", dates = { first = 2020-01-01, last = 2020-01-01 } }'
    )


def test_public_tables_are_declared_by_their_source_alone(tmp_path):
    public = '\n[tables.cities]\nsource = "cities.csv"\npublic = true\n'
    write_clinic(tmp_path, DECLARATION + public)
    (tmp_path / "cities.csv").write_text("name,region\nTaipei,Asia\nHamilton,America\n")
    facts = read_declaration(tmp_path / "clinic.toml").tables["cities"]
    assert isinstance(facts, PublicFacts)
    clinic = open_file(tmp_path / "clinic.toml")
    assert isinstance(clinic.tables["cities"], PublicTable)
    sql = "SELECT c.region AS r, COUNT(*) AS n FROM visits v JOIN cities c ON v.city = c.name GROUP BY r"
    assert clinic.ask(sql, epsilon=5).keys == {"r": ["America", "Asia"]}
    for new, words in (
        ('source = "SECRET.csv"\npublic = false', "public is false"),
        ('source = "SECRET.csv"\npublic = "SECRET"', "public is neither true nor false"),
        ('source = "SECRET.csv"\npublic = true\nperson = "SECRET"', "person is not a key"),
        ("public = true", "source is missing"),
        (f'source = "{ADDRESS}#t"\npublic = true', "source is a database"),
    ):
        with pytest.raises(ParameterError, match=words) as caught:
            read(tmp_path, f"{DECLARATION}\n[tables.cities]\n{new}\n")
        assert "SECRET" not in str(caught.value)


def test_persons_that_come_through_another_table(tmp_path):
    (tmp_path / "orders.csv").write_text("id,who\n1,ann\n2,bob\n")
    (tmp_path / "lines.csv").write_text("order\n1\n1\n2\n3\n")
    text = """
[ledger]
location = "keys.ledger"
[budget]
epsilon = 1000
[tables.lines]
source = "lines.csv"
person = { through = "orders", on = "order", to = "id" }
limits = { rows = 3 }
[tables.orders]
source = "orders.csv"
person = "who"
limits = { rows = 3 }
"""
    assert read(tmp_path, text).tables["lines"].person == through("orders", on="order", to="id")
    two = text.replace('on = "order", to = "id"', 'on = ["order"], to = ["id"], name = "buyer"')
    assert read(tmp_path, two).tables["lines"].person == through("orders", on="order", to="id", name="buyer")
    path = tmp_path / "keys.toml"
    path.write_text(text)
    with closing(open_file(path)) as curator:
        assert curator.tables["lines"].person == "who"
        assert curator.ask("SELECT COUNT(*) AS n FROM lines", epsilon=100)["n"].tolist() == [3]


def test_prepared_tables(tmp_path):
    ready = DECLARATION.replace("limits = { rows = 2 }", "limits = { rows = 2 }\nprepare = true")
    clinic = open_file(write_clinic(tmp_path, ready))
    assert clinic.tables["visits"].declaration["bounded"] == "before conditions"
    answer = clinic.ask("SELECT COUNT(*) AS n FROM visits WHERE age < 40", epsilon=5)
    assert answer.label["tables"]["visits"]["bounded"] == "before conditions"
    assert "drawn in advance: before any condition" in clinic.explain("SELECT COUNT(*) AS n FROM visits")
    limits = "limits = { rows = 2 }"
    assert "prepare is neither true" in refusal(tmp_path, limits, limits + '\nprepare = "SECRET"')
    groups = "limits = { groups = 2, rows_per_group = 1 }\nprepare = true"
    arranged = read(tmp_path, DECLARATION.replace(limits, groups)).tables["visits"].open()
    assert "bounded" not in arranged.declaration


def test_a_table_in_a_database(tmp_path, monkeypatch):
    source = 'source = "visits.csv"'
    address = f"{ADDRESS}#clinic.visits"
    found = read(tmp_path, DECLARATION.replace(source, f'source = "{address}"'))
    assert found.tables["visits"].source == address
    assert "SECRET" not in repr(found)
    monkeypatch.setenv("CLINIC_VISITS", address)
    found = read(tmp_path, DECLARATION.replace(source, 'source_env = "CLINIC_VISITS"'))
    assert found.tables["visits"].source == address
    assert "both given or both missing" in refusal(
        tmp_path, source, f'{source}\nsource_env = "CLINIC_VISITS"'
    )
    assert "both given or both missing" in refusal(tmp_path, source, "")
    assert "not set" in refusal(tmp_path, source, 'source_env = "NO_SUCH_VARIABLE"')
    monkeypatch.setenv("CLINIC_VISITS", "visits.parquet")
    found = read(tmp_path, DECLARATION.replace(source, 'source_env = "CLINIC_VISITS"'))
    assert found.tables["visits"].source == tmp_path / "visits.parquet"


def test_files_are_declared_with_how_they_are_written(tmp_path):
    for year, cost in ((2024, "1,5"), (2025, "2,5")):
        (tmp_path / f"{year}.csv").write_bytes(f"id;cost\nä{year};{cost}\n".encode("cp1252"))
    (tmp_path / "clinic.toml").write_text(
        '[ledger]\nlocation = "c.ledger"\n[budget]\nepsilon = 1\n[tables.visits]\n'
        'source = ["2024.csv", "2025.csv"]\n'
        'csv = { delimiter = ";", decimals = { cost = "," }, encoding = "cp1252" }\n'
        'person = "id"\nlimits = { rows = 1 }\n[tables.visits.columns]\n'
        "cost = { lower = 0, upper = 10, step = 0.5 }\n"
    )
    table = read_declaration(tmp_path / "clinic.toml").open_tables()["visits"]
    assert sorted((row["id"], row["cost"]) for row in table._rows().to_pylist()) == [
        ("ä2024", 1.5),
        ("ä2025", 2.5),
    ]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('source = ["a.csv", 3]', "not a list of files"),
        ('source = "a.csv"\ncsv = { separator = ";" }', "separator is not a key"),
        ('source = "a.csv"\ncsv = { decimal = "#" }', r"\[tables.v.csv\]: decimal"),
    ],
)
def test_forms_of_files_are_checked(tmp_path, written, said):
    (tmp_path / "clinic.toml").write_text(
        f'[ledger]\nlocation = "c.ledger"\n[budget]\nepsilon = 1\n[tables.v]\n{written}\neach_row = true\n'
    )
    with pytest.raises(ParameterError, match=said):
        read_declaration(tmp_path / "clinic.toml")


def test_a_limit_that_is_bought(tmp_path):
    write_clinic(tmp_path)
    automatic = '{ rows = "auto", at_most = 1000 }'
    declared = read(tmp_path, DECLARATION.replace("{ rows = 2 }", automatic)).tables["visits"]
    assert declared.limits == Limits(rows=AUTO, at_most=1000)
    assert declared.open().declaration["limits"]["bought"] is True
    assert "at_most goes with AUTO" in refusal(tmp_path, "{ rows = 2 }", '{ rows = "auto" }')
    assert "rows is" in refusal(tmp_path, "{ rows = 2 }", '{ rows = "many" }')
    ready = f"limits = {automatic}\nprepare = true"
    with pytest.raises(ParameterError, match="before a question could buy"):
        read(tmp_path, DECLARATION.replace("limits = { rows = 2 }", ready)).tables["visits"].open()


def test_the_day_that_current_date_means(tmp_path):
    file = write_clinic(tmp_path, f"today = 2024-12-31\n{DECLARATION}")
    assert read_declaration(file).today == datetime.date(2024, 12, 31)
    with closing(open_file(file)) as clinic:
        assert clinic.today == datetime.date(2024, 12, 31)
    with rehearse(read_declaration(file)) as rehearsal:
        assert rehearsal.today == datetime.date(2024, 12, 31)
    for wrong in ('"2024-12-31"', "2024-12-31T10:00:00", "20241231", "true"):
        with pytest.raises(ParameterError, match="today is not a day"):
            read(tmp_path, f"today = {wrong}\n{DECLARATION}")
    assert read(tmp_path, DECLARATION).today is None
