"""Cells print, show their last value, and hand over their pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from book.cells import folder_of, in_a_folder, run_cell, shown


def test_what_is_printed_and_the_last_value_are_shown():
    namespace = {}
    assert run_cell("x = 2\nprint('a')\nx + 1", namespace, "here").text == "a\n3"
    assert run_cell("x; None", namespace, "here").text == ""
    assert namespace["x"] == 2


def test_a_cell_that_fails_fails():
    with pytest.raises(AssertionError):
        run_cell("assert 1 == 2", {}, "here")


def test_pictures_are_taken_and_closed():
    from matplotlib import pyplot

    with in_a_folder():
        code = "import discreet as dp\ndp.Laplace(sensitivity=1, epsilon=1).plot()"
        output = run_cell(code, {}, "here")
    assert output.text == ""
    assert len(output.pictures) == 1
    assert b"<svg" in output.pictures[0]
    assert pyplot.get_fignums() == []
    assert "](here.svg)" in shown(output, ["here.svg"], "a picture")


def test_cells_write_into_a_folder_that_goes():
    before = Path.cwd()
    with in_a_folder():
        inside = Path.cwd()
        run_cell("open('a.ledger', 'w').close()", {}, "here")
    assert inside != before
    assert not inside.exists()
    assert folder_of("guides/owner.md") == Path("pictures/guides/owner")
