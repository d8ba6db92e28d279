"""Randomness inside a step is secret, and leaves nothing behind."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from torch import nn

from discreet.learning.deep import optimizer as optimizer_module
from discreet.learning.deep.randomness.secret_randomness import _WORDS, SecretRandomness
from discreet.noise import replay
from learning.deep.training_runs import losses_of, small_run


def masks_of_a_run(**options):
    """What dropout does in each batch of a run whose caller seeds PyTorch with a known number."""
    torch.manual_seed(0)
    optimizer, model = small_run(nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 1)), **options)
    found = []
    for batch in optimizer.batches():
        found.append(functional_mask())
        optimizer.step(losses_of(model, batch))
    optimizer.close()
    return found


def functional_mask():
    return nn.functional.dropout(torch.ones(64)).tolist()


def test_masks_are_not_those_of_a_known_seed():
    first, second = masks_of_a_run(), masks_of_a_run()
    assert first[0] != second[0]
    torch.manual_seed(0)
    assert functional_mask() != first[0]


def test_masks_of_all_batches_differ():
    found = masks_of_a_run(batch=100, physical=8)
    assert len(found) > 20
    assert len({tuple(mask) for mask in found}) == len(found)


def test_a_replay_repeats_the_masks():
    runs = []
    for _ in range(2):
        with replay(5):
            runs.append(masks_of_a_run())
    assert runs[0] == runs[1]


def test_examples_are_read_with_secret_randomness():
    class Noisy(torch.utils.data.Dataset):
        def __len__(self):
            return 20

        def __getitem__(self, place):
            return torch.rand(3), torch.tensor(1.0)

    blank = (torch.zeros(3), torch.tensor(0.0))
    first = []
    for _ in range(2):
        torch.manual_seed(0)
        optimizer, _ = small_run(data=Noisy(), blank=blank, batch=20)
        first.append(next(optimizer.batches())[0])
        optimizer.close()
    assert not torch.equal(*first)


class Changed(torch.utils.data.Dataset):
    """Examples that are changed at random, by a generator that a library has for everybody."""

    def __init__(self, draw):
        self.draw = draw

    def __len__(self):
        return 20

    def __getitem__(self, place):
        return torch.full((3,), self.draw()), torch.tensor(1.0)


@pytest.mark.parametrize("draw", [random.random, np.random.normal], ids=["Python", "NumPy"])
def test_generators_of_python_and_numpy_are_secret_too(draw):
    """Known seeds would tell what is done to whoever stands where."""

    def first_batch():
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        blank = (torch.zeros(3), torch.tensor(0.0))
        optimizer, _ = small_run(data=Changed(draw), blank=blank, batch=20)
        batches = optimizer.batches()
        found = next(batches)[0]
        batches.close()
        optimizer.close()
        after = draw()
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        assert draw() == after
        return found

    assert not torch.equal(first_batch(), first_batch())
    with replay(5):
        found = first_batch()
    with replay(5):
        assert torch.equal(first_batch(), found)


def test_the_state_outside_is_as_it_was_after_every_step_and_at_the_end():
    """A checkpoint of the generator would tell masks otherwise, and how many batches there were."""
    torch.manual_seed(3)
    optimizer, model = small_run(nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 1)))
    before = torch.get_rng_state()
    for batch in optimizer.batches():
        assert not torch.equal(torch.get_rng_state(), before)
        optimizer.step(losses_of(model, batch))
        assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(torch.get_rng_state(), before)
    optimizer.close()
    broken, _ = small_run()
    before = torch.get_rng_state()
    batches = broken.batches()
    next(batches)
    batches.close()
    assert torch.equal(torch.get_rng_state(), before)


class Repeated:
    """Stands for recorded batches; every third time the first of them is recorded anew."""

    def __init__(self, uses, bound, before):
        self._uses, self._before, self._count = uses, before, 0

    def clear(self):
        self._count = 0

    def release(self, total, rows, weights, places):
        if self._count % 3 == 0:
            self._before()
            self._uses(rows, total.keep)
        self._count += 1
        return weights >= 0, total.zeros(), True


@pytest.mark.parametrize("columns", [True, False])
def test_code_of_users_has_secret_generators_also_where_batches_are_repeated(columns, monkeypatch):
    """Known seeds are set before every step; neither reading nor recording draws what they give."""
    monkeypatch.setattr(optimizer_module, "RecordedSteps", Repeated)
    monkeypatch.setattr(optimizer_module, "DevicePlan", object)
    monkeypatch.setattr(optimizer_module, "can_be_captured", lambda rows: True)
    drawn = []

    def draw():
        drawn.append((random.random(), np.random.normal()))  # noqa: NPY002
        return drawn[-1][0]

    data = (torch.ones(20, 3), torch.ones(20)) if columns else Changed(draw)
    blank = None if columns else (torch.zeros(3), torch.tensor(0.0))
    optimizer, model = small_run(data=data, blank=blank, batch=20, steps=40, physical=64)

    def losses(*batch):
        draw()
        return losses_of(model, batch)

    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    known = random.random(), np.random.normal()  # noqa: NPY002
    steps = optimizer.run(losses)
    while next(steps, None):
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
    optimizer.close()
    assert optimizer.taken == 40
    assert len(drawn) > 12
    assert all(known[0] != one and known[1] != other for one, other in drawn)


@pytest.mark.parametrize("seed", [0, 5, 2**32 - 1])
def test_the_whole_state_is_drawn(seed):
    """The words are where we write them: another implementation of the generator seeds the same ones."""
    torch.manual_seed(seed)
    held = torch.get_rng_state().numpy()[_WORDS].view(np.uint64)
    assert (held == np.random.RandomState(seed).get_state()[1]).all()
    secret = SecretRandomness()
    secret.renew()
    drawn = torch.get_rng_state().numpy()[_WORDS].view(np.uint64).copy()
    secret.leave()
    assert len(set(drawn.tolist())) > 620
    assert drawn.max() < 2**32
    oracle = np.random.RandomState(0)
    oracle.set_state(("MT19937", drawn.astype(np.uint32), 624))
    secret.enter()
    found = torch.randint(0, 2**20, (700,)).tolist()
    secret.leave()
    words = oracle.randint(0, 2**32, 700, dtype=np.uint32)
    assert found == [int(word) % 2**20 for word in words]
