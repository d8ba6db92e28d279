"""Progress: for terminals only, beside the answer, gone when it is done."""

from __future__ import annotations

import io
import sys

import pytest

from discreet.cli.progress import note, working


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_the_line_while_it_lasts(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with working("counting"):
        assert terminal.getvalue() == "counting …"
    assert terminal.getvalue().endswith("\r" + " " * len("counting …") + "\r")


def test_the_line_goes_away_after_a_failure(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(ValueError, match="no"), working("counting"):
        raise ValueError("no")
    assert terminal.getvalue().endswith("\r")


def test_a_file_sees_nothing(capsys):
    with working("counting"):
        pass
    note("said")
    seen = capsys.readouterr()
    assert (seen.out, seen.err) == ("", "said\n")
