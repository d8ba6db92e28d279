"""From text to the syntax tree of one SELECT, or a refusal, in bounded time and depth.

sqlglot reads the text. It recurses, its errors and warnings quote what it read, and it reads far more than
SELECT; so the text is measured first, its tokens are looked at before they are parsed, and nothing that
sqlglot says passes on.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar, NoReturn

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError
from sqlglot.parser import Parser
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]
from sqlglot.tokens import Tokenizer as AnyTokenizer

from discreet.errors import ParameterError, UnsupportedQuery
from discreet.queries.sql.syntax.date_spellings import with_day
from discreet.queries.sql.syntax.refusals import refused, refused_node
from discreet.queries.sql.syntax.spellings import respelled
from discreet.queries.sql.syntax.top import limited_by, without_top

__all__ = ["LARGEST_TEXT", "LARGEST_TOKENS", "MOST_OPEN", "MOST_SELECTS", "read_select", "read_statement"]

LARGEST_TEXT = 100_000
"""How many characters a query may have."""
LARGEST_TOKENS = 20_000
"""How many words, numbers and signs a query may have."""
MOST_OPEN = 16
"""How many parentheses, CASEs and NOTs may be open at once; sqlglot takes some 25 calls for each."""
MOST_SELECTS = 50
"""How many SELECTs, and how many JOINs, a query may have."""

_LONGEST_KEPT = 4000
"""Longer texts are read anew."""

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_PREFIXES = {TokenType.NOT, TokenType.INTERVAL, TokenType.ANY, TokenType.ALL, TokenType.EXISTS}
_OF_OTHER_STATEMENTS = {TokenType.ALTER, TokenType.CREATE, TokenType.DROP, TokenType.GRANT, TokenType.INSERT}


class _Language(Dialect):
    """What a parser of all dialects reads, with missing values last in every order; it logs no literals."""

    NULL_ORDERING = "nulls_are_last"
    STRICT_JSON_PATH_SYNTAX = False

    class Tokenizer(AnyTokenizer):
        """Words that begin other statements are names here, such as Alter, the German word for age."""

        KEYWORDS: ClassVar = {
            word: kind for word, kind in AnyTokenizer.KEYWORDS.items() if kind not in _OF_OTHER_STATEMENTS
        }


class _SelectParser(Parser):
    """A parser that never gives up on a statement by logging it and keeping its text."""

    def _parse_as_command(self, start: Token) -> NoReturn:
        raise ParseError("a command")

    def _parse_command(self) -> NoReturn:
        raise ParseError("a command")


def read_select(text: str, day: datetime.date | None = None) -> exp.Select:
    """Return the syntax tree of a query that is a single SELECT; see `read_statement`."""
    statement = read_statement(text, day)
    if type(statement) is exp.Union:
        raise refused(
            "UNION around aggregates", "ask one query at a time, or put UNION ALL into FROM, in parentheses"
        )
    if type(statement) is not exp.Select:
        raise refused_node(statement)
    return statement


def read_statement(text: str, day: datetime.date | None = None) -> exp.Expression | None:
    """Return the syntax tree of a statement: a SELECT, several with UNION between them, or something else.

    Parameters
    ----------
    text : str
        At most `LARGEST_TEXT` characters; a semicolon at the end and comments are fine.
    day : date, optional
        What CURRENT_DATE means.
    """
    if not isinstance(text, str):
        raise ParameterError(
            "query", f"is a {type(text).__name__}", "SQL as text, or a request built with table()"
        )
    if len(text) > LARGEST_TEXT:
        raise UnsupportedQuery(
            f"the text is longer than {LARGEST_TEXT} characters; shorten it, or ask in parts"
        )
    if len(text) > _LONGEST_KEPT:
        return _read(text, day)
    tree = _kept(text, day)
    return None if tree is None else tree.copy()


def _read(text: str, day: datetime.date | None) -> exp.Expression | None:
    tokens, top = without_top(_with_matches(_without_semicolon(_tokens(text))))
    _check_statement(tokens)
    _check_nesting(tokens)
    statement = _parsed(tokens)
    if type(statement) in {exp.Subquery, exp.Paren}:
        raise refused("a query in parentheses", "leave the parentheses out")
    if statement is not None:
        respelled(statement)
        with_day(statement, day)
    if type(statement) is exp.Select:
        return limited_by(statement, top)
    if top is not None:
        raise refused("TOP in a part of UNION", "write ORDER BY and LIMIT at the end")
    return statement


_kept = lru_cache(maxsize=32)(_read)
"""Trees of texts that were read before, as a text is read twice, and again when it is asked on other terms.

