"""The streaming counter beats the simple ones and stays within its intervals."""

from __future__ import annotations

from examples import streaming_counter


def test_errors_are_ordered():
    errors = streaming_counter.errors()
    assert errors["no strategy is below"] < errors["this counter"] < 1.05 * errors["no strategy is below"]
    assert errors["this counter"] < errors["noise on every day, summed"] / 4


def test_it_reads_and_prints(capsys, tmp_path):
    readings = streaming_counter.read_all_year()
    assert len(readings) == streaming_counter.DAYS
    within = sum(abs(value - exact) <= width for value, width, exact in readings)
    assert within > 0.5 * len(readings)  # errors of days are correlated, so no sharper count is safe
    streaming_counter.main(str(tmp_path))
    assert "day 365" in capsys.readouterr().out
