"""Facts about rows in a declaration file.

::

    [[tables.people.facts]]
    impossible = { age = { below = 15 }, married = "yes" }   # also { from = 65 }, ["yes", "widowed"]

    [[tables.people.facts]]
    impossible = { employed = "no", hours = { missing = false } }   # { missing = true }: no value

    [[tables.people.facts]]
    determined = "education_years"
    by = "education"
    mapping = { primary = 6, secondary = 12 }        # or "years.csv", with both columns; or left out

    [[tables.people.facts]]
    determined = "is_minor"
    by = "age"
    mapping = [{ below = 18, value = "yes" }, { from = 18, value = "no" }]
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal

from discreet.data.language.declarations import Declared
from discreet.data.tables.row_facts import Determined, Impossible, RowFact, checked_facts
from discreet.errors import ParameterError
from discreet.front.declaring.sections import Section
from discreet.front.declaring.typed_values import mapping_in_file, typed_value

__all__ = ["read_facts"]

_KINDS = 'impossible = { age = { below = 15 }, married = "yes" } or determined = "city", by = "zip"'
_RANGE = "{ from = 65 }, { below = 15 }, { from = 15, below = 18 } or { missing = true }"


def read_facts(section: Section, found: object, columns: Mapping[str, Declared]) -> tuple[RowFact, ...]:
    """Return the facts of a table, whose columns are declared."""
    if not isinstance(found, list) or not found:
        section.refuse("facts", "is not a list of facts", "[[tables.NAME.facts]], once for each fact")
    facts: list[RowFact] = []
    for number, one in enumerate(found, start=1):
        with section.of("facts", str(number)) as inside:
            facts.append(_fact(inside, one, columns))
    with section:
        return checked_facts(facts)


def _fact(section: Section, found: object, columns: Mapping[str, Declared]) -> RowFact:
    given = section.content(found, (), ("impossible", "determined", "by", "mapping"))
    if "impossible" in given:
        if len(given) > 1 or not isinstance(given["impossible"], dict):
            raise ParameterError("it", "says several things at once, or nothing", _KINDS)
        return Impossible({name: _chosen(one) for name, one in given["impossible"].items()})
    column, by = section.text(given, "determined"), section.text(given, "by")
    if column is None or by is None:
        raise ParameterError("it", "is not a fact", _KINDS)
    return Determined(column, by=by, mapping=_mapping(section, given.get("mapping"), column, by, columns))


def _chosen(found: object) -> object:
    """Return values of a column: one, several, or a range."""
    if isinstance(found, list):
        return [_chosen(one) for one in found]
    if isinstance(found, dict):
        return _range(found)
    return _single(found)


def _range(found: Mapping[str, object]) -> tuple[object, object] | None:
    if set(found) == {"missing"} and isinstance(found["missing"], bool):
        return None if found["missing"] else (None, None)
    if not found or not set(found) <= {"from", "below"}:
        raise ParameterError("it", "has a range that is none", _RANGE)
    return _single(found.get("from")), _single(found.get("below"))


def _single(found: object) -> object:
    if found is None or isinstance(found, bool | int | str | Decimal) or type(found) is datetime.date:
        return found
    raise ParameterError("it", "has a value that is no key, number or day", f'"yes", 15, or {_RANGE}')


def _mapping(
    section: Section, found: object, column: str, by: str, columns: Mapping[str, Declared]
) -> dict[object, object] | None:
    if found is None:
        return None
    if isinstance(found, str):
        return {**mapping_in_file(section.beside(found), column, by, columns)}
    if isinstance(found, dict):
        return {typed_value(key, columns.get(by)): _value(value) for key, value in found.items()}
    if isinstance(found, list) and all(isinstance(one, dict) and "value" in one for one in found):
        return {
            _range({key: end for key, end in one.items() if key != "value"}): _value(one["value"])
            for one in found
        }
    raise ParameterError("mapping", "is not a mapping", "{ primary = 6 }, or the name of a CSV file")


def _value(found: object) -> object:
    if isinstance(found, Decimal):
        return float(found)
    return _single(found)
