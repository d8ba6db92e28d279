"""Several stages as one learner: each reads what the stages before it make of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.base import clone

from discreet.curator.ledger import JsonValue
from discreet.curator.request.learner import Drawn, Learner
from discreet.curator.request.request import Expectation
from discreet.errors import ParameterError
from discreet.learning.design.features import Features
from discreet.learning.design.targets import Target
from discreet.learning.estimators.private_estimator import PrivateEstimator
from discreet.learning.estimators.private_transformer import PrivateTransformer
from discreet.learning.estimators.selection_learner import refuse_inner_selections
from discreet.learning.training.budgets import TrainingBudget
from discreet.privacy.events import Event, compose
from discreet.privacy.guarantees import Guarantee
from discreet.records import Record

__all__ = ["PipelineLearner", "Stage"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """An unfitted estimator, and its part of the budget."""

    name: str
    model: PrivateEstimator
    share: Fraction


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False, repr=False)
class PipelineLearner(Learner, Record):
    """Draw what all stages draw, one after another.

    A stage reads columns that are functions of a row and of what earlier stages drew, within bounds that are
    functions of what they drew. Its event depends on the number of columns, of classes and of rows of a
    person, not on bounds: so all events are known before any stage has run.

    Guarantee
    ---------
    That of the budget: parts of it add up (proof: docs/proofs/model_selection.md, theorem 1).

    Finite precision
    ----------------
    That of each stage. A row's columns are made from this row alone, stage by stage, to the last bit.

    Error
    -----
    See `expectations`.
    """

    kind: ClassVar[str] = "pipeline"

    stages: tuple[Stage, ...]
    features: Features
    target: Target | None
    budget: TrainingBudget
    rows: int
    planned: tuple[Learner, ...]
    """The learners of all stages, with bounds that are known for the first alone."""

    def __init__(
        self,
        *,
        stages: Sequence[Stage],
        features: Features,
        target: Target | None,
        budget: TrainingBudget,
        rows: int,
    ) -> None:
        planned: list[Learner] = []
        read = features
        for stage in stages:
            last = stage is stages[-1]
            part = budget.share(stage.share)
            planned.append(stage.model._learner(read, target if last else None, part, rows))
            if isinstance(stage.model, PrivateTransformer) and not last:
                names = stage.model._names_out([one.name for one in read.columns])
                read = Features.of((-1, 1), names, by_name=False)
        refuse_inner_selections(planned, rows)
        self._set(
            stages=tuple(stages),
            features=features,
            target=target,
            budget=budget,
            rows=rows,
            planned=tuple(planned),
        )

    @property
    def event(self) -> Event:
        """The events of all stages, composed."""
        return compose(one.event for one in self.planned)

    @property
    def guarantee(self) -> Guarantee:
        """That of the budget."""
        return self.budget.guarantee

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """Those of each stage, and its share."""
        pairs = zip(self.stages, self.planned, strict=True)
        stages: list[JsonValue] = [
            {"kind": one.kind, "share": str(stage.share), "parameters": one.parameters}
            for stage, one in pairs
        ]
        return {"stages": stages, "rows": self.rows}

    @property
    def words(self) -> str:
        """What it runs."""
        pairs = zip(self.stages, self.planned, strict=True)
        return "; ".join(f"{stage.name}: {one.words}" for stage, one in pairs)

    @property
    def columns(self) -> tuple[str, ...]:
        """The features, and the target if there is one."""
        names = tuple(column.name for column in self.features.columns)
        return names if self.target is None else (*names, self.target.name)

    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Return what each stage drew."""
        held = list(values[: len(self.features.columns)])
        targets = list(values[len(self.features.columns) :])
        models: list[PrivateEstimator] = []
        found: list[Drawn] = []
        for stage in self.stages:
            model, learner = self._next(models)
            found.append(learner.draw([*held, *targets] if stage is self.stages[-1] else held))
            model._keep(learner, found[-1])
            models.append(model)
            if isinstance(model, PrivateTransformer) and stage is not self.stages[-1]:
                held = model._next_columns(held)
        return {"stages": found}

    def fitted(self, drawn: Drawn) -> list[PrivateEstimator]:
        """Return the stages as the models that were drawn."""
        models: list[PrivateEstimator] = []
        for one in drawn["stages"]:
            model, learner = self._next(models)
            model._keep(learner, one)
            models.append(model)
        return models

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return those of all stages."""
        return tuple(found for one in self.planned for found in one.expectations(rows))

    def _next(self, models: Sequence[PrivateEstimator]) -> tuple[PrivateEstimator, Learner]:
        """Return an unfitted copy of the next stage, and its learner for what the stages before it drew."""
        stage = self.stages[len(models)]
        features = self.features
        for before in models:
            assert isinstance(before, PrivateTransformer)  # noqa: S101
            names = before._names_out([one.name for one in features.columns])
            features = Features.of(before._bounds_out(), names, by_name=False)
        model = clone(stage.model)
        model.n_features_in_ = len(features.columns)
        target = self.target if stage is self.stages[-1] else None
        learner = model._learner(features, target, self.budget.share(stage.share), self.rows)
        planned = self.planned[len(models)]
        if type(learner) is not type(planned) or learner.event != planned.event:
            raise ParameterError(
                "stages", "run another learner than was planned", "stages of discreet.learning"
            )
        return model, learner
