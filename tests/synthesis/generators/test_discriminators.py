import numpy as np
import pytest
import torch

from discreet.errors import ParameterError
from discreet.synthesis.generators.discriminators import Discriminators

SHAPE = (5, 3, 4)
TEACHERS = 7


def some_rows(many=80, seed=0):
    random = np.random.default_rng(seed)
    return np.stack([random.integers(0, cells, many) for cells in SHAPE], axis=1)


def panel(codes, shards, kind=Discriminators):
    return kind(codes, shards, list(range(len(codes))), teachers=TEACHERS, shape=SHAPE, seed=3)


def judged(held, rounds=3):
    """Votes and slopes after some rounds, one line for each teacher."""
    generated = torch.from_numpy(some_rows(50, seed=9))
    directions = torch.from_numpy(np.random.default_rng(1).normal(size=(sum(SHAPE), 6))).float()
    found = []
    for _ in range(rounds):
        held.train(generated, 4)
        slopes = held.slopes(generated[:10], directions).reshape(TEACHERS, -1).numpy()
        found += [held.votes(generated[:30]), slopes]
    return np.concatenate(found, axis=1)


def changed(one, other):
    return np.flatnonzero((one != other).any(axis=1)).tolist()


@pytest.mark.parametrize("gone", [0, 17, 79])
def test_a_person_changes_one_teacher_to_the_last_bit(gone):
    codes = some_rows()
    shards = np.arange(80) % TEACHERS
    rest = np.arange(80) != gone
    assert changed(judged(panel(codes, shards)), judged(panel(codes[rest], shards[rest]))) == [
        gone % TEACHERS
    ]


class SeesAll(Discriminators):
    """Planted: every teacher reads all rows, as in public implementations."""

    def __init__(self, codes, shards, persons, **others):
        super().__init__(codes, shards, persons, **others)
        self._firsts = torch.zeros_like(self._firsts)
        self._sizes = torch.full_like(self._sizes, len(codes))


def test_overlapping_teachers_are_noticed():
    codes, shards = some_rows(), np.arange(80) % TEACHERS
    one, other = (judged(panel(codes[first:], shards[first:], SeesAll)) for first in (0, 1))
    assert len(changed(one, other)) > 1
    twice = np.concatenate([shards, (shards + 1) % TEACHERS])
    with pytest.raises(ParameterError, match="share a person"):
        Discriminators(
            np.concatenate([codes, codes]),
            twice,
            [*range(80), *range(80)],
            teachers=TEACHERS,
            shape=SHAPE,
            seed=0,
        )


def test_the_order_of_rows_is_not_known():
    codes, shards = some_rows(), np.arange(80) % TEACHERS
    order = np.random.default_rng(5).permutation(80)
    assert (judged(panel(codes, shards)) == judged(panel(codes[order], shards[order]))).all()


def test_a_teacher_without_rows_votes_by_its_number():
    codes = some_rows()
    shards = np.arange(80) % (TEACHERS - 2)
    held = panel(codes, shards)
    generated = torch.from_numpy(some_rows(30, seed=2))
    held.train(generated, 2)
    votes = held.votes(generated)
    assert (votes[TEACHERS - 2] == (TEACHERS - 2) % 2).all()
    assert (votes[TEACHERS - 1] == (TEACHERS - 1) % 2).all()
    assert (held.slopes(generated, torch.eye(sum(SHAPE)))[TEACHERS - 2 :] == 0).all()
    empty = panel(codes[:0], shards[:0])
    empty.train(generated, 1)
    assert (empty.votes(generated) == (np.arange(TEACHERS) % 2)[:, None]).all()


def test_a_row_without_a_cell_is_left_out():
    codes, shards = some_rows(), np.arange(80) % TEACHERS
    codes[3, 1] = -1
    rest = np.arange(80) != 3
    assert (judged(panel(codes, shards)) == judged(panel(codes[rest], shards[rest]))).all()


def test_rows_of_the_next_shard_are_never_chosen(monkeypatch):
    """Planted: the largest number below one, which some products round up."""
    held = panel(some_rows(), np.arange(80) % TEACHERS)

    def largest(size, generator, dtype):
        return torch.full(size, 1.0, dtype=dtype)

    monkeypatch.setattr(torch, "rand", largest)
    assert (held._chosen((TEACHERS, 2)) == held._sizes[:, None] - 1).all()


def test_slopes_are_those_of_logits():
    """Against differences: what the logit gains toward a cell, while hidden units keep their sign."""
    held = panel(some_rows(), np.arange(80) % TEACHERS)
    held.train(torch.from_numpy(some_rows(50, seed=9)), 5)
    row = torch.from_numpy(some_rows(1, seed=4))
    slopes = held.slopes(row, torch.eye(sum(SHAPE)))[:, 0]
    for teacher in range(TEACHERS):
        cells = held._cells.detach().reshape(TEACHERS, sum(SHAPE), -1)[teacher]
        inner = (cells[row[0] + held._starts].sum(dim=0) + held._inner[teacher, 0]).detach()
        outer = held._outer[teacher, :, 0].detach()

        def logit(hidden, outer=outer):
            return (torch.where(hidden > 0, hidden, 0.2 * hidden) * outer).sum()

        near = torch.stack([(logit(inner + 1e-3 * cell) - logit(inner)) / 1e-3 for cell in cells])
        assert torch.allclose(near, slopes[teacher], atol=2e-2)


def test_teachers_tell_their_rows_from_others():
    codes = np.zeros((70, 3), np.int64)
    held = panel(codes, np.arange(70) % TEACHERS)
    others = torch.from_numpy(some_rows(200, seed=6).clip(1, None))
    held.train(others, 30)
    mixed = torch.cat([torch.zeros(10, 3, dtype=torch.long), others[:10]])
    votes = held.votes(mixed)
    assert votes[:, :10].mean() > 0.9
    assert votes[:, 10:].mean() < 0.1
