"""A generator that a curator released, with what was measured beside it and what both promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.curator.release.fit_release import FitRelease
from discreet.privacy.events import Event
from discreet.synthesis.models.folding import FoldedModel, unfolded_column
from discreet.synthesis.models.tree_fit import fitted_tree
from discreet.synthesis.release.synthetic_data import SyntheticData

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from discreet.synthesis.generators.generated_data import GeneratedData
    from discreet.synthesis.generators.generator_learner import GeneratorLearner

__all__ = ["COLUMNS_ALONE", "GeneratorRelease"]

COLUMNS_ALONE = "columns alone"
"""What the model of the same measured columns is called in a report."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeneratorRelease:
    """A generator of rows. Everything in it is public and may be processed freely.

    Attributes
    ----------
    data : GeneratedData
        The network, and rows drawn from it.
    fit : FitRelease
        What the ledger stores of it.
    rows : int or None
        How many rows to draw, unless another number is asked for.
    """

    data: GeneratedData
    fit: FitRelease
    rows: int | None = None

    @classmethod
    def of(cls, fit: FitRelease, rows: int | None) -> GeneratorRelease:
        """Return the release of what a ledger stores."""
        learner: GeneratorLearner = fit.request.learner  # type: ignore[assignment]
        data = learner.finished(fit.drawn, private=bool(fit.label["private"]))
        return cls(data=data, fit=fit, rows=rows)

    @property
    def columns_alone(self) -> SyntheticData | None:
        """The model of independent columns, from the counts that the generator began with; or None.

        It was paid for already. A generator that is no closer to the data than this has learned nothing.
        """
        if not self.data.measured:
            return None
        shape = self.data.domain.shape
        plain = tuple(map(unfolded_column, shape))
        return SyntheticData(
            domain=self.data.domain,
            measured=self.data.measured,
            model=FoldedModel(model=fitted_tree(shape, self.data.measured), folds=plain),
            method=COLUMNS_ALONE,
            private=self.data.private,
        )

    @property
    def label(self) -> Mapping[str, object]:
        """A machine-readable statement of the guarantee."""
        return self.fit.label

    @property
    def event(self) -> Event:
        """What was charged for it."""
        return self.fit.request.event

    @property
    def stored(self) -> bool:
        """Whether it was read from the ledger's store: then nothing was spent for it this time."""
        return self.fit.stored

    def to_pandas(self, rows: int | None = None, *, seed: int = 0) -> pandas.DataFrame:
        """Return synthetic rows as a pandas frame; the same seed gives the same rows."""
        return self.data.to_pandas(self.rows if rows is None else rows, seed=seed)

    def to_arrow(self, rows: int | None = None, *, seed: int = 0) -> pyarrow.Table:
        """Return synthetic rows as an Arrow table; the same seed gives the same rows."""
        return self.data.to_arrow(self.rows if rows is None else rows, seed=seed)

    def __repr__(self) -> str:
        return f"{self.data!r}, all rounds paid for in advance"
