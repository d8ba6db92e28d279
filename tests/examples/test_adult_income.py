"""The worked example of models of census data."""

from __future__ import annotations

import pytest

from examples import adult_income as example


def test_declared_keys_are_those_that_people_have():
    """A misspelled one would leave people out."""
    known, new = example.people()
    assert (len(known), len(new)) == (24_129, 6_033)
    for name, keys in example.KEYS.items():
        assert set(known[name]) | set(new[name]) <= set(keys.split(", ")), name


@pytest.mark.statistical
def test_private_models_are_nearly_as_good(capsys, tmp_path):
    example.main(str(tmp_path), (1.0,))
    said = capsys.readouterr().out
    assert "20 Newton steps" in said
    assert (tmp_path / "adult_income.png").exists()
    lines = {line[:20].strip(): line for line in said.splitlines()}
    linear, additive = (
        float(lines[name].split("%")[0].split()[-1]) for name in ("logistic regression", "additive model")
    )
    assert linear > 80
    assert additive > 82
