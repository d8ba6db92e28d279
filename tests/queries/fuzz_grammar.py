"""Questions in SQL made at random from the whole language, and what becomes of them by a few mutations.

`Grammar.question` writes what is mostly accepted; `Grammar.mutated` breaks a question: tokens are dropped,
doubled, swapped and replaced by others, of SQL and of none, nested too deep, or cut off. Literals are canaries
now and then.
"""

# ruff: noqa: E501, S608, SIM905

from __future__ import annotations

import re
from dataclasses import dataclass

from canary import ASKED_NUMBER, ASKED_TEXT
from queries.fuzz_expressions import COMPARISONS, NUMBERS, Expressions

TYPES = {
    "city": "text",
    "ward": "integer",
    "age": "integer",
    "cost": "float",
    "balance": "decimal",
    "urgent": "boolean",
    "day": "date",
    "seen": "timestamp",
    "note": "text",
}
TABLES: dict[str, dict[str, str]] = {
    "visits": {"patient": "integer", **TYPES, "small": "integer"},
    "staff": {"patient": "integer", "city": "text", "ward": "integer", "age": "integer", "cost": "float"}
    | {"hired": "date"},
    "crowd": TYPES,
    "guests": TYPES,
}
PUBLIC = {
    "cities": {"name": "text", "region": "text", "people": "float"},
    "wards": {"ward": "integer", "floor": "integer", "name": "text"},
    "holidays": {"day": "date", "holiday": "text"},
}

AGGREGATES = ["COUNT({})", "COUNT(DISTINCT {})", "MODE({})"]
OF_NUMBERS = [
    *("SUM({})", "AVG({})", "VAR_POP({})", "VAR_SAMP({})", "STDDEV_POP({})", "STDDEV_SAMP({})", "MEDIAN({})"),
    *("QUANTILE({}, 0.9)", "MIN({})", "MAX({})", "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {})"),
]

WORDS = (
    "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET DISTINCT UNION ALL INTERSECT EXCEPT JOIN LEFT RIGHT FULL "
    "CROSS NATURAL SEMI ANTI ASOF LATERAL ON USING AS WITH RECURSIVE IN EXISTS ANY SOME NOT AND OR XOR BETWEEN "
    "LIKE ILIKE ESCAPE IS NULL TRUE FALSE CASE WHEN THEN ELSE END CAST TRY_CAST OVER PARTITION ROWS RANGE QUALIFY "
    "WINDOW FILTER TABLESAMPLE PIVOT UNNEST ROLLUP CUBE GROUPING SETS FETCH FIRST ONLY TOP INTERVAL DATE ARRAY "
    "STRUCT MAP ROW_NUMBER RANK COUNT SUM AVG MIN MAX MODE ARRAY_AGG STRING_AGG RANDOM CURRENT_DATE EXTRACT YEAR "
    "COALESCE NULLIF LEAST GREATEST SUBSTRING TRIM POSITION FOR UPDATE VALUES TABLE INSERT DROP CREATE ATTACH "
    "PRAGMA SET VISITS visits staff crowd cities patient city ward age cost note day person x y a b"
).split()
SIGNS = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    "*",
    "+",
    "-",
    "/",
    "%",
    "||",
    "::",
    "=",
    "<",
    ">",
    "<>",
    "!=",
    "!",
]
SIGNS += [
    ".",
    "..",
    ":",
    "?",
    "$1",
    "@",
    "#",
    "&",
    "|",
    "^",
    "~",
    "->",
    "->>",
    "=>",
    "--",
    "/*",
    "*/",
    "'",
    '"',
    "`",
]
NUMERALS = [
    "1e999999999",
    "1e-999999999",
    "9" * 400,
    "0x1F",
    "1_000",
    ".",
    "1.2.3",
    "00",
    "1e",
    "-",
    "٣",
    "½",
    "1E+5",
]
ODDITIES = [
    "\0",
    "\ud800",
    "\u202e",
    "\ufeff",
    "ｖｉｓｉｔｓ",
    "раtient",
    "\u00a0",
    "\U0001f600",
    "e\u0301",
    "\t\r\n",
    "é",
]

