"""Questions of an attacker: private tables joined with themselves and united again, hostile literals.

The rest of the language comes from `fuzz_grammar`.
"""

# ruff: noqa: S608

from __future__ import annotations

from queries.fuzz_grammar import Grammar, Item

EDGES = [
    0,
    1,
    2**31,
    2**53,
    2**53 + 1,
    2**62 + 5,
    2**63 - 1,
    2**63,
    2**64 - 1,
    10**20 - 1,
    10**38 - 1,
    10**38,
]
TEXTS = [
    "${env:PATH}",
    "${system:user.name}",
    "${spark.app.name}",
    "$1",
    "$$",
    "?",
    "%s",
    "%(a)s",
    "{{a}}",
    "{a}",
    ":a",
    "\\",
    "\\'",
    "\\u0041",
    "\\N",
    "it's",
    '"',
    "`",
    "--",
    "/*",
    ";",
    "\u202e\u2028",
    "\ufeff",
    "e\u0301",
    "\U0010ffff",
    "\x01\x7f",
    "a\r\nb",
    "x" * 16_384,
    "ß" * 9_000,
]
"""What engines, drivers and templates read something into."""
LITERALS = {
    "integer": [str(sign * edge) for edge in EDGES for sign in (1, -1)],
    "float": ["1e308", "-1e308", "1e-320", "0.1", "9007199254740993.0", "1e39", "-0.0"],
    "decimal": ["0.005", "99999999999999999999999999999999999999", "1e-9", "-10000000000.001"],
    "text": ["'" + text.replace("'", "''") + "'" for text in TEXTS],
}


class Attacks(Grammar):
    """Writes questions that multiply rows and bring hard values together."""

    def literal(self, kind: str) -> str:
        """A constant of a type, a hostile one every other time."""
        if kind in LITERALS and self._chance(0.5):
            return self._random.choice(LITERALS[kind])
        return super().literal(kind)

    def item(self, depth: int, people: bool | None = None) -> Item:
        """A private table or a subquery, often one over the same rows several times."""
        below = super().item(depth, people)
        if depth <= 0 or below.person is None or self._chance(0.6):
            return below
        return self._random.choice([self._beside_itself, self._again, self._met])(below)

    def _beside_itself(self, below: Item) -> Item:
        """Every row of a person beside every other, or those that are equal in a column."""
        names = self._listed(below)
        others = [name for name in below.columns if name != below.person]
        equal = [name for name in others if self._chance(0.15)]
        on = " AND ".join(f"l.{name} = r.{name}" for name in (below.person, *equal))
        added = {self._new(): name for name in self._listed(below, most=2)[1:]}
        listed = [*(f"l.{name}" for name in names), *(f"r.{name} AS {new}" for new, name in added.items())]
        join = self._of("JOIN", "LEFT JOIN")
        text = f"(SELECT {', '.join(listed)} FROM {below.text} l {join} {below.text} r ON {on})"
        columns = self._kept(below, names) | {new: below.columns[name] for new, name in added.items()}
        return Item(text=text, columns=columns, person=below.person)

    def _again(self, below: Item) -> Item:
        """The same rows several times under each other."""
        names = self._listed(below)
        parts = [
            f"SELECT {', '.join(names)} FROM {below.text} {self._new('t')}"
            for _ in range(self._random.choice([2, 3, 9]))
        ]
        text = f"({' UNION ALL '.join(parts)})"
        return Item(text=text, columns=self._kept(below, names), person=below.person)

    def _met(self, below: Item) -> Item:
        """Rows of different private tables under each other, then beside a third."""
        names = [name for name in ("patient", "ward", "age", "city", "cost") if name in below.columns]
        if below.person != "patient" or "patient" not in names:
            return self._again(below)
        listed = ", ".join(names)
        one, other = self._random.sample(["visits", "staff"], k=2)
        both = f"(SELECT {listed} FROM {below.text} {self._new('t')} UNION ALL SELECT {listed} FROM {other} {self._new('t')})"  # noqa: E501
        if self._chance(0.5):
            return Item(text=both, columns=self._kept(below, names), person="patient")
        shown = ", ".join(f"l.{name}" for name in names)
        text = f"(SELECT {shown} FROM {both} l JOIN {one} r ON l.patient = r.patient)"
        return Item(text=text, columns=self._kept(below, names), person="patient")
