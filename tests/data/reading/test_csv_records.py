"""Lines of CSV files: one line's damage stays its own, and what is left out is counted for the owner."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canary import DATA_TEXT, private
from discreet.data import Bounds, Limits, Table
from discreet.data.engines.base import fetch
from discreet.data.reading import csv_records
from discreet.data.reading.csv_format import Csv
from discreet.data.reading.csv_records import Records, header
from discreet.data.reading.normal_forms import LONGEST_TEXT
from discreet.errors import ParameterError
from effort import examples

GOOD = [b"1,Oslo,2", b'2,"a ""b"", c",3', b"3,,", "4,Zürich,9".encode(), b'5,5" pipe,1']
READ = [
    ["1", "Oslo", "2"],
    ["2", 'a "b", c', "3"],
    ["3", None, None],
    ["4", "Zürich", "9"],
    ["5", '5" pipe', "1"],
]
HOSTILE = {
    "an open quote": b'77,"open,1',
    "an open quote in the last field": b'77,open,"1',
    "text after a quote": b'77,"a"b,1',
    "a missing field": b"77,a",
    "an extra field": b"77,a,1,1",
    "bad bytes": b"77,\xff\xfe,1",
    "a bad person": b"\xff,a,1",
    "a long field": b"77," + b"x" * (LONGEST_TEXT + 1) + b",1",
    "a long line": b"77," + b"x" * (csv_records.LONGEST_LINE + 5) + b",1",
    "a NUL": b"77,a\0b,1",
    "a lone return": b"77,a\rb,1",
    "text where numbers are": b"77,a,b",
    "too large a number": b"77,a," + b"9" * 400,
    "nothing": b"",
    "half a character": b"77,\xc3,1",
    "only quotes": b'"""""',
    "a surrogate": b"77,\xed\xa0\x80,1",
}


def read(*lines: bytes, end: bytes = b"\n") -> list[list[str | None]]:
    records = Records(form=Csv("visits.csv"), names=["id", "city", "x"])
    found = records.batches(io.BytesIO(end.join(lines)))
    return [list(row.values()) for batch in found for row in batch.to_pylist()]


def test_lines_are_read_as_written():
    for end in (b"\n", b"\r\n"):
        assert sorted(map(str, read(*GOOD, end=end))) == sorted(map(str, READ))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_line_changes_no_other(name):
    for place in range(len(GOOD) + 1):
        found = read(*GOOD[:place], HOSTILE[name], *GOOD[place:])
        others = [row for row in found if row[0] not in {None, "77"}]
        assert sorted(map(str, others)) == sorted(map(str, READ))
        assert len(found) <= len(READ) + 1


MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize("other", [b"", b"9,\xff,1"], ids=["text", "bytes"])
def test_a_field_is_null_from_one_byte_too_many_on(other):
    longest = b"x" * LONGEST_TEXT
    for field, kept in ((longest, longest.decode()), (longest + b"x", None)):
        assert ["7", kept, "1"] in read(b"7," + field + b",1", other)
        assert ["7", kept, "1"] in read(b'7,"' + field + b'",1', other)


@pytest.mark.parametrize("block", range(1, 16))
def test_endings_and_marks_are_left_out_wherever_a_block_ends(monkeypatch, block):
    monkeypatch.setattr(csv_records, "_BLOCK", block)
    mark = b"\xef\xbb\xbf"
    found = read(b"1,a,2", mark + b"2,b,3\r", b"3,c,4", b"4,d,5")
    assert found == [["1", "a", "2"], ["2", "b", "3"], ["3", "c", "4"], ["4", "d", "5"]]


@pytest.mark.parametrize("line", [b"77,x,", b'"77",x,'])
@pytest.mark.parametrize("marks", [1, 2])
def test_a_mark_of_the_encoding_is_read_alike_at_every_line(line, marks):
    """A library that drops it from the first line of what it is given must not see it."""
    alone = read(marks * MARK + line)
    assert alone == ([["77", "x", None]] if marks == 1 else alone)
    for place in range(len(GOOD) + 1):
        found = read(*GOOD[:place], marks * MARK + line, *GOOD[place:])
        assert [row for row in found if "77" in str(row[0])] == alone


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=6), st.data())
def test_the_table_is_the_lines_one_by_one(lines, data):
    """The sum over lines of what each gives alone: so a line more is a row more at most."""
    alone = [row for line in lines for row in read(line)]
    assert sorted(map(str, read(*lines))) == sorted(map(str, alone))
    block = data.draw(st.integers(1, 9))
    whole = csv_records._BLOCK
    csv_records._BLOCK = block
    try:
        assert sorted(map(str, read(*lines))) == sorted(map(str, alone))
    finally:
        csv_records._BLOCK = whole


@given(st.lists(st.lists(st.text("ab\",é '\t", min_size=1), min_size=3, max_size=3), max_size=4))
def test_what_another_writer_writes_is_read(rows):
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    assert sorted(map(str, read(file.getvalue().encode()))) == sorted(map(str, rows))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "has an empty first line"),
        (MARK, "has an empty first line"),
        (b"\nid,x\n", "has an empty first line"),
        (b"id,x\ra,1\rb,2\r", "has a first line with carriage returns"),
    ],
)
def test_a_first_line_that_names_nothing_is_told(tmp_path, content, words):
    path = tmp_path / "visits.csv"
    path.write_bytes(content)
    with pytest.raises(ParameterError, match=f"^source {words}"):
        header(Csv(path))


@pytest.mark.parametrize("named", [True, False], ids=["named", "header"])
def test_a_marked_file_gives_its_first_record(tmp_path, named):
    path = tmp_path / "visits.csv"
    path.write_bytes(MARK + (b"" if named else b"id,x\n") + b'"a",1\nb,2\n')
    form = Csv(path, names=["id", "x"]) if named else Csv(path)
    found = [
        row for batch in Records(form=form, names=header(form)).all_batches() for row in batch.to_pylist()
    ]
    assert sorted(row["id"] for row in found) == ["a", "b"]


def test_the_header_is_a_line(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_bytes('\ufeffid,"a, b"\r\n1,2\n'.encode())
    assert header(Csv(path)) == ["id", "a, b"]
    path.write_bytes(b'id,"open\nx",y\n')
    assert header(Csv(path)) == []


def test_hostile_lines_do_not_keep_a_table_from_being_opened(tmp_path):
    path = private(tmp_path / "v.csv")
    path.write_bytes(b"\n".join([b"id,city,x", *GOOD, *HOSTILE.values(), DATA_TEXT.encode()]))
    table = Table(path, person="id", limits=Limits(rows=1), columns={"x": Bounds(0, 9)})
    rows = fetch(table._relation, table._backend).to_pylist()
    others = {row["id"]: (row["city"], row["x"]) for row in rows if row["id"] not in {None, "77"}}
    assert others == {row[0]: (row[1], None if row[2] is None else int(row[2])) for row in READ}
    lost = table.lost()
    assert (lost.lines, lost.open_lines) == (8, 3)
    assert dict(lost.values) == {"id": 1, "city": 4, "x": 2}
    assert repr(lost) == "Lost()"
    assert (
        table.declaration
        == Table(path, person="id", limits=Limits(rows=1), columns={"x": Bounds(0, 9)}).declaration
    )


def test_a_line_break_within_quotes_ends_the_line(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text('id,note\n1,"two\nlines"\n2,one\n')
    table = Table(path, person="id", limits=Limits(rows=1))
    assert [row["id"] for row in fetch(table._relation, table._backend).to_pylist()] == ["2"]
    assert table.lost().open_lines == 1