TOKEN = re.compile(r"'(?:[^']|'')*'|\w+|\s+|.", re.DOTALL)


@dataclass(frozen=True)
class Item:
    """Something that FROM can name: its text, its columns, and the one that is the person."""

    text: str
    columns: dict[str, str]
    person: str | None


class Grammar(Expressions):
    """Writes questions; the chooser decides about everything."""

    # Relations

    def item(self, depth: int, people: bool | None = None) -> Item:
        """A private table or a subquery; `people` says whether its rows must have a person."""
        if depth <= 0 or self._chance(0.25):
            names = ["visits", "visits", "staff"] + ([] if people else ["crowd", "guests"])
            name = self._random.choice(names)
            columns = TABLES[name]
            return Item(text=name, columns=columns, person="patient" if "patient" in columns else None)
        below = self.item(depth - 1, people)
        shapes = [self._calculated, self._filtered, self._united, self._public]
        if below.person is not None:
            shapes += [self._distinct, self._per_person, self._numbered, self._window, self._persons]
        return self._random.choice(shapes)(below, depth)

    def _listed(self, below: Item, *, most: int = 5) -> list[str]:
        names = [name for name in below.columns if name != below.person]
        chosen = self._random.sample(names, k=min(len(names), self._random.randint(1, most)))
        return ([below.person] if below.person is not None else []) + chosen

    def _kept(self, below: Item, names: list[str]) -> dict[str, str]:
        return {name: below.columns[name] for name in names}

    def _where(self, columns: dict[str, str], share: float = 0.4) -> str:
        return f" WHERE {self.condition(columns, 2)}" if self._chance(share) else ""

    def _calculated(self, below: Item, depth: int) -> Item:
        names, columns = self._listed(below), dict[str, str]()
        calculated = []
        for _ in range(self._random.randint(1, 2)):
            kind = str(self._of("integer", "float", "text", "date", "boolean"))
            columns[self._new()] = kind
            calculated.append(f"{self.value(below.columns, kind, 2)} AS {list(columns)[-1]}")
        listed = "*" if self._chance(0.3) else ", ".join(names)
        kept = below.columns if listed == "*" else self._kept(below, names)
        text = f"(SELECT {listed}, {', '.join(calculated)} FROM {below.text} {self._new('t')})"
        return Item(text=text, columns=kept | columns, person=below.person)

    def _filtered(self, below: Item, depth: int) -> Item:
        names = self._listed(below, most=8)
        text = (
            f"(SELECT {', '.join(names)} FROM {below.text} {self._new('t')}{self._where(below.columns, 0.9)})"
        )
        return Item(text=text, columns=self._kept(below, names), person=below.person)

    def _distinct(self, below: Item, depth: int) -> Item:
        names = self._listed(below, most=2)
        text = f"(SELECT DISTINCT {', '.join(names)} FROM {below.text} {self._new('t')}{self._where(below.columns)})"
        return Item(text=text, columns=self._kept(below, names), person=below.person)

    def _united(self, below: Item, depth: int) -> Item:
        other = self.item(depth - 2, people=below.person is not None)
        shared = [name for name, kind in below.columns.items() if other.columns.get(name) == kind]
        if (below.person is None) != (other.person is None) or not shared or below.person != other.person:
            return self._filtered(below, depth)
        names = ", ".join(shared)
        text = f"(SELECT {names} FROM {below.text} {self._new('t')} UNION ALL SELECT {names} FROM {other.text} y)"
        person = below.person if below.person in shared else None
        return Item(text=text, columns={name: below.columns[name] for name in shared}, person=person)

    def _public(self, below: Item, depth: int) -> Item:
        table = self._random.choice(list(PUBLIC))
        pairs = [(a, b) for a, x in below.columns.items() for b, y in PUBLIC[table].items() if x == y]
        if not pairs:
            return self._filtered(below, depth)
        on = " AND ".join(f"l.{a} = r.{b}" for a, b in self._random.sample(pairs, k=1))
        names = self._listed(below)
        added = {self._new(): name for name in PUBLIC[table] if self._chance(0.7)} or {self._new(): "name"}
        added = {new: name for new, name in added.items() if name in PUBLIC[table]}
        listed = [*(f"l.{name}" for name in names), *(f"r.{name} AS {new}" for new, name in added.items())]
        join = self._of("JOIN", "LEFT JOIN", "INNER JOIN")
        text = f"(SELECT {', '.join(listed)} FROM {below.text} l {join} {table} r ON {on})"
        columns = self._kept(below, names) | {new: PUBLIC[table][name] for new, name in added.items()}
        return Item(text=text, columns=columns, person=below.person)

    def _persons(self, below: Item, depth: int) -> Item:
        other = self.item(depth - 2, people=True)
        on = [f"l.{below.person} = r.{other.person}"]
        shared = [a for a, x in below.columns.items() if a != below.person and other.columns.get(a) == x]
        if shared and self._chance(0.3):
            on.append(f"l.{shared[0]} = r.{shared[0]}")
        names, added = self._listed(below), self._listed(other)[1:]
        news = {self._new(): name for name in added}
        listed = [*(f"l.{name}" for name in names), *(f"r.{name} AS {new}" for new, name in news.items())]
        join = self._of("JOIN", "LEFT JOIN")
        text = f"(SELECT {', '.join(listed)} FROM {below.text} l {join} {other.text} r ON {' AND '.join(on)})"
        columns = self._kept(below, names) | {new: other.columns[name] for new, name in news.items()}
        return Item(text=text, columns=columns, person=below.person)

    def _per_person(self, below: Item, depth: int) -> Item:
        keys = self._listed(below, most=1) if self._chance(0.5) else [str(below.person)]
        columns, listed = self._kept(below, keys), list(keys)
        for _ in range(self._random.randint(1, 3)):
            name, kind = self._new(), "integer"
            source = self._random.choice(list(below.columns))
            shape = str(
                self._of(
                    "COUNT(*)", "COUNT({})", "COUNT(DISTINCT {})", "MIN({})", "MAX({})", "SUM({})", "AVG({})"
                )
            )
            if shape[:3] in {"MIN", "MAX"}:
                kind = below.columns[source]
            elif shape[:3] in {"SUM", "AVG"}:
                source = self.column(below.columns, str(self._of("integer", "float"))) or source
                kind = "float"
            columns[name] = kind
            listed.append(f"{shape.format(source)} AS {name}")
        having = (
            f" HAVING COUNT(*) {self._random.choice(COMPARISONS)} {self._of(0, 1, 2)}"
            if self._chance(0.3)
            else ""
        )
        text = (
            f"(SELECT {', '.join(listed)} FROM {below.text} {self._new('t')}{self._where(below.columns)} "
            f"GROUP BY {', '.join(keys)}{having})"
        )
        return Item(text=text, columns=columns, person=below.person)

    def _numbered(self, below: Item, depth: int) -> Item:
        names, name = self._listed(below), self._new()
        partition = ", ".join(self._listed(below, most=1) if self._chance(0.4) else [str(below.person)])
        order = f"{self._random.choice(list(below.columns))}{self._of('', ' DESC')}"
        window = f"ROW_NUMBER() OVER (PARTITION BY {partition} ORDER BY {order}) AS {name}"
        text = f"(SELECT {', '.join(names)}, {window} FROM {below.text} {self._new('t')})"
        return Item(text=text, columns=self._kept(below, names) | {name: "integer"}, person=below.person)

    def _window(self, below: Item, depth: int) -> Item:
        names, name = self._listed(below), self._new()
        column = self._random.choice(list(below.columns))
        function, kind = self._random.choice(
            [
                ("COUNT(*)", "integer"),
                (f"MIN({column})", below.columns[column]),
                (f"MAX({column})", below.columns[column]),
            ]
        )
        window = f"{function} OVER (PARTITION BY {below.person}) AS {name}"
        text = f"(SELECT {', '.join(names)}, {window} FROM {below.text} {self._new('t')})"
        return Item(text=text, columns=self._kept(below, names) | {name: kind}, person=below.person)

    # Questions

    def question(self, depth: int = 3) -> str:
        """A question, mostly one that is accepted."""
        below, clause, source = self.item(self._random.randint(0, depth)), "", "x"
        if below.text.startswith("(") and self._chance(0.2):
            clause, source = f"WITH q AS {below.text} ", "q"
        keys = self._keys(below)
        listed = [
            f"{self._aggregate(below.columns)} AS {self._new('n')}"
            for _ in range(self._random.choice([1, 1, 2, 3]))
        ]
        shown = [text for text, _ in keys] + listed
        from_ = f"{below.text} x" if source == "x" else source
        text = f"{clause}SELECT {', '.join(shown)} FROM {from_}{self._where(below.columns)}"
        if keys:
            text += f" GROUP BY {', '.join(name for _, name in keys)}"
        if self._chance(0.1):
            name = listed[0].rsplit(" ", 1)[-1]
            text += str(
                self._of(f" HAVING {listed[0].rsplit(' AS ', 1)[0]} > 1", f" ORDER BY {name} DESC LIMIT 3")
            )
        return text

    def _keys(self, below: Item) -> list[tuple[str, str]]:
        """What is grouped by: as SELECT lists it, and its name."""
        keys: dict[str, str] = {}
        for _ in range(self._random.choice([0, 0, 1, 1, 2])):
            if self._chance(0.7):
                name = self._random.choice(list(below.columns))
                keys[name] = name
            else:
                kind = str(self._of("boolean", "integer", "text", "date"))
                name = self._new("k")
                keys[name] = f"{self.value(below.columns, kind, 2)} AS {name}"
        return [(text, name) for name, text in keys.items()]

    def _aggregate(self, columns: dict[str, str]) -> str:
        if self._chance(0.3):
            return "COUNT(*)"
        numbers = [name for name, kind in columns.items() if kind in NUMBERS]
        if numbers and self._chance(0.75):
            if self._chance(0.12):
                one, other = (self._random.choice(numbers) for _ in range(2))
                return f"{self._of('CORR', 'COVAR_POP', 'COVAR_SAMP')}({one}, {other})"
            operand = self._random.choice(numbers)
            if self._chance(0.3):
                operand = (
                    f"LEAST(GREATEST({self.value(columns, str(self._of('integer', 'float')), 1)}, 0), 10)"
                )
            shape = self._random.choice(OF_NUMBERS)
        else:
            operand, shape = self._random.choice(list(columns)), self._random.choice(AGGREGATES)
        return shape.format(operand)

    def mutated(self, text: str, accidents: int | None = None) -> str:
        """A text after so many accidents, or a few."""
        tokens = TOKEN.findall(text)
        for _ in range(self._random.choice([1, 2, 3, 8]) if accidents is None else accidents):
            place = self._random.randrange(len(tokens)) if tokens else 0
            accident = self._random.randrange(9)
            if accident == 0:
                tokens[place : place + 1] = []
            elif accident == 1:
                tokens[place:place] = tokens[place : place + self._random.randint(1, 6)]
            elif accident == 2 and tokens:
                other = self._random.randrange(len(tokens))
                tokens[place], tokens[other] = tokens[other], tokens[place]
            elif accident in {3, 4}:
                tokens[place : place + 1] = [" ", self._random.choice(WORDS), " "]
            elif accident == 5:
                tokens[place : place + self._random.randint(0, 1)] = [self._random.choice(SIGNS)]
            elif accident == 6:
                word = self._random.choice(
                    [*NUMERALS, *ODDITIES, f"'{ASKED_TEXT}'", f'"{ASKED_TEXT}"', str(ASKED_NUMBER)]
                )
                tokens[place : place + self._random.randint(0, 1)] = [word]
            elif accident == 7:
                many = self._of(2, 15, 17, 200)
                opened = str(self._of("(", "NOT ", "-", "CASE WHEN ", "(SELECT ", "[", "ABS("))
                tokens[place:place] = [opened * int(str(many))]
            else:
                del tokens[place:]
        return "".join(tokens)
