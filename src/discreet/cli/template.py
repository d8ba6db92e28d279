"""The text of a new declaration file: what is known is filled in, the rest is marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from discreet.front.declaring.toml_text import number_text, quoted, toml_key
from discreet.records import dataclass

__all__ = ["TABLE", "Draft", "declaration_text"]

TABLE = "visits"
"""The name of a table of which nothing is known."""

_BLANK = "FILL IN"
_GERMAN = '{ delimiter = ";", decimal = ",", thousands = ".", encoding = "cp1252", dates = "%d.%m.%Y" }'
_NUMBERS = ("integer", "decimal", "float")

_HEAD = """\
# What is public about private tables, and how much may be spent on them.
#
# Write what is known without looking at the data: what a column means, not what it holds. A bad guess
# costs accuracy and never privacy: values are clipped to their bounds, and rows beyond a limit are left out.
# Every "{blank}" must be filled in.

[ledger]
# Remembers every answer and what it cost. Keep it: a new ledger over the same data voids the guarantee.
location = {ledger}
# For several machines, PostgreSQL. The address may hold a password, so it comes from the environment:
#   location_env = "DISCREET_LEDGER"          holds postgresql://user@host/database
#   name = "clinic"
# To notice if an old copy of the ledger was restored, a file on another disk:
#   anchor = "/other/disk/clinic.anchor"

[budget]
# The most that all answers together may ever cost. An epsilon of 1 protects everybody well, 10 hardly.
epsilon = {epsilon}
{delta}
#   renews = "monthly"                        the caps start again; earlier spending still adds up
#   per_analyst = {{ epsilon = 0.5 }}           a cap for each analyst, under the cap for all
"""

_TABLE = """
[tables.{table}]
source = {source}
{csv}
#   source_env = "DISCREET_VISITS"            instead: holds postgresql://user@host/database#table
# All rows with the same value in this column belong to one person, who is protected as a whole.
# If every row is a different person, write each_row = true instead, and no limits.
{person}
# Change this when the data change, so that no stored answer is returned for other data.
version = "1"
#   prepare = true                            keeps the table ready: faster; applies limits on rows in advance
# A public table to join with is declared in the same way, by its source and public = true:
#   [tables.cities]
#   source = "cities.csv"
#   public = true

[tables.{table}.columns]
# Every column can be used in conditions. What is summed, averaged or grouped by is declared here:
#   amount = {{ lower = 0, upper = 5000, step = 0.01 }}   SUM, AVG: clipped to the bounds, rounded to the step
#   region = {{ keys = ["north", "south"] }}              GROUP BY: these groups and no others
#   day = {{ dates = {{ first = 2020-01-01, last = 2024-12-31 }} }}   GROUP BY of days, months or years
#   day = {{ type = "date" }}                             CSV: the type, for conditions; text if left out
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is known about a table and its budget; None if its owner has still to say it.

    Numbers are texts, as they were typed.
    """

    ledger: str
    table: str = TABLE
    source: str | None = None
    is_csv: bool = False
    form: Mapping[str, str] = field(default_factory=dict)
    """How a CSV file is written, where it is not as usual."""
    person: str | None = None
    each_row: bool = False
    rows: int | None = None
    epsilon: str | None = None
    delta: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    """The names and types of all columns."""
    bounds: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Lower, upper and perhaps step."""
    keys: Mapping[str, Sequence[object]] = field(default_factory=dict)

    @property
    def undeclared(self) -> list[str]:
        """The undeclared columns."""
        return [name for name in self.columns if name not in {self.person, *self.bounds, *self.keys}]

    @property
    def blanks(self) -> list[str]:
        """What must still be filled in, in words."""
        missing = {
            "budget.epsilon": self.epsilon is None,
            f"tables.{self.table}.source": self.source is None,
            f"tables.{self.table}.person": self.person is None and not self.each_row,
            f"tables.{self.table}.limits": self.rows is None and not self.each_row,
        }
        return [name for name, blank in missing.items() if blank]


def declaration_text(draft: Draft) -> str:
    """Write the file."""
    return (
        _HEAD.format(
            blank=_BLANK,
            ledger=quoted(draft.ledger),
            epsilon=_number(draft.epsilon),
            delta=_delta(draft),
        )
        + _TABLE.format(
            table=toml_key(draft.table),
            source=_text(draft.source),
            csv=_csv(draft.form),
            person=_person(draft),
        )
        + "".join(f"{line}\n" for line in _columns(draft))
    )


def _csv(form: Mapping[str, str]) -> str:
    if form:
        return f"csv = {{ {', '.join(f'{name} = {quoted(value)}' for name, value in form.items())} }}"
    return (
        "# If a CSV file is not written with commas, points and UTF-8, how it is written:\n"
        f"#   csv = {_GERMAN}"
    )


def _text(text: str | None) -> str:
    return quoted(_BLANK if text is None else text)


def _number(text: str | None) -> str:
    return _text(None) if text is None else number_text(text)


def _delta(draft: Draft) -> str:
    if draft.delta is not None:
        return f"delta = {_number(draft.delta)}"
    return "#   delta = 1e-6                              permits normal noise, which suits many groups"


def _person(draft: Draft) -> str:
    if draft.each_row:
        return "each_row = true"
    rows = quoted(_BLANK) if draft.rows is None else str(draft.rows)
    return "\n".join(
        [
            f"person = {_text(draft.person)}",
            "# How many rows of one person count at most; or { groups = …, rows_per_group = … }.",
            f"limits = {{ rows = {rows} }}",
        ]
    )


def _columns(draft: Draft) -> Iterator[str]:
    for name, kind in draft.columns.items():
        if name in draft.bounds:
            names = ("lower", "upper", "step")
            ends = zip(names, draft.bounds[name], strict=False)
            yield f"{toml_key(name)} = {{ {', '.join(f'{end} = {_number(value)}' for end, value in ends)} }}"
        elif name in draft.keys:
            yield f"{toml_key(name)} = {{ keys = [{', '.join(_value(key) for key in draft.keys[name])}] }}"
        elif name != draft.person:
            example = "     # text, for conditions only, until declared" if draft.is_csv else _example(kind)
            yield f"# {toml_key(name)} = {example}"


def _example(kind: str) -> str:
    blank = quoted(_BLANK)
    if kind in _NUMBERS:
        step = "" if kind == "integer" else f", step = {blank}"
        return f"{{ lower = {blank}, upper = {blank}{step} }}      # {kind}"
    return f"{{ keys = [{blank}] }}      # {kind}"


def _value(key: object) -> str:
    if isinstance(key, bool):
        return str(key).lower()
    return quoted(key) if isinstance(key, str) else str(key)
