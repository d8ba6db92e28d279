r"""Regular expressions in SQL, as far as they are made of texts: no engine ever sees one.

Engines that search by backtracking need time, or memory, that depends on the text: a row could be told by
how long its answer takes, or by a failure. So an expression is turned into CONTAINS, STARTS_WITH, ENDS_WITH,
= and LIKE, and can do no more than these. There are:

- characters, and ``\.`` for a character that means something else;
- ``.``, ``.*``, ``.+``, and ``^`` and ``$`` at the ends of the text;
- ``a|b``, ``(a|b)``, ``[abc]`` and ``[0-9]``, and ``?`` behind one of these, all written out: at most 64
  texts in all;
- ``(?i)`` at the start, and REGEXP_ILIKE: A to Z only, as in LOWER.

The dot stands for line ends, too. All else, as ``a*``, ``\d+`` and ``{2}``, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from discreet.data import literal
from discreet.data.language.expressions import Call, Compare, Comparison, Expression, Or
from discreet.data.language.functions.strings import CONTAINS, ENDS_WITH, LIKE, LOWER, STARTS_WITH
from discreet.errors import UnsupportedQuery
from discreet.queries.sql.syntax.refusals import refused

__all__ = ["REGULAR", "matches"]

REGULAR = "write LIKE with % and _, STARTS_WITH, ENDS_WITH or CONTAINS"
_MOST_TEXTS = 64
_LONGEST = 1000
_ANY, _ONE = "\0%", "\0_"
"""What `.*` and `.` are among the parts of a text; a request has no NUL of its own."""
_SPECIAL = frozenset("\\^$.|?*+()[]{}")
_LETTERS = frozenset("dDwWsSbBAzZnrtfvxupPQEkGRXKNhH")
"""Letters that mean something behind a backslash in some dialect."""


def matches(text: Expression, pattern: str, *, fold: bool) -> Expression:
    """Return the condition that a text has a part that an expression matches.

    Parameters
    ----------
    text : Expression
        What is searched.
    pattern : str
        The regular expression.
    fold : bool
        Whether A to Z count as a to z.
    """
    if pattern.startswith("(?i)"):
        pattern, fold = pattern.removeprefix("(?i)"), True
    if len(pattern) > _LONGEST:
        raise _refusal()
    listed = _Reader(pattern).alternatives()
    if fold:
        text = Call(function=LOWER, operands=(text,))
        listed = [tuple(map(_lower, parts)) for parts in listed]
    found = list(dict.fromkeys(_condition(text, parts) for parts in listed))
    return found[0] if len(found) == 1 else Or(operands=tuple(found))


def _lower(part: str) -> str:
    return part.lower() if part.isascii() else part


def _refusal() -> UnsupportedQuery:
    return refused("this regular expression", REGULAR)


class _Reader:
    """Reads an expression into all the texts, with gaps, that it stands for."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._place = pattern, 0

    def alternatives(self) -> list[tuple[str, ...]]:
        found = self._choice(nested=False)
        if self._place < len(self._pattern):
            raise _refusal()
        return found

    def _choice(self, *, nested: bool) -> list[tuple[str, ...]]:
        found = self._sequence(nested=nested)
        while self._peek() == "|":
            self._place += 1
            found = found + self._sequence(nested=nested)
        return self._few(found)

    def _sequence(self, *, nested: bool) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = [()]
        while self._peek() not in {"", "|", ")"}:
            found = self._few([one + other for one, other in product(found, self._item(nested=nested))])
        return found

    def _item(self, *, nested: bool) -> list[tuple[str, ...]]:
        """Read one part, and what is behind it."""
        one = self._take()
        if one in {"^", "$"}:
            if nested:  # an end within a group may be in the middle
                raise _refusal()
            return [(f"\0{one}",)]
        if one == ".":
            return self._dots()
        if one == "(":
            if self._peek() == "?":
                raise _refusal()
            options = self._choice(nested=True)
            if self._take() != ")":
                raise _refusal()
        elif one == "[":
            options = [(character,) for character in self._class()]
        elif one == "\\":
            one = self._take()
            if one in _LETTERS or one.isdigit() or not one:
                raise _refusal()
            options = [(one,)]
        elif one in _SPECIAL:
            raise _refusal()
        else:
            options = [(one,)]
        if self._peek() == "?":
            self._place += 1
            options = [*options, ()]
        if self._peek() in {"*", "+", "?", "{"} and self._peek():
            raise _refusal()
        return options

    def _dots(self) -> list[tuple[str, ...]]:
        behind = self._peek()
        if behind not in {"*", "+", "?", "{"}:
            return [(_ONE,)]
        self._place += 1
        if behind == "{" or self._peek() in {"*", "+", "{"}:
            raise _refusal()
        if behind == "?":
            return [(_ONE,), ()]
        if self._peek() == "?":  # as few as possible: whether there is a match is the same
            self._place += 1
        return [(_ANY,) if behind == "*" else (_ONE, _ANY)]

    def _class(self) -> Iterator[str]:
        """Yield the characters of a class in brackets."""
        end = self._pattern.find("]", self._place)
        inside = self._pattern[self._place : end]
        if end < 0 or not inside or inside[0] == "^" or set(inside) & set("\\[&~"):
            raise _refusal()
        self._place, place = end + 1, 0
        found: dict[str, None] = {}
        while place < len(inside):
            first, last = inside[place], inside[place]
            if inside[place + 1 : place + 2] == "-" and place + 2 < len(inside):
                last, place = inside[place + 2], place + 2
            if not ord(first) <= ord(last) < ord(first) + _MOST_TEXTS:
                raise _refusal()
            found.update(dict.fromkeys(map(chr, range(ord(first), ord(last) + 1))))
            place += 1
        yield from found

    def _few(self, found: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        if len(found) > _MOST_TEXTS:
            raise _refusal()
        return found

    def _peek(self) -> str:
        return self._pattern[self._place : self._place + 1]

    def _take(self) -> str:
        self._place += 1
        return self._pattern[self._place - 1 : self._place]


def _condition(text: Expression, parts: tuple[str, ...]) -> Expression:
    """Return the condition that a text has, somewhere or at its ends, some characters and gaps."""
    starts, ends = parts[:1] == ("\0^",), parts[-1:] == ("\0$",)
    inner = parts[1 if starts else 0 : len(parts) - 1 if ends else len(parts)]
    if any(part in {"\0^", "\0$"} for part in inner):
        raise _refusal()
    if not any(part in {_ANY, _ONE} for part in inner):
        whole = literal("".join(inner))
        if starts and ends:
            return Compare(operator=Comparison.EQUAL, left=text, right=whole)
        function = STARTS_WITH if starts else ENDS_WITH if ends else CONTAINS
        return Call(function=function, operands=(text, whole))
    if any(part in {"%", "_", "\\"} for part in inner):
        raise _refusal()
    like = "".join(part.removeprefix("\0") for part in inner)
    return Call(
        function=LIKE,
        operands=(text, literal(f"{'' if starts else '%'}{like}{'' if ends else '%'}")),
    )
