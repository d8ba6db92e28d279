"""The clinic as a script: the limit decides the noise, and the answer is paid for once."""

from __future__ import annotations

import pytest

from discreet.cli.clinic import visits, write_visits
from examples import clinic


def test_noise_grows_with_the_limit(tmp_path):
    write_visits(visits(100), tmp_path / "visits.parquet")
    opened = clinic.opened(tmp_path, 1)
    before = clinic.margin(opened)
    opened.amend(tables=clinic.declared(tmp_path, 10), reason="more visits")
    assert clinic.margin(opened) == pytest.approx(10 * before, rel=0.1)
    assert opened.spent.requests == 0


def test_it_prints(capsys, tmp_path):
    clinic.main(str(tmp_path), rows=2000)
    said = capsys.readouterr().out
    assert "Taipei" in said
    assert "spent: epsilon 0.5; 8 entries and what is stored for 2 of them are intact" in said
    assert (tmp_path / "clinic.png").exists()
