"""CSV files, record by record: a damaged record changes no other.

A record is a line. Wherever quotes are, a line ends at its line feed (a carriage return before it belongs
to the ending), so that a quote that is never closed harms its own line and no line after it. Then each line
is read by itself:

- Fields are separated by commas, or by what the owner states (`csv_format`). A field that begins with a quote
  ends with one, and within it two quotes mean one; in other fields a quote is a character like any other.
  There is nothing between a closing quote and the next comma.
- The mark of UTF-8 at the beginning of a line is left out, as files begin with one, and those that were put
  together have several.
- A line that cannot be read this way, that has more or fewer fields than the first, or more than
  `LONGEST_LINE` bytes, is left out. So is an empty line.
- An empty field is NULL, and so is one that is not UTF-8 or has more than `normal_forms.LONGEST_TEXT` bytes.

Thus the table is the list of lines, each mapped by one function of that line and of the number of columns; a
line more or less is a row more or less. (Proof: normal_forms, lemma 2.)
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO

import pyarrow
import pyarrow.csv

from discreet.data.reading.csv_format import DELIMITERS, Csv
from discreet.data.reading.lost import Lost
from discreet.data.reading.normal_forms import LONGEST_TEXT
from discreet.errors import ParameterError

__all__ = ["LONGEST_LINE", "Records", "header"]

LONGEST_LINE = 1 << 24
"""How many bytes a line may have: a thousand of the longest texts."""

_BLOCK = 1 << 22
_FIELD = rb'(?:"([^"]*(?:""[^"]*)*)"|([^"%b][^%b]*|))(?:%b|\Z)'
_SIMPLE = rb'(?:"[^"]*+(?:""[^"]*+)*+"|[^"%b]*+)'
"""A field in which quotes are at both ends and doubled within, or nowhere. Nothing is ever matched twice."""
_MARK = b"\xef\xbb\xbf"


@dataclass(slots=True, kw_only=True)
class Records:
    """The records of files.

    Attributes
    ----------
    form : Csv
        The files, and how they are written.
    names : list of str
        The columns.
    lost_lines : int
        How many lines were left out so far; private, for the owner only.
    open_lines : int
        How many of them ended within quotes. In a file whose texts have line breaks in them all of these
        are parts of records, and other lines may be so as well.
    lost_values : counter of names
        How many values were not text.
    """

    form: Csv
    names: list[str]
    lost_lines: int = field(default=0, init=False)
    open_lines: int = field(default=0, init=False)
    lost_values: Counter[str] = field(default_factory=Counter, init=False)

    def schema(self) -> pyarrow.Schema:
        """Return the layout of the batches: every column is text."""
        return pyarrow.schema([(name, pyarrow.string()) for name in self.names])

    def all_batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows of all files, one after another."""
        for path in self.form.paths:
            with self.form.open(path) as file:
                if self.form.names is None:
                    file.readline(LONGEST_LINE)
                yield from self.batches(file)

    def batches(self, file: IO[bytes]) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows of all lines of an open file that can be read, some thousand at a time."""
        for block in _blocks(file, self.form):
            yield from self._rows(block)

    def _rows(self, block: list[bytes]) -> Iterator[pyarrow.RecordBatch]:
        for columns in self._columns(block):
            rows = pyarrow.table([_text(column) for column in columns], schema=self.schema())
            for name, column in zip(self.names, columns, strict=True):
                self.lost_values[name] += rows.column(name).null_count - column.null_count
            yield from rows.to_batches()

    def lost(self, converted: Mapping[str, int], written: Mapping[str, Mapping[str, int]]) -> Lost:
        """Return what was left out of the whole file, including values that did not convert."""
        values = self.lost_values + Counter(converted)
        return Lost(
            lines=self.lost_lines,
            open_lines=self.open_lines,
            values=dict(values),
            written=written,
            form=self.form,
        )

    def _columns(self, block: list[bytes]) -> Iterator[list[pyarrow.ChunkedArray]]:
        """Yield the fields of some lines, column by column, as text or, if they may not be text, as bytes."""
        block = [line for line in block if line]
        plain = [line for line in block if len(line) <= LONGEST_LINE]
        self.lost_lines += len(block) - len(plain)
        simple, others = _sorted_out(plain, len(self.names), self.form.delimiter.encode())
        if simple:
            yield _parsed(simple, len(self.names), self.form.delimiter)
        if others:
            rows = self._read(others)
            columns = zip(*rows, strict=True) if rows else [[] for _ in self.names]
            yield [pyarrow.chunked_array([pyarrow.array(one, pyarrow.binary())]) for one in columns]

    def _read(self, lines: Iterable[bytes]) -> list[list[bytes | None]]:
        rows = []
        for line in lines:
            fields = _fields(line, self.form.delimiter)
            if fields is not None and len(fields) == len(self.names):
                rows.append([one or None for one in fields])
            else:
                self.lost_lines += 1
                self.open_lines += fields is None and _is_open(line)
        return rows


def _sorted_out(lines: list[bytes], columns: int, mark: bytes) -> tuple[list[bytes], list[bytes]]:
    """Return the lines that every reader splits into the same fields, one per column, and the others."""
    content = b"\n".join(lines)
    one = _SIMPLE % mark
    is_simple = re.compile(one + rb"(?:" + re.escape(mark) + one + rb"){%d}" % (columns - 1)).fullmatch
    if b"\r" in content or _MARK in content:
        # The library would drop a mark, but only from the first line that it is given.
        simple = [line for line in lines if b"\r" not in line and line[:3] != _MARK and is_simple(line)]
    elif b'"' in content:
        simple = [*filter(is_simple, lines)]
    else:
        simple = [line for line in lines if line.count(mark) == columns - 1]
    if len(simple) == len(lines):
        return simple, []
    known = set(simple)  # equal lines are simple or not together
    return simple, [line for line in lines if line not in known]


def _parsed(lines: list[bytes], columns: int, mark: str) -> list[pyarrow.ChunkedArray]:
    """Return the fields of simple lines, column by column: as text if all of them are, else as bytes."""
    if max(map(len, lines)) <= LONGEST_TEXT:
        try:
            return _split(lines, columns, mark, pyarrow.string())
        except pyarrow.ArrowInvalid:
            pass  # a field is not UTF-8; each counts by itself
    return _split(lines, columns, mark, pyarrow.binary())


def _text(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Return fields as text, NULL where they are not."""
    if pyarrow.types.is_string(column.type):
        return column
    from discreet.data.reading.arrow_forms import text_form

    return text_form(column)


