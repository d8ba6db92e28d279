"""What a ledger says about tables and plans, and whether an open curator still agrees with it.

Declarations and outlines are public. Short ones are written out; of a long one, such as a
hundred thousand keys, the ledger stores the hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from typing import cast

from discreet.curator.budget.account import Account
from discreet.curator.budget.budget import Budget
from discreet.curator.budget.entries import TWO
from discreet.curator.ledger import Body, JsonValue
from discreet.curator.ledger.canonical_json import canonical
from discreet.data import Keys, Table
from discreet.data.tables.ownership import owned_tables
from discreet.data.tables.public_table import PublicTable
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import LedgerMismatch, LedgerUnavailable, ParameterError, RequestRefused

__all__ = [
    "DeclaredRecord",
    "amendment",
    "check_current",
    "check_opened",
    "check_reason",
    "check_relations",
    "checked_tables",
    "declare",
    "declared_keys",
    "recorded",
]

DeclaredRecord = dict[str, JsonValue]
"""What is declared about each table, by name."""

_LONGEST = 1 << 14
_DEEPEST = 32


def checked_tables(tables: Mapping[str, Table | PublicTable]) -> dict[str, Table]:
    """Return tables by name, if that is what was given: private tables, and public ones.

    Those whose persons come through another table get their person column here. Where one is taken for
    private, `facts` refuses a public one.
    """
    if (
        not isinstance(tables, Mapping)
        or not tables
        or not all(isinstance(name, str) and name.isprintable() and name for name in tables)
        or not all(isinstance(table, Table | PublicTable) for table in tables.values())
    ):
        raise _not_tables(tables)
    if all(isinstance(table, PublicTable) for table in tables.values()):
        raise ParameterError("tables", "are all public", "at least one private table, such as Table(…)")
    return cast("dict[str, Table]", owned_tables(tables))


def check_relations(tables: Mapping[str, Table], budget: Budget) -> None:
    """Refuse a table that was declared for another neighbor relation than that of the budget."""
    for name, table in tables.items():
        if isinstance(table, RelatedTable) and table.relation != budget.neighbors:
            raise ParameterError(
                "budget",
                f"is about {budget.neighbors.phrase}, and {name!r} is a {type(table).__name__}",
                f"Budget(…, neighbors={table.named!r})",
            )


def _not_tables(tables: object) -> ParameterError:
    """Return the refusal of what is no mapping of names to tables: frames and files need declarations."""
    if isinstance(tables, Mapping):
        for name, one in tables.items():
            if isinstance(name, str) and name.isprintable() and name:
                if isinstance(one, Table | PublicTable):
                    continue
                made = f"{{{name!r}: Table(…, person=…, limits=Limits(rows=…))}}, or PublicTable(…)"
                return ParameterError(
                    "tables", f"holds under {name!r} a {type(one).__name__}, not declared", made
                )
    return ParameterError("tables", "is not a mapping of names to tables", "such as {'visits': Table(…)}")


def declare(tables: Mapping[str, Table | PublicTable]) -> DeclaredRecord:
    """Return what is declared about tables, as a ledger records it."""
    return {name: recorded(cast("JsonValue", table.declaration)) for name, table in tables.items()}


def declared_keys(tables: Mapping[str, Table | PublicTable]) -> list[Keys]:
    """Return the keys that owners declared: they are in the ledger anyway."""
    private = (table for table in tables.values() if isinstance(table, Table))
    return [one for table in private for one in table.columns.values() if isinstance(one, Keys)]


def recorded(value: JsonValue) -> JsonValue:
    """Return a value as a ledger records it: itself, or its hash if it is long or deeply nested."""
    text = canonical(value)
    if len(text) <= _LONGEST and _depth(value) <= _DEEPEST:
        return value
    return {"sha256": hashlib.sha256(text.encode("ascii")).hexdigest()}


def check_opened(account: Account, declared: DeclaredRecord, budget: Budget) -> None:
    """Refuse to open a ledger with declarations other than its own, saying which differ."""
    if account.caps != budget or dict(account.tables) != declared:
        what = "other tables" if account.caps == budget else "another budget"
        raise LedgerMismatch(
            f"the ledger records {what} than was given; open it as it was, then change it on the "
            "record with amend(…, reason=…)"
        )


def check_current(account: Account, declared: DeclaredRecord | None) -> None:
    """Refuse to continue with declarations that were amended since; None: with no declarations at all."""
    if declared is not None and dict(account.tables) != declared:
        raise LedgerMismatch(
            "the tables of this ledger were amended since it was opened here; open it again with what it "
            "declares now"
        )


def check_reason(reason: str) -> None:
    """Refuse to record a change without a reason."""
    if not isinstance(reason, str) or not reason.strip():
        raise ParameterError("reason", "is missing", "a reason in words, for the record")


def amendment(
    reason: str,
    declared: DeclaredRecord,
    budget: Budget | None,
    *,
    agreed: Collection[str] = (),
    two_owners: bool | None = None,
) -> Callable[[Account, str], Body]:
    """Return the rule of an amendment: what it records, given the account.

    Parameters
    ----------
    reason : str
        Why, for the record.
    declared : mapping
        What is declared about all tables from now on.
    budget : Budget or None
        The caps from now on; None if they stay.
    agreed : collection of str
        The names of the owners who agreed.
    two_owners : bool, optional
        Whether two of them must agree to all amendments after this one; by default as before.
    """
    check_reason(reason)
    names = sorted(set(agreed))
    more: dict[str, JsonValue] = {}
    if names:
        more["agreed"] = list(names)
    if two_owners is not None:
        more["two_owners"] = two_owners

    def rule(account: Account, time: str) -> Body:
        if account.budget is None:
            raise LedgerUnavailable("the ledger has no declaration yet, so there is nothing to amend")
        if (account.two_owners or two_owners) and len(names) < TWO:
            raise RequestRefused("two owners must agree to this: discreet ledger amend --owner-key, twice")
        caps = account.budget if budget is None else budget
        if budget is not None:  # by the bounds of today; as an entry it is read by those of any version
            account.amended(declared, budget, time).check_held()
        return {"reason": reason, "tables": declared, "budget": caps.to_body(), **more}

    return rule


def _depth(value: JsonValue) -> int:
    if isinstance(value, Mapping):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list | tuple):
        return 1 + max(map(_depth, value), default=0)
    return 0
