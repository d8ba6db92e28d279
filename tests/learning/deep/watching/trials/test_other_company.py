"""Losses in other company: what they read of others besides gradients."""

from __future__ import annotations

from collections import UserDict, namedtuple
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn import functional

from discreet.errors import ParameterError
from discreet.learning.deep.watching.trials.other_company import refuse_company, with_blanks
from learning.deep.training_runs import linear_data, losses_of, small_run


def standardized(model, rows, targets):
    return losses_of(model, ((rows - rows.mean(0)) / rows.std(0), targets))


def divided_by_mean(model, rows, targets):
    found = losses_of(model, (rows, targets))
    return found / found.detach().mean()


def times_largest(model, rows, targets):
    found = losses_of(model, (rows, targets))
    return found * found.detach().amax()


def weighted_by_count(model, rows, targets):
    return losses_of(model, (rows, targets)) / (targets > 0).sum()


def ranked(model, rows, targets):
    """Every example's loss has the weight of its rank in the batch."""
    return losses_of(model, (rows, targets)) * targets.argsort().argsort()


def plain(model, rows, targets):
    return losses_of(model, (rows, targets))


def dropped_out(model, rows, targets):
    return losses_of(model, (functional.dropout(rows, 0.5), targets))


def scattered(model, rows, targets):
    """Random by a generator of its own: nothing can be told, and nothing is refused."""
    return losses_of(model, (rows + float(np.random.default_rng().random()), targets))


def not_finite(model, rows, targets):
    return losses_of(model, (rows, targets)) / (targets - targets)


MIXED = [standardized, divided_by_mean, times_largest, weighted_by_count, ranked]


@pytest.mark.parametrize("losses", MIXED)
@pytest.mark.parametrize("compiler", [None, lambda graph: graph])
def test_losses_that_read_values_of_others_are_refused_in_a_run(losses, compiler):
    optimizer, model = small_run(data=linear_data(40), batch=40, physical=64, steps=5)
    with pytest.raises(ParameterError, match="changes with the values of others"):
        list(optimizer.run(partial(losses, model), compiler=compiler))
    assert optimizer.taken == 1


@pytest.mark.parametrize("losses", [plain, dropped_out, scattered, not_finite])
def test_losses_of_examples_alone_are_taken(losses):
    optimizer, model = small_run(data=linear_data(40), batch=40, physical=64, steps=5)
    assert list(optimizer.run(partial(losses, model))) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("weights", [[1, 1, 1, 0], [0, 1, 0, 1]])
def test_each_example_is_gone_once(weights):
    """With any of two or more examples that another reads."""
    rows, weight = torch.arange(1.0, 5.0), torch.tensor(weights, dtype=torch.float64)
    present = weight.nonzero()[:, 0].tolist()
    for place in present:
        with pytest.raises(ParameterError, match="others"):
            refuse_company(lambda rows, p=place: rows + rows[p], rows, lambda: torch.zeros(4), weight)


@pytest.mark.parametrize(
    ("weights", "told"), [([1, 0, 0, 0], False), ([0, 0, 0, 0], False), ([1, 1, 0, 0], True)]
)
def test_one_example_tells_nothing(weights, told):
    weight = torch.tensor(weights, dtype=torch.float64)
    assert refuse_company(torch.clone, torch.ones(4), lambda: torch.zeros(4), weight) is told


Pair = namedtuple("Pair", ["first", "second"])


def same(one, other):
    if isinstance(one, torch.Tensor | np.ndarray):
        return bool((one == other).all())
    return bool(one == other)


@pytest.mark.parametrize("wrap", [list, tuple, lambda parts: Pair(*parts)])
def test_blanks_take_the_places_of_examples_in_trees(wrap):
    chosen = torch.tensor([True, False, True])
    rows = wrap([torch.tensor([[1, 2], [3, 4], [5, 6]]), np.array([1.0, 2.0, 3.0])])
    blanks = wrap([torch.zeros(3, 2, dtype=torch.int64), np.zeros(3)])
    found = with_blanks(rows, blanks, chosen)
    assert type(found) is type(rows)
    assert found[0].tolist() == [[0, 0], [3, 4], [0, 0]]
    assert found[1].tolist() == [0.0, 2.0, 0.0]
    assert rows[0].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert rows[1].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("kind", [dict, UserDict])
def test_blanks_take_the_places_of_texts_in_mappings(kind):
    chosen = torch.tensor([True, False, True])
    rows = kind(texts=["a", "b", "c"], length=torch.tensor(7), options={"deep": torch.ones(3)})
    blanks = kind(texts=["", "", ""], length=torch.tensor(0), options={"deep": torch.zeros(3)})
    found = with_blanks(rows, blanks, chosen)
    assert type(found) is kind
    assert found["texts"] == ["", "b", ""]
    assert found["length"] == 7
    assert found["options"]["deep"].tolist() == [0, 1, 0]
    assert rows["texts"] == ["a", "b", "c"]
