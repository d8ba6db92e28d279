"""The curator: private tables behind a budget, asked in SQL or in the manner of dataframes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from discreet.curator import Budget, Door, Permit, Preview, Release, Request
from discreet.curator.door import check_analyst
from discreet.curator.permit import abandon, largest_use
from discreet.curator.release.averaging import check_combined
from discreet.errors import ParameterError
from discreet.front.balance import Remaining, Spent
from discreet.front.suggestions import Suggestion, suggest_bounds, suggest_limits
from discreet.front.unknown_keys import answer_unknown, label_of_chosen, preview_unknown
from discreet.privacy.events import Event
from discreet.privacy.rational import float_above, float_below
from discreet.queries import (
    ROWS,
    Offer,
    Query,
    TableRequest,
    build_request,
    explain,
    for_error,
    parse,
)
from discreet.queries.counts import LinearQuestion
from discreet.queries.explanation.counts import explain_linear
from discreet.queries.noise.request import level_of, remeasuring_request
from discreet.queries.noise.unknown_keys import (
    SHARE,
    KeyChoice,
    check_share,
    selection_for,
    unknown_keys,
)
from discreet.queries.question.post_processing import NOTHING, shown_groups

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["Curator", "Question"]

_CONFIDENCE = Fraction(95, 100)

Question: TypeAlias = str | Query | LinearQuestion | Request
"""What may be asked."""


class Curator(Door):
    """Private tables, a budget and a ledger: preview, pay, ask, get an answer with its error.

    Examples
    --------
    >>> import pandas as pd
    >>> from discreet.curator import Budget
    >>> from discreet.data import EACH_ROW, Bounds, Table
    >>> people = Table(pd.DataFrame({"age": [31, 45, 62]}), person=EACH_ROW, columns={"age": Bounds(0, 110)})
    >>> budget = Budget(epsilon=1)
    >>> curator = Curator({"people": people}, budget=budget, ledger="people.ledger")  # doctest: +SKIP
    >>> curator.ask("SELECT COUNT(*) AS n, AVG(age) AS mean_age FROM people", epsilon=0.5)  # doctest: +SKIP
    """

    def __repr__(self) -> str:
        return f"Curator(tables: {', '.join(self.tables)}; budget: {self.budget})"

    def table(self, name: str) -> TableRequest:
        """Begin a request about a table, in the manner of dataframes. Building it touches nothing."""
        if name not in self.tables:
            raise ParameterError("name", "is no declared table", f"one of {sorted(self.tables)}")
        return TableRequest(table=name)

    def request(
        self,
        question: Question,
        *unnamed: NoReturn,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        error: Mapping[str, Number] | None = None,
        confidence: Number = _CONFIDENCE,
        split: Mapping[str, Number] | None = None,
        rows: int = ROWS,
        key_share: Number = SHARE,
    ) -> Request:
        """Return the request that a question and an offer make, or that a wanted error needs.

        Parameters
        ----------
        question : str, Query, LinearQuestion or Request
            SQL, what `table(…)` built, many counts at once (`ranges`, `cdf`, `marginals`), or a finished
            request.
        epsilon, delta, rho : number, optional
            The offer. Epsilon alone buys pure privacy; with delta, or as rho, normal noise is permitted.
        error : mapping of outputs to numbers, optional
            Instead of an offer: the largest margins, at the confidence; the cheapest request that meets
            them is made.
        confidence : number
            Of the intervals.
        split : mapping of outputs to numbers, optional
            The shares of the offer; by default they make the errors alike.
        rows : int
            A hypothetical number of rows in a group, for the error of a mean.
        key_share : number
            For keys that nobody declared, which `ask` has chosen first and `preview` previews: how much of
            epsilon the choice gets, above 0 and below 1, by default a third. It takes epsilon and delta.
            A larger share shows smaller groups; a smaller one leaves more for the values.
        """
        check_share(key_share)
        _refuse_unnamed(unnamed)
        offered = any(part is not None for part in (epsilon, delta, rho))
        if isinstance(question, Request):
            if offered or error is not None or split is not None or confidence != _CONFIDENCE:
                raise ParameterError(
                    "question", "is a finished request, which has its offer already", "no offer beside it"
                )
            return question
        if error is not None and offered:
            raise ParameterError("error", "is given beside an offer", "an error or an offer")
        if isinstance(question, LinearQuestion):
            if split is not None:
                raise ParameterError("split", "is given for a question of one output", "no split")
            level = level_of(confidence)
            if error is None:
                offer = self._offer(epsilon=epsilon, delta=delta, rho=rho)
            else:
                offer = question.offer_for(self.tables, error, level, self._counted())
            return question.request(self.tables, offer, level)
        query = self._query(question)
        if error is None:
            offer = self._offer(epsilon=epsilon, delta=delta, rho=rho)
        else:
            offer = for_error(
                query,
                self.tables,
                error=error,
                offer=self._counted(),
                confidence=confidence,
                rows=rows,
                split=split,
            )
        return build_request(query, self.tables, offer, confidence=confidence, split=split)

    def preview(
        self,
        question: Question,
        *unnamed: NoReturn,
        analyst: str = "",
        rows: int = ROWS,
        **offer: object,
    ) -> Preview:
        """Return what a question would cost and how wrong its answer would be. Spends nothing.

        Takes what `request` takes.
        """
        _refuse_unnamed(unnamed)
        made = self._selection(question, offer)
        if made is None:
            request = self.request(question, rows=rows, **offer)  # type: ignore[arg-type]
            return self.preview_request(request, analyst=analyst, rows=rows)
        return preview_unknown(self, *made, analyst=analyst, rows=rows)

    def ask(self, question: Question, *unnamed: NoReturn, analyst: str = "", **offer: object) -> Release:
        """Spend, then answer. Takes what `request` takes.

        The same question with the same offer on the same data returns the same answer at no cost, whatever
        its outputs are called.

        Where keys are grouped by that nobody declared, an offer of epsilon and delta has them chosen first:
        those are shown that enough persons have. Epsilon is divided by `key_share` (a third unless stated)
        between the choice and the values, delta in halves. What does not fit the budget together is refused
        before the first charge; if choosing succeeds and answering does not, asking again pays for the rest
        only.

        Raises
        ------
        BudgetExceeded, UnsupportedQuery, UndeclaredColumn
            Before anything is charged.
        EngineFailed
            After the charge; asking again computes without another.
        """
        _refuse_unnamed(unnamed)
        if isinstance(question, Request | LinearQuestion):
            return self.answer(self.request(question, **offer), analyst=analyst)  # type: ignore[arg-type]
        query = self._query(question)
        made = self._selection(query, offer)
        if made is None:
            release = self.answer(self.request(query, **offer), analyst=analyst)  # type: ignore[arg-type]
        else:
            release = answer_unknown(self, *made, analyst=analyst)
        if query.after == NOTHING:
            return release
        unknown = {one.name: one.unknown for one in release.outputs if one.unknown is not None}
        return release.at(shown_groups(query.after, _columns(release), unknown))

    sql = ask

    def explain(
        self,
        question: str | Query | LinearQuestion,
        *unnamed: NoReturn,
        sql: bool = False,
        key_share: Number = SHARE,
        **offer: object,
    ) -> str:
        """Describe how a question would be answered: plan, bounds, sensitivities and, if offered, cost.

        With `sql` the statement of the engine is shown too, which holds the literals of the question. Nothing
        is computed or copied.
        """
        _refuse_unnamed(unnamed)
        made = self._offer(**offer) if offer else None  # type: ignore[arg-type]
        if isinstance(question, LinearQuestion):
            return explain_linear(question, self.tables, made, sql=sql)
        return explain(self._query(question), self.tables, made, key_share=key_share, sql=sql)

    def sandbox(self, *, rows: int = 10_000, seed: int = 0) -> Curator:
        """Return a curator of made-up rows behind the same declarations, to try questions on for nothing.

        The rows are drawn from what is public alone; no private value is read, and nothing is spent here.
        The labels of its answers say that they are not private.

        Parameters
        ----------
        rows : int
            How many rows to make up for each private table. Public tables are kept.
        seed : int
            The same seed makes up the same rows.
        """
        from discreet.front.sandbox import sandbox

        return sandbox(self.tables, rows=rows, seed=seed)

    def permit(
        self,
        purpose: str,
        most: Event | Budget | None = None,
        *unnamed: NoReturn,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        analyst: str = "",
    ) -> Permit:
        """Set budget aside for trusted code that reads rows itself. Never for analysts.

        The most that it may use is an event, such as a whole training run, or a budget; or epsilon, delta and
        rho say it in numbers. `purpose` is for the record; the share of `analyst` pays.
        """
        _refuse_unnamed(unnamed if most is None or isinstance(most, Event | Budget) else (most,))
        relation = self.budget.neighbors
        event = largest_use(most, epsilon=epsilon, delta=delta, rho=rho, neighbors=relation)
        return Permit(self, purpose, event, analyst)

    def abandon(self, permit: str | int, *, reason: str) -> None:
        """Close a permit whose code crashed, on the record: all that it reserved is spent, nothing is freed.

        Without this it stays open, and counts in every period to come.

        Parameters
        ----------
        permit : str or int
            Its purpose; or the number of its entry, where several open permits have the same purpose.
        reason : str
            Why, for the record.
        """
        abandon(self, permit, reason=reason)

    def _selection(
        self, question: Question, offer: dict[str, object]
    ) -> tuple[Query, KeyChoice, dict[str, Any]] | None:
        """Return how the keys of a question that nobody declared are chosen; None if there are none."""
        if isinstance(question, Request | LinearQuestion) or "error" in offer:
            return None
        query = self._query(question)
        if not unknown_keys(query, self.tables):
            return None
        options = dict(offer)
        options.pop("rows", None)
        share = options.pop("key_share", SHARE)
        parts = {name: options.pop(name, None) for name in ("epsilon", "delta", "rho")}
        made = self._offer(**parts)  # type: ignore[arg-type]
        return query, selection_for(query, self.tables, made, share=share), options  # type: ignore[arg-type]

    def remeasure(self, release: Release, *unnamed: NoReturn, analyst: str = "", **offer: object) -> Release:
        """Spend more on an answer, and get the average of all its measurements.

        Each is weighted by the inverse of its variance, so that an answer for epsilon 1 and another one for
        epsilon 1 are about as good as one for epsilon 1.4. The interval is for the average of what was
        measured: each time other rows of people over the limits may have been drawn. All groups are
        answered, also where the question showed some of them.

        Parameters
        ----------
        release : Release
            An answer of this curator: counts, sums, means, or what else is calculated from noisy sums.
        analyst : str
            Who asks.
        **offer
            What to spend on top: epsilon, epsilon with delta, or rho.
        """
        _refuse_unnamed(unnamed)
        before = (*release.before, release.request)
        if not all(isinstance(one, Request) for one in before):
            raise ParameterError("release", "has keys only", "an answer with values")
        made = self._offer(**offer)  # type: ignore[arg-type]
        requests = [one for one in before if isinstance(one, Request)]
        check_combined(requests[0].parts)
        request = remeasuring_request(requests[0], self.tables, made, repetition=len(requests))
        again = self.remeasure_request(requests, request, analyst=analyst)
        return replace(again, chosen=release.chosen, label=label_of_chosen(again.label, release.label))

    def suggest_bounds(self, table: str, column: str, **offer: object) -> Suggestion:
        """Buy bounds for a column of numbers that nobody knows: see `discreet.front.suggestions`."""
        return suggest_bounds(self, table, column, **offer)  # type: ignore[arg-type]

    def suggest_limits(self, table: str, **offer: object) -> Suggestion:
        """Buy limits for a table whose persons nobody has counted: see `discreet.front.suggestions`."""
        return suggest_limits(self, table, **offer)  # type: ignore[arg-type]

    @property
    def spent(self) -> Spent:
        """What was spent so far."""
        account = self.account()
        now, ever = account.counted(account.current), account.counted(account.lifetime)
        epsilon, delta = account.spent_now()
        return Spent(
            epsilon=epsilon,
            delta=_plain(delta),
            rho=None if now.rho is None else float_above(now.rho),
            lifetime_epsilon=account.ever_spent()[0],
            lifetime_rho=None if ever.rho is None else float_above(ever.rho),
            requests=account.charges,
        )

    @property
    def remaining(self) -> Remaining:
        """What may still be spent."""
        return self.remaining_of("")

    def remaining_of(self, analyst: str) -> Remaining:
        """Return what an analyst may still spend."""
        check_analyst(analyst)
        account = self.account()
        largest = float_below(account.largest_epsilon(analyst))
        return Remaining(epsilon=largest, _account=account, _analyst=analyst)

    def _offer(self, **offer: Number | None) -> Offer:
        """Return an offer, unless it has a delta that the budget has no use for."""
        made = Offer(**offer)
        caps = self.budget if made.delta is not None else None
        if caps is not None and any(one is not None and _is_pure(one) for one in (caps, caps.per_analyst)):
            raise ParameterError(
                "delta",
                "is offered, but the budget has none: it counts pure epsilon only",
                "epsilon alone, or a budget that has a delta",
            )
        return made

    def _counted(self) -> Callable[[Fraction], Offer]:
        """Return the kind of offer that the budget counts: rho where it is one of rho, else pure epsilon."""
        return Offer.pure if self.budget.rho is None else Offer.concentrated

    def _query(self, question: str | Query) -> Query:
        if isinstance(question, str):
            return parse(question, self.tables)
        if isinstance(question, Query):
            return question
        raise ParameterError(
            "question",
            "is neither SQL nor a request",
            "text, table(…).agg(…), or ranges(…), cdf(…), marginals(…)",
        )


def _columns(release: Release) -> dict[str, Any]:
    """Return keys and values, without intervals."""
    return {**release.keys, **{column.name: column.values for column in release.outputs}}


def _plain(delta: Fraction) -> float:
    """Return the float that is written like the delta, where there is one, else the next above."""
    near = float(delta)
    return near if Fraction(repr(near)) == delta else float_above(delta)


def _is_pure(cap: Budget) -> bool:
    return cap.epsilon is not None and not cap.delta


def _refuse_unnamed(values: tuple[object, ...]) -> None:
    """Refuse an offer without its name: a bare number could be an epsilon or a rho."""
    if values:
        number = values[0] if isinstance(values[0], int | float) else 0.3
        raise ParameterError("the offer", "is given without its name", f"epsilon={number}, by name")
