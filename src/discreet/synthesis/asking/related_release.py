"""Two related synthetic tables that a curator released, with what was measured and what they promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.curator.release.release import Release
from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.privacy.events import Event
from discreet.synthesis.asking.related_synthesis import RelatedSynthesis
from discreet.synthesis.related.related_data import RelatedData

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["RelatedRelease"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RelatedRelease:
    """Two related synthetic tables. Everything in it is public and may be processed freely.

    Attributes
    ----------
    data : RelatedData
        The models, and rows drawn from them.
    measured : Release
        Every noisy count that was measured, with its interval: what was paid for, and all that is known.
    rows : int or None
        How many persons to draw, unless another number is asked for.
    """

    data: RelatedData
    measured: Release
    rows: int | None = None

    @classmethod
    def of(cls, answer: Release, content: bytes, rows: int | None) -> RelatedRelease:
        """Return the release of an answer, from what the ledger stores of it."""
        request = answer.request
        assert isinstance(request, TabulatedRequest)  # noqa: S101
        assert isinstance(request.mechanism, RelatedSynthesis)  # noqa: S101
        drawn, private = request.read(content)
        persons, events = request.mechanism.measured(drawn)
        data = request.mechanism.synthesizer.finished(persons, events, private=private)
        return cls(data=data, measured=answer, rows=rows)

    @property
    def label(self) -> Mapping[str, object]:
        """A machine-readable statement of the guarantee."""
        return self.measured.label

    @property
    def event(self) -> Event:
        """What was charged for both tables."""
        return self.measured.event

    @property
    def stored(self) -> bool:
        """Whether it was read from the ledger's store: then nothing was spent for it this time."""
        return self.measured.stored

    def to_pandas(self, rows: int | None = None, *, seed: int = 0) -> dict[str, pandas.DataFrame]:
        """Return both tables as pandas frames, by their names; the same seed gives the same rows.

        Keys are numbers from 1 on: every event has a person, and no key says anything about a real one.
        """
        return self.data.to_pandas(self.rows if rows is None else rows, seed=seed)

    def to_arrow(self, rows: int | None = None, *, seed: int = 0) -> dict[str, pyarrow.Table]:
        """Return both tables as Arrow tables, by their names; the same seed gives the same rows."""
        return self.data.to_arrow(self.rows if rows is None else rows, seed=seed)

    def __repr__(self) -> str:
        price = self.label["price"]
        assert isinstance(price, Mapping)  # noqa: S101
        return f"{self.data!r}, paid with epsilon {price['epsilon']} at delta {price['delta']}"
