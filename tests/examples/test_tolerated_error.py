"""The example of a tolerated error prints the epsilon that the law gives."""

from __future__ import annotations

from examples import tolerated_error


def test_the_answer_is_printed(capsys, tmp_path):
    tolerated_error.main(str(tmp_path))
    printed = capsys.readouterr().out
    assert "epsilon = 1.1513" in printed
    assert "epsilon = 1.0831" in printed