def _split(lines: list[bytes], columns: int, mark: str, kind: pyarrow.DataType) -> list[pyarrow.ChunkedArray]:
    """Return the fields of simple lines in a type, or fail if it is text and one of them is not."""
    places = [f"f{place}" for place in range(columns)]
    content = b"\n".join(lines) + b"\n"
    found = pyarrow.csv.read_csv(
        pyarrow.BufferReader(content),
        read_options=pyarrow.csv.ReadOptions(
            column_names=places, use_threads=False, block_size=len(content) + 1
        ),
        parse_options=pyarrow.csv.ParseOptions(delimiter=mark),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(places, kind),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    return list(found.columns)


def header(form: Csv) -> list[str]:
    """Return the names of columns: those that are stated, or those in the first line of every file.

    Raises
    ------
    ParameterError
        If a first line is not one of names, or files have different ones.
    """
    if form.names is not None:
        return list(form.names)
    found = [_first_line(form, path) for path in form.paths]
    if any(one != found[0] for one in found):
        raise ParameterError(
            "source", "names files with different columns", "files whose first lines are the same"
        )
    return found[0]


def _first_line(form: Csv, path: Path) -> list[str]:
    """Return the fields of the first line. A failure is told outside its handler, without the bytes in it."""
    fields, wrong = list[str](), None
    try:
        with form.open(path) as file:
            line = _plain(form.utf8(file.readline(LONGEST_LINE)))
        fields = [name.decode("utf-8") for name in _fields(line, form.delimiter) or ()]
    except UnicodeDecodeError:
        wrong = (
            f"has a first line that is not in the encoding {form.encoding}",
            "its encoding, as in Csv('visits.csv', encoding='cp1252')",
        )
    except (OSError, EOFError, zlib.error):
        wrong = "could not be read", "a CSV file, which may end in .gz"
    else:
        if not line:
            wrong = (
                "has an empty first line",
                "the names of its columns there, or Csv('visits.csv', names=[…])",
            )
        elif b"\r" in line and b'"' not in line:
            wrong = "has a first line with carriage returns", "lines that end in a line feed, or in both"
    if wrong is not None:
        raise ParameterError("source", *wrong)
    if len(fields) == 1:
        for other in DELIMITERS:
            if other in fields[0]:
                raise ParameterError(
                    "source",
                    f"has a first line without {form.delimiter!r}",
                    f"what separates its fields, as in Csv('visits.csv', delimiter={other!r})",
                )
    return fields


def _blocks(file: IO[bytes], form: Csv) -> Iterator[list[bytes]]:
    """Yield the lines of a file without their endings, a few megabytes at a time.

    Of a line that is longer than `LONGEST_LINE` only enough is kept to show that it is.
    """
    rest = b""
    while block := file.read(_BLOCK):
        content = form.utf8(block)
        lines = content.split(b"\n")
        lines[0] = rest + lines[0]
        rest = lines.pop()[: LONGEST_LINE + 2]
        if lines and not (b"\r" in content or _MARK in content):  # the first line began in the block before
            yield [_plain(lines[0]), *lines[1:]]
        else:
            yield [_plain(line) for line in lines]
    if rest:
        yield [_plain(rest)]


def _plain(line: bytes) -> bytes:
    """Return a line without its ending, and without the mark of UTF-8, wherever files were put together."""
    return line.removesuffix(b"\n").removesuffix(b"\r").removeprefix(_MARK)


def _fields(line: bytes, delimiter: str) -> list[bytes] | None:
    """Return the fields of a line, None where quotes are out of place."""
    pattern, mark = _field(delimiter), delimiter.encode()
    found = []
    place = 0
    while True:
        match = pattern.match(line, place)
        if match is None:
            return None
        quoted, plain = match.groups()
        found.append(plain if quoted is None else quoted.replace(b'""', b'"'))
        if not match.group().endswith(mark) or match.end() == place:
            return found
        place = match.end()


@cache
def _field(delimiter: str) -> re.Pattern[bytes]:
    mark = delimiter.encode()
    return re.compile(_FIELD % (mark, mark, re.escape(mark)), re.DOTALL)


def _is_open(line: bytes) -> bool:
    return line.count(b'"') % 2 == 1
