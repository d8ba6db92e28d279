"""Examples that counted as zero are noted, however many batches there were."""

from __future__ import annotations

import numpy as np
import torch

from discreet.learning.deep.watching.left_out import LeftOut


def test_places_of_examples_are_read_once_and_kept():
    left_out = LeftOut()
    left_out.note(np.array([4, -1, 7, 9]), torch.tensor([True, True, False, True]))
    assert left_out.places() == [7]
    left_out.note(np.array([-1, 7]), torch.tensor([True, False]))
    left_out.note(np.array([-1, -1]), torch.tensor([True, True]))
    assert left_out.places() == left_out.places() == [7, 7]


def test_few_batches_wait_on_a_device():
    left_out = LeftOut()
    for place in range(1000):
        left_out.note(np.array([place]), torch.tensor([place % 3 > 0]))
        assert len(left_out._waiting) < 256
    assert left_out.places() == list(range(0, 1000, 3))
