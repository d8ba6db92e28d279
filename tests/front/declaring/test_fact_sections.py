"""Facts about rows in a declaration file: every form, and where a refusal is."""

import datetime

import pytest

import discreet as dp
from discreet.errors import ParameterError
from discreet.front.declaring.declaration import read_declaration
from discreet.front.opening import open_file
from front.declared_clinic import DECLARATION, write_clinic

FACTS = """
[[tables.visits.facts]]
impossible = { age = { below = 15 }, city = "Hamilton" }

[[tables.visits.facts]]
impossible = { age = [{ from = 90, below = 95.5 }, 3], cost = { missing = true } }

[[tables.visits.facts]]
determined = "district"
by = "city"
mapping = { Taipei = 1, Hamilton = 2.5 }

[[tables.visits.facts]]
determined = "minor"
by = "age"
mapping = [{ below = 18, value = true }, { from = 18, value = false }]

[[tables.visits.facts]]
determined = "country"
by = "city"
mapping = "countries.csv"
"""


def written(directory, more):
    (directory / "countries.csv").write_text("city,country,note\nTaipei,Taiwan,x\nHamilton,Canada,\n")
    return write_clinic(directory, DECLARATION + more)


def test_facts_are_read(tmp_path):
    file = written(tmp_path, FACTS)
    facts = read_declaration(file).tables["visits"].facts
    assert facts == (
        dp.Impossible({"age": (None, 15), "city": "Hamilton"}),
        dp.Impossible({"age": [(90, 95.5), 3], "cost": None}),
        dp.Determined("district", by="city", mapping={"Taipei": 1, "Hamilton": 2.5}),
        dp.Determined("minor", by="age", mapping={(None, 18): True, (18, None): False}),
        dp.Determined("country", by="city", mapping={"Taipei": "Taiwan", "Hamilton": "Canada"}),
    )
    clinic = open_file(file)
    assert clinic.tables["visits"].facts == facts
    columns = ["age", "city", "minor", "country"]
    rows = clinic.synthesize("visits", columns, rho=1, method="independent").to_pandas(400)
    assert list(rows) == columns
    assert not ((rows["age"] < 15) & (rows["city"] == "Hamilton")).any()
    assert (rows.dropna()["minor"] == (rows.dropna()["age"] < 18)).all()
    assert clinic.sandbox(rows=50).tables["visits"].facts == facts


def test_days_and_whole_numbers(tmp_path):
    more = """
day = { dates = { first = 2020-01-01, last = 2020-12-31 } }
code = { keys = [1, 2] }
[[tables.visits.facts]]
impossible = { day = { from = 2020-06-01 }, code = 2, city = { missing = false } }
[[tables.visits.facts]]
determined = "name"
by = "code"
mapping = { "1" = "one", "2" = "two" }
"""
    facts = read_declaration(written(tmp_path, more)).tables["visits"].facts
    assert facts[0] == dp.Impossible(
        {"day": (datetime.date(2020, 6, 1), None), "code": 2, "city": (None, None)}
    )
    assert facts[1] == dp.Determined("name", by="code", mapping={1: "one", 2: "two"})


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("facts = 3", "facts is not a list"),
        ("[[tables.visits.facts]]\nimposssible = { age = 3 }", "imposssible is not a key"),
        ("[[tables.visits.facts]]\nimpossible = 3", "facts.1"),
        ("[[tables.visits.facts]]\nimpossible = { age = { over = 3 } }", "range that is none"),
        ("[[tables.visits.facts]]\nimpossible = { age = { from = 9, below = 3 } }", "nothing in it"),
        ("[[tables.visits.facts]]\nimpossible = { age = 2020-01-01T10:00:00 }", "no key, number or day"),
        ("[[tables.visits.facts]]\ndetermined = 'a'", "is not a fact"),
        ("[[tables.visits.facts]]\ndetermined = 'a'\nby = 'city'\nmapping = 3", "not a mapping"),
        ("[[tables.visits.facts]]\ndetermined = 'a'\nby = 'city'\nmapping = 'none.csv'", "cannot be read"),
        (
            "[[tables.visits.facts]]\ndetermined = 'a'\nby = 'city'\nmapping = 'countries.csv'",
            "without these",
        ),
    ],
)
def test_refusals_say_where(tmp_path, wrong, words):
    with_table = wrong if wrong.startswith("[[") else ""
    text = DECLARATION.replace(
        "limits = { rows = 2 }", f"limits = {{ rows = 2 }}\n{'' if with_table else wrong}"
    )
    file = written(tmp_path, "")
    file.write_text(text + with_table)
    with pytest.raises(ParameterError, match=words) as found:
        read_declaration(file)
    assert "clinic.toml, [tables.visits" in str(found.value)
