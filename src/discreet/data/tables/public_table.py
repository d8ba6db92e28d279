"""Public tables: what everybody may know, for joins with private rows.

A public table is not protected. Its content may be read freely: which columns are unique, which values they
have, and their range. It is held in memory and sent to the engine with each request that joins it.
What it holds is part of every such request, by its digest.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from discreet.data.language.column_facts import ColumnFacts
from discreet.data.language.declarations import LARGEST_BOUND_STEPS, LARGEST_KEYS, Bounds, Keys
from discreet.data.language.serialization import JSON
from discreet.data.language.types import Schema, Type
from discreet.data.reading.csv_format import Csv, is_records
from discreet.errors import DiscreetError, ParameterError

if TYPE_CHECKING:
    import ibis.expr.types
    import pyarrow

__all__ = ["LARGEST_PUBLIC", "PublicTable"]

LARGEST_PUBLIC = 1 << 20
"""How many rows a public table may have."""

_MOST_DECIMALS = 9
_GRID_POINTS = 10**6


class PublicTable:
    """A table that is not secret: cities and their regions, codes and their names, calendars.

    Its rows can be joined to private ones by equal columns. A joined column can be grouped by, summed and
    averaged without declaration: its keys are its values, its bounds the least and the largest.

    Parameters
    ----------
    source : path or frame
        A CSV or Parquet file, `Csv` files, or a frame of pandas, Polars or Arrow, of up to about a million
        rows. It is read at once and copied, so that later changes to it are not seen.

    Attributes
    ----------
    schema : mapping of names to Type
        The columns. Integers have 64 bits, other numbers are doubles.
    version : str
        The digest of its content: part of the identity of every request that reads it.

    Warnings
    --------
    A table that was computed from private rows is not public.
    """

    __slots__ = ("__weakref__", "_arrow", "_equal", "_facts", "_lock", "_memtable", "schema", "version")

    schema: Schema
    version: str

    def __init__(self, source: object) -> None:
        self._arrow: pyarrow.Table = _plain(_load(source))
        self.schema = MappingProxyType({field.name: _type(field.type) for field in self._arrow.schema})
        self.version = _digest(self._arrow)
        self._memtable: ibis.expr.types.Table | None = None
        self._facts: dict[str, ColumnFacts] = {}
        self._equal: dict[tuple[tuple[str, bool], ...], int] = {}
        self._lock = threading.Lock()

    @property
    def declaration(self) -> dict[str, JSON]:
        """What a ledger records: that it is public, its columns, and the digest of its content."""
        return {
            "public": True,
            "columns": {name: kind.value for name, kind in self.schema.items()},
            "sha256": self.version,
        }

    def facts(self, name: str) -> ColumnFacts:
        """Return what is known about a column: its type, its values as keys, its range as bounds."""
        with self._lock:
            if name not in self._facts:
                self._facts[name] = _facts(self._arrow.column(name), self.schema[name])
            return self._facts[name]

    def most_equal(self, columns: Iterable[tuple[str, bool]]) -> int:
        """Return how many rows at most are equal in some columns.

        Parameters
        ----------
        columns : iterable of (name, as_float)
            With `as_float` values are equal if the doubles next to them are. NULL equals nothing, NaN
            equals NaN. In no columns at all, all rows are equal.
        """
        listed = tuple(sorted(set(columns)))
        with self._lock:
            if listed not in self._equal:
                self._equal[listed] = _most_equal(self._arrow, listed)
            return self._equal[listed]

    def is_unique(self, columns: Iterable[tuple[str, bool]]) -> bool:
        """Return whether no two rows are equal in some columns, as `most_equal` compares them."""
        return self.most_equal(columns) <= 1

    def _rows(self) -> pyarrow.Table:
        """Return all rows."""
        return self._arrow

    def _as_memtable(self) -> ibis.expr.types.Table:
        """Return the rows as a table that goes along with a statement."""
        import ibis

        with self._lock:
            if self._memtable is None:
                self._memtable = ibis.memtable(self._arrow)
            return self._memtable

    def __repr__(self) -> str:
        return f"PublicTable({self._arrow.num_rows} rows; {', '.join(self.schema)})"

    def __reduce__(self) -> tuple[type[PublicTable], tuple[pyarrow.Table]]:
        return PublicTable, (self._arrow,)


def _load(source: object) -> pyarrow.Table:
    import pyarrow

    try:
        if isinstance(source, Csv):
            return pyarrow.concat_tables([_from_records(source, path) for path in source.paths])
        if isinstance(source, str | os.PathLike):
            return _from_file(Path(source))
        library = type(source).__module__.split(".")[0]
        if library == "pandas":
            return pyarrow.Table.from_pandas(source, preserve_index=False)
        return pyarrow.table(source.collect() if hasattr(source, "collect") else source)
    except ParameterError:
        raise
    except Exception as error:  # anything that a reader of files may raise
        raise ParameterError(
            "source", f"could not be read ({type(error).__name__})", "a CSV or Parquet file, or a frame"
        ) from error


def _from_file(path: Path) -> pyarrow.Table:
    if not path.is_file():
        raise ParameterError("source", "is not a file", "the path of a Parquet or CSV file")
    if path.suffix.lower() == ".parquet":
        from pyarrow import parquet

        # By the open file: of a path, a reader would take patterns and the names of directories too.
        with path.open("rb") as file:
            return parquet.read_table(file)
    if is_records(path):
        return _from_records(Csv(path), path)
    raise ParameterError("source", "is a path with another ending", "a path that ends in .parquet or .csv")


def _from_records(form: Csv, path: Path) -> pyarrow.Table:
    """Read a CSV file; public values may tell the types of columns."""
    from pyarrow import csv

    if form.thousands is not None:
        raise ParameterError(
            "thousands", "is stated for a public table", "a file whose digits are not grouped"
        )
    if form.decimals:
        raise ParameterError("decimals", "are stated for a public table", "a file with one decimal mark")
    stated = [one for one in (form.dates, form.times) if one is not None]
    with form.open(path) as file:
        return csv.read_csv(
            file,
            read_options=csv.ReadOptions(
                encoding=form.encoding, column_names=None if form.names is None else list(form.names)
            ),
            parse_options=csv.ParseOptions(delimiter=form.delimiter),
            convert_options=csv.ConvertOptions(
                decimal_point=form.decimal, timestamp_parsers=[*stated, csv.ISO8601] if stated else None
            ),
        )


def _plain(table: pyarrow.Table) -> pyarrow.Table:
    """Return a table in the few types that every engine takes."""
    import pyarrow

    from discreet.data.engines.duckdb import check_names
    from discreet.data.reading.arrow_forms import normal

    check_names(table.column_names)
    if table.num_rows > LARGEST_PUBLIC:
        raise ParameterError(
            "source", "has too many rows for a public table", f"at most {LARGEST_PUBLIC} rows"
        )
    columns = []
    for name in table.column_names:
        column = table.column(name)
        kind = _plain_type(column.type)
        if kind is None:
            raise ParameterError(
                "source",
                f"has the column {name!r} of type {column.type}",
                "numbers, text, dates, times, booleans",
            )
        try:
            columns.append(column.cast(kind, safe=not pyarrow.types.is_timestamp(kind)).combine_chunks())
        except pyarrow.ArrowInvalid as error:
            raise ParameterError(
                "source", f"has values in {name!r} that {kind} does not hold", "integers of 64 bits"
            ) from error
        _check_text(name, columns[-1])
    plain = normal(pyarrow.table(columns, names=table.column_names), {})
    return pyarrow.table([column.combine_chunks() for column in plain.columns], names=table.column_names)


def _check_text(name: str, column: pyarrow.Array) -> None:
    """Refuse text that not every engine holds."""
    import pyarrow
    from pyarrow import compute

    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid as error:
        raise ParameterError("source", f"has text in {name!r} that is not UTF-8", "text in UTF-8") from error
    if pyarrow.types.is_string(column.type) and compute.any(compute.match_substring(column, "\0")).as_py():
        raise ParameterError("source", f"has text in {name!r} with a NUL character", "text without it")


def _plain_type(kind: pyarrow.DataType) -> pyarrow.DataType | None:
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if types.is_timestamp(kind):
        return pyarrow.timestamp("us", None if kind.tz is None else "UTC")
    for test, plain in (
        (types.is_boolean, pyarrow.bool_()),
        (types.is_integer, pyarrow.int64()),
        (types.is_floating, pyarrow.float64()),
        (types.is_decimal, pyarrow.float64()),
        (types.is_date, pyarrow.date32()),
        (types.is_string, pyarrow.string()),
        (types.is_large_string, pyarrow.string()),
        (types.is_string_view, pyarrow.string()),
        (types.is_null, pyarrow.string()),
    ):
        if test(kind):
            return plain
    return None


def _type(kind: pyarrow.DataType) -> Type:
    from pyarrow import types

    if types.is_timestamp(kind):
        return Type.TIMESTAMP if kind.tz is None else Type.INSTANT
    for test, found in (
        (types.is_boolean, Type.BOOLEAN),
        (types.is_integer, Type.INTEGER),
        (types.is_floating, Type.FLOAT),
        (types.is_date, Type.DATE),
    ):
        if test(kind):
            return found
    return Type.TEXT


def _digest(table: pyarrow.Table) -> str:
    """Return the SHA-256 of names, types and values, for any layout in memory."""
    content = hashlib.sha256(json.dumps([[one.name, str(one.type)] for one in table.schema]).encode())
    content.update(table.num_rows.to_bytes(8, "big"))
    for column in table.columns:
        values = column.to_pylist()
        spelled = partial(_spelled, is_float=_type(column.type) is Type.FLOAT)
        content.update("".join(map(spelled, values)).encode("utf-8"))
    return content.hexdigest()


def _spelled(value: Any, *, is_float: bool) -> str:
    if value is None:
        return "-"
    text = value.hex() if is_float else str(value)
    return f"{len(text)}:{text}"


def _most_equal(table: pyarrow.Table, columns: tuple[tuple[str, bool], ...]) -> int:
    import numpy as np
    import pyarrow

    if not columns:
        return int(table.num_rows)
    chosen = []
    for name, as_float in columns:
        column = table.column(name)
        if as_float or pyarrow.types.is_floating(column.type):
            column = column.cast(pyarrow.float64(), safe=False)
            # Minus zero becomes zero, and every NaN the same.
            numbers = column.fill_null(0).to_numpy() + 0.0
            numbers = np.where(np.isnan(numbers), np.nan, numbers)
            column = pyarrow.array(numbers, mask=column.is_null().to_numpy())
        chosen.append(column)
    names = [f"c{place}" for place in range(len(chosen))]
    present = pyarrow.table(chosen, names=names).drop_null()
    sizes = present.group_by(names).aggregate([([], "count_all")])["count_all"]
    return max(sizes.to_pylist(), default=0)


def _facts(column: pyarrow.ChunkedArray, found: Type) -> ColumnFacts:
    distinct = column.unique()
    keys = bounds = None
    if found in {Type.TEXT, Type.INTEGER, Type.BOOLEAN, Type.DATE} and len(distinct) <= LARGEST_KEYS:
        values = distinct.to_pylist()
        keys = _keys(sorted(value for value in values if value is not None), has_null=None in values)
    if found in {Type.INTEGER, Type.FLOAT, Type.BOOLEAN}:
        numbers = [value for value in distinct.to_pylist() if value is not None and math.isfinite(value)]
        bounds = _bounds(numbers) if numbers else None
    return ColumnFacts(type=found, bounds=bounds, keys=keys)


def _keys(values: list[Any], *, has_null: bool) -> Keys | None:
    try:
        return Keys([*values, None] if has_null else values)
    except DiscreetError:  # no value at all, or text that no request can hold
        return None


def _bounds(numbers: list[Any]) -> Bounds | None:
    """Return the range of some numbers, on a grid that holds them all if there is one of few decimals.

    Otherwise the grid is the power of ten that puts about a million points between zero and the farthest
    number.
    """
    farthest = max(abs(Fraction(number)) for number in (min(numbers), max(numbers)))
    decimals = max(_decimals(number) for number in numbers)
    step = Fraction(1, 10**decimals)
    if decimals > _MOST_DECIMALS or farthest / step > LARGEST_BOUND_STEPS:
        step = Fraction(10) ** (math.ceil(math.log10(farthest)) - int(math.log10(_GRID_POINTS)))
    low, high = (
        Fraction(str(end)) if isinstance(end, float) else Fraction(end)
        for end in (min(numbers), max(numbers))
    )
    lower, upper = math.floor(low / step) * step, math.ceil(high / step) * step
    try:
        return Bounds(lower, upper if upper > lower else lower + step, step=step)
    except DiscreetError:  # numbers beyond every grid
        return None


def _decimals(number: float) -> int:
    if isinstance(number, int):
        return 0
    return max(0, -int(Decimal(repr(number)).normalize().as_tuple().exponent))
