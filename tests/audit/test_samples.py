from __future__ import annotations

import numpy as np

from audit.right import GridLaplace, IntegerLaplace, RandomizedResponse
from discreet.audit.samples import collect, draw, is_batched


class Recorder(IntegerLaplace):
    """Remembers the shapes that it was asked to release."""

    def __init__(self):
        super().__init__()
        self.shapes = []

    def release(self, value):
        self.shapes.append(np.shape(value))
        return super().release(value)


def test_arrays_are_drawn_at_once_where_the_event_allows_any_size():
    recorder = Recorder()
    assert draw(recorder, 3, 1000).values.shape == (1000,)
    assert draw(recorder, np.array([3, 4]), 500).values.shape == (500, 2)
    assert recorder.shapes == [(1000,), (1000,)]
    assert abs(draw(recorder, np.array([0, 1000]), 200).values.mean(axis=0) - [0, 1000]).max() < 10


def test_other_mechanisms_release_one_by_one():
    assert not is_batched(GridLaplace(), 1.0)
    assert not is_batched(RandomizedResponse(), 1)
    assert not is_batched(IntegerLaplace(), True)
    assert draw(RandomizedResponse(), 1, 50).values.shape == (50,)


def test_a_mechanism_that_refuses_arrays_releases_one_by_one():
    class Scalar(IntegerLaplace):
        def release(self, value):
            if np.ndim(value):
                raise TypeError("numbers only")
            return super().release(value)

    assert draw(Scalar(), 1, 50).values.shape == (50,)


def test_outputs_of_one_kind_become_an_array():
    assert collect([1, 2]).values.dtype.kind == "i"
    assert collect([1.0, 2.5]).values.dtype.kind == "f"
    assert collect([np.array([1.0, 2.0])] * 3).values.shape == (3, 2)


def test_outputs_of_many_kinds_keep_their_keys():
    for outputs in ([1, 1.0], [1, None], [True, False], [1 << 100, 1], [float("nan")], [ValueError()]):
        sample = collect(outputs)
        assert sample.values is None
        assert sample.size == len(outputs)


def test_counts_are_by_key():
    assert collect([3, 3, 4]).counts() == {3: 2, 4: 1}
    assert collect([0.5, 0.5]).counts() == {("float", (0.5).hex()): 2}
    assert collect([None, "a", None]).counts() == {None: 2, "a": 1}
    pairs = collect([np.array([1, 2]), np.array([1, 2]), np.array([2, 1])])
    assert sorted(pairs.counts().values()) == [1, 2]
