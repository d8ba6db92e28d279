"""What is declared, as a learner that reads no row and draws nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from discreet.curator.ledger import JsonValue
from discreet.curator.request.learner import Drawn, Learner
from discreet.curator.request.request import Expectation
from discreet.learning.design.features import Features
from discreet.privacy.events import Event, Nothing
from discreet.privacy.guarantees import Guarantee, PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON

__all__ = ["DeclaredLearner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredLearner(Learner):
    """Draw nothing: all that a model needs is declared.

    Guarantee
    ---------
    Epsilon 0: what is drawn does not depend on rows.

    Finite precision
    ----------------
    No number of the data is used.

    Error
    -----
    None.
    """

    kind: ClassVar[str] = "declared"

    features: Features
    reach: tuple[float, float]
    """What declared bounds become."""
    rows: int

    @property
    def event(self) -> Event:
        """Nothing is released."""
        return Nothing

    @property
    def guarantee(self) -> Guarantee:
        """Epsilon 0."""
        return PureDP(epsilon=0, neighbors=ADD_REMOVE_PERSON)

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """Columns, and what their bounds become."""
        reach: list[JsonValue] = [repr(float(one)) for one in self.reach]
        return {"features": self.features.parameters, "reach": reach, "rows": self.rows}

    @property
    def words(self) -> str:
        """What it runs."""
        return "nothing: bounds are declared"

    @property
    def columns(self) -> tuple[str, ...]:
        """The features."""
        return tuple(column.name for column in self.features.columns)

    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Return nothing, and read nothing."""
        del values
        return {}

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return nothing: there is no noise."""
        del rows
        return ()
