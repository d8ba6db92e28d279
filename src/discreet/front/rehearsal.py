"""Previews and explanations of what a file declares, without its ledger.

A ledger records what was declared when it was created. A rehearsal creates none, so that a declaration can be
tried and corrected freely before the first answer is paid for. It has the tables but answers nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from discreet.curator.ledger import open_store
from discreet.errors import RequestRefused
from discreet.front.curator import Curator, Question

if TYPE_CHECKING:
    from discreet.curator import Request
    from discreet.curator.request.compound_request import CompoundRequest
    from discreet.curator.request.fit_request import FitRequest
    from discreet.curator.request.key_request import KeyRequest
    from discreet.curator.request.statistic_request import StatisticRequest
    from discreet.curator.request.tabulated_request import TabulatedRequest
    from discreet.front.declaring.declaration import Declaration

__all__ = ["Rehearsal", "rehearse"]


class Rehearsal(Curator):
    """A curator that spends nothing: it previews and explains only."""

    def answer(
        self,
        request: Request | CompoundRequest | StatisticRequest | TabulatedRequest,
        *,
        analyst: str = "",
    ) -> NoReturn:
        """Refuse: an answer needs the ledger that was declared."""
        raise RequestRefused("a rehearsal previews and explains; answers are paid for in the ledger")

    def choose_keys(self, request: KeyRequest, *, analyst: str = "") -> NoReturn:
        """Refuse: a choice of keys is an answer too."""
        raise RequestRefused("a rehearsal previews and explains; keys are paid for in the ledger")

    def answer_fit(self, request: FitRequest, *, analyst: str = "") -> NoReturn:
        """Refuse: a fit is an answer too."""
        raise RequestRefused("a rehearsal previews and explains; fits are paid for in the ledger")

    def permit(self, purpose: str, *unnamed: object, **offer: object) -> NoReturn:
        """Refuse: rows need the ledger that was declared."""
        raise RequestRefused("a rehearsal previews and explains; permits are kept in the ledger")

    def check_fits(self, question: Question, *, analyst: str = "", **offer: Any) -> None:
        """Refuse a question that would not fit even an unspent budget.

        Takes what `preview` takes.

        Raises
        ------
        BudgetExceeded
            Saying what would fit.
        """
        found = self.preview(question, analyst=analyst, **offer)
        self.account().check(analyst, found.event)


@contextmanager
def rehearse(declared: Declaration) -> Iterator[Rehearsal]:
    """Open the declared tables with a temporary ledger."""
    tables = declared.open_tables()
    with tempfile.TemporaryDirectory(prefix="discreet-") as directory:
        store = open_store(Path(directory) / "ledger")
        opened = Rehearsal(tables, budget=declared.budget, ledger=store, today=declared.today)
        with closing(opened) as rehearsal:
            yield rehearsal
