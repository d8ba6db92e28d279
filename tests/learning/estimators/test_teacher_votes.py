from __future__ import annotations

from unittest import mock

import numpy as np
import pandas
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning import CostRelease, GNMax, TeacherVotes
from discreet.learning.teachers.vote_noise import GaussianVoteNoise, LaplaceVoteNoise

DECLARED = {"columns": (-4, 4), "classes": ["no", "yes"], "model": LogisticRegression(), "teachers": 30}
MUCH = {"rho": 1000}


def rows_of(count=600, seed=2):
    source = np.random.default_rng(seed)
    rows = source.normal(size=(count, 2))
    return rows, np.where(rows[:, 0] > 0, "yes", "no")


def votes(public, **options):
    return TeacherVotes(public=public, **{**DECLARED, **MUCH, **options})


def test_teachers_label_public_rows_and_a_student_learns_from_them():
    rows, labels = rows_of()
    public, truth = rows_of(200, seed=3)
    found = votes(public).fit(rows, labels)
    assert found.answered_.all()
    assert (found.labels_ == truth).mean() > 0.75
    assert found.student(LogisticRegression()).score(public / 4, truth) > 0.75


def test_a_student_learns_from_public_rows_and_answers_alone():
    rows, labels = rows_of()
    public, _ = rows_of(50, seed=3)
    found = votes(public, threshold=0.9, answers=20).fit(rows, labels)
    assert 0 < found.answered_.sum() <= 20
    assert [label is None for label in found.labels_] == (~found.answered_).tolist()

    class Sees(GaussianNB):
        def fit(self, X, y):
            self.seen = X, y
            return super().fit(X, y)

    student = found.student(Sees())
    assert (student.seen[0] == public[found.answered_] / 4).all()
    assert student.seen[1].tolist() == found.labels_[found.answered_].tolist()
    other = found.student(Sees(), rows=np.arange(50)[:, None])
    assert (other.seen[0][:, 0] == np.flatnonzero(found.answered_)).all()
    with pytest.raises(ParameterError, match="rows"):
        found.student(GaussianNB(), rows=np.ones((3, 1)))


@pytest.mark.parametrize(
    ("budget", "noise"),
    [
        ({"epsilon": 1}, LaplaceVoteNoise),
        ({"epsilon": 1, "delta": 1e-6}, GaussianVoteNoise),
        ({"rho": 0.1}, GaussianVoteNoise),
    ],
)
def test_the_event_keeps_the_budget(budget, noise):
    rows, labels = rows_of(100)
    public, _ = rows_of(20, seed=3)
    stated = {"rho": None, **budget}
    found = votes(public, **stated).fit(rows, labels)
    assert isinstance(found.noise_, noise)
    if "delta" in budget:
        assert 0.99 < accounting.epsilon(found.event_, delta=1e-6).upper <= 1 + 1e-9
    elif "rho" in budget:
        assert 0.099 < found.event_.concentrated_rho <= 0.1
    else:
        assert found.event_.pure_epsilon == 1
    checked = {"threshold": 0.8, "answers": 7, **stated}
    if noise is GaussianVoteNoise:
        found = votes(public, **checked).fit(rows, labels)
        if "rho" in budget:
            assert 0.099 < found.event_.concentrated_rho <= 0.1
        else:
            assert accounting.epsilon(found.event_, delta=1e-6).upper <= 1 + 1e-9
    else:
        with pytest.raises(ParameterError, match="pure"):
            votes(public, **checked).fit(rows, labels)


def test_rows_of_a_person_are_one_teacher_s():
    rows, labels = rows_of(60)
    public, _ = rows_of(5, seed=3)
    persons = np.arange(60) // 4
    votes(public).fit(rows, labels, persons=persons)
    shards = persons % 30
    votes(public).fit(rows, labels, persons=persons, shards=shards)
    shards[0] = 29
    with pytest.raises(ParameterError, match="share a person"):
        votes(public).fit(rows, labels, persons=persons, shards=shards)
    with pytest.raises(ParameterError, match="persons"):
        votes(public).fit(rows, labels, persons=persons[:-1])


def voted(rows, labels, **options):
    """What real teachers voted, as it came to be counted."""
    with mock.patch.object(GNMax, "answer", autospec=True, side_effect=GNMax.answer) as answer:
        nearest = KNeighborsClassifier(n_neighbors=1)
        votes([[0.0, 0.0]], model=nearest, teachers=15).fit(rows, labels, **options)
    return answer.call_args.args[1]


def test_all_rows_of_a_person_move_one_vote_and_would_move_all_in_shards_that_share_the_person():
    far, near = np.full((60, 2), 3.0), np.zeros((15, 2))
    far[::2] += 0.5
    labels = np.where(np.arange(60) % 4 == 0, "yes", "no")
    rows, both = np.concatenate([far, near]), np.concatenate([labels, ["yes"] * 15])
    persons = np.concatenate([np.arange(60), np.full(15, 60)])
    without = voted(far, labels, persons=persons[:60], shards=persons[:60] % 15)
    together = voted(rows, both, persons=persons, shards=persons % 15)
    assert 0 < np.abs(together - without).max() == 1
    apart = voted(rows, both, shards=np.arange(75) % 15)  # as if every row were another person's
    assert np.abs(apart - without).max() > 5


