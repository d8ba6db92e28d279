"""A sandbox: made-up rows with the same declarations, to try questions at no cost.

The rows are drawn only from what is public (names, types, bounds, keys, limits), so
that no private value can be in them. Answers look like real ones and mean nothing; their labels say
that they are not private.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from discreet.curator import Budget
from discreet.data import Table
from discreet.data.tables.fake_rows import made_up
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.front.curator import Curator
from discreet.privacy.rational import whole

if TYPE_CHECKING:
    from discreet.curator import Release, Request
    from discreet.curator.release.fit_release import FitRelease
    from discreet.curator.request.compound_request import CompoundRequest
    from discreet.curator.request.fit_request import FitRequest
    from discreet.curator.request.key_request import KeyRequest
    from discreet.curator.request.statistic_request import StatisticRequest

__all__ = ["Sandbox", "sandbox"]

_PLENTY = 10**9
_MOST_ROWS = 10**8


class Sandbox(Curator):
    """A curator over made-up rows. It has all methods of a curator, and its answers cost nothing."""

    def answer(self, request: Request | CompoundRequest | StatisticRequest, *, analyst: str = "") -> Release:
        """Answer a request about made-up rows; the label says that the answer is not private."""
        return _marked(super().answer(request, analyst=analyst))

    def choose_keys(self, request: KeyRequest, *, analyst: str = "") -> Release:
        """Choose keys of made-up rows; the label says that they are not private."""
        return _marked(super().choose_keys(request, analyst=analyst))

    def answer_fit(self, request: FitRequest, *, analyst: str = "") -> FitRelease:
        """Fit made-up rows; the label says that the model is not private."""
        return _marked(super().answer_fit(request, analyst=analyst))

    def __repr__(self) -> str:
        return f"Sandbox(tables: {', '.join(self.tables)}; made-up rows)"


def sandbox(
    tables: Mapping[str, Table], *, rows: int = 10_000, seed: int = 0, today: date | None = None
) -> Sandbox:
    """Return a curator of made-up rows for the same declarations.

    Parameters
    ----------
    tables : mapping of names to Table or PublicTable
        The declared tables; only public facts about them are used. Public tables are kept.
    rows : int
        How many rows to make up for each private one.
    seed : int
        The same seed makes up the same rows.
    today : date, optional
        What CURRENT_DATE means.
    """
    if any(isinstance(table, RelatedTable) for table in tables.values()):
        raise ParameterError(
            "sandbox", "makes up rows of persons", "a Graph or FixedTable of rows that you made up yourself"
        )
    rows = whole(rows, "rows", least=1, most=_MOST_ROWS)
    seed = whole(seed, "seed", least=0)
    invented = made_up(tables, rows, seed)
    directory = tempfile.TemporaryDirectory(prefix="discreet-")
    made = Sandbox(
        cast("Mapping[str, Table]", invented),
        budget=Budget(epsilon=_PLENTY, delta=0.5),
        ledger=Path(directory.name) / "sandbox.ledger",
        today=today,
    )
    weakref.finalize(made, directory.cleanup)
    return made


Answer = TypeVar("Answer", "Release", "FitRelease")


def _marked(release: Answer) -> Answer:
    return replace(release, label={**release.label, "private": False, "made_up": True})
