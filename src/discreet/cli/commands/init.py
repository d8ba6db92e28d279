"""``discreet init``: a declaration file to begin with."""

from __future__ import annotations

import datetime
import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.command import Command
from discreet.cli.declared import DEFAULT
from discreet.cli.new_files import FileTaken
from discreet.cli.progress import working
from discreet.cli.runs import whole_number
from discreet.cli.template import TABLE, Draft, declaration_text
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.data import Bounds, Schema
    from discreet.data.language.declarations import Declared

__all__ = ["INIT"]

_LESSON = """\
examples:
  a file that lists the columns, to fill in
    discreet init ward.toml --source visits.csv --person patient_id
  a file that is complete, and opens as it is
    discreet init counts.toml --source visits.csv --person patient_id --rows-per-person 10 --budget 1
  for a CSV file that is written otherwise: 1.234,50 and 31.01.2026, between semicolons
    discreet init besuche.toml --source besuche.csv --person Fall --delimiter ';' --decimal , \\
        --thousands . --encoding cp1252 --dates %d.%m.%Y
  with bounds and keys that are known without looking at the data
    discreet init means.toml --source visits.csv --person patient_id --rows-per-person 10 --budget 3 \\
        --bounds cost=0:5000:0.01 --bounds age=0:110 --keys city=Taipei,Hamilton

Names and types of columns are read from the source, because they are public. No value is read: bounds, keys
and limits taken from the data would reveal something about it.
"""


_FORM = {
    "delimiter": "what separates the fields of a CSV file: , ; | or tab (,)",
    "decimal": "the decimal mark of its numbers, . or , (.)",
    "thousands": "what groups their digits, such as . or a blank (nothing)",
    "encoding": "its encoding, such as cp1252 (utf-8)",
    "dates": "how its days are written, such as %%d.%%m.%%Y (2026-01-31)",
}


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", default=DEFAULT, metavar="FILE", help=f"the file to write ({DEFAULT})"
    )
    parser.add_argument("--source", metavar="FILE", help="the table: a CSV or Parquet file")
    for name, words in _FORM.items():
        parser.add_argument(f"--{name}", metavar="TEXT", help=words)
    parser.add_argument("--table", metavar="NAME", help="what questions call it (the name of its file)")
    unit = parser.add_mutually_exclusive_group()
    unit.add_argument("--person", metavar="COLUMN", help="rows with the same value here are one person's")
    unit.add_argument("--each-row", action="store_true", help="every row is a different person")
    parser.add_argument(
        "--rows-per-person",
        type=whole_number,
        metavar="N",
        help="at most this many rows of each person count",
    )
    parser.add_argument("--budget", metavar="E", help="the epsilon that all answers together may cost")
    parser.add_argument("--delta", metavar="D", help="its delta")
    parser.add_argument(
        "--bounds",
        action="append",
        metavar="COLUMN=LOWER:UPPER[:STEP]",
        help="of a column that is summed or averaged; may be repeated",
    )
    parser.add_argument(
        "--keys",
        action="append",
        metavar="COLUMN=KEY,KEY…",
        help="of a column that is grouped by; may be repeated",
    )


def _run(options: Namespace) -> str:
    file = Path(options.file)
    if file.exists():
        raise FileTaken(
            file.name, "already exists, and is not overwritten", "another name: discreet init other.toml …"
        )
    draft = _draft(options, file)
    try:
        content = declaration_text(draft).encode()
    except UnicodeEncodeError:
        raise ParameterError("a name", "is not text in UTF-8", "names that can be written down") from None
    with file.open("xb") as stream:
        stream.write(content)
    text = "\ncolumns that are not declared there are text, and can be used in conditions only"
    undeclared = text if draft.is_csv and draft.undeclared else ""
    if draft.blanks:
        return (
            f"wrote {file}{undeclared}\nnow fill in {', '.join(draft.blanks)}; "
            "declare what is summed or grouped by"
        )
    named = "" if options.file == DEFAULT else f" --file {options.file}"
    table = draft.table if draft.table.isidentifier() else f'\\"{draft.table}\\"'
    count = "SELECT COUNT(*) AS n FROM"
    return (
        f"wrote {file}, which is complete{undeclared}\n"
        f'now try: discreet query "{count} {table}" --epsilon 0.1{named}'
    )


