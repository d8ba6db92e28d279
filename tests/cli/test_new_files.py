"""Files that a command writes: an existing one stays, unless it may be overwritten and is not declared."""

from __future__ import annotations

import pytest

from discreet.cli.new_files import FileTaken, refuse_declared, refuse_taken, write
from discreet.errors import ParameterError


def test_a_file_that_appeared_meanwhile_stays(tmp_path):
    place = tmp_path / "answer.csv"
    write(str(place), b"first")
    with pytest.raises(FileExistsError):
        write(str(place), b"second")
    assert place.read_bytes() == b"first"
    write(str(place), b"third", overwrite=True)
    assert place.read_bytes() == b"third"


def test_what_is_taken(tmp_path):
    place = tmp_path / "answer.csv"
    refuse_taken("output", str(place), overwrite=False)
    refuse_taken("output", None, overwrite=False)
    place.write_bytes(b"")
    with pytest.raises(FileTaken):
        refuse_taken("output", str(place), overwrite=False)
    refuse_taken("output", str(place), overwrite=True)
    with pytest.raises(FileTaken):
        refuse_taken("output", str(tmp_path), overwrite=True)
    with pytest.raises(ParameterError, match="directory that does not exist"):
        refuse_taken("output", str(tmp_path / "none" / "a.csv"), overwrite=True)


def test_what_is_declared_by_any_name(tmp_path):
    table, link = tmp_path / "visits.csv", tmp_path / "link.csv"
    table.write_bytes(b"")
    link.symlink_to(table)
    with pytest.raises(FileTaken):
        refuse_declared("output", str(link), [tmp_path / "none", table])
    refuse_declared("output", str(tmp_path / "new.csv"), [table])
    refuse_declared("output", None, [table])
