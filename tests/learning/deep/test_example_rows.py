"""Physical batches have one size, and padding holds nothing of anybody."""

from __future__ import annotations

from collections import UserDict

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, TensorDataset

from discreet.errors import ParameterError
from discreet.learning.deep.example_rows import ExampleRows, length_of


class Named(Dataset):
    """Examples with names."""

    def __len__(self):
        return 7

    def __getitem__(self, place):
        return {"pixels": torch.full((2,), place + 1.0), "label": place + 1, "extra": np.ones(3, np.int64)}


BLANK = {"pixels": torch.zeros(2), "label": 0, "extra": np.zeros(3, np.int64)}


class Listed(Dataset):
    """Examples from a list."""

    def __init__(self, examples):
        self.examples = examples

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, place):
        return self.examples[place]


class Stream(IterableDataset):
    """Examples in a row, without a length."""

    def __iter__(self):
        yield torch.zeros(1)


def test_batches_have_one_size_and_the_last_is_padded():
    rows = ExampleRows((torch.arange(10) + 1, torch.ones(10, 2)), 4)
    batches = list(rows.batches(np.array([0, 3, 4, 8, 9]), np.full(5, 0.5)))
    assert [batch.rows[0].tolist() for batch in batches] == [[1, 4, 5, 9], [10, 0, 0, 0]]
    assert [batch.weights.tolist() for batch in batches] == [[0.5] * 4, [0.5, 0, 0, 0]]
    assert [batch.is_last for batch in batches] == [False, True]
    assert batches[1].places.tolist() == [9]


@pytest.mark.parametrize(
    ("people", "own", "least", "all_batches"), [(5, 2, 4, 4), (5, 2, 1, 2), (0, 1, 2, 2), (8, 2, 2, 2)]
)
def test_batches_of_padding_follow_until_there_are_as_many_as_stated(people, own, least, all_batches):
    rows, places = ExampleRows((torch.ones(10, 2),), 4), np.arange(people)
    batches = list(rows.batches(places, np.ones(people), least))
    assert rows.count(places) == own
    assert len(batches) == all_batches
    assert [batch.is_last for batch in batches] == [False] * (all_batches - 1) + [True]
    assert [int(batch.weights.sum()) for batch in batches] == [
        min(4, max(0, people - 4 * place)) for place in range(all_batches)
    ]
    assert all(batch.rows[0][batch.weights == 0].sum() == 0 for batch in batches)
    assert [place for batch in batches for place in batch.places.tolist()] == places.tolist()


def test_an_empty_step_has_one_batch_of_padding():
    (batch,) = ExampleRows((torch.ones(10, 2),), 4).batches(np.zeros(0, np.int64), np.zeros(0))
    assert batch.is_last
    assert (batch.weights == 0).all()
    assert (batch.rows[0] == 0).all()


def test_examples_of_any_shape_are_read():
    (batch,) = ExampleRows(Named(), 4, blank=BLANK).batches(np.array([2, 6]), np.ones(2))
    assert batch.rows["label"].tolist() == [3, 7, 0, 0]
    assert batch.rows["pixels"][:, 0].tolist() == [3, 7, 0, 0]
    assert batch.rows["extra"].sum() == 6


def test_batches_are_made_as_the_caller_says():
    def labels(examples):
        return [example["label"] for example in examples]

    rows = ExampleRows(Named(), 3, labels, BLANK)
    (batch,) = rows.batches(np.array([1]), np.ones(1))
    assert batch.rows == [2, 0, 0]


def padded(length=None):
    """A collate that pads texts to a length, or to the longest of the batch."""

    def collate(texts):
        longest = length or max(len(text) for text in texts)
        return UserDict(words=torch.tensor([[*text, *[0] * (longest - len(text))] for text in texts]))

    return collate


def test_a_batch_whose_shape_examples_decide_is_refused():
    texts = Listed([[1, 2], [3, 4], [5, 6, 7]])
    rows = ExampleRows(texts, 4, padded(), [0, 0])
    list(rows.batches(np.array([0, 1]), np.ones(2)))
    with pytest.raises(ParameterError, match="other shapes"):
        list(rows.batches(np.array([0, 1, 2]), np.ones(3)))
    (batch,) = ExampleRows(texts, 4, padded(3), [0, 0]).batches(np.array([0, 2]), np.ones(2))
    assert batch.rows["words"].tolist() == [[1, 2, 0], [5, 6, 7], [0, 0, 0], [0, 0, 0]]


def test_a_batch_whose_type_an_example_decides_is_refused():
    """The usual collate takes whole numbers to floats of 32 bits as soon as one has a fraction."""
    rows = ExampleRows(Listed([2**30 + 1, 7, 0.5]), 4, blank=0)
    list(rows.batches(np.array([0, 1]), np.ones(2)))
    with pytest.raises(ParameterError, match="types"):
        list(rows.batches(np.array([0, 2]), np.ones(2)))


def test_no_example_is_read_to_find_shapes():
    class Unread(Listed):
        def __getitem__(self, place):
            raise AssertionError

    with pytest.raises(ParameterError, match="blank is missing"):
        ExampleRows(Unread([1, 2]), 4)
    ExampleRows(Unread([1, 2]), 4, blank=0)


@pytest.mark.parametrize(
    "data", [(torch.ones(5, 2),), TensorDataset(torch.ones(5, 2)), torch.ones(5, 2), np.ones((5, 2))]
)
def test_shapes_of_tensors_and_arrays_are_public(data):
    def first(examples):
        return [torch.as_tensor(one[0] if isinstance(one, tuple) else one) for one in examples]

    (batch,) = ExampleRows(data, 3, first).batches(np.array([4]), np.ones(1))
    assert [row.tolist() for row in batch.rows] == [[1, 1], [0, 0], [0, 0]]


def test_a_batch_without_a_shape_is_refused():
    with pytest.raises(ParameterError, match="no shape can be seen"):
        ExampleRows(Listed([1]), 4, set, 0)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (DataLoader(TensorDataset(torch.ones(4)), batch_size=2, shuffle=True), "loader.dataset"),
        (RandomSampler(range(3)), "loader"),
        (Stream(), "cannot be sampled"),
        (7, "cannot be sampled"),
        (TensorDataset(torch.ones(0)), "no examples"),
        ((torch.ones(3), torch.ones(4)), "different lengths"),
    ],
    ids=["loader", "sampler", "stream", "number", "empty", "lengths"],
)
def test_what_cannot_be_sampled_is_refused(data, message):
    with pytest.raises(ParameterError, match=message):
        length_of(data)
