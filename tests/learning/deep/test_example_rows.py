"""Physical batches have one size, and padding holds nothing of anybody."""

from __future__ import annotations

from collections import UserDict

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from torch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Subset,
    TensorDataset,
    random_split,
)

from discreet.errors import ParameterError
from discreet.learning.deep.example_rows import ExampleRows, PhysicalBatch, has_repeats, length_of


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


def test_batches_have_one_size_and_padding_where_nobody_is():
    rows = ExampleRows((torch.arange(10) + 1, torch.ones(10, 2)), 4)
    places, weights = np.array([-1, 3, 0, -1, 9, 8]), np.array([0, 0.5, 0.5, 0, 0.5, 1])
    batches = list(rows.batches(places, weights))
    assert [batch.rows[0].tolist() for batch in batches] == [[0, 4, 1, 0], [10, 9, 0, 0]]
    assert [batch.rows[1][:, 1].tolist() for batch in batches] == [[0, 1, 1, 0], [1, 1, 0, 0]]
    assert [batch.weights.tolist() for batch in batches] == [[0, 0.5, 0.5, 0], [0.5, 1, 0, 0]]
    assert [batch.is_last for batch in batches] == [False, True]
    assert [batch.places.tolist() for batch in batches] == [[-1, 3, 0, -1], [9, 8, -1, -1]]


@pytest.mark.parametrize(
    "kind",
    [
        bool,
        np.uint8,
        np.int16,
        np.uint16,
        np.uint32,
        np.uint64,
        np.int64,
        np.float16,
        np.float64,
        np.complex64,
    ],
)
def test_columns_of_every_type_are_read_and_left_blank(kind):
    """The first row, which is read in the place of blanks and not shown, is no number where there is one."""
    column = np.arange(6).reshape(3, 2).astype(kind)
    column[0] = np.nan if np.dtype(kind).kind in "fc" else 1
    (batch,) = ExampleRows(column, 4).batches(np.array([-1, 2, -1, 1]), np.ones(4))
    assert np.array_equal(batch.rows.numpy(), np.stack([0 * column[1], column[2], 0 * column[1], column[1]]))
    assert batch.rows.numpy().dtype == column.dtype
    assert not ExampleRows(column, 4).blanks().numpy().any()


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
    found = [place for batch in batches for place in batch.places.tolist()]
    assert found == [*places.tolist(), *[-1] * (4 * all_batches - people)]


def test_an_empty_step_has_one_batch_of_padding():
    (batch,) = ExampleRows((torch.ones(10, 2),), 4).batches(np.zeros(0, np.int64), np.zeros(0))
    assert batch.is_last
    assert (batch.weights == 0).all()
    assert (batch.rows[0] == 0).all()


def test_examples_of_any_shape_are_read():
    (batch,) = ExampleRows(Named(), 4, blank=BLANK).batches(np.array([-1, 6, -1, 2]), np.ones(4))
    assert batch.rows["label"].tolist() == [0, 7, 0, 3]
    assert batch.rows["pixels"][:, 0].tolist() == [0, 7, 0, 3]
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
        ({"rows": torch.ones(3), "labels": np.ones(4)}, "different lengths"),
        (torch.ones(()), "cannot be sampled"),
        ((), "no examples"),
        ({}, "no examples"),
        ([torch.ones(128) for _ in range(300)], r"a tuple of columns, .* or torch.stack\(data\) of examples"),
        ([np.ones(3), np.ones(3)], "torch.stack"),
        ([torch.ones(3), [1, 2, 3]], "torch.stack"),
        ([torch.tensor(1.0), torch.tensor(2.0)], "torch.stack"),
        ((torch.ones(3), [1, 2, 3]), r"a tuple of other things than columns.*torch.as_tensor\(labels\)"),
        ((torch.ones(3), torch.ones(())), "other things than columns"),
        (((torch.ones(2), 0), (torch.ones(2), 1)), "a list of examples"),
        ((torch.ones(3), np.array(["a", "b", "c"])), "other things than columns"),
        ((np.ma.masked_array(np.ones(3)), torch.ones(3)), "other things than columns"),
        ({"words": [[1, 2], [3, 4]]}, r"mapping of other things than columns.*data.items\(\)"),
        (pd.DataFrame({0: [1.0, 2.0], 1: [3.0, 4.0]}), "is a frame"),
        (pd.Series([1.0, 2.0], index=[0, 0]), "is a frame"),
        (pa.table({"age": [1.0, 2.0]}), "is a frame"),
        (Subset([torch.ones(3)] * 4, [0, 1]), "torch.stack"),
        (Subset((torch.ones(4), torch.ones(4)), [0, 1]), "Subset of columns in a tuple"),
        (Subset(TensorDataset(torch.ones(4)), [0, 4]), "beyond its data set"),
        (Subset(TensorDataset(torch.ones(4)), []), "no examples"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_cannot_be_sampled_is_refused(data, message):
    with pytest.raises(ParameterError, match=message):
        length_of(data)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ((np.arange(5.0), torch.arange(5)), list),
        ((np.arange(5.0)[::-1][::-1], np.arange(5)), list),
        ({"row": np.arange(5.0), "label": torch.arange(5)}, dict),
        (UserDict(row=torch.arange(5.0), label=torch.arange(5)), dict),
    ],
    ids=["mixed", "arrays", "mapping", "user mapping"],
)
def test_columns_are_tensors_and_arrays_in_tuples_and_mappings(data, kind):
    rows = ExampleRows(data, 3)
    assert length_of(data) == 5
    (batch,) = rows.batches(np.array([1, 4]), np.ones(2))
    assert type(batch.rows) is kind
    values = list(batch.rows.values()) if kind is dict else batch.rows
    assert [value.tolist() for value in values] == [[1.0, 4.0, 0.0], [1, 4, 0]]
    assert [value.dtype for value in values] == [
        torch.float64 if not isinstance(data, UserDict) else torch.float32,
        torch.int64,
    ]
    if kind is dict:
        assert list(batch.rows) == ["row", "label"]


