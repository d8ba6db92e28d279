"""Rewriting the marks of the files by what became of each query; what is wrong keeps its mark."""

from __future__ import annotations

from collections.abc import Iterable

from tests.corpus.measuring import ANSWERED, Outcome
from tests.corpus.measuring import REFUSED as WAS_REFUSED
from tests.corpus.reading import FOLDER, NEVER, REFUSED

LONGEST = 60
"""Of a hint: as much of a refusal as tells it from others."""


def mark(found: Iterable[Outcome]) -> None:
    """Write the marks into the files."""
    known = {(one.query.kind, one.query.name): one for one in found}
    for path in FOLDER.glob("*.sql"):
        lines: list[str] = []
        one: Outcome | None = None
        for line in path.read_text(encoding="utf-8").splitlines():
            word, _, rest = line.removeprefix("-- ").partition(":")
            if not line.startswith("-- ") or word not in {"name", REFUSED, NEVER}:
                lines.append(line)
            elif word == "name":
                one = known.get((path.stem, rest.strip()))
                lines += [line, *_mark(one)]
            elif one is None or one.what not in {ANSWERED, WAS_REFUSED}:
                lines.append(line)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _mark(one: Outcome | None) -> list[str]:
    if one is None or one.what not in {ANSWERED, WAS_REFUSED}:
        return []
    if one.what == ANSWERED:
        return [f"-- {NEVER}: {one.query.hint}"] if one.query.mark == NEVER else []
    word = NEVER if one.query.mark == NEVER else REFUSED
    hint = one.query.hint if one.query.hint and one.query.hint in one.said else _hint(one.said)
    return [f"-- {word}: {hint}"]


def _hint(said: str) -> str:
    instead = said.partition("; ")[2]
    if len(instead) <= LONGEST:
        return instead
    return instead[:LONGEST].rpartition(" ")[0].rstrip(",;:")
