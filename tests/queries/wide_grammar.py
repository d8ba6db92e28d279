"""Questions as people write them: joins of every spelling, everyday functions, calculations with answers.

`Wide` adds to an attacker's questions what SQL offers beyond the plain forms of `fuzz_grammar`: tables in any
order, commas, conditions in ON, public subqueries, rows looked up in other rows of the same person, and
functions whose engines differ at the edges.
"""

# ruff: noqa: E501, S608

from __future__ import annotations

from queries.attack_grammar import Attacks
from queries.fuzz_grammar import PUBLIC, Item

PUBLIC_SUBQUERIES = [
    ("(SELECT region, MIN(name) AS name FROM cities GROUP BY region)", {"region": "text", "name": "text"}),
    ("(SELECT DISTINCT floor AS ward FROM wards)", {"ward": "integer"}),
    ("(SELECT ward + 1 AS ward, name FROM wards WHERE floor > 0)", {"ward": "integer", "name": "text"}),
    ("(SELECT 1 AS ward UNION ALL SELECT 2)", {"ward": "integer"}),
    ("(VALUES (1, 'Oslo'), (2, 'Rome'))", {}),
]
PATTERNS = ["'^a'", "'O.*o$'", "'(Oslo|Rome)'", "'[0-9]+'", "'\\\\d{2}'", "'(a+)+$'", "'é'", "''"]


