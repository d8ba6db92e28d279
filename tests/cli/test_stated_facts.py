"""Facts as they are typed in a shell."""

import pytest

import discreet as dp
from discreet.cli.stated_facts import stated_facts
from discreet.errors import ParameterError

COLUMNS = {"age": dp.Bounds(0, 110), "code": dp.Keys([1, 2]), "city": dp.Keys(["Taipei"])}


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("age<15, city=Taipei", {"age": (None, 15), "city": "Taipei"}),
        ("age>=65,code=1|2", {"age": (65, None), "code": [1, 2]}),
        ("age>=15, age<18", {"age": (15, 18)}),
        ("age<18,age>=15.5", {"age": (15.5, 18)}),
        ("city=, age=3", {"city": None, "age": 3}),
        ("city=Taipei|, age=3", {"city": ["Taipei", None], "age": 3}),
        ("first name = Ana Li", {"first name": "Ana Li"}),
    ],
)
def test_what_is_impossible(typed, values):
    assert stated_facts([typed], [], COLUMNS) == (dp.Impossible(values),)


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "age",
        "age<",
        "age<15<3",
        "age>15",
        "age=1, age=2",
        "age<1, age<2",
        "age<1, age=2",
        "age<1|2",
        "=3",
    ],
)
def test_what_is_not_understood_is_refused(typed):
    with pytest.raises(ParameterError):
        stated_facts([typed], [], COLUMNS)


def test_columns_that_follow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes.csv").write_text("code,name\n1,one\n2,two\n")
    found = stated_facts([], ["city=code", "name=code:codes.csv"], COLUMNS)
    assert found == (
        dp.Determined("city", by="code"),
        dp.Determined("name", by="code", mapping={1: "one", 2: "two"}),
    )
    for wrong in ("city", "=code", "city=", "city=code:"):
        with pytest.raises(ParameterError):
            stated_facts([], [wrong], COLUMNS)
