"""The files of queries: names, marks and text."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("queries")
ANSWERED, REFUSED, NEVER = "answered", "refused", "never"
MARKS = {"world", "name", REFUSED, NEVER, "plain", "within"}


@dataclass(frozen=True)
class CorpusQuery:
    """One query.

    Attributes
    ----------
    kind, name, world : str
        The file, the name within it, and the tables that it is about.
    sql : str
        What is asked, and what DuckDB runs on the same rows, unless `plain` says it in DuckDB's words.
    mark, hint : str
        Whether it is answered, and a piece of what its refusal tells to write.
    within : float
        How far an answer may be from the exact one, relatively: zero, up to rounding, unless calculated
        columns are rounded to a grid of their own.
    """

    kind: str
    name: str
    world: str
    sql: str
    mark: str = ANSWERED
    hint: str = ""
    plain: str = ""
    within: float = field(default=0.0)

    @property
    def exact_sql(self) -> str:
        """The text that DuckDB runs."""
        return self.plain or self.sql

    @property
    def title(self) -> str:
        """How tests and tables call it."""
        return f"{self.kind}: {self.name}"


@cache
def corpus() -> tuple[CorpusQuery, ...]:
    """Return all queries, in the order of the files."""
    return tuple(query for path in sorted(FOLDER.glob("*.sql")) for query in _read(path))


def _read(path: Path) -> list[CorpusQuery]:
    found: list[CorpusQuery] = []
    world = ""
    fields: dict[str, str] = {}
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        word, colon, rest = line.removeprefix("-- ").partition(": ")
        if line.startswith("-- ") and colon and word in MARKS and not lines:
            if word == "world":
                world = rest
            else:
                fields[word] = rest
        elif line.strip() and not (line.startswith("--") and not lines):
            lines.append(line)
            if line.rstrip().endswith(";"):
                found.append(_query(path.stem, world, fields, "\n".join(lines).rstrip().removesuffix(";")))
                fields, lines = {}, []
    if fields or lines:
        raise ValueError(f"{path.name} ends within a query")
    return found


def _query(kind: str, world: str, fields: dict[str, str], sql: str) -> CorpusQuery:
    mark = next((word for word in (REFUSED, NEVER) if word in fields), ANSWERED)
    return CorpusQuery(
        kind=kind,
        name=fields["name"],
        world=world,
        sql=sql,
        mark=mark,
        hint=fields.get(mark, ""),
        plain=fields.get("plain", ""),
        within=float(fields.get("within", 0)),
    )
