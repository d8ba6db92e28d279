from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from discreet.errors import ParameterError
from discreet.learning.teachers.ensemble import Ensemble


def rows_of(count=120, seed=1, teachers=6):
    source = np.random.default_rng(seed)
    rows = source.normal(size=(count, 3))
    labels = (rows[:, 0] + 0.3 * source.normal(size=count) > 0).astype(np.int64)
    return rows, labels, source.integers(0, teachers, count), source.normal(size=(15, 3))


def votes_of(rows, labels, shards, queries, model=None, *, teachers=6, classes=2, **options):
    ensemble = Ensemble(model=model or LogisticRegression(), teachers=teachers, classes=classes)
    return ensemble.votes(rows, labels, shards, queries, **options)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), DecisionTreeClassifier(max_features=1), GaussianNB()]
)
def test_a_person_changes_one_teacher(model):
    rows, labels, shards, queries = rows_of()
    before = votes_of(rows, labels, shards, queries, model)
    for place in (0, 17, 90):
        rest = np.arange(len(rows)) != place
        after = votes_of(rows[rest], labels[rest], shards[rest], queries, model)
        changed = {teacher for teacher in range(6) if (before[teacher] != after[teacher]).any()}
        assert changed <= {int(shards[place])}


def test_order_of_rows_has_no_influence():
    rows, labels, shards, queries = rows_of()
    model, turned = DecisionTreeClassifier(max_features=1), slice(None, None, -1)
    found = votes_of(rows, labels, shards, queries, model)
    assert (votes_of(rows[turned], labels[turned], shards[turned], queries, model) == found).all()
    first = votes_of(rows, labels, shards, queries, Remembers())
    assert (votes_of(rows[turned], labels[turned], shards[turned], queries, Remembers()) == first).all()


class Remembers:
    """A model that goes by the first row that it is given."""

    def fit(self, rows, labels):
        self.first = int(abs(rows[0, 1]) * 1e6) % 2

    def predict(self, queries):
        return np.full(len(queries), self.first)


class SharesRandomness:
    """A model that draws from NumPy's old generator, as often as it has rows."""

    def fit(self, rows, labels):
        np.random.normal(size=len(rows))  # noqa: NPY002
        self.coin = np.random.random()  # noqa: NPY002

    def predict(self, queries):
        return np.full(len(queries), int(self.coin > 0.5))


def test_how_much_a_teacher_draws_does_not_reach_the_next():
    rows, labels, shards, queries = rows_of()
    before = votes_of(rows, labels, shards, queries, SharesRandomness())
    rest = np.flatnonzero(shards != 0)
    rest = np.append(rest, np.flatnonzero(shards == 0)[:5])
    after = votes_of(rows[rest], labels[rest], shards[rest], queries, SharesRandomness())
    assert (before[1:] == after[1:]).all()


class Fails:
    def __init__(self, how="raise"):
        self.how = how

    def fit(self, rows, labels):
        if self.how == "raise":
            raise RuntimeError(f"saw {rows[0]}")

    def predict(self, queries):
        return {
            "shape": np.zeros((len(queries), 2)),
            "text": np.array(["a"] * len(queries)),
            "nan": np.full(len(queries), np.nan),
            "beyond": np.full(len(queries), 9),
            "huge": np.full(len(queries), 1e300),
            "none": None,
        }[self.how]


@pytest.mark.parametrize("how", ["raise", "shape", "text", "nan", "beyond", "huge", "none"])
def test_a_teacher_that_fails_votes_by_its_number(how):
    rows, labels, shards, queries = rows_of()
    found = votes_of(rows, labels, shards, queries, Fails(how))
    assert (found == (np.arange(6) % 2)[:, None]).all()


def test_a_teacher_without_rows_votes_by_its_number_and_one_class_is_enough():
    rows, labels, shards, queries = rows_of()
    shards[shards == 3] = 2
    labels[shards == 1] = 1
    found = votes_of(rows, labels, shards, queries, classes=3)
    assert (found[3] == 3 % 3).all()
    assert (found[1] == 1).all()


def test_fewer_people_than_teachers_vote():
    rows, labels, shards, queries = rows_of(4)
    found = votes_of(rows, labels, shards, queries, teachers=50)
    assert found.shape == (50, 15)
    assert votes_of(rows[:0], labels[:0], shards[:0], queries, teachers=50).shape == (50, 15)


def test_rows_of_no_class_are_left_out_and_no_query_has_no_votes():
    rows, labels, shards, queries = rows_of()
    odd = np.where(np.arange(len(rows)) % 3 == 0, -1, labels)
    kept = odd >= 0
    assert (
        votes_of(rows, odd, shards, queries) == votes_of(rows[kept], labels[kept], shards[kept], queries)
    ).all()
    assert votes_of(rows, labels, shards, queries[:0]).shape == (6, 0)


def test_nothing_is_printed_or_warned_and_progress_is_told():
    rows, labels, shards, queries = rows_of()
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        votes_of(
            rows,
            labels,
            shards,
            queries,
            LogisticRegression(max_iter=1),
            progress=lambda done, all_of: seen.append((done, all_of)),
        )
    assert seen == [(number, 6) for number in range(1, 7)]


def test_several_processes_find_the_same_votes():
    rows, labels, shards, queries = rows_of()
    model = DecisionTreeClassifier(max_features=1)
    found = votes_of(rows, labels, shards, queries, model)
    assert (votes_of(rows, labels, shards, queries, model, jobs=1) == found).all()


def test_what_cannot_be_trained_is_refused():
    for model in (None, object(), "text"):
        with pytest.raises(ParameterError, match="model"):
            Ensemble(model=model, teachers=3, classes=2)
    with pytest.raises(ParameterError, match="teachers"):
        Ensemble(model=GaussianNB(), teachers=1, classes=2)
