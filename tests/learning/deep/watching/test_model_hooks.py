"""Copies of a private model, and files of it, are as if it had never been private."""

from __future__ import annotations

import copy
import io

import pytest
import torch

from discreet.errors import ParameterError
from learning.deep.training_runs import losses_of, small_run, train


def saved_and_loaded(model):
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


COPIES = [copy.deepcopy, saved_and_loaded]


@pytest.mark.parametrize("copied", COPIES)
def test_losses_of_a_copy_are_not_those_of_the_model(copied):
    optimizer, model = small_run()
    other = copied(model)
    batches = optimizer.batches()
    batch = next(batches)
    with pytest.raises(ParameterError, match="do not come from the model"):
        optimizer.step(losses_of(other, batch))


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_can_be_asked_in_the_middle_of_a_batch_and_trained_by_itself(copied):
    optimizer, model = small_run()
    other = copied(model)
    for batch in optimizer.batches():
        with torch.no_grad():
            other(batch[0])
        optimizer.step(losses_of(model, batch))
    assert torch.equal(copied(model).weight, model.weight)
    again, other = small_run(other)
    train(again, other)
    assert not torch.equal(other.weight, model.weight)


def test_a_model_is_private_while_its_copies_are_not():
    optimizer, model = small_run()
    copy.deepcopy(model)
    train(optimizer, model)
    assert optimizer.taken == 3
