"""The worked example of trimmed means: noises compared on normal and skewed data."""

from __future__ import annotations

from examples import trimmed_mean as example


def test_smooth_noise_is_far_below_that_of_the_global_sensitivity():
    errors = example.deviations("normal")
    place = example.TRIMS.index(example.Fraction(1, 10))
    for name in ("Student, pure", "Laplace-log-normal", "arcsinh-normal"):
        assert 10 * errors[name][place] < example.global_deviation()
    assert min(errors, key=lambda name: errors[name][place]) == "arcsinh-normal"


def test_trimming_costs_nothing_on_normal_data_and_much_on_skewed():
    normal, skewed = (example.biases(law, runs=40) for law in ("normal", "skewed"))
    assert normal[-1] < 2 * normal[0]
    assert skewed[-1] > 3 * skewed[0]


def test_it_prints_and_draws(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example, "OUTPUT", tmp_path)
    monkeypatch.setattr(example, "TRIMS", example.TRIMS[3:5])
    example.main()
    assert "global sensitivity of the mean: 2" in capsys.readouterr().out
    assert (tmp_path / "trimmed_mean.png").stat().st_size > 1000