They are functions of the text and the day alone, never handed out themselves, and small: together they have
no more than 32 times `_LONGEST_KEPT` characters of text.
"""


def _tokens(text: str) -> Sequence[Token]:
    try:
        return _Language().tokenize(text)
    except SqlglotError:
        pass
    raise UnsupportedQuery(
        "a string, a quoted name or a comment does not end; close it, writing '' for a quote in text"
    )


def _without_semicolon(tokens: Sequence[Token]) -> Sequence[Token]:
    end = len(tokens)
    while end and tokens[end - 1].token_type is TokenType.SEMICOLON:
        end -= 1
    return tokens[:end]


def _with_matches(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return tokens in which s ~ 'a' is s RLIKE 'a', and s !~ 'a' is s NOT RLIKE 'a'; so for ~* and !~*.

    A ~ before a text can mean nothing else. The parser has a word for ~* alone.
    """
    found = list(tokens)
    for place, (one, other) in enumerate(pairwise(tokens)):
        if one.token_type is TokenType.TILDE and other.token_type is TokenType.STRING:
            found[place] = _retyped(one, TokenType.RLIKE)
    for place, (one, other) in enumerate(pairwise(found)):
        if one.text == "!" and other.token_type in {TokenType.RLIKE, TokenType.IRLIKE}:
            found[place] = _retyped(one, TokenType.NOT, "NOT")
    return found


def _retyped(token: Token, kind: TokenType, text: str | None = None) -> Token:
    return Token(kind, token.text if text is None else text, token.line, token.col, token.start, token.end)


def _check_statement(tokens: Sequence[Token]) -> None:
    if not tokens:
        raise UnsupportedQuery("the query is empty; write SELECT COUNT(*) AS n FROM a table")
    if len(tokens) > LARGEST_TOKENS:
        raise UnsupportedQuery(
            f"the query has more than {LARGEST_TOKENS} words and signs; shorten it, or ask in parts"
        )
    kinds = [token.token_type for token in tokens]
    if TokenType.SEMICOLON in kinds:
        raise refused("more than one statement", "ask one SELECT at a time")
    opened = next((kind for kind in kinds if kind is not TokenType.L_PAREN), None)
    if kinds[0] is TokenType.L_PAREN and opened not in {TokenType.SELECT, TokenType.WITH}:
        raise refused("a query in parentheses", "leave the parentheses out")
    if kinds[0] not in {TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN}:
        raise refused(
            "a statement other than SELECT", "write SELECT city, COUNT(*) AS n FROM a table GROUP BY city"
        )
    if max(kinds.count(TokenType.SELECT), kinds.count(TokenType.JOIN)) > MOST_SELECTS:
        raise UnsupportedQuery(f"the query has more than {MOST_SELECTS} SELECTs or JOINs; ask in parts")
    if any(token.token_type is TokenType.NOT and token.text == "!" for token in tokens):
        raise refused("!", "write NOT")
    if any(token.text == "`" and token.token_type is not TokenType.STRING for token in tokens):
        raise refused("`", "write names in double quotes")
    if any(pair == (TokenType.SLASH, TokenType.SLASH) for pair in pairwise(kinds)):
        raise refused("//", "engines round it down or towards 0; write FLOOR(x / y)")
    if any(token.text.startswith("$") and token.token_type is TokenType.VAR for token in tokens):
        raise refused_node(exp.Placeholder())


def _check_nesting(tokens: Sequence[Token]) -> None:
    """Refuse what would take the parser too deep.

    A prefix such as NOT is open until the next AND, OR or comma, or the end of the parenthesis around it.
    """
    opened = [0]
    for token in tokens:
        if token.token_type in _OPENING:
            opened.append(0)
        elif token.token_type in _CLOSING and len(opened) > 1:
            opened.pop()
        elif token.token_type in _PREFIXES:
            opened[-1] += 1
        elif token.token_type in {TokenType.AND, TokenType.OR, TokenType.COMMA}:
            opened[-1] = 0
        if len(opened) - 1 + sum(opened) > MOST_OPEN:
            raise UnsupportedQuery(
                f"the query is nested more than {MOST_OPEN} levels deep; write it flatter, "
                "for instance with IN instead of many comparisons"
            )


def _parsed(tokens: Sequence[Token]) -> exp.Expression | None:
    place = ""
    try:
        statements = _SelectParser(error_level=ErrorLevel.IMMEDIATE, dialect=_Language()).parse(
            list(tokens), ""
        )
        return statements[0] if len(statements) == 1 else None
    except ParseError as error:
        found = error.errors[0] if error.errors else {}
        line, column = found.get("line"), found.get("col")
        place = f", near line {line}, column {column}" if line else ""
    except RecursionError:
        place = ", which is nested too deep"
    except Exception:  # noqa: S110 - anything else that a parser of all of SQL may raise
        pass
    rewrite = "write SELECT keys and aggregates FROM a table WHERE ... GROUP BY keys"
    raise UnsupportedQuery(f"the text cannot be read as SQL{place}; {rewrite}")