@pytest.mark.parametrize("budget", [{"epsilon": 1, "delta": 1e-6}, {"rho": 0.1}])
@pytest.mark.parametrize("checked", [{}, {"threshold": 0.8, "answers": 7}])
def test_the_release_of_the_cost_is_paid_from_the_budget(budget, checked):
    rows, labels = rows_of(100)
    public, _ = rows_of(20, seed=3)
    cost = CostRelease(order=6, rho="0.01", decay="0.2")
    found = votes(public, cost=cost, **{"rho": None, **budget, **checked}).fit(rows, labels)
    plain = votes(public, **{"rho": None, **budget, **checked}).fit(rows, labels)
    assert plain.cost_ is None
    assert found.noise_.sigma > plain.noise_.sigma
    if "delta" in budget:
        assert 0.99 < accounting.epsilon(found.event_, delta=1e-6).upper <= 1 + 1e-9
    else:
        assert 0.099 < found.event_.concentrated_rho <= 0.1
    assert found.event_ != plain.event_
    assert 0 < found.cost_.divergence <= found.cost_.worst
    assert found.cost_.own == 6 * cost.squared_mu / 2


def test_a_cost_that_does_not_fit_the_budget_is_refused():
    rows, labels = rows_of(100)
    cost = CostRelease(order=6, rho="0.01", decay="0.2")
    for bad, stated in (("budget", {"rho": "0.005"}), ("normal", {"rho": None, "epsilon": 1})):
        with pytest.raises(ParameterError, match=bad):
            votes(rows[:5], cost=cost, **stated).fit(rows, labels)
    with pytest.raises(ParameterError, match="CostRelease"):
        votes(rows[:5], cost=3).fit(rows, labels)


def test_a_student_s_predictions_are_kept_where_teachers_do_not_object():
    rows, labels = rows_of()
    public, truth = rows_of(40, seed=3)
    right = np.stack([truth == "no", truth == "yes"], axis=1).astype(float)
    found = votes(public, threshold=0.5, predictions=right, sure=0.9).fit(rows, labels)
    assert found.votes_.mean() < 0.4
    assert (found.labels_ == truth).mean() > 0.8
    wrong = votes(public, threshold=0.5, predictions=1 - right, sure=0.9).fit(rows, labels)
    assert wrong.votes_.mean() > 0.6
    assert (wrong.labels_ == truth)[wrong.votes_].mean() > 0.8
    with pytest.raises(ParameterError, match="predictions"):
        votes(public, threshold=0.5, predictions=right[:3]).fit(rows, labels)


BAD = [
    ([[np.nan, np.inf], [-np.inf, 1e300]], ["no", "yes"]),
    ([[0.5, 0.5]] * 6, ["no"] * 6),
    (np.empty((0, 2)), np.empty(0)),
    ([[0.1, 0.2]], ["never declared"]),
    ([["a", None], [[], 1j]], ["x", 1]),
]


@pytest.mark.parametrize(("rows", "labels"), BAD, ids=["odd", "one class", "none", "no class", "text"])
def test_bad_rows_have_votes(rows, labels):
    public, _ = rows_of(7, seed=3)
    assert votes(public).fit(rows, labels).answered_.all()


def test_a_class_that_nobody_has_is_voted_for_by_noise_only():
    rows, labels = rows_of()
    public, _ = rows_of(40, seed=3)
    found = votes(public, classes=["maybe", "no", "yes"], teachers=31).fit(rows, labels)
    assert "maybe" not in found.labels_


def test_public_rows_are_read_by_name_or_in_order():
    rows, labels = rows_of(200)
    frame = pandas.DataFrame(rows, columns=["a", "b"])
    public = pandas.DataFrame({"b": [0.0, 0.0], "a": [3.0, -3.0], "more": [1, 2]})
    found = votes(public, columns={"a": (-4, 4), "b": (-4, 4)}).fit(frame, labels)
    assert found.labels_.tolist() == ["yes", "no"]
    for bad in (public[["a"]], np.ones((2, 3)), np.ones(2), None, np.ones((0, 2))):
        with pytest.raises(ParameterError, match="public"):
            votes(bad, columns={"a": (-4, 4), "b": (-4, 4)}).fit(frame, labels)


def test_nothing_to_learn_from_is_said():
    rows, labels = rows_of(100)
    public, _ = rows_of(3, seed=3)
    found = votes(public, predictions=np.full((3, 2), 0.5), threshold=1).fit(rows, labels)
    assert not found.answered_.any()
    with pytest.raises(ParameterError, match="nothing to learn"):
        found.student(LogisticRegression())


class Unknown(LogisticRegression):
    """Code of an analyst."""


@pytest.mark.parametrize(
    "model", [Unknown(), make_pipeline(FunctionTransformer(np.log), GaussianNB()), None, "text", object()]
)
def test_models_that_are_not_known_are_refused(model):
    rows, labels = rows_of(20)
    with pytest.raises(ParameterError, match="model"):
        votes(rows, model=model).fit(rows, labels)


def test_pipelines_of_known_models_are_teachers():
    rows, labels = rows_of(300)
    public, truth = rows_of(30, seed=3)
    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight={0: 1, 1: 2}))
    assert (votes(public, model=model).fit(rows, labels).labels_ == truth).mean() > 0.7


def test_answers_need_a_threshold():
    rows, labels = rows_of(20)
    with pytest.raises(ParameterError, match="threshold"):
        votes(rows, answers=3).fit(rows, labels)
