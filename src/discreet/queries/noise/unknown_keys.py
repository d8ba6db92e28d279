"""Undeclared keys: which they are, and what it costs to have them chosen privately.

A part of the offer is spent on the choice of keys, by persons; the values for the chosen keys are paid for
with the rest. Both are separate requests: if the second is never asked, the first is paid for anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache
from math import prod

from discreet.curator.request.key_request import KeyRequest
from discreet.data import Keys, Table, Type
from discreet.data.facts.limits import limits_of
from discreet.data.facts.persons import person_columns
from discreet.data.key_counts import check_key_plan, keys_of_a_person
from discreet.data.language.plan import LARGEST_CELLS, KeyPlan
from discreet.data.language.relations import Project, public_tables, sources_of
from discreet.errors import ParameterError
from discreet.mechanisms.keys.key_selection import KeySelection
from discreet.mechanisms.keys.keys_in_rounds import KeysInRounds
from discreet.privacy.offer import Offer
from discreet.queries.binding.bind import bind
from discreet.queries.binding.missing_declarations import missing_keys
from discreet.queries.noise.split import CONCENTRATED, PURE, share_of_keys
from discreet.queries.question.query import Query, key_facts, key_of
from discreet.records import dataclass

__all__ = [
    "KeyChoice",
    "check_unknown",
    "hypothetical_keys",
    "key_plans",
    "key_share_of",
    "selection_for",
    "unknown_keys",
]

_HYPOTHETICAL = 1000
_FIRST_DAY = date(2000, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChoice:
    """How the keys of a query are chosen, and what is left for its values.

    Attributes
    ----------
    requests : tuple of (name, KeyRequest)
        One for each undeclared key.
    rest : Offer
        For the values.
    """

    requests: tuple[tuple[str, KeyRequest], ...]
    rest: Offer


def unknown_keys(query: Query, tables: Mapping[str, Table]) -> tuple[str, ...]:
    """Return the names of the keys that are neither declared, listed nor implied by a calculation."""
    columns, listed = key_facts(query, tables), dict(query.listed)
    return tuple(key.name for key in query.keys if key.name not in listed and columns[key.name].keys is None)


def selection_for(
    query: Query,
    tables: Mapping[str, Table],
    offer: Offer,
    *,
    share: Fraction | None = None,
    rounds: bool = False,
) -> KeyChoice:
    """Divide an offer between the choice of keys and the values on them.

    Epsilon or rho is divided by the share, by default that of `key_share_of`. Delta is divided in halves
    beside epsilon: one for the keys, one for the values, where it permits Gaussian noise. Beside rho all of
    it is for the keys. Several unknown keys share their part evenly. With `rounds` they are chosen in rounds
    (`KeysInRounds`), for epsilon and delta: no rule says from public facts when that finds more keys, as it
    depends on how many keys persons have and share.
    """
    check_unknown(query, tables)
    plans = key_plans(query, tables)
    if offer.delta is None:
        bind(query, tables)  # refuses, saying what to offer or to declare
    assert offer.delta is not None  # noqa: S101
    share = key_share_of(query, tables, offer) if share is None else share
    source, count = plans[0][1].source, plans[0][1].keys
    mechanism: KeySelection | KeysInRounds
    if offer.rho is not None:
        if rounds:
            raise ParameterError("keys", "in rounds are chosen for epsilon and delta", "epsilon, not rho")
        mechanism = KeySelection.best(
            rho=offer.rho * share / len(plans), delta=offer.delta / len(plans), keys=count
        )
        rest = Offer.concentrated(offer.rho * (1 - share))
    else:
        assert offer.epsilon is not None  # noqa: S101
        make = KeysInRounds if rounds else KeySelection.best
        mechanism = make(
            epsilon=offer.epsilon * share / len(plans), delta=offer.delta / 2 / len(plans), keys=count
        )
        rest = Offer(epsilon=offer.epsilon * (1 - share), delta=offer.delta / 2)
    read = (*sources_of(source), *public_tables(source))
    versions = tuple((name, tables[name].version) for name in read)
    requests = tuple(
        (name, KeyRequest(plan=plan, versions=versions, mechanism=mechanism)) for name, plan in plans
    )
    return KeyChoice(requests=requests, rest=rest)


def key_share_of(query: Query, tables: Mapping[str, Table], offer: Offer) -> Fraction:
    """Return how much of an offer the choice of keys gets, by what is asked: see `share_of_keys`."""
    plans = key_plans(query, tables)
    bound = bind(hypothetical_keys(query, tables), tables)
    power = PURE if offer.rho is None else CONCENTRATED
    return share_of_keys(bound, power, keys=plans[0][1].keys, columns=len(plans))


def key_plans(query: Query, tables: Mapping[str, Table]) -> tuple[tuple[str, KeyPlan], ...]:
    """Return what is counted to choose each of the undeclared keys, by its name."""
    plain = all(key == key_of(key.name) for key in query.keys)
    source = query.relation if plain else Project(source=query.relation, columns=query.keys)
    count = keys_of_a_person(limits_of(source, tables))
    names = unknown_keys(query, tables)
    return tuple((name, KeyPlan(source=source, column=name, keys=count)) for name in names)


def check_unknown(query: Query, tables: Mapping[str, Table]) -> None:
    """Refuse keys that cannot be chosen: persons themselves, and values that cannot name a group."""
    columns = key_facts(query, tables)
    persons = person_columns(_grouped(query), tables)
    for name, plan in key_plans(query, tables):
        if name in persons:
            raise missing_keys(name, columns, persons, None)
        check_key_plan(plan, tables)


def hypothetical_keys(query: Query, tables: Mapping[str, Table]) -> Query:
    """Return the query with made-up keys in place of unknown ones: more than most people have."""
    columns, listed, names = (
        key_facts(query, tables),
        dict(query.listed),
        unknown_keys(query, tables),
    )
    known = [listed.get(name) or facts.keys for name, facts in columns.items() if name not in names]
    groups = prod(len(keys) for keys in known if keys is not None)
    room = max(1, min(_HYPOTHETICAL, LARGEST_CELLS // groups))
    each = max(1, int(room ** (1 / len(names)))) if names else 1
    return query.with_keys(**{name: _made_up(columns[name].type, each) for name in names})


def _grouped(query: Query) -> Project:
    return Project(source=query.relation, columns=query.keys)


@lru_cache(maxsize=64)
def _made_up(kind: Type, count: int) -> Keys:
    if kind is Type.BOOLEAN:
        return Keys([False, True][:count])
    if kind is Type.INTEGER:
        return Keys(range(count))
    if kind is Type.DATE:
        return Keys([_FIRST_DAY + timedelta(days=number) for number in range(count)])
    return Keys([f"key {number}" for number in range(count)])
