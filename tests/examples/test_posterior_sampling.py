"""The worked example of adaptive posterior sampling."""

from __future__ import annotations

import pytest

from examples import posterior_sampling as example


@pytest.mark.statistical
def test_rounds_pay_off_where_the_data_are_rich():
    one, three = (example.median_error(200_000, rounds, runs=9, points=33) for rounds in (1, 3))
    assert three < one / 1.5


def test_it_prints(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example, "SIZES", (200, 400))
    monkeypatch.setattr(example.median_error, "__kwdefaults__", {"narrow": 1.0, "runs": 1, "points": 5})
    example.main(str(tmp_path))
    assert "rounds" in capsys.readouterr().out
