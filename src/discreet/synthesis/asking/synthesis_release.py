"""A synthetic table that a curator released, with what was measured for it and what it promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.curator.release.about import price
from discreet.curator.release.release import Release
from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.privacy.events import Event
from discreet.synthesis.asking.table_synthesis import TableSynthesis
from discreet.synthesis.release.synthetic_data import SyntheticData

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["SynthesisRelease"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SynthesisRelease:
    """A synthetic table. Everything in it is public and may be processed freely.

    Attributes
    ----------
    data : SyntheticData
        The model, and rows drawn from it.
    measured : Release
        Every noisy count that was measured, with its interval: what was paid for, and all that is known.
    rows : int or None
        How many rows to draw, unless another number is asked for.
    """

    data: SyntheticData
    measured: Release
    rows: int | None = None

    @classmethod
    def of(cls, answer: Release, content: bytes, rows: int | None) -> SynthesisRelease:
        """Return the release of an answer, from what the ledger stores of it."""
        request = answer.request
        assert isinstance(request, TabulatedRequest)  # noqa: S101
        assert isinstance(request.mechanism, TableSynthesis)  # noqa: S101
        drawn, private = request.read(content)
        made = request.mechanism.synthesizer
        data = made.finished(request.mechanism.measured(drawn), private=private)
        return cls(data=data, measured=answer, rows=rows)

    @property
    def label(self) -> Mapping[str, object]:
        """A machine-readable statement of the guarantee."""
        return self.measured.label

    @property
    def event(self) -> Event:
        """What was charged for it."""
        return self.measured.event

    @property
    def stored(self) -> bool:
        """Whether it was read from the ledger's store: then nothing was spent for it this time."""
        return self.measured.stored

    def to_pandas(self, rows: int | None = None, *, seed: int = 0) -> pandas.DataFrame:
        """Return synthetic rows as a pandas frame; the same seed gives the same rows."""
        return self.data.to_pandas(self.rows if rows is None else rows, seed=seed)

    def to_arrow(self, rows: int | None = None, *, seed: int = 0) -> pyarrow.Table:
        """Return synthetic rows as an Arrow table; the same seed gives the same rows."""
        return self.data.to_arrow(self.rows if rows is None else rows, seed=seed)

    def __repr__(self) -> str:
        first = self.measured.chosen or self.measured.bought
        more = ", besides what was chosen or bought first" if first else ""
        return f"{self.data!r}, paid with {price(self.event)}{more}"
