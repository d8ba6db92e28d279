"""A request for keys: which values of a column may be named at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction

from discreet.curator.ledger import JsonValue
from discreet.curator.request.identity import (
    canonical_identity,
    check_versioned,
    check_versions,
    keyed_digest,
)
from discreet.curator.request.request import AnswerColumn, Output
from discreet.data import Keys, Table, fresh_salt, from_object, to_object
from discreet.data.key_counts import check_key_plan, compute_key_counts
from discreet.data.key_pairs import compute_key_pairs
from discreet.data.language.declarations import KeyValue
from discreet.data.language.plan import KeyPlan
from discreet.errors import EngineFailed, LedgerTampered, ParameterError
from discreet.mechanisms.keys.key_selection import KeySelection
from discreet.mechanisms.keys.keys_in_rounds import KeysInRounds
from discreet.noise import is_private
from discreet.privacy.events import Event
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.records import dataclass

__all__ = ["ChosenKeys", "KeyRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenKeys:
    """The keys that a selection shows, sorted. They are public.

    Attributes
    ----------
    values : tuple
        The keys; perhaps none.
    private : bool
        Whether the noise came from the operating system, not from a replay for tests.
    """

    values: tuple[KeyValue, ...]
    private: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRequest:
    """Which keys of a column to show, for people who have at most this many of them.

    Attributes
    ----------
    plan : KeyPlan
        What is counted.
    versions : tuple of (table, version)
        Which data it is counted in.
    mechanism : KeySelection or KeysInRounds
        What decides.
    """

    plan: KeyPlan
    versions: tuple[tuple[str, str], ...]
    mechanism: KeySelection | KeysInRounds

    def __post_init__(self) -> None:
        if self.mechanism.keys < self.plan.keys or self.mechanism.neighbors != ADD_REMOVE_PERSON:
            raise ParameterError(
                "mechanism", "does not cover the plan", "one made for as many keys of a person"
            )
        check_versioned(self.versions, self.plan.source)

    def check(self, tables: Mapping[str, Table]) -> None:
        """Refuse tables that it was not made for, before anything is charged."""
        check_versions(self.versions, tables)
        check_key_plan(self.plan, tables)

    @property
    def confidence(self) -> Fraction:
        """The confidence of intervals; there are none."""
        return Fraction(95, 100)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def columns(self) -> tuple[Output, ...]:
        """None: only keys are released."""
        return ()

    @property
    def plans(self) -> tuple[KeyPlan, ...]:
        """What is counted: one plan."""
        return (self.plan,)

    @property
    def event(self) -> Event:
        """The law of the selection: what the ledger records and the budget pays for."""
        return self.mechanism.event

    @property
    def identity(self) -> bytes:
        """Canonical bytes: equal for two requests exactly if they ask the same about the same data."""
        content = {
            "event": self.event.to_object(),
            "mechanism": repr(self.mechanism),
            "plan": to_object(self.plan),
        }
        return canonical_identity(content, self.versions)

    def digest(self, secret: bytes, declared: Mapping[str, JsonValue]) -> str:
        """Return a keyed hash of the identity and of what is declared about the tables that are read."""
        return keyed_digest(self.identity, secret, [name for name, _ in self.versions], declared)

    def draw(self, tables: Mapping[str, Table]) -> bytes:
        """Count and choose; return the keys that are shown, as the ledger keeps them.

        Exact values never leave this function, and neither do errors.
        """
        content = None
        try:
            if isinstance(self.mechanism, KeysInRounds):
                pairs = compute_key_pairs(self.plan, tables, salt=fresh_salt())
                shown = self.mechanism.release(pairs.persons, pairs.keys)
                values = pairs.chosen(shown)
            else:
                counts = compute_key_counts(self.plan, tables, salt=fresh_salt())
                shown = self.mechanism.release(counts.counts)
                values = counts.chosen(shown)
            content = _packed(ChosenKeys(values=values, private=is_private(shown)))
        except Exception:  # noqa: S110
            pass
        if content is None:
            raise EngineFailed
        return content

    def read(self, content: bytes) -> ChosenKeys:
        """Read what `draw` wrote for the same request."""
        return _unpacked(content)

    def opened(self, content: bytes) -> tuple[dict[str, list[KeyValue]], tuple[AnswerColumn, ...], bool]:
        """Return keys, columns, and whether they are private, of what `draw` wrote for the same request."""
        chosen = self.read(content)
        return self.keys_of(chosen), self.columns_for(chosen), chosen.private

    def keys_of(self, chosen: ChosenKeys) -> dict[str, list[KeyValue]]:
        """Return the keys that are shown, by column."""
        return {self.plan.column: list(chosen.values)}

    def columns_for(self, chosen: ChosenKeys) -> tuple[AnswerColumn, ...]:
        """Return no columns: only keys are released."""
        del chosen
        return ()


def _packed(keys: ChosenKeys) -> bytes:
    listed = to_object(Keys(keys.values)) if keys.values else None
    return json.dumps({"keys": listed, "private": keys.private}, separators=(",", ":")).encode()


def _unpacked(content: bytes) -> ChosenKeys:
    try:
        found = json.loads(content)
        keys = None if found["keys"] is None else from_object(found["keys"])
        return ChosenKeys(values=keys.values if isinstance(keys, Keys) else (), private=found["private"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LedgerTampered("stored keys are not those of their request") from None
