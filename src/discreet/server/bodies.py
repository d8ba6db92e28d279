"""What a client sends: every field is known, and nothing in a body says who asks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
)

__all__ = [
    "AgreeBody",
    "AmendBody",
    "AskBody",
    "ChangeBody",
    "CheckBody",
    "CountsBody",
    "NewKeyBody",
    "QuestionBody",
    "RevokedKeyBody",
    "SourceBody",
    "SuggestBody",
    "TableOfCounts",
]

_Finite = Annotated[StrictFloat, Field(allow_inf_nan=False)]
ExactNumber = StrictInt | _Finite | Annotated[StrictStr, StringConstraints(max_length=100)]
"""A number, or text such as "0.1" or "1/3" where digits count."""

_Named = Annotated[dict[str, ExactNumber], Field(max_length=1000)]
_Name = Annotated[StrictStr, StringConstraints(min_length=1, max_length=1000)]
_Names = Annotated[list[_Name], Field(max_length=100)]
_Key = StrictStr | StrictInt | StrictBool
_Keys = Annotated[list[_Key], Field(max_length=10_000)]
_End = StrictStr | StrictInt | _Finite | StrictBool | None
_Condition = _End | Annotated[list[_End], Field(max_length=10_000)]


class TableOfCounts(BaseModel):
    """Many counts at once, for one charge. See `dp.ranges`, `dp.cdf` and `dp.marginals`."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["ranges", "cdf", "marginals"]
    table: _Name
    columns: _Names
    width: ExactNumber | _Named | None = Field(default=None, description="of a cell, of all or by column")
    by: _Names | Annotated[dict[_Name, _Keys], Field(max_length=100)] = Field(
        default=[], description="columns of groups, or their keys; of ranges and cdf"
    )
    sets: Annotated[list[_Names], Field(max_length=1000)] | None = Field(
        default=None, description="of columns, for marginals; by default all pairs"
    )


class QuestionBody(BaseModel):
    """A question in SQL or for many counts, and what is stated beside it. See `Curator.ask`."""

    model_config = ConfigDict(extra="forbid")

    question: StrictStr | TableOfCounts = Field(
        description="SQL over the declared tables, or many counts",
        examples=["SELECT COUNT(*) AS n FROM visits"],
    )
    epsilon: ExactNumber | None = Field(default=None, examples=["0.5"])
    delta: ExactNumber | None = None
    rho: ExactNumber | None = None
    error: _Named | None = Field(default=None, description="instead of an offer: the margin of each output")
    confidence: ExactNumber | None = None
    split: _Named | None = None
    key_share: ExactNumber | None = None
    rows: StrictInt | None = None
    limits: StrictInt | Literal["auto"] | None = Field(default=None, description="rows of each person")
    bounds: Literal["auto"] | None = Field(default=None, description="buy the bounds that are not declared")
    fit_share: ExactNumber | None = None
    keys: Literal["declared", "chosen", "in rounds"] | None = None


class AskBody(QuestionBody):
    """A question to be paid for."""

    form: Literal["rows", "columns"] = Field(
        default="rows",
        description="rows as the shell prints them, or exact columns for the Python client",
    )


class CountsBody(QuestionBody):
    """Counts to be read from ranges or marginals that were answered: at no cost."""

    counts: Annotated[
        list[Annotated[dict[_Name, _Condition], Field(max_length=100)]], Field(max_length=1000)
    ] = Field(description="conditions by column: [low, high] for low <= x < high, a key, or several")


class NewKeyBody(BaseModel):
    """A key to be created. See `KeyFile.create`."""

    model_config = ConfigDict(extra="forbid")

    name: StrictStr = Field(max_length=1000, description="whose it is; charges are made in this name")
    role: StrictStr = Field(max_length=100, description="owner, analyst or auditor")
    days: StrictInt = Field(default=90, description="for how long it is valid")
    scopes: list[Annotated[StrictStr, StringConstraints(max_length=100)]] | None = Field(
        default=None, max_length=100, description="what it may do, if that is less than its role may"
    )


class RevokedKeyBody(BaseModel):
    """A key to be ended."""

    model_config = ConfigDict(extra="forbid")

    which: StrictStr = Field(max_length=1000, description="its prefix, or a name: then all keys of that name")
    reason: StrictStr = Field(max_length=1000, description="why, for the record")


_Typed = Annotated[StrictStr, StringConstraints(max_length=100)]
_Reason = Annotated[StrictStr, StringConstraints(max_length=1000)]


class CsvBody(BaseModel):
    """How a CSV file is written. See `dp.Csv`."""

    model_config = ConfigDict(extra="forbid")

    delimiter: _Typed | None = None
    decimal: _Typed | None = None
    thousands: _Typed | None = None
    encoding: _Typed | None = None
    dates: _Typed | None = None
    times: _Typed | None = None
    names: _Names | None = Field(default=None, description="of the columns, if the first line has none")
    first_line_has_names: StrictBool = Field(
        default=False, description="that the first line holds names of columns, and no values"
    )


class SourceBody(BaseModel):
    """Where the rows of a table are: a file that the server lists, or a variable that it names."""

    model_config = ConfigDict(extra="forbid")

    file: _Name | None = None
    variable: _Name | None = None
    csv: CsvBody | None = None


class ColumnBody(BaseModel):
    """What is declared about a column: bounds, keys, days, or a type. Numbers are texts, as typed."""

    model_config = ConfigDict(extra="forbid")

    lower: _Typed | None = None
    upper: _Typed | None = None
    step: _Typed | None = None
    keys: Annotated[list[_Name], Field(max_length=10_000)] | None = None
    numbered: StrictBool = Field(default=False, description="that keys are whole numbers, in a CSV file")
    null_key: StrictBool = False
    first: _Typed | None = None
    last: _Typed | None = None
    type: _Typed | None = None


class TableBody(SourceBody):
    """A table to be declared. See `dp.Table`."""

    name: _Name
    person: _Name | None = Field(default=None, description="the person column; none if each row is a person")
    rows: StrictInt | None = None
    groups: StrictInt | None = None
    rows_per_group: StrictInt | None = None
    version: _Typed = "1"
    prepare: StrictBool = False
    columns: Annotated[dict[_Name, ColumnBody], Field(max_length=1000)] = {}


class ShareBody(BaseModel):
    """The cap of each analyst."""

    model_config = ConfigDict(extra="forbid")

    epsilon: _Typed | None = None
    delta: _Typed | None = None
    rho: _Typed | None = None


class CapsBody(ShareBody):
    """Other caps; what is not named stays as it is."""

    per_analyst: ShareBody | None = None


class ChangeBody(BaseModel):
    """A change of the declaration: one more table, or other caps."""

    model_config = ConfigDict(extra="forbid")

    table: TableBody | None = None
    budget: CapsBody | None = None


class AmendBody(ChangeBody):
    """A change to be made and recorded."""

    reason: _Reason = Field(description="why, for the record")
    expected: _Typed = Field(description="the digest of the declaration that was looked at")


class AgreeBody(BaseModel):
    """A proposal of another owner."""

    model_config = ConfigDict(extra="forbid")

    proposal: _Typed


class CheckBody(BaseModel):
    """A table to be compared with its declaration."""

    model_config = ConfigDict(extra="forbid")

    table: _Name


class SuggestBody(BaseModel):
    """Of what to suggest bounds or, without a column, limits; and the offer."""

    model_config = ConfigDict(extra="forbid")

    table: _Name
    column: _Name | None = None
    epsilon: ExactNumber | None = Field(default=None, examples=["0.1"])
    delta: ExactNumber | None = None
    rho: ExactNumber | None = None
