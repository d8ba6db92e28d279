"""A synthetic table asked of a curator: keys that nobody declared are chosen first, from the same offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.curator import Door, Preview
from discreet.curator.budget.checks import check_analyst
from discreet.curator.release.preview import including
from discreet.curator.request.key_request import KeyRequest
from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.data import Table
from discreet.data.language.declarations import KeyValue
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.offer import Offer
from discreet.queries.asking.unknown_keys import with_choices
from discreet.queries.noise.unknown_keys import KeyChoice, selection_for
from discreet.synthesis.asking.bought_bins import BIN_SHARE, BoughtBins, divided_offer
from discreet.synthesis.asking.question import SynthesisQuestion
from discreet.synthesis.asking.synthesis_release import SynthesisRelease
from discreet.synthesis.asking.table_synthesis import TableSynthesis
from discreet.synthesis.release.synthetic_data import rows_to_draw

__all__ = ["KEY_SHARE", "AskedSynthesis"]

KEY_SHARE = Fraction(1, 5)
"""The share of an offer that chooses keys, unless another is stated."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AskedSynthesis:
    """A question for a synthetic table and what is offered for it. Making one reads no data.

    Attributes
    ----------
    question : SynthesisQuestion
        What is asked.
    tables : mapping of names to Table
        The declared tables.
    offer : Offer
        What it may cost altogether.
    confidence : Fraction
        Of intervals.
    key_share : Fraction
        The share of the offer that chooses keys, where some are unknown.
    """

    question: SynthesisQuestion
    tables: Mapping[str, Table]
    offer: Offer
    confidence: Fraction
    key_share: Fraction = KEY_SHARE

    def preview(self, door: Door, *, analyst: str, rows: int) -> Preview:
        """Return what it would cost, all together, and how many persons a key needs. Spends nothing."""
        bins, left = self.bins()
        choice, paid = self.choice(left), True
        rest = left if choice is None else choice.rest
        cuts: dict[str, tuple[int, ...]] = {}
        if bins is not None:
            content = door.stored(bins.request)
            paid = content is not None
            cuts = self.supposed(bins, rest) if content is None else bins.cuts(content)
        requests = [] if choice is None else [request for _, request in choice.requests]
        found = [door.keys_chosen(request) for request in requests]
        known: dict[str, tuple[KeyValue, ...]] = {}
        if choice is not None and all(keys is not None for keys in found):
            known = {name: keys or () for (name, _), keys in zip(choice.requests, found, strict=True)}
        request = self.request(rest, known, cuts)
        previewed = door.preview_request(request, analyst=analyst, rows=rows, chosen=requests)
        if bins is None:
            return previewed
        events, answered = [bins.request.event], paid and previewed.answered
        return including(previewed, events, bins.words, door.account(), analyst, answered=answered)

    def release(self, door: Door, *, analyst: str, rows: int | None) -> SynthesisRelease:
        """Pay, and return the synthetic table.

        Where cells are bought or keys unknown there are several charges, the last for the tables. Whether all
        fit is found out before the first, and none reads anything before it is made.
        """
        check_analyst(analyst)
        wanted = rows_to_draw(rows)
        bins, left = self.bins()
        choice = self.choice(left)
        requests = () if choice is None else tuple(request for _, request in choice.requests)
        rest = left if choice is None else choice.rest
        first: list[KeyRequest | TabulatedRequest] = [*([] if bins is None else [bins.request]), *requests]
        supposed = self.request(rest, {}, {} if bins is None else self.supposed(bins, rest))
        unpaid = [request.event for request in first if not door.is_charged(request)]
        if unpaid:
            door.account().check(analyst, *unpaid, supposed.event)
        fine, cuts = (None, {}) if bins is None else bins.bought(door, analyst=analyst)
        choices = [door.choose_keys(request, analyst=analyst) for request in requests]
        chosen: dict[str, tuple[KeyValue, ...]] = {
            name: tuple(one.keys[request.plan.column])  # type: ignore[arg-type]
            for (name, request), one in zip(choice.requests if choice else (), choices, strict=True)
        }
        request = self.request(rest, chosen, cuts)
        answer = door.answer(request, analyst=analyst)
        content = door.stored(request)
        assert content is not None  # noqa: S101
        if requests:
            answer = replace(answer, chosen=requests, label=with_choices(answer, choices))
        if bins is not None and fine is not None:
            answer = bins.labelled(answer, fine)
        return SynthesisRelease.of(answer, content, wanted)

    def bins(self) -> tuple[BoughtBins | None, Offer]:
        """Return what buys quantiles, if they are wanted, and what is left of the offer."""
        if not self.question.bins:
            return None, self.offer
        part, rest = divided_offer(self.offer, BIN_SHARE)
        return BoughtBins.of(self.question, self.tables, part, self.confidence), rest

    def supposed(self, bins: BoughtBins, offer: Offer) -> dict[str, tuple[int, ...]]:
        """Return cuts that leave as many cells as any that may be bought, beside those that facts need."""
        if not self.question.known_facts(self.tables):
            return bins.supposed({})
        whole = self.request(offer, {}, dict.fromkeys(self.question.bins, ()))  # cut by facts alone
        assert isinstance(whole.mechanism, TableSynthesis)  # noqa: S101
        counted = whole.mechanism.synthesizer.counted.columns
        return bins.supposed({column.name: column.axis.cuts for column in counted})

    def choice(self, offer: Offer) -> KeyChoice | None:
        """Return how undeclared keys are chosen, and what is left of an offer; None if all are declared."""
        unknown = self.question.unknown_keys(self.tables)
        if not unknown:
            return None
        query = self.question.query_of(unknown)
        return selection_for(query, self.tables, offer, share=self.key_share)

    def request(
        self,
        offer: Offer,
        chosen: Mapping[str, Sequence[KeyValue]],
        cuts: Mapping[str, tuple[int, ...]],
    ) -> TabulatedRequest:
        """Return the request for the tables, under keys that were chosen, or under none where there are none.

        Whatever can be refused is refused without keys, before they are paid for. If too many were chosen for
        the tables to be held, the first half of them keeps its names, in their order, as often as needed.
        """
        names = self.question.unknown_keys(self.tables)
        held = {name: tuple(chosen.get(name, ())) for name in names}
        while True:
            try:
                question = replace(self.question, chosen=held, cuts=cuts)
                return question.request(self.tables, offer, self.confidence)
            except (ParameterError, UnsupportedQuery):
                if not any(held.values()):
                    raise
                held = {name: keys[: len(keys) // 2] for name, keys in held.items()}