class Wide(Attacks):
    """Writes questions in the widened language."""

    # Expressions

    def _integer(self, columns: dict[str, str], depth: int) -> str:
        if self._chance(0.5):
            return super()._integer(columns, depth)

        def of(kind: str) -> str:
            return self.value(columns, kind, depth)

        unit = self._of("day", "month", "quarter", "year", "week", "hour")
        part = self._of("DOW", "ISODOW", "WEEK", "EPOCH", "SECOND", "DOY", "QUARTER")
        return self._random.choice(
            [
                f"DATEDIFF({unit}, {of('date')}, {of('date')})",
                f"DATE_DIFF('{unit}', {of('date')}, {of('date')})",
                f"EXTRACT({part} FROM {of(str(self._of('date', 'timestamp')))})",
                f"DATE_PART('{part}', {of('timestamp')})",
                f"STRPOS({of('text')}, {self.literal('text')})",
                f"POSITION({self.literal('text')} IN {of('text')})",
                f"CAST({of('float')} AS {self._of('BIGINT', 'SMALLINT', 'DECIMAL(5, 0)')})",
                f"({of('integer')} % {self.literal('integer')})",
                f"POWER({of('integer')}, {self._of(0, 1, 2, 3, 0.5, -1)})",
                f"IF({self.condition(columns, 0)}, {of('integer')}, {self.literal('integer')})",
                f"TRY_CAST({of('text')} AS INTEGER)",
            ]
        )

    def _float(self, columns: dict[str, str], depth: int) -> str:
        if self._chance(0.5):
            return super()._float(columns, depth)
        one = self.value(columns, str(self._of("integer", "float", "decimal")), depth)
        shapes = [
            f"{self._of('LN', 'LOG10', 'LOG2', 'EXP', 'SQRT')}({one})",
            f"LOG({self._of(2, 10, 1, 0)}, {one})",
            f"POWER({one}, {self._of(2, 3, 0.5, -2, 7)})",
            f"CAST({one} AS DECIMAL({self._of('10, 2', '38, 9', '3, 0')}))",
            f"({one} / NULLIF({one}, 0))",
            f"EXP({one} * 100)",
        ]
        return self._random.choice(shapes)

    def _text(self, columns: dict[str, str], depth: int) -> str:
        if self._chance(0.5):
            return super()._text(columns, depth)
        one = self.value(columns, "text", depth)
        shapes = [
            f"{self._of('LEFT', 'RIGHT')}({one}, {self._of(0, 1, 3, 100)})",
            f"{self._of('LPAD', 'RPAD')}({one}, {self._of(0, 2, 9)}, {self._of(repr('0'), repr('ab'), repr(''))})",
            f"CAST({one} AS VARCHAR({self._of(1, 5, 100)}))",
            f"CONCAT({one}, {self.literal('text')}, {one})",
            f"TO_CHAR({self.value(columns, 'date', depth)}, 'YYYY-MM')",
            f"REVERSE({one})",
        ]
        return self._random.choice(shapes)

    def _date(self, columns: dict[str, str], depth: int) -> str:
        if self._chance(0.5):
            return super()._date(columns, depth)
        one, unit = self.value(columns, "date", depth), self._of("DAY", "MONTH", "YEAR", "WEEK", "QUARTER")
        many = self._of(0, 1, -1, 12, 100_000)
        shapes = [
            f"({one} + INTERVAL '{many}' {unit})",
            f"({one} - INTERVAL {many} {unit})",
            f"DATEADD({unit}, {many}, {one})",
            f"({one} + {many})",
        ]
        return self._random.choice(shapes)

    def condition(self, columns: dict[str, str], depth: int) -> str:
        """A condition, every third time one of the new kinds."""
        if self._chance(0.65):
            return super().condition(columns, depth)

        def of(kind: str) -> str:
            return self.value(columns, kind, depth - 1)

        return self._random.choice(
            [
                f"{of('date')} >= '2026-0{self._of(1, 2, 3)}-01'",
                f"{of('date')} < {self.literal('text')}",
                f"{of('integer')} = {self._of('TRUE', repr('7'), repr('x'), '1.5')}",
                f"{of('text')} ILIKE '{self._of('o%', '%É', '_slo', '')}'",
                f"{of('text')} SIMILAR TO {self._random.choice(PATTERNS)}",
                f"REGEXP_MATCHES({of('text')}, {self._random.choice(PATTERNS)})",
                f"{of('integer')} IS {self._of('', 'NOT ')}DISTINCT FROM {of('integer')}",
                f"{of('date')} BETWEEN '2026-01-01' AND DATE '2026-01-01' + INTERVAL '2' MONTH",
                f"{of('integer')} = ANY (ARRAY[1, 2, 3])",
                "1 = 1",
            ]
        )

    # Relations

    def item(self, depth: int, people: bool | None = None) -> Item:
        """A private table or a subquery, often with a join of a spelling that people use."""
        below = super().item(depth, people)
        if depth <= 0 or self._chance(0.5):
            return below
        shapes = [self._public_first, self._crossed, self._with_public_rows]
        if below.person is not None:
            shapes += [self._beside, self._half, self._looked_up, self._shifted, self._natural]
        return self._random.choice(shapes)(below)

    def _pair(self, below: Item, columns: dict[str, str]) -> str | None:
        pairs = [(a, b) for a, x in below.columns.items() for b, y in columns.items() if x == y]
        if not pairs:
            return None
        one, other = self._random.choice(pairs)
        return f"l.{one} = r.{other}"

    def _joined(self, below: Item, right: dict[str, str], text: str) -> Item:
        """A subquery with columns of both sides, given what comes after SELECT's list."""
        names = self._listed(below)
        added = {self._new(): name for name in right if self._chance(0.6)}
        listed = [*(f"l.{name}" for name in names), *(f"r.{name} AS {new}" for new, name in added.items())]
        columns = self._kept(below, names) | {new: right[name] for new, name in added.items()}
        return Item(text=f"(SELECT {', '.join(listed)} {text})", columns=columns, person=below.person)

    def _public_first(self, below: Item) -> Item:
        table = self._random.choice(list(PUBLIC))
        on = self._pair(below, PUBLIC[table])
        if on is None:
            return below
        text = self._random.choice(
            [
                f"FROM {table} r, {below.text} l WHERE {on}",
                f"FROM {table} r JOIN {below.text} l ON {on}",
                f"FROM {table} r RIGHT JOIN {below.text} l ON {on}",
                f"FROM ({table} r INNER JOIN {below.text} l ON {on})",
                f"FROM {below.text} l JOIN {table} r ON {on} AND r.name <> 'a'",
                f"FROM clinic.{table} r, {below.text} l WHERE 1 = 1 AND {on}",
            ]
        )
        return self._joined(below, PUBLIC[table], text)

    def _crossed(self, below: Item) -> Item:
        table = self._random.choice(list(PUBLIC))
        text = str(
            self._of(
                f"FROM {below.text} l CROSS JOIN {table} r",
                f"FROM {table} r, {below.text} l",
                f"FROM {below.text} l JOIN {table} r ON TRUE",
            )
        )
        return self._joined(below, PUBLIC[table], text)

    def _with_public_rows(self, below: Item) -> Item:
        subquery, columns = self._random.choice(PUBLIC_SUBQUERIES)
        if not columns:
            subquery, columns = f"{subquery} AS", {"ward": "integer", "name": "text"}
        on = self._pair(below, columns)
        if on is None:
            return below
        name = "r (ward, name)" if subquery.endswith("AS") else "r"
        join = self._of("JOIN", "LEFT JOIN")
        return self._joined(below, columns, f"FROM {below.text} l {join} {subquery} {name} ON {on}")

    def _beside(self, below: Item) -> Item:
        """Two private tables: by a comma, with conditions in ON, or with all rows of both."""
        other = super().item(0, people=True)
        on = f"l.{below.person} = r.{other.person}"
        more = self.condition({f"r.{name}": kind for name, kind in other.columns.items()}, 0)
        text = self._random.choice(
            [
                f"FROM {below.text} l, {other.text} r WHERE {on}",
                f"FROM {other.text} r, {below.text} l WHERE {on} AND {more}",
                f"FROM {below.text} l JOIN {other.text} r ON {on} AND {more}",
                f"FROM {below.text} l LEFT JOIN {other.text} r ON {on} AND {more}",
                f"FROM {other.text} r RIGHT OUTER JOIN {below.text} l ON {on}",
                f"FROM {below.text} l FULL JOIN {other.text} r ON {on}",
            ]
        )
        return self._joined(below, other.columns, text)

    def _half(self, below: Item) -> Item:
        """Rows that have, or have not, a match."""
        other = super().item(0, people=True)
        on = f"l.{below.person} = r.{other.person}"
        shared = [name for name, kind in below.columns.items() if other.columns.get(name) == kind]
        if shared and self._chance(0.5):
            on += f" AND l.{shared[-1]} = r.{shared[-1]}"
        kind = self._of("SEMI", "ANTI")
        names = self._listed(below)
        listed = ", ".join(f"l.{name}" for name in names)
        text = f"(SELECT {listed} FROM {below.text} l {kind} JOIN {other.text} r ON {on})"
        return Item(text=text, columns=self._kept(below, names), person=below.person)

    def _looked_up(self, below: Item) -> Item:
        """EXISTS and IN over private rows: of the same person, and of anybody, which is refused."""
        other = super().item(0, people=True)
        negated = self._of("", "NOT ")
        column = self._random.choice([str(below.person), *below.columns])
        wanted = self._where(other.columns, 0.5)
        condition = self._random.choice(
            [
                f"l.{below.person} {negated}IN (SELECT {other.person} FROM {other.text}{wanted})",
                f"{negated}EXISTS (SELECT 1 FROM {other.text} r WHERE r.{other.person} = l.{below.person})",
                f"{negated}EXISTS (SELECT * FROM {other.text} r WHERE r.{other.person} = l.{below.person} AND r.age > 1)",
                f"l.{column} {negated}IN (SELECT {column} FROM visits)",
            ]
        )
        names = self._listed(below)
        listed = ", ".join(f"l.{name}" for name in names)
        text = f"(SELECT {listed} FROM {below.text} l WHERE {condition})"
        return Item(text=text, columns=self._kept(below, names), person=below.person)

    def _shifted(self, below: Item) -> Item:
        """A value of the row before or after, of the same person."""
        names, name = self._listed(below), self._new()
        column, order = (self._random.choice(list(below.columns)) for _ in range(2))
        function = self._of("LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE")
        partition = self._of(below.person, column)
        window = f"{function}({column}) OVER (PARTITION BY {partition} ORDER BY {order}) AS {name}"
        text = f"(SELECT {', '.join(names)}, {window} FROM {below.text} {self._new('t')})"
        kept = self._kept(below, names) | {name: below.columns[column]}
        return Item(text=text, columns=kept, person=below.person)

    def _natural(self, below: Item) -> Item:
        other = self._of("visits", "staff", "cities", "wards")
        names = self._listed(below)
        text = f"(SELECT {', '.join(names)} FROM {below.text} l NATURAL JOIN {other})"
        return Item(text=text, columns=self._kept(below, names), person=below.person)

    # Questions

    def _aggregate(self, columns: dict[str, str]) -> str:
        one = super()._aggregate(columns)
        if self._chance(0.6):
            return one
        other = super()._aggregate(columns)
        return str(
            self._of(
                f"ROUND({one}, 1)",
                f"({one} / {other})",
                f"(100.0 * {one} / NULLIF(COUNT(*), 0))",
                f"CASE WHEN {one} > 3 THEN {other} ELSE 0 END",
                f"COALESCE({one}, 0)",
                f"COUNT(*) FILTER (WHERE {self.condition(columns, 1)})",
                f"SUM(CASE WHEN {self.condition(columns, 1)} THEN 1 ELSE 0 END)",
                f"COUNT_IF({self.condition(columns, 1)})",
                f"APPROX_COUNT_DISTINCT({self._random.choice(list(columns))})",
                f"SUM(DISTINCT {self._random.choice(list(columns))})",
            )
        )
