"""Sections of a TOML file: exact numbers, known keys, refusals that say where."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from discreet.errors import ParameterError
from discreet.front.declaring.sections import BLANK, Section, parse_toml

HERE = Section(Path("clinic.toml"), "tables", "visits")


def refusal(call, *arguments):
    with pytest.raises(ParameterError) as caught:
        call(*arguments)
    return str(caught.value)


def test_decimals_stay_what_was_typed(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text("x = 0.10000000000000000001\ny = 3\nz = 1e-6")
    found = parse_toml(file, file.read_bytes())
    assert found == {"x": Decimal("0.10000000000000000001"), "y": 3, "z": Decimal("1e-6")}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"x = SECRET", " at line 1, column 5"),
        (b"a = 1\nx = 'SECRET", ""),
        (b"a = 1\na = 2 # SECRET", " at line 2, column 6"),
        (b"\xff\xfeSECRET", ""),
        (b"x = " + b"[" * 100_000, ""),
        (b"x = " + b"9" * 5000, ""),
        (b"\x00", " at line 1, column 1"),
    ],
)
def test_what_is_no_toml_is_refused_by_place_alone(content, place, tmp_path):
    file = tmp_path / "a.toml"
    file.write_bytes(content)
    message = refusal(parse_toml, file, file.read_bytes())
    assert message.startswith(f"a.toml: this is not TOML{place};")
    assert "SECRET" not in message


def test_keys_that_are_unknown_or_missing():
    content = HERE.content
    assert content({"source": 1}, ("source",), ("person",)) == {"source": 1}
    assert content({"any name": 1}) == {"any name": 1}
    message = refusal(content, {"sorce_": 1}, ("source",), ("person",))
    assert message == "clinic.toml, [tables.visits]: sorce_ is not a key of this section; allowed: source"
    assert "allowed: source, person" in refusal(content, {"zzz": 1, "source": 1}, ("source",), ("person",))
    assert "source is missing" in refusal(content, {}, ("source",), ("person",))
    assert "it is not a section; allowed: keys with values" in refusal(content, 3)
    assert "it is not a section; allowed: { source = … }" in refusal(content, 3, ("source",), ("person",))
    assert "'two words' is not a key" in refusal(content, {"two words": 1}, (), ("person",))


@pytest.mark.parametrize("value", ["", 3, True, ["x"], "a\0b"])
def test_texts_are_texts(value):
    assert HERE.text({}, "person") is None
    assert HERE.text({"person": "p"}, "person") == "p"
    assert "person is not text" in refusal(HERE.text, {"person": value}, "person")


def test_blanks_are_found_however_deep():
    HERE.refuse_blanks({"a": 1, "b": {"c": ["x"]}})
    for content in ({"a": BLANK}, {"b": {"a": BLANK}}, {"a": ["x", BLANK]}):
        assert "a must still be filled in" in refusal(HERE.refuse_blanks, content)
    assert "[tables.visits.'b c']: a must" in refusal(HERE.refuse_blanks, {"b c": {"a": BLANK}})


def test_all_blanks_are_told_at_once():
    content = {"a": BLANK, "b c": {"d": {"e": [BLANK]}, "f": 1}, "g": {"h": BLANK}}
    said = refusal(HERE.refuse_blanks, content)
    assert "[tables.visits]: a, 'b c'.d.e, g.h must still be filled in; allowed: what is known" in said


def test_refusals_raised_inside_name_the_section():
    with pytest.raises(ParameterError) as caught, HERE:
        raise ParameterError("lower", "is not below upper", "less than upper")
    assert caught.value.parameter == "clinic.toml, [tables.visits]: lower"
    assert caught.value.__cause__ is None
    with pytest.raises(KeyError), HERE:
        raise KeyError


def test_paths_start_at_the_file(tmp_path):
    section = Section(tmp_path / "clinic.toml")
    assert section.beside("visits.csv") == tmp_path / "visits.csv"
    assert section.beside("/data/visits.csv") == Path("/data/visits.csv")
    assert section.beside("~/visits.csv") == Path.home() / "visits.csv"
