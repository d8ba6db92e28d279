"""What a worker does for the words of owners.

All but `check` depend on names and types of columns, on declarations and on the ledger. `check` counts rows
exactly: it is sent to nobody but an owner, whose key has that scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from discreet.curator.release.json_form import preview_object
from discreet.data import Bounds, Limits, PublicTable
from discreet.errors import ParameterError
from discreet.front.bill import bill_of
from discreet.front.curator import Curator
from discreet.front.declaring.toml_text import bounds_text, limits_text, toml_key
from discreet.front.shell_words import in_shell
from discreet.front.suggestions import Suggestion, suggested_by, suggesting_question
from discreet.server.owning.amending import amend_declaration, drafted
from discreet.server.owning.file_changes import digest_of
from discreet.server.owning.owner_options import OwnerOptions, is_csv
from discreet.server.owning.table_sections import described
from discreet.server.service_limits import ServiceLimits

__all__ = ["OWNER_WORDS"]


@contextmanager
def _declaration_files() -> Iterator[None]:
    """Say that a file cannot be used, in words of our own: those of the system name places."""
    try:
        yield
    except OSError:
        raise ParameterError(
            "the declaration", "cannot be read or written by the server", "a folder that it may write"
        ) from None


def _sources(curator: Curator, message: Mapping[str, Any], limits: ServiceLimits) -> dict[str, object]:
    """Say from where a table may be declared, and whether that may be done here."""
    del limits
    options = OwnerOptions(**message["options"])
    return {
        "has_folder": options.folder is not None,
        "files": [{"name": one, "is_csv": is_csv(one)} for one in options.files()],
        "variables": list(options.variables),
        "may_amend": options.may_amend,
        "two_owners": curator.account().two_owners,
        "digest": digest_of(options.file_of_declaration.read_bytes()),
    }


def _schema(curator: Curator, message: Mapping[str, Any], limits: ServiceLimits) -> dict[str, object]:
    """Return names and types of columns; no value, and no number of rows."""
    del curator, limits
    found = described(message["table"], OwnerOptions(**message["options"]))
    return {"columns": [{"name": name, "type": kind.value} for name, kind in found.items()]}


def _draft(curator: Curator, message: Mapping[str, Any], limits: ServiceLimits) -> dict[str, object]:
    del curator, limits
    with _declaration_files():
        return drafted(message["change"], OwnerOptions(**message["options"]))


def _amend(curator: Curator, message: Mapping[str, Any], limits: ServiceLimits) -> dict[str, object]:
    del curator, limits
    options = OwnerOptions(**message["options"])
    if not options.may_amend:
        raise ParameterError("owners-may-amend", "was not said when this server was started", "by hand")
    with _declaration_files():
        return amend_declaration(
            message["change"],
            options,
            reason=message["reason"],
            agreed=message["agreed"],
            expected=message["expected"],
        )


def _check(curator: Curator, message: Mapping[str, Any], limits: ServiceLimits) -> dict[str, object]:
    """Compare the rows of a table with its declaration. Exact counts, for the owner alone."""
    del limits
    table = curator.tables.get(message["table"])
    if table is None or isinstance(table, PublicTable):
        raise ParameterError("table", "is not a private table that is declared", "one of those at /v1/tables")
    found = table.check().to_object()
    findings = [{**one, "words": in_shell(one["words"])} for one in cast("list[Any]", found["findings"])]
    return {**found, "findings": findings}


def _suggest_preview(
    curator: Curator, message: Mapping[str, Any], limits: ServiceLimits
) -> dict[str, object]:
    """Return what it would cost to have something suggested. Spends nothing, and reads no row."""
    del limits
    query, terms = suggesting_question(curator.tables, message["table"], message["column"])
    found = curator.preview(query, analyst=message["analyst"], **terms, **message["terms"])
    return {"preview": preview_object(found)}


def _suggest(curator: Curator, message: Mapping[str, Any], limits: ServiceLimits) -> dict[str, object]:
    """Pay for noisy counts that suggest what to declare. Once they are paid, nothing is refused."""
    del limits
    table, column, analyst = message["table"], message["column"], message["analyst"]
    query, terms = suggesting_question(curator.tables, table, column)
    offer = {**terms, **message["terms"]}
    before = curator.charges_made
    release = curator.ask(query, analyst=analyst, **offer)
    bill = bill_of(curator, release, analyst, paid_before=curator.charges_made == before)
    return {**_suggested(curator, release, table, column), **bill.to_object()}


def _suggested(curator: Curator, release: Any, table: str, column: str | None) -> dict[str, object]:
    try:
        found: Suggestion = suggested_by(release, curator.tables, table, column)
    except ParameterError:
        return {"words": "all counts may be noise: a larger epsilon says more", "text": None, "section": None}
    if column is None:
        assert isinstance(found.declared, Limits)  # noqa: S101
        return {
            "words": found.cuts,
            "text": limits_text(found.declared),
            "section": f"[tables.{toml_key(table)}]",
        }
    assert isinstance(found.declared, Bounds)  # noqa: S101
    section = f"[tables.{toml_key(table)}.columns]"
    return {"words": found.cuts, "text": bounds_text(column, found.declared), "section": section}


OWNER_WORDS = {
    "sources": _sources,
    "schema": _schema,
    "draft": _draft,
    "amend": _amend,
    "check": _check,
    "suggest": _suggest,
    "suggest_preview": _suggest_preview,
}
"""What is done for each word of owners."""
