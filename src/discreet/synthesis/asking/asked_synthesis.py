"""A synthetic table asked of a curator: keys that nobody declared are chosen first, from the same offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.curator import Door, Preview, Release
from discreet.curator.budget.checks import check_analyst
from discreet.curator.request.key_request import KeyRequest
from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.data import Table
from discreet.data.language.declarations import KeyValue
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.offer import Offer
from discreet.queries.asking.unknown_keys import with_choices
from discreet.queries.noise.unknown_keys import KeyChoice, selection_for
from discreet.synthesis.asking.question import SynthesisQuestion
from discreet.synthesis.asking.synthesis_release import SynthesisRelease

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
        """Return what it would cost, keys included, and how many persons a key needs. Spends nothing."""
        choice = self.choice()
        if choice is None:
            return door.preview_request(self.request(self.offer, {}), analyst=analyst, rows=rows)
        requests = [request for _, request in choice.requests]
        found = [door.keys_chosen(request) for request in requests]
        known = {
            name: keys for (name, _), keys in zip(choice.requests, found, strict=True) if keys is not None
        }
        request = self.request(choice.rest, known if len(known) == len(requests) else {})
        return door.preview_request(request, analyst=analyst, rows=rows, chosen=requests)

    def release(self, door: Door, *, analyst: str, rows: int | None) -> SynthesisRelease:
        """Pay, and return the synthetic table.

        Where keys are unknown there are two charges, of the keys and of the table. Whether both fit is found
        out before the first, and neither reads anything before it is made.
        """
        check_analyst(analyst)
        choice = self.choice()
        if choice is None:
            return _released(door, self.request(self.offer, {}), (), (), analyst, rows)
        requests = tuple(request for _, request in choice.requests)
        supposed = self.request(choice.rest, {})
        unpaid = [request.event for request in requests if not door.is_charged(request)]
        if unpaid:
            door.account().check(analyst, *unpaid, supposed.event)
        choices = [door.choose_keys(request, analyst=analyst) for request in requests]
        chosen: dict[str, tuple[KeyValue, ...]] = {
            name: tuple(one.keys[request.plan.column])  # type: ignore[arg-type]
            for (name, request), one in zip(choice.requests, choices, strict=True)
        }
        return _released(door, self.request(choice.rest, chosen), requests, choices, analyst, rows)

    def choice(self) -> KeyChoice | None:
        """Return how undeclared keys are chosen, and what is left of the offer; None if all are declared."""
        unknown = self.question.unknown_keys(self.tables)
        if not unknown:
            return None
        query = self.question.query_of(unknown)
        return selection_for(query, self.tables, self.offer, share=self.key_share)

    def request(self, offer: Offer, chosen: Mapping[str, Sequence[KeyValue]]) -> TabulatedRequest:
        """Return the request for the tables, under keys that were chosen, or under none where there are none.

        Whatever can be refused is refused without keys, before they are paid for. If too many were chosen for
        the tables to be held, the first half of them keeps its names, in their order, as often as needed.
        """
        names = self.question.unknown_keys(self.tables)
        held = {name: tuple(chosen.get(name, ())) for name in names}
        while True:
            try:
                return replace(self.question, chosen=held).request(self.tables, offer, self.confidence)
            except (ParameterError, UnsupportedQuery):
                if not any(held.values()):
                    raise
                held = {name: keys[: len(keys) // 2] for name, keys in held.items()}


def _released(  # noqa: PLR0917
    door: Door,
    request: TabulatedRequest,
    requests: tuple[KeyRequest, ...],
    choices: Sequence[Release],
    analyst: str,
    rows: int | None,
) -> SynthesisRelease:
    answer = door.answer(request, analyst=analyst)
    if requests:
        answer = replace(answer, chosen=requests, label=with_choices(answer, choices))
    content = door.stored(request)
    assert content is not None  # noqa: S101
    return SynthesisRelease.of(answer, content, rows)
