"""What a check says of each fault, beside its count, and what could be declared. No value is quoted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from discreet.data.language.declarations import Bounds, Dates, Keys
from discreet.data.language.types import Type
from discreet.data.reading.csv_format import Csv
from discreet.data.reading.lost import Lost
from discreet.data.reading.written_forms import COMMA, DAY, DAY_FIRST, GROUPED, NUMBER, POINT
from discreet.data.tables.check_report import CheckFinding, ColumnCheck

if TYPE_CHECKING:
    from discreet.data.tables.table import Table

__all__ = ["REPLACEMENT", "column_findings", "group_findings", "row_findings"]

REPLACEMENT = "\ufffd"
"""What programs write in the place of bytes that are no letter in the encoding that they assume."""
_DAYS = "Csv(…, dates='%d.%m.%Y')"
_ENCODINGS = "Csv(…, encoding='cp1252') or 'latin-1'"

Fault: TypeAlias = tuple[str, int, str]
"""Its kind, its count, which may be 0, and its words."""


def column_findings(
    one: ColumnCheck, table: Table, counts: Mapping[str, int], lost: Lost
) -> list[CheckFinding]:
    """Return what is wrong with the values of a column.

    Parameters
    ----------
    one : ColumnCheck
        What became of its values.
    table : Table
        Whose column it is.
    counts : mapping of str to int
        What was counted of it.
    lost : Lost
        In which forms the values are written that do not convert, and how files are said to be written.
    """
    faults = [
        *_unread(one, table, lost),
        *_declared(one, table, counts),
        *_of_text(one, table, counts, lost.form),
    ]
    return _found(one.name, faults)


def _unread(one: ColumnCheck, table: Table, lost: Lost) -> Iterator[Fault]:
    written, form = lost.written.get(one.name, {}), lost.form
    yield "unreadable", one.unreadable, "not written as declared, or beyond what is read: NULL"
    if form is not None and form.encoding == "utf-8" and table.schema[one.name] is Type.TEXT:
        words = f"of them texts that are not in UTF-8, or too long: {_ENCODINGS}"
        yield "not_utf8", lost.values.get(one.name, 0), words
    if form is None or form.decimal_of(one.name) != ",":
        comma = "of them numbers with a comma: Csv(…, decimal=','), with thousands='.' if points group digits"
        yield "decimal_comma", written.get(COMMA, 0), comma
    else:
        if form.thousands_of(one.name) is None:
            grouped = "of them numbers whose digits points group: Csv(…, decimal=',', thousands='.')"
            yield "grouped_digits", written.get(GROUPED, 0), grouped
        words = f"of them written with a point, while decimal=',': {_point(one)}"
        yield "decimal_point", written.get(POINT, 0), words
    yield "days_in_another_form", written.get(DAY_FIRST, 0), f"of them days in another order: {_DAYS}"
    if not one.values and not one.unreadable:
        yield "empty", one.missing, "NULL, like every value of the column"


def _point(one: ColumnCheck) -> str:
    """Return what to state if all numbers have points, and how a question reads them if only some have."""
    name = one.name.replace('"', '""')
    return (
        f"Csv(…, decimals={{{one.name!r}: '.'}}); or, if others have commas, leave it undeclared, and ask "
        f'CLIP(CAST("{name}" AS FLOAT), 0, 100), with bounds that suit it'
    )


def _declared(one: ColumnCheck, table: Table, counts: Mapping[str, int]) -> Iterator[Fault]:
    declared = table.columns.get(one.name)
    if isinstance(declared, Bounds | Keys | Dates) and one.values:
        yield "null", one.missing, "NULL"
    if isinstance(declared, Bounds):
        yield "below_bounds", counts["below"], "clipped to the lower bound"
        yield "above_bounds", counts["above"], "clipped to the upper bound"
        yield "not_a_number", counts.get("nan", 0), "NaN"
        yield "infinite", counts.get("infinite", 0), "infinite"
    elif isinstance(declared, Dates):
        yield "outside_days", counts["outside"], "outside the declared days: in no group"
    elif isinstance(declared, Keys):
        yield "outside_keys", counts["outside"], "not among the keys: in no group"
        yield "nearly_keys", counts.get("near", 0), "of them keys, but for blanks or capital letters"
        known = [value for value in declared.values if value is not None]
        yield "unused_keys", len(known) - counts["used"], f"of {len(known):,} declared keys occur in no row"


def _of_text(one: ColumnCheck, table: Table, counts: Mapping[str, int], form: Csv | None) -> Iterator[Fault]:
    yield "padded", counts.get("padded", 0), "with blanks at an end"
    words = f"with the sign for a letter that could not be read: {_ENCODINGS}, of the file as it was first"
    yield "replaced_letters", counts.get("replaced", 0), words
    if one.name == table.person:
        yield "blank_persons", counts.get("blank", 0), "empty texts as persons: all of these are one person"
        twice = counts.get("distinct", 0) - counts.get("folded", 0)
        yield "persons_spelled_twice", twice, "persons who differ from others in blanks or capitals only"
    if one.values and NUMBER in counts:
        yield from _looks(one, counts, form)


def _looks(one: ColumnCheck, counts: Mapping[str, int], form: Csv | None) -> Iterator[Fault]:
    """Yield what a column of text without a declaration looks like, if all of its values do."""
    values, has_comma = one.values, form is not None and form.decimal_of(one.name) == ","
    if counts[NUMBER] == values and counts[POINT] and has_comma:
        words = f"numbers, all of them, some written with a point, while decimal=',': {_point(one)}"
        yield "point_numbers_as_text", values, words
    elif counts[NUMBER] == values:
        yield "numbers_as_text", values, "numbers, all of them, read as text: declare Bounds or a Type"
    elif counts[NUMBER] + counts[COMMA] == values:
        grouped = ", thousands='.'" if counts[GROUPED] else ""
        stated = has_comma and (not grouped or (form is not None and form.thousands_of(one.name) == "."))
        words = "numbers with a comma, all of them, read as text: declare Bounds"
        words += "" if stated else f", and Csv(…, decimal=','{grouped})"
        yield "comma_numbers_as_text", values, words
    elif counts[DAY] == values:
        yield "days_as_text", values, "days, all of them, read as text: declare Dates or a Type"
    elif counts[DAY_FIRST] == values:
        words = "days in another order, all of them, read as text: declare Dates"
        words += f", and {_DAYS}" if form is None or form.dates is None else ""
        yield "other_days_as_text", values, words


def row_findings(table: Table, lost: Lost, counts: Mapping[str, int]) -> list[CheckFinding]:
    """Return what is wrong with rows and persons.

    Parameters
    ----------
    table : Table
        Whose rows they are.
    lost : Lost
        What was left out when they were copied in.
    counts : mapping of str to int
        What was counted of persons, and of rows that are nobody's.
    """
    return _found(None, [*_lines(lost), *_nobody(counts), *_over_rows(table, counts)])


def group_findings(table: Table, counts: Mapping[str, int]) -> list[CheckFinding]:
    """Return whose groups, or rows in a group, are more than the limits allow; a column at a time."""
    groups, rows = table.limits.groups, table.limits.rows_per_group
    found: list[CheckFinding] = []
    for place, name in enumerate(one for one, what in table.columns.items() if isinstance(what, Keys)):
        more = counts.get(f"groups_{place}", 0), counts.get(f"cells_{place}", 0)
        found += _found(
            name,
            [
                ("over_groups", more[0], f"persons with rows in more than {groups} groups"),
                ("over_rows_per_group", more[1], f"times more than {rows} rows of a person in a group"),
            ],
        )
    return found


def _lines(lost: Lost) -> Iterator[Fault]:
    yield "lines", lost.lines, "lines of the file that are no records: left out"
    yield "open_lines", lost.open_lines, "of them end within quotes; Parquet holds texts with line breaks"


def _nobody(counts: Mapping[str, int]) -> Iterator[Fault]:
    yield "orphans", counts.get("orphans", 0), "rows without a parent row that has a person: left out"
    yield "several_owners", counts.get("several", 0), "rows of several persons at once: left out"
    yield "no_person", counts.get("unnamed", 0), "rows without a person: left out"


def _over_rows(table: Table, counts: Mapping[str, int]) -> Iterator[Fault]:
    cut = counts.get("cut_rows", 0)
    many = "1 row" if table.limits.rows == 1 else f"{table.limits.rows} rows"
    words = f"persons with more than {many}, of which {cut:,} are left out"
    yield "over_rows", counts.get("over_rows", 0), words


def _found(column: str | None, faults: Iterable[Fault]) -> list[CheckFinding]:
    return [
        CheckFinding(fault=fault, column=column, count=count, words=words)
        for fault, count, words in faults
        if count
    ]
