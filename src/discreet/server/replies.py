"""What a server sends, for the OpenAPI page: every reply has one of these forms, or is a problem."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from discreet.server.catalogue import CATALOGUE

__all__ = ["PROBLEMS", "REPLIES"]

_Record: TypeAlias = dict[str, Any]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ProblemText(_Reply):
    """What is said instead of an answer."""

    code: str = Field(description="for programs; it never changes", json_schema_extra={"enum": [*CATALOGUE]})
    message: str = Field(description="for people")
    parameter: str | None = Field(default=None, description="which one is outside its range")
    problem: str | None = Field(default=None, description="what is wrong with it")
    allowed: str | None = Field(default=None, description="what it may be")


class ProblemReply(_Reply):
    """A problem of the catalogue."""

    error: ProblemText


class Left(_Reply):
    """What is left for the one who asked."""

    epsilon: float = Field(description="the largest pure epsilon that fits, rounded down")
    more_of_this_cost: int = Field(description="how many more charges of this cost fit")


class BilledReply(_Reply):
    """What an answer cost."""

    stored: bool = Field(description="whether it was answered before")
    paid: str = Field(description="what was charged now, in words")
    left: Left


class AnswerInRows(BilledReply):
    """An answer in the form "rows"."""

    rows: list[_Record] = Field(description="one for each group: keys, noisy values and their intervals")
    confidence: float = Field(description="of the intervals")
    label: _Record = Field(description="what the answer promises; its schema is at /v1/label")


class AnswerInColumns(BilledReply):
    """An answer in the form "columns", exact."""

    keys: dict[str, list[Any]]
    outputs: list[_Record]
    order: list[str]
    event: _Record
    confidence: str
    remarks: list[str]
    label: _Record


class PreviewReply(_Reply):
    """What a question would cost, and how wrong its answer would be."""

    event: _Record
    epsilon: float | None
    outputs: list[_Record]
    chosen_keys: list[_Record]
    bought: list[str]
    counted: str
    groups: str = Field(description="how many are answered, in words")
    remark: str
    confidence: float
    cap: str
    budget: list[_Record]
    left: str = Field(description="an exact fraction")
    fits: int = Field(description="how many such requests fit the budget now")
    answered: bool = Field(description="whether it was answered before, so that it costs nothing")


class ExplanationReply(_Reply):
    """How a question would be answered."""

    explanation: str


class CountsReply(_Reply):
    """Counts within an answer."""

    counts: list[_Record]
    confidence: str


class JobReply(_Reply):
    """How far a job is."""

    job: str
    state: Literal["waiting", "working", "done", "failed"]
    paid: str | None = Field(default=None, description="what was charged, once it is done")
    problem: ProblemText | None = Field(default=None, description="if it failed")


class TablesReply(_Reply):
    """What is declared."""

    tables: dict[str, _Record]
    today: str | None = Field(description="what CURRENT_DATE means")


class SpentReply(_Reply):
    """What was spent, and what is left."""

    model_config = ConfigDict(extra="allow")

    analyst: str
    budget: str
    requests: int
    left: _Record
    own: _Record


class LedgerReply(_Reply):
    """Entries of the ledger."""

    entries: list[str] = Field(description="each a line, as it is hashed")
    head: _Record
    described: list[_Record] | None = Field(default=None, description="the same in words")


class VerificationReply(_Reply):
    """What a check of every hash found."""

    holds: bool
    found: str
    entries: int | None = None
    answers: int | None = None
    head: _Record | None = None


class KeysReply(_Reply):
    """All keys, without their secrets."""

    keys: list[_Record]


class NewKeyReply(_Reply):
    """A key, shown once."""

    model_config = ConfigDict(extra="allow")

    key: str


class RevokedReply(_Reply):
    """The keys that were ended."""

    revoked: list[_Record]


class SourcesReply(_Reply):
    """From where tables may be declared."""

    has_folder: bool
    files: list[_Record] = Field(description="paths below the folder")
    variables: list[str] = Field(description="that hold addresses of tables in databases")
    may_amend: bool = Field(description="whether changes are made here, or shown to be made by hand")
    two_owners: bool
    digest: str = Field(description="of the declaration as it is now")


class SchemaReply(_Reply):
    """Names and types of columns."""

    columns: list[_Record]


class DraftReply(_Reply):
    """What a change would write."""

    text: str = Field(description="TOML")
    digest: str = Field(description="of the declaration that it would change")
    two_owners: bool


class AmendedReply(_Reply):
    """A change that was made, or waits for a second owner."""

    state: Literal["done", "waiting"]
    text: str
    entry: int | None = Field(default=None, description="of the ledger")
    copy_: str | None = Field(
        default=None, alias="copy", description="the file that holds the old declaration"
    )
    proposal: str | None = None


class ProposalsReply(_Reply):
    """Changes that wait for a second owner."""

    proposals: list[_Record]


class CheckReply(_Reply):
    """Exact counts, for the owner alone."""

    model_config = ConfigDict(extra="allow")

    for_the_owner_alone: str
    rows: int


class SuggestionPreview(_Reply):
    """What a suggestion would cost."""

    preview: PreviewReply


class SuggestionReply(BilledReply):
    """What to declare."""

    words: str
    text: str | None = Field(description="TOML; null if all counts may be noise")
    section: str | None = Field(description="where it belongs")


class StatusReply(_Reply):
    """That the process lives, or can answer."""

    status: Literal["alive", "ready"]


PROBLEMS: dict[int | str, _Record] = {
    status: {
        "model": ProblemReply,
        "description": ", ".join(one.code for one in CATALOGUE.values() if one.status == status),
    }
    for status in sorted({one.status for one in CATALOGUE.values()})
}
"""Every status of the catalogue."""

REPLIES: dict[str, _Record] = {
    "metrics": {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "For Prometheus."}
} | {
    word: {"model": model, "description": (str(model.__doc__) if isinstance(model, type) else "An answer.")}
    for word, model in {
        "ask": AnswerInRows | AnswerInColumns,
        "preview": PreviewReply,
        "explain": ExplanationReply,
        "counts": CountsReply,
        "job": JobReply,
        "tables": TablesReply,
        "spent": SpentReply,
        "ledger": LedgerReply,
        "verify": VerificationReply,
        "keys": KeysReply,
        "create_key": NewKeyReply,
        "revoke_key": RevokedReply,
        "sources": SourcesReply,
        "schema": SchemaReply,
        "draft": DraftReply,
        "amend": AmendedReply,
        "proposals": ProposalsReply,
        "check": CheckReply,
        "suggest_preview": SuggestionPreview,
        "suggest": SuggestionReply,
        "label": dict[str, Any],
        "status": StatusReply,
    }.items()
}
"""What each word is answered with."""
