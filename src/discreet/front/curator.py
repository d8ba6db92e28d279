"""The curator: private tables behind a budget, asked in SQL or like a dataframe.

`preview`, `explain`, `request`, `ask`: terms are checked here, `queries.asking` settles, the door pays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from discreet.curator import Budget, Door, Preview, Release, Request
from discreet.curator.budget.checks import check_analyst
from discreet.curator.request.compound_request import CompoundRequest
from discreet.curator.request.statistic_request import StatisticRequest
from discreet.errors import ParameterError
from discreet.front import fits, limit_cuts, losses, other_relations, permits, suggestions, syntheses
from discreet.front.arguments import declared_day, refuse_others
from discreet.front.balance import Remaining, Spent, spent_of
from discreet.front.suggestions import Suggestion, apply_suggestions
from discreet.privacy.offer import Offer
from discreet.privacy.rational import float_written
from discreet.queries import TableRequest
from discreet.queries.asking import Question, settle
from discreet.queries.asking.remeasure import remeasure
from discreet.queries.question.terms import ASSUMED_ROWS, CONFIDENCE, DECLARED, FIT_SHARE, Terms
from discreet.visible import visible_lines

if TYPE_CHECKING:
    from discreet.curator.ledger.store import Store
    from discreet.data import Bounds, Limits, Table
    from discreet.data.language.declarations import Auto
    from discreet.privacy.rational import Number

__all__ = ["Curator", "Question"]


class Curator(Door):
    """Private tables, a budget and a ledger: preview, ask, pay, and get an answer with its error.

    Takes what `Door` takes, and `today`: the day that CURRENT_DATE means in SQL, which labels state. It is
    public, and may differ each time that a ledger is opened: a question that names it is then another one.

    Examples
    --------
    >>> import pandas as pd
    >>> from discreet.curator import Budget
    >>> from discreet.data import EACH_ROW, Bounds, Table
    >>> people = Table(pd.DataFrame({"age": [31, 45, 62]}), person=EACH_ROW, columns={"age": Bounds(0, 110)})
    >>> curator = Curator({"people": people}, budget=Budget(epsilon=1), ledger="p.ledger")  # doctest: +SKIP
    >>> curator.ask("SELECT COUNT(*) AS n, AVG(age) AS mean_age FROM people", epsilon=0.5)  # doctest: +SKIP
    """

    def __init__(
        self,
        tables: Mapping[str, Table],
        *,
        budget: Budget | None = None,
        ledger: str | Path | Store | None = None,
        name: str | None = None,
        anchor: str | Path | None = None,
        clock: Callable[[], datetime] | None = None,
        today: date | str | None = None,
    ) -> None:
        self._today = declared_day(today)
        super().__init__(tables, budget=budget, ledger=ledger, name=name, anchor=anchor, clock=clock)

    @property
    def today(self) -> date | None:
        """What CURRENT_DATE means in SQL, as the owner declared it; None if it is refused."""
        return self._today

    def __repr__(self) -> str:
        return f"Curator(tables: {', '.join(self.tables)}; budget: {self.budget})"

    def table(self, name: str) -> TableRequest:
        """Begin a request about a table, like a dataframe. Building it touches nothing."""
        if name not in self.tables:
            raise ParameterError("name", "is not a declared table", f"one of {sorted(self.tables)}")
        return TableRequest(table=name)

    def ask(
        self,
        question: Question,
        *unnamed: NoReturn,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        error: Mapping[str, Number] | None = None,
        confidence: Number = CONFIDENCE,
        split: Mapping[str, Number] | None = None,
        key_share: Number | None = None,
        rows: int = ASSUMED_ROWS,
        limits: Limits | Auto | Suggestion | None = None,
        bounds: Mapping[str, Bounds] | Auto | Suggestion | None = None,
        fit_share: Number = FIT_SHARE,
        keys: str = DECLARED,
        analyst: str = "",
        **unknown: NoReturn,
    ) -> Release:
        """Spend, then answer.

        The same question with the same offer on the same data returns the same answer at no cost, even if
        its outputs have other names.

        Where the keys of a group were not declared, an offer of epsilon or rho, and delta, has them chosen:
        those are shown that enough persons have. Where only counts are asked, the noisy count that passed
        the threshold is the answer, for the whole offer. Else the keys are chosen first: epsilon or rho is
        divided between the choice and the values, delta in halves. What does not fit the budget together is
        refused before the first charge; if choosing succeeds and answering does not, asking again pays for
        the rest only.

        Parameters
        ----------
        question : str, Query, LinearQuestion, StatisticQuestion or Request
            SQL, what `table(…)`, `graph(…)` or `fixed(…)` built, many counts at once (`ranges`, `cdf`,
            `marginals`), or a finished request.
        epsilon, delta, rho : number, optional
            The offer. Epsilon alone buys pure privacy; with delta, or as rho, normal noise is permitted. A
            delta beside rho pays for the choice of undeclared keys.
        error : mapping of outputs to numbers, optional
            Instead of an offer: the largest margins at the confidence; the cheapest request that meets
            them is made.
        confidence : number
            Of the intervals.
        split : mapping of outputs to numbers, optional
            The shares of the offer; by default they equalize the errors.
        key_share : number, optional
            How much of epsilon or rho the choice of undeclared keys gets, above 0 and below 1; by default as
            much as one more count. A larger share shows smaller groups, a smaller one leaves more for values.
        rows : int
            A hypothetical number of rows in a group, for the error of a mean.
        limits : Limits, AUTO or Suggestion, optional
            For this question, narrower than declared: a number, what `suggest_limits` found, or `AUTO` to buy
            the number that suits the question.
        bounds : mapping of columns to Bounds, AUTO or Suggestion, optional
            For this question, of columns without any, or narrower than declared; `AUTO` buys what is missing.
        fit_share : number
            How much of the offer buys limits and bounds, above 0 and below 1, by default a quarter.
        keys : {"declared", "chosen", "in rounds"}
            With "chosen", only the combinations of keys are shown that enough persons have, even of declared
            ones. With "in rounds", undeclared keys are chosen in rounds, which finds more of them where
            persons have many keys each.
        analyst : str
            Who asks, for caps per analyst.

        Raises
        ------
        BudgetExceeded, UnsupportedQuery, UndeclaredColumn
            Before anything is charged.
        EngineFailed
            After the charge; asking again computes without another.
        """
        refuse_others(unnamed, unknown)
        terms = self._terms(
            epsilon, delta, rho, error, confidence, split, key_share, rows, limits, bounds, fit_share, keys
        )
        release = settle(question, self.tables, terms).answer(self, analyst=analyst)
        if self._today is None or not isinstance(question, str):
            return release
        return replace(release, label={**release.label, "today": self._today.isoformat()})

    sql = ask

    def preview(
        self,
        question: Question,
        *unnamed: NoReturn,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        error: Mapping[str, Number] | None = None,
        confidence: Number = CONFIDENCE,
        split: Mapping[str, Number] | None = None,
        key_share: Number | None = None,
        rows: int = ASSUMED_ROWS,
        limits: Limits | Auto | Suggestion | None = None,
        bounds: Mapping[str, Bounds] | Auto | Suggestion | None = None,
        fit_share: Number = FIT_SHARE,
        keys: str = DECLARED,
        analyst: str = "",
        **unknown: NoReturn,
    ) -> Preview:
        """Return what a question would cost and how wrong its answer would be. Spends nothing.

        Takes what `ask` takes.
        """
        refuse_others(unnamed, unknown)
        terms = self._terms(
            epsilon, delta, rho, error, confidence, split, key_share, rows, limits, bounds, fit_share, keys
        )
        return settle(question, self.tables, terms).preview(self, analyst=analyst)

    def request(
        self,
        question: Question,
        *unnamed: NoReturn,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        error: Mapping[str, Number] | None = None,
        confidence: Number = CONFIDENCE,
        split: Mapping[str, Number] | None = None,
        key_share: Number | None = None,
        rows: int = ASSUMED_ROWS,
        limits: Limits | Auto | Suggestion | None = None,
        bounds: Mapping[str, Bounds] | Auto | Suggestion | None = None,
        fit_share: Number = FIT_SHARE,
        keys: str = DECLARED,
        **unknown: NoReturn,
    ) -> Request | CompoundRequest | StatisticRequest:
        """Return the request for a question and an offer, or for a wanted error.

        Takes what `ask` takes, except for the analyst.
        """
        refuse_others(unnamed, unknown)
        terms = self._terms(
            epsilon, delta, rho, error, confidence, split, key_share, rows, limits, bounds, fit_share, keys
        )
        return settle(question, self.tables, terms).request()

    def explain(
        self,
        question: Question,
        *unnamed: NoReturn,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        error: Mapping[str, Number] | None = None,
        confidence: Number = CONFIDENCE,
        split: Mapping[str, Number] | None = None,
        key_share: Number | None = None,
        rows: int = ASSUMED_ROWS,
        limits: Limits | Auto | Suggestion | None = None,
        bounds: Mapping[str, Bounds] | Auto | Suggestion | None = None,
        fit_share: Number = FIT_SHARE,
        keys: str = DECLARED,
        sql: bool = False,
        **unknown: NoReturn,
    ) -> str:
        """Describe how a question would be answered: plan, bounds, sensitivities and, if offered, cost.

        Takes what `ask` takes, and the offer may be left out. With `sql` the statement of the engine is shown
        too, which holds the literals of the question. Nothing is computed or copied.
        """
        refuse_others(unnamed, unknown)
        terms = self._terms(
            epsilon, delta, rho, error, confidence, split, key_share, rows, limits, bounds, fit_share, keys
        )
        return visible_lines(settle(question, self.tables, terms).explain(sql=sql))

    def _terms(  # noqa: PLR0917
        self,
        epsilon: Number | None,
        delta: Number | None,
        rho: Number | None,
        error: Mapping[str, Number] | None,
        confidence: Number,
        split: Mapping[str, Number] | None,
        key_share: Number | None,
        rows: int,
        limits: Limits | Auto | Suggestion | None,
        bounds: Mapping[str, Bounds] | Auto | Suggestion | None,
        fit_share: Number,
        keys: str,
    ) -> Terms:
        """Return what is stated beside a question, checked against the budget."""
        terms = Terms.stated(
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            error=error,
            by_rho=error is not None and self.budget.rho is not None,
            confidence=confidence,
            split=split,
            key_share=key_share,
            rows=rows,
            limits=limits.limits if isinstance(limits, Suggestion) else limits,
            bounds=bounds.bounds if isinstance(bounds, Suggestion) else bounds,
            fit_share=fit_share,
            keys=keys,
        )
        if terms.offer is not None and terms.offer.delta is not None:
            self.budget.check_offer(terms.offer)
        return replace(terms, day=self._today, neighbors=self._neighbors)

    def sandbox(self, *, rows: int = 10_000, seed: int = 0) -> Curator:
        """Return a curator over made-up rows with the same declarations, to try questions at no cost.

        The rows are drawn from what is public alone, and nothing is spent. Labels of its answers say so.

        Parameters
        ----------
        rows : int
            How many rows to make up for each private table. Public tables are kept.
        seed : int
            The same seed makes up the same rows.
        """
        from discreet.front.sandbox import sandbox

        return sandbox(self.tables, rows=rows, seed=seed, today=self._today)

    def remeasure(
        self,
        release: Release,
        *unnamed: NoReturn,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        analyst: str = "",
        **unknown: NoReturn,
    ) -> Release:
        """Spend more on an answer, and get the average of all its measurements.

        Each is weighted by the inverse of its variance, so that one answer for epsilon 1 and another for
        epsilon 1 are about as good as one for epsilon 1.4. The interval is for the average of what was
        measured: each time different rows of people over the limits may have been drawn. All groups are
        answered, even if the question showed only some of them.

        Parameters
        ----------
        release : Release
            An answer of this curator: counts, sums, means, or anything else calculated from noisy sums.
        epsilon, delta, rho : number, optional
            What to spend in addition: epsilon, epsilon with delta, or rho.
        analyst : str
            Who asks.
        """
        refuse_others(unnamed, unknown)
        offer = Offer(epsilon=epsilon, delta=delta, rho=rho)
        self.budget.check_offer(offer)
        return remeasure(self, release, offer, analyst=analyst)

    permit, reopen, abandon = permits.permit, permits.reopen, permits.abandon
    suggest_bounds, suggest_limits = suggestions.suggest_bounds, suggestions.suggest_limits
    fit, preview_fit, cut_by_limits = fits.fit, fits.preview_fit, limit_cuts.cut_by_limits
    graph, fixed = other_relations.graph_questions, other_relations.fixed_questions
    revealed, count_revealed = losses.revealed, losses.count_revealed
    synthesize, preview_synthesis = syntheses.synthesize, syntheses.preview_synthesis
    synthesize_related, preview_related = syntheses.synthesize_related, syntheses.preview_related
    train_generator, preview_generator = syntheses.train_generator, syntheses.preview_generator
    measure_fidelity, preview_fidelity = syntheses.measure_fidelity, syntheses.preview_fidelity

    def apply(self, *suggestions: Suggestion, reason: str = "suggested by paid answers") -> None:
        """Declare what was suggested, on the record: see `amend`. The suggestions were paid for."""
        self.amend(reason=reason, tables=apply_suggestions(dict(self.tables), suggestions))

    @property
    def spent(self) -> Spent:
        """What was spent so far."""
        return spent_of(self.account())

    @property
    def remaining(self) -> Remaining:
        """What may still be spent."""
        return self.remaining_of("")

    def remaining_of(self, analyst: str) -> Remaining:
        """Return what an analyst may still spend."""
        check_analyst(analyst)
        account = self.account()
        largest = float_written(account.largest_epsilon(analyst), below=True)
        return Remaining(epsilon=largest, _account=account, _analyst=analyst)
