"""The worked example of generated digits."""

from __future__ import annotations

import numpy as np
import pytest

from examples import generated_digits as example


def test_images_are_a_table_and_real_ones_are_useful():
    columns, private, tested = example.images()
    assert columns.shape == (*(2,) * 16, 10)
    assert private.shape == (1200, 17)
    assert example.usefulness(private, tested) > 0.6
    assert example.usefulness(np.zeros((3, 17), np.int64), tested) < 0.2


@pytest.mark.slow
def test_digits_of_a_measured_tree_are_useful_and_those_of_generators_less(capsys, tmp_path):
    example.main(str(tmp_path), epsilons=(10.0,), teachers=10, rounds=2)
    lines = capsys.readouterr().out.splitlines()
    right = {
        name: float(line.split()[-1].rstrip("%"))
        for name in example.METHODS
        for line in lines
        if line.startswith(name)
    }
    assert right["tree of pairs"] > 45
    assert right["tree of pairs"] > max(right["PATE-GAN"], right["G-PATE"]) + 15
    assert (tmp_path / "generated_digits.png").exists()
