"""Private aggregation of teachers: labels of public rows, for a student that learns from them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from discreet.curator.request.learner import Drawn, Learner
from discreet.errors import ParameterError
from discreet.learning.design.features import FeatureFacts, Features
from discreet.learning.design.targets import Classes, Target
from discreet.learning.estimators.private_classifier import PrivateClassifier
from discreet.learning.teachers.aggregation import ConfidentGNMax, GNMax, InteractiveGNMax, LNMax
from discreet.learning.teachers.cost_release import CostRelease
from discreet.learning.teachers.ensemble import Ensemble
from discreet.learning.teachers.shards import check_shards, shard_numbers
from discreet.learning.teachers.vote_learner import VoteLearner
from discreet.learning.training.budgets import (
    ConcentratedBudget,
    GaussianBudget,
    PureBudget,
    TrainingBudget,
    stated_budget,
)
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.rational import Number, probability, whole

__all__ = ["TeacherVotes"]

_PLAIN = (bool, int, float, str, type(None))


class TeacherVotes(PrivateClassifier):
    """Labels of public rows by the noisy votes of teachers, each of whom saw other people.

    Private aggregation of teacher ensembles: people are divided into shards, a teacher is trained on each,
    and all vote on public rows. A student is trained on these rows and on the answers; nothing more is spent,
    however long it is trained or whatever it is asked.

    Parameters
    ----------
    epsilon, delta, rho, columns, classes, rows
        The privacy of all answers, and what is public about columns and labels; see `LogisticRegression`.
        Epsilon alone takes Laplace noise (LNMax), otherwise noise is normal (GNMax).
    model : estimator of scikit-learn
        What the teachers are, such as ``LogisticRegression()``. It reads numbers between -1 and 1: columns
        within their bounds, and keys as 0 and 1.
    public : rows
        What is voted on, with the same columns as X: a table, or an array.
    teachers : int
        How many. Few see more rows, many drown the noise. Where there are fewer people, some vote blindly.
    threshold : number, optional
        Answer only where about this share of teachers agrees (Confident-GNMax).
    answers : int, optional
        How many answers there are at most. The noise is made for these, and not for all public rows.
    check_share : number
        Which share of the squared mu goes to checks of agreement.
    predictions : array, optional
        What a student already predicts, a probability for each public row and class. Then only rows are
        answered on which teachers contradict it, by the threshold (interactive GNMax).
    sure : number
        Where they do not, its prediction is kept if it has at least this probability.
    cost : CostRelease, optional
        Release a bound on what the answers cost where teachers agreed, too. It is paid from the same budget,
        so that answers have a little more noise.

    Attributes
    ----------
    labels_ : array
        The class of each public row; None where there is no answer.
    answered_ : array of bool
        Which rows have one.
    votes_ : array of bool
        Which rows were voted on.
    cost_ : ReleasedCost or None
        An upper bound on what the answers cost; ``cost_.epsilon(delta)`` is often far below the budget, which
        a ledger is charged for all the same.

    Guarantee
    ---------
    That of the budget, under add/remove of a person with all of their rows (proof:
    docs/proofs/private_teachers.md, theorem 10).

    Finite precision
    ----------------
    Votes are integers, and so is the noise, which is drawn exactly.

    Error
    -----
    See `discreet.learning.teachers.vote_noise`. `noise_` says how much it is.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        columns: FeatureFacts | None = None,
        classes: Sequence[Any] | str | None = None,
        rows: int = 1,
        model: Any = None,
        public: Any = None,
        teachers: int = 100,
        threshold: Number | None = None,
        answers: int | None = None,
        check_share: Number = 0.25,
        predictions: Any = None,
        sure: Number = 1,
        cost: CostRelease | None = None,
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, rho=rho, columns=columns, classes=classes, rows=rows)
        self.model = model
        self.public = public
        self.teachers = teachers
        self.threshold = threshold
        self.answers = answers
        self.check_share = check_share
        self.predictions = predictions
        self.sure = sure
        self.cost = cost

    def fit(self, X: Any, y: Any, *, persons: Any = None, shards: Any = None) -> Self:
        """Divide people among teachers, train them, and let them vote.

        Parameters
        ----------
        X, y
            Rows and labels. Rows of a class that is not declared are left out.
        persons : sequence, optional
            Whose each row is. By default every row is another person's.
        shards : array of int, optional
            Which teacher sees each row, where that is settled elsewhere, by a public rule over persons. By
            default a secret hash of the person decides. Shards that share a person are refused.
        """
        values = self._columns_of(X, reset=True)
        target, labels = self._read_target(y)
        owners = list(range(len(labels))) if persons is None else persons
        if len(owners) != len(labels):
            raise ParameterError("persons", "are not as many as rows", "one for each row")
        if shards is None:
            numbers = shard_numbers(owners, teachers=self.teachers)
        else:
            check_shards(owners, shards, teachers=whole(self.teachers, "teachers", least=2))
            numbers = np.asarray(shards, dtype=np.int64)
        named = hasattr(self, "feature_names_in_")
        names = list(self.feature_names_in_) if named else [f"x{place}" for place in range(len(values))]
        features = Features.of(self.columns, names, by_name=named)
        if values and len(labels) != len(values[0]):
            raise ParameterError("y", "has another length than X", "one for each row")
        budget = stated_budget(epsilon=self.epsilon, delta=self.delta, rho=self.rho)
        learner = self._learner(features, target, budget, whole(self.rows, "rows", least=1, most=2**20))
        self._keep(learner, learner.draw([*values, labels, numbers]))
        return self

    def student(self, model: Any, rows: Any = None) -> Any:
        """Return a copy of a model, trained on the public rows that have an answer. It costs nothing.

        Parameters
        ----------
        model : estimator
            Any, of scikit-learn or like it.
        rows : array, optional
            The public rows in another form, such as pixels. By default their coordinates, as teachers have
            them: `public_rows_`.
        """
        check_is_fitted(self)
        held = self.public_rows_ if rows is None else np.asarray(rows)
        if len(held) != len(self.answered_):
            raise ParameterError("rows", "are not as many as public rows", "one for each")
        if not self.answered_.any():
            raise ParameterError("model", "has nothing to learn from: no row was answered", "more answers")
        found = self.labels_[self.answered_]
        return clone(model).fit(held[self.answered_], np.asarray(found.tolist()))

    def _learner(
        self, features: Features, target: Target | None, budget: TrainingBudget, rows: int
    ) -> Learner:
        if not isinstance(target, Classes):
            raise ParameterError("target", "is not a column of classes", "a column of declared keys")
        queries = features.encoded(_columns(self.public, features))[:, :-1]
        if not len(queries):
            raise ParameterError("public", "has no rows", "rows to be labeled")
        classes = len(target.labels)
        ensemble = Ensemble(model=self.model, teachers=self.teachers, classes=classes)
        predictions = None if self.predictions is None else np.asarray(self.predictions, dtype=np.float64)
        if predictions is not None and predictions.shape != (len(queries), classes):
            raise ParameterError("predictions", "are of another shape", "one for each public row and class")
        return VoteLearner(
            features=features,
            target=target,
            ensemble=ensemble,
            model=_spelled(self.model),
            aggregation=self._aggregation(budget, len(queries), classes),
            queries=queries,
            predictions=predictions,
            cost=self.cost,
            guarantee=budget.guarantee,
            rows=rows,
        )

    def _aggregation(
        self, budget: TrainingBudget, queries: int, classes: int
    ) -> LNMax | GNMax | ConfidentGNMax | InteractiveGNMax:
        """Return how votes are answered, with noise that is made for the budget."""
        crowd = {"teachers": self.teachers, "classes": classes}
        most = queries if self.answers is None else min(whole(self.answers, "answers", least=1), queries)
        squared = self._squared_mu_of_answers(budget)
        if self.threshold is None:
            if self.answers is not None or self.predictions is not None:
                raise ParameterError("threshold", "is missing where not all rows are answered", "a share")
            if isinstance(budget, PureBudget):
                return LNMax(gamma=min(budget.epsilon / (2 * queries), Fraction(64)), **crowd)
            return GNMax(sigma=_deviation(2 * queries / squared), **crowd)
        if isinstance(budget, PureBudget):
            raise ParameterError(
                "epsilon", "is pure, and checks have normal noise", "epsilon and delta, or rho"
            )
        share = probability(self.check_share, "check_share", zero=False, one=False)
        level = probability(self.threshold, "threshold")
        checked: dict[str, Any] = {
            "sigma": _deviation(2 * most / ((1 - share) * squared)),
            "check_sigma": _deviation(queries / (share * squared)),
            "threshold": round(level * whole(self.teachers, "teachers", least=2)),
            "most_answers": None if self.answers is None else most,
            **crowd,
        }
        if self.predictions is None:
            return ConfidentGNMax(**checked)
        return InteractiveGNMax(sure=self.sure, **checked)

    def _squared_mu_of_answers(self, budget: TrainingBudget) -> Fraction:
        """Return the squared mu that is left for answers and checks; 0 if the budget is pure."""
        if self.cost is not None and not isinstance(self.cost, CostRelease):
            raise ParameterError("cost", "is not a release of costs", "a CostRelease")
        if isinstance(budget, PureBudget):
            if self.cost is not None:
                raise ParameterError("cost", "is released with normal noise", "epsilon and delta, or rho")
            return Fraction(0)
        left = _squared_mu(budget) - (0 if self.cost is None else self.cost.squared_mu)
        if left <= 0:
            raise ParameterError("cost", "takes all of the budget", "a smaller rho")
        return left

    def _adopt(self, learner: Learner, drawn: Drawn) -> None:
        assert isinstance(learner, VoteLearner)  # noqa: S101
        numbers = np.asarray(drawn["labels"], dtype=np.int64)
        self.features_ = learner.features
        self.classes_ = learner.target.array
        self.noise_ = learner.aggregation.noise
        self.public_rows_ = learner.queries
        self.answered_: NDArray[np.bool_] = numbers >= 0
        self.cost_ = learner.cost_of(drawn)
        self.votes_ = np.asarray(drawn["voted"], dtype=bool)
        held = np.empty(len(numbers), dtype=object)
        held[:] = [learner.target.labels[number] if number >= 0 else None for number in numbers.tolist()]
        self.labels_ = held


