"""The worked example of many outputs."""

from __future__ import annotations

from examples import many_outputs as example


def test_noise_on_all_scores_grows_with_the_number_of_outputs():
    few, many = example.shortfalls(2**4), example.shortfalls(2**12)
    assert many["noise on all scores"] > 200 * few["noise on all scores"]
    for name in ("exponential mechanism", "permute-and-flip", "noise, only the winner shown"):
        assert many[name] < 3 * few[name]


def test_optima_divide_the_number_of_outputs():
    errors = example.shortfalls(2**12)
    assert errors["  half of the outputs are best"] < 0.4 * errors["exponential mechanism"]
    assert errors["exponential mechanism"] <= errors["  textbook: 2 log(n / beta)"] + 1


def test_it_prints(capsys, tmp_path):
    example.main(str(tmp_path))
    assert "exponential" in capsys.readouterr().out
