"""A change of the declaration: checked in full, then written to the file and recorded in the ledger.

Whatever can be refused is refused before anything is written. The file is put in place first and the ledger's
entry made after it: if the machine stops in between, servers go on as before, and no worker starts until the
owner records the change (``discreet ledger amend``) or puts the copy back. Nothing that was spent is touched:
a change is an entry of the same ledger, and all tables of a ledger share its caps.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from discreet.curator import Account
from discreet.curator.budget.entries import AMEND, TWO
from discreet.curator.ledger import Ledger
from discreet.curator.table_records import amendment, check_relations, checked_tables, declare
from discreet.data import Csv, Table
from discreet.data.tables.origins import share_origins
from discreet.errors import LedgerError, ParameterError, RequestRefused
from discreet.front.declaring.declaration import Declaration, TableFacts, declared_in
from discreet.records import dataclass
from discreet.server.owning.file_changes import (
    budget_text,
    digest_of,
    locked,
    put_in_place,
    with_budget,
    with_table,
)
from discreet.server.owning.owner_options import OwnerOptions
from discreet.server.owning.table_sections import StatedTable, section_text

__all__ = ["DeclarationChange", "amend_declaration", "drafted"]

DeclarationChange: TypeAlias = Mapping[str, Any]
"""What is to be changed: a ``table`` to be added, or ``budget``, other caps."""

_LONGEST_REASON = 1000
_UNRECORDED = (
    "the declaration was changed by hand, and the ledger does not record it yet: discreet ledger amend first"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A change that was read, opened and compared with the ledger, and is written nowhere."""

    content: bytes
    text: str
    declared: Declaration
    tables: dict[str, Any]


def drafted(change: DeclarationChange, options: OwnerOptions) -> dict[str, object]:
    """Return what a change would write, once all of it opens. Nothing is written."""
    file = options.file_of_declaration
    old = file.read_bytes()
    draft = _drafted(file, old, change, options)
    with closing(draft.declared.ledger.open()) as ledger:
        account = _checked(ledger, file, old, change, draft)
        needs_two = account.two_owners
    return {"text": draft.text, "digest": digest_of(old), "two_owners": needs_two}


def amend_declaration(
    change: DeclarationChange,
    options: OwnerOptions,
    *,
    reason: str,
    agreed: Collection[str],
    expected: str,
) -> dict[str, object]:
    """Write a change to the file and record it in the ledger.

    Parameters
    ----------
    change : mapping
        What is to be changed.
    options : OwnerOptions
        Of which declaration, and where tables may come from.
    reason : str
        Why, for the record.
    agreed : collection of str
        The names of the owners who agreed, for the record.
    expected : str
        The digest of the declaration that they looked at.

    Returns
    -------
    dict
        With ``state``: "done", or "waiting" if a second owner must agree; then nothing is written.

    Raises
    ------
    RequestRefused
        If the declaration is not the expected one, or has changes that are not on the record.
    BudgetExceeded
        If more was already spent than new caps allow.
    """
    if not reason.strip() or len(reason) > _LONGEST_REASON or not reason.isprintable():
        raise ParameterError("reason", "is missing or not one line", "why, in a few words")
    file = options.file_of_declaration
    with locked(file) as old:
        if digest_of(old) != expected:
            raise RequestRefused("the declaration was changed since you looked at it: look at it again")
        draft = _drafted(file, old, change, options)
        with closing(draft.declared.ledger.open()) as ledger:
            account = _checked(ledger, file, old, change, draft)
            if account.two_owners and len({*agreed}) < TWO:
                return {"state": "waiting", "text": draft.text}
            budget = None if change["budget"] is None else draft.declared.budget
            rule = amendment(reason, declare(draft.tables), budget, agreed=agreed)
            rule(account, ledger.time())
            copy = put_in_place(file, old, draft.content)
            try:
                entry = ledger.decide(AMEND, rule).sequence
            except LedgerError:
                if not _is_recorded(ledger, draft):
                    os.replace(copy, file)
                    raise
                entry = ledger.anchor().sequence
            except BaseException:
                os.replace(copy, file)
                raise
    return {"state": "done", "entry": entry, "copy": copy.name, "text": draft.text}


def _drafted(file: Path, old: bytes, change: DeclarationChange, options: OwnerOptions) -> _Draft:
    """Read and open what a change would declare: all that a server would do when it starts."""
    table, caps = change["table"], change["budget"]
    if (table is None) == (caps is None):
        raise ParameterError("table", "and budget are both given or both missing", "one change at a time")
    if table is None:
        text, content = budget_text(caps), with_budget(old, caps)
    else:
        _refuse_known_source(declared_in(file, old), table, options)
        text = section_text(table, options, file)
        content = with_table(old, table["name"], text)
    declared = declared_in(file, content)
    try:
        tables = checked_tables(declared.open_tables())
    except OSError:
        raise ParameterError(
            "source", "cannot be opened", "files and databases that the server may read"
        ) from None
    check_relations(tables, declared.budget)
    if table is not None:
        _refuse_shared_rows(declared, tables, table["name"])
    return _Draft(content=content, text=text, declared=declared, tables=tables)


def _checked(
    ledger: Ledger[Account], file: Path, old: bytes, change: DeclarationChange, draft: _Draft
) -> Account:
    """Return the account, if what the file held before the change is what the ledger records.

    Otherwise the change would put on the record what somebody else wrote into the file, and nobody looked at.
    """
    account = ledger.state()
    name = None if change["table"] is None else change["table"]["name"]
    before = declare({one: table for one, table in draft.tables.items() if one != name})
    if account.caps != declared_in(file, old).budget or dict(account.tables) != before:
        raise RequestRefused(_UNRECORDED)
    if name is not None and any(name in entry.body.get("tables", {}) for entry in ledger.entries()):  # type: ignore[operator]
        raise ParameterError(
            "name",
            "was that of another table of this ledger",
            "a name that was never used: answers stay stored",
        )
    return account


def _is_recorded(ledger: Ledger[Account], draft: _Draft) -> bool:
    """Return whether an entry of which it was not certain is there."""
    account = ledger.state()
    return account.caps == draft.declared.budget and dict(account.tables) == declare(draft.tables)


def _refuse_known_source(declared: Declaration, table: StatedTable, options: OwnerOptions) -> None:
    """Refuse rows that have a declaration: under another one their persons could be others.

    Contents are not compared: of copies and views the owner must know.
    """
    for name, facts in declared.tables.items():
        if _is_same(facts.source, table, options):
            raise _known_source(name)


def _refuse_shared_rows(declared: Declaration, tables: Mapping[str, Table], name: str) -> None:
    """Refuse rows of a stored table that another table reads, directly or through a view."""
    sources = {one: facts.source for one, facts in declared.tables.items() if isinstance(facts, TableFacts)}
    shared = share_origins(sources, tables, name)
    if shared:
        raise _known_source(shared[0])


def _known_source(name: str) -> ParameterError:
    allowed = "rows that are not declared: persons are the same in all tables"
    return ParameterError("source", f"is that of the table {name!r}", allowed)


def _is_same(source: Path | str | Csv, table: StatedTable, options: OwnerOptions) -> bool:
    if table["variable"] is not None:
        return source == options.variable(table["variable"])
    if table["file"] is None or isinstance(source, str):
        return False
    path = options.file(table["file"])
    known = source.paths if isinstance(source, Csv) else (source,)
    return any(one.exists() and os.path.samefile(one, path) for one in known)