def test_a_caller_gets_examples_of_columns_as_they_are():
    def seen(examples):
        assert all(
            isinstance(one["row"], np.ndarray) and isinstance(one["label"], torch.Tensor) for one in examples
        )
        return torch.tensor([float(one["row"].sum() + one["label"]) for one in examples])

    data = {"row": np.ones((4, 2)), "label": torch.arange(4)}
    (batch,) = ExampleRows(data, 3, seen).batches(np.array([1, 3]), np.ones(2))
    assert batch.rows.tolist() == [3.0, 5.0, 0.0]


@pytest.mark.parametrize("data", [np.arange(6.0)[::-1], np.frombuffer(np.arange(6.0)[::-1].tobytes())])
def test_arrays_that_are_stored_oddly_or_cannot_be_written_are_read(data):
    (batch,) = ExampleRows(data, 3).batches(np.array([0, 1]), np.ones(2))
    assert batch.rows.tolist() == [5.0, 4.0, 0.0]


def subsets():
    """Subsets of columns, each with what it holds by PyTorch's own reading."""
    held = TensorDataset(torch.arange(20) + 100, torch.arange(20.0).reshape(10, 2).repeat(2, 1))
    nested = Subset(Subset(held, [3, 1, -1, 7, 12]), torch.tensor([4, 0, 2]))
    split, _ = random_split(held, [0.5, 0.5], generator=torch.Generator().manual_seed(1))
    return [nested, split, Subset(held, range(2, 9)), Subset(held.tensors[0], np.array([5, 3, 9]))]


@pytest.mark.parametrize("data", subsets(), ids=["nested", "split", "range", "tensor"])
def test_a_subset_of_columns_is_read_as_columns(data):
    (batch,) = ExampleRows(data, 4).batches(np.array([2, -1, 0, -1]), np.ones(4))
    assert length_of(data) == len(data)
    examples = [data[2], data[0]]
    if isinstance(examples[0], tuple):
        for column, values in enumerate(batch.rows):
            assert torch.equal(values[::2], torch.stack([one[column] for one in examples]))
            assert not values[1::2].any()
    else:
        assert batch.rows.tolist() == [int(examples[0]), 0, int(examples[1]), 0]


def test_data_sets_that_read_in_a_way_of_their_own_are_asked():
    class Doubled(TensorDataset):
        def __getitem__(self, place):
            return tuple(2 * value for value in super().__getitem__(place))

    class Later(Subset):
        def __getitem__(self, place):
            return self.dataset[self.indices[place] + 1]

        def __getitems__(self, places):
            raise NotImplementedError

    for data in (Doubled(torch.arange(5)), Later(TensorDataset(2 * torch.arange(5) - 2), [0, 1, 2, 3])):
        with pytest.raises(ParameterError, match="blank is missing"):
            ExampleRows(data, 2)
        (batch,) = ExampleRows(data, 2, blank=(torch.tensor(0),)).batches(np.array([3]), np.ones(1))
        assert batch.rows[0].tolist() == [6, 0]


def test_an_example_that_a_subset_names_twice_is_seen():
    held = TensorDataset(torch.arange(5))
    assert has_repeats(Subset(held, [0, 1, 0]))
    assert has_repeats(Subset(held, [4, -1]))
    assert has_repeats(Subset(Subset(Named(), [1, 2]), [0, 0]))
    assert not has_repeats(Subset(Subset(held, [2, 4, 0]), [0, 2]))
    assert not has_repeats(held)


def test_losses_of_other_shapes_are_refused_with_the_line_that_mends_them():
    (batch,) = ExampleRows((torch.ones(10, 2),), 4).batches(np.array([1]), np.ones(1))
    losses = torch.arange(24.0)
    for wrong, message in [
        (losses[:4, None], r"have shape \(4, 1\), and .* shape \(4,\).*losses.flatten\(1\).mean\(1\)"),
        (losses.reshape(4, 3, 2), r"have shape \(4, 3, 2\).*losses.flatten\(1\).mean\(1\)"),
        (losses[:12], r"have shape \(12,\).*losses.reshape\(4, -1\).mean\(1\)"),
        (losses[:4, None] - losses[:4], r"have shape \(4, 4\).*allowed: outputs and targets of one shape"),
        (losses[0], 'one number.*reduction="none"'),
        (losses[:3], "first axis is not that of the batch, 4"),
        (losses[:0], "first axis is not that of the batch, 4"),
        (None, "missing"),
    ]:
        with pytest.raises(ParameterError, match=message):
            batch.checked(wrong)
    assert isinstance(batch, PhysicalBatch)
    for mended in (losses[:4, None].flatten(1).mean(1), losses[:12].reshape(4, -1).mean(1)):
        assert batch.checked(mended) is mended