def _draft(options: Namespace, file: Path) -> Draft:
    """Return what the options say, checked as far as possible."""
    from discreet.curator import Budget

    if options.rows_per_person is not None and options.person is None:
        raise ParameterError("rows_per_person", "is given without a person", "with --person COLUMN")
    if options.delta is not None and options.budget is None:
        raise ParameterError("delta", "is given without a budget", "with --budget")
    if options.budget is not None:
        try:
            Budget(epsilon=options.budget, delta=options.delta or 0)
        except ParameterError as error:
            name = "budget" if error.parameter == "epsilon" else error.parameter
            raise ParameterError(name, error.problem, error.allowed) from None
    bounds = {name: typed.split(":") for name, typed in _pairs(options.bounds, "bounds").items()}
    keys = {name: typed.split(",") for name, typed in _pairs(options.keys, "keys").items()}
    if options.source is None and (bounds or keys):
        raise ParameterError("source", "is missing, which bounds and keys need", "--source FILE")
    form = {name: typed for name in _FORM if (typed := getattr(options, name)) is not None}
    if form.get("delimiter") in {"tab", r"\t"}:
        form["delimiter"] = "\t"
    if form and not _is_csv(options.source):
        raise ParameterError(next(iter(form)), "says how a CSV file is written", "with --source FILE.csv")
    schema, listed = ({}, {}) if options.source is None else _checked(options, form, bounds, keys)
    return Draft(
        ledger=f"{file.stem}.ledger",
        table=_name(options),
        source=None if options.source is None else _path(options.source, file),
        is_csv=_is_csv(options.source),
        form=form,
        person=options.person,
        each_row=options.each_row,
        rows=options.rows_per_person,
        epsilon=options.budget,
        delta=options.delta,
        columns={name: kind.value for name, kind in schema.items()},
        bounds=bounds,
        keys=listed,
    )


def _checked(
    options: Namespace,
    form: Mapping[str, str],
    bounds: Mapping[str, list[str]],
    keys: Mapping[str, list[str]],
) -> tuple[Schema, Mapping[str, list[object]]]:
    """Open the table with what is declared so far; return its names and types, and the keys as they are."""
    from discreet.data import EACH_ROW, Csv, Keys, Limits, Table

    path = Path(options.source).expanduser()
    source: Path | Csv = Csv(path, **form) if form else path  # type: ignore[arg-type]
    with working("reading names and types"):
        types: Schema = {} if _is_csv(options.source) or not keys else Table(source, person=EACH_ROW).schema
        listed = {name: _typed_keys(name, typed, types) for name, typed in keys.items()}
        declared: dict[str, Declared] = {name: _bounds(name, ends) for name, ends in bounds.items()}
        for name, values in listed.items():
            if name in declared:
                raise ParameterError("keys", f"and bounds are given for {name!r}", "one of them")
            declared[name] = Keys(values)
        rows = 1 if options.rows_per_person is None else options.rows_per_person
        limits = None if options.person is None else Limits(rows=rows)
        person = EACH_ROW if options.person is None else options.person
        table = Table(source, person=person, limits=limits, columns=declared)
    return table.schema, listed


def _is_csv(source: str | None) -> bool:
    from discreet.data.reading.csv_format import is_records

    return source is not None and is_records(Path(source))


def _bounds(name: str, ends: list[str]) -> Bounds:
    """Read bounds as the file will hold them: whole numbers as integers."""
    from discreet.data import Bounds

    if len(ends) not in {2, 3}:
        raise ParameterError("bounds", f"of {name!r} are not bounds", "COLUMN=LOWER:UPPER[:STEP]")
    numbers = [int(end) if re.fullmatch(r"[+-]?[0-9]{1,30}", end) else end for end in ends]
    try:
        return Bounds(numbers[0], numbers[1], step=numbers[2] if len(numbers) == 3 else None)
    except ParameterError as error:
        problem = f"of {name!r}: {error.parameter} {error.problem}"
        raise ParameterError("bounds", problem, error.allowed) from None


def _typed_keys(name: str, typed: list[str], types: Schema) -> list[object]:
    """Read keys in the type of their column; those of a CSV file are text."""
    from discreet.data import Type

    readers: dict[Type, Callable[[str], object]] = {
        Type.INTEGER: int,
        Type.BOOLEAN: lambda text: {"true": True, "false": False}[text.lower()],
        Type.DATE: datetime.date.fromisoformat,
    }
    read = readers.get(types[name], str) if name in types else str
    try:
        return [read(text) for text in typed]
    except (ValueError, KeyError):
        raise ParameterError("keys", f"are not of the type of {name!r}", types[name].value) from None


def _pairs(typed: list[str] | None, option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in typed or ():
        name, equals, rest = pair.partition("=")
        if not equals or not name or not rest or name in found:
            raise ParameterError(option, "is not a pair, or names a column twice", "COLUMN=…")
        found[name] = rest
    return found


def _name(options: Namespace) -> str:
    """Return a name that SQL can write without quotes, made from the file name, unless another is given."""
    if options.table is not None:
        if not options.table or not options.table.isprintable():
            raise ParameterError("table", "is not a name", "letters and digits, such as visits")
        return str(options.table)
    if options.source is None:
        return TABLE
    name = re.sub(r"\W", "_", Path(options.source).stem)
    return name if name and not name[0].isdigit() else f"_{name}"


def _path(source: str, file: Path) -> str:
    """Return the path of the source, relative to the directory of the file if it is inside."""
    place, start = Path(source).expanduser().absolute(), file.absolute().parent
    inside = os.path.relpath(place, start)
    return str(place) if inside.startswith("..") else Path(inside).as_posix()


INIT = Command(
    name="init",
    summary="Write a declaration file to begin with: names and types of columns, and blanks for the rest.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