def _squared_mu(budget: TrainingBudget) -> Fraction:
    if isinstance(budget, ConcentratedBudget):
        return 2 * budget.rho
    assert isinstance(budget, GaussianBudget)  # noqa: S101
    return budget.squared_mu


def _deviation(variance: Fraction) -> Fraction:
    """Return a standard deviation, rounded up to 1/1024 of a vote, and at least one half."""
    return max(Fraction(math.ceil(sqrt_interval(variance)[1] * 1024), 1024), Fraction(1, 2))


def _columns(public: Any, features: Features) -> list[NDArray[Any]]:
    """Return the columns of public rows, by name or in order."""
    names = [column.name for column in features.columns]
    if hasattr(public, "columns") and hasattr(public, "__getitem__"):
        if not set(names) <= set(public.columns):
            raise ParameterError("public", "does not have the columns of the features", ", ".join(names))
        return [np.asarray(public[name]) for name in names]
    held: NDArray[Any] = np.asarray([] if public is None else public)
    if held.ndim != 2 or held.shape[1] != len(names):
        raise ParameterError("public", "does not have the columns of the features", ", ".join(names))
    return list(held.T)


def _spelled(model: Any) -> str:
    """Return what a model is, in one spelling; refuse what is not one of scikit-learn, unchanged.

    A teacher reads exact rows. Code that is not known might keep or send them, or tell one teacher about
    another.
    """
    return json.dumps(_described(model), sort_keys=True)


def _described(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return [type(value).__name__, repr(value)]
    if isinstance(value, list | tuple):
        return [type(value).__name__, [_described(item) for item in value]]
    if isinstance(value, dict):
        return ["dict", [[_described(key), _described(item)] for key, item in value.items()]]
    known = isinstance(value, BaseEstimator) and type(value).__module__.startswith("sklearn.")
    if not known:
        raise ParameterError("model", "is not made of models of scikit-learn", "such as LogisticRegression()")
    parts = {name: _described(item) for name, item in value.get_params(deep=False).items()}
    return [f"{type(value).__module__}.{type(value).__qualname__}", parts]
