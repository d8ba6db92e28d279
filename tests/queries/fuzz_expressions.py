"""Expressions in SQL made at random, each of a type, over columns of known types."""

from __future__ import annotations

import random
from collections.abc import Callable

from canary import ASKED_NUMBER, ASKED_TEXT

NUMBERS = ("integer", "float", "decimal")

LITERALS = {
    "integer": ["0", "1", "2", "7", "17", "-1", "1000000", "9223372036854775807", str(ASKED_NUMBER)],
    "float": ["0.5", "1.25", "1e3", "1e-9", "1e300", "3", "-2.5", f"{ASKED_NUMBER}.5"],
    "decimal": ["0.25", "10", "99.99", "-1"],
    "text": ["'Taipei'", "'Oslo'", "''", "'it''s'", "'x'", "'%'", "'日本\U0001f600'", f"'{ASKED_TEXT}'"],
    "date": ["DATE '2026-01-31'", "DATE '2026-02-01'", "DATE '0001-01-01'", "DATE '9999-12-31'"],
    "timestamp": ["TIMESTAMP '2026-01-31 12:30:00'", "TIMESTAMP '0001-01-01 00:00:00'"],
    "boolean": ["TRUE", "FALSE"],
}
COMPARISONS = ["=", "<>", "<", "<=", ">", ">=", "!="]


class Expressions:
    """Writes expressions; the chooser decides about everything.

    Parameters
    ----------
    chooser : Random
        Where choices come from.
    """

    def __init__(self, chooser: random.Random) -> None:
        self._random = chooser
        self._names = 0

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _of(self, *choices: object) -> object:
        return self._random.choice(choices)

    def _new(self, word: str = "c") -> str:
        self._names += 1
        return f"{word}{self._names}"

    def literal(self, kind: str) -> str:
        """A constant of a type."""
        return self._random.choice(LITERALS[kind])

    def column(self, columns: dict[str, str], kind: str) -> str | None:
        """A column of a type, if there is one."""
        known = [name for name, found in columns.items() if found == kind]
        return self._random.choice(known) if known else None

    def value(self, columns: dict[str, str], kind: str, depth: int) -> str:
        """An expression of a type."""
        plain = self.column(columns, kind)
        if depth <= 0 or self._chance(0.3):
            return plain if plain is not None and self._chance(0.85) else self.literal(kind)
        if self._chance(0.15):
            condition = self.condition(columns, depth - 1)
            one, other = (self.value(columns, kind, depth - 1) for _ in range(2))
            return f"CASE WHEN {condition} THEN {one} ELSE {other} END"
        if self._chance(0.12):
            one, other = (self.value(columns, kind, depth - 1) for _ in range(2))
            return f"{self._of('COALESCE', 'NULLIF', 'LEAST', 'GREATEST')}({one}, {other})"
        return getattr(self, f"_{kind}")(columns, depth - 1)

    def _integer(self, columns: dict[str, str], depth: int) -> str:
        def of(kind: str) -> str:
            return self.value(columns, kind, depth)

        shapes: list[Callable[[], str]] = [
            lambda: f"({of('integer')} {self._of('+', '-', '*')} {of('integer')})",
            lambda: f"ABS({of('integer')})",
            lambda: f"MOD({of('integer')}, {of('integer')})",
            lambda: f"SIGN({of(self._random.choice(NUMBERS))})",
            lambda: f"FLOOR({of('float')})",
            lambda: f"CEILING({of('float')})",
            lambda: f"ROUND({of('float')})",
            lambda: f"LENGTH({of('text')})",
            lambda: f"CAST({of(self._of('float', 'text', 'boolean'))} AS INTEGER)",
            lambda: f"{self._of('YEAR', 'MONTH', 'QUARTER', 'ISODOW', 'DAYOFYEAR')}({of('date')})",
            lambda: f"EXTRACT({self._of('hour', 'minute', 'year', 'day')} FROM {of('timestamp')})",
            lambda: f"DATEDIFF('day', {of('date')}, {of('date')})",
            lambda: f"({of('date')} - {of('date')})",
            lambda: f"WIDTH_BUCKET({of('float')}, 0, {self._of(1, 10, 100)}, {self._of(1, 4, 7)})",
            lambda: f"- {of('integer')}",
        ]
        return self._random.choice(shapes)()

    def _float(self, columns: dict[str, str], depth: int) -> str:
        one, other = (self.value(columns, self._random.choice(NUMBERS), depth) for _ in range(2))
        shapes = [
            f"({one} / {other})",
            f"({one} * {other})",
            f"({one} - {other})",
            f"ROUND({one}, {self._of(0, 1, 2, -1)})",
            f"SQRT({one})",
            f"CAST({self.value(columns, 'text', depth)} AS DOUBLE)",
            f"CAST({one} AS DOUBLE)",
        ]
        return self._random.choice(shapes)

    def _decimal(self, columns: dict[str, str], depth: int) -> str:
        return self.column(columns, "decimal") or self._float(columns, depth)

    def _text(self, columns: dict[str, str], depth: int) -> str:
        one, other = (self.value(columns, "text", depth) for _ in range(2))
        shapes = [
            f"{self._of('UPPER', 'LOWER', 'TRIM')}({one})",
            f"SUBSTRING({one}, {self._of(1, 2, 100)}, {self._of(0, 1, 3)})",
            f"({one} || {other})",
            f"REPLACE({one}, 'a', {self.literal('text')})",
            f"CAST({self.value(columns, self._of('integer', 'date', 'boolean'), depth)} AS TEXT)",
        ]
        return self._random.choice(shapes)

    def _date(self, columns: dict[str, str], depth: int) -> str:
        unit = self._of("year", "quarter", "month", "week", "day")
        shapes = [
            f"DATE_TRUNC('{unit}', {self.value(columns, self._of('date', 'timestamp'), depth)})",
            f"CAST({self.value(columns, self._of('text', 'timestamp'), depth)} AS DATE)",
        ]
        return self._random.choice(shapes)

    def _timestamp(self, columns: dict[str, str], depth: int) -> str:
        return f"CAST({self.value(columns, 'date', depth)} AS TIMESTAMP)"

    def _boolean(self, columns: dict[str, str], depth: int) -> str:
        return f"({self.condition(columns, depth)})"

    def condition(self, columns: dict[str, str], depth: int) -> str:
        """A condition."""
        if depth > 0 and self._chance(0.3):
            one, other = (self.condition(columns, depth - 1) for _ in range(2))
            return str(self._of(f"({one} AND {other})", f"({one} OR {other})", f"(NOT ({one}))"))
        kind = str(self._of(*(dict.fromkeys(columns.values()) or ["integer"])))
        one = self.value(columns, kind, depth - 1)
        shapes = [
            f"{one} {self._random.choice(COMPARISONS)} {self.value(columns, kind, depth - 1)}",
            f"{one} {self._random.choice(COMPARISONS)} {self.literal(kind)}",
            f"{one} IS {self._of('', 'NOT ')}NULL",
        ]
        if kind != "boolean":
            shapes.append(f"{one} BETWEEN {self.literal(kind)} AND {self.literal(kind)}")
            shapes.append(f"{one} {self._of('', 'NOT ')}IN ({self.literal(kind)}, {self.literal(kind)})")
        if kind == "text":
            shapes += [f"{one} LIKE '%a_'", f"CONTAINS({one}, 'a')", f"STARTS_WITH({one}, 'O')"]
        if kind == "boolean":
            shapes.append(f"{one} IS {self._of('TRUE', 'FALSE', 'NOT TRUE')}")
        return self._random.choice(shapes)
