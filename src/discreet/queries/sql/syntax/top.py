"""TOP n, as T-SQL writes what others write as LIMIT n."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]

from discreet.queries.sql.syntax.refusals import refused

__all__ = ["limited_by", "without_top"]

_LIMIT = "write ORDER BY and LIMIT at the end"


def without_top(tokens: Sequence[Token]) -> tuple[Sequence[Token], str | None]:
    """Return the tokens of a statement without TOP n after its first SELECT, and the digits of n."""
    place = 1
    if len(tokens) > place and tokens[place].token_type in {TokenType.DISTINCT, TokenType.ALL}:
        place += 1
    if len(tokens) <= place + 1 or tokens[place].text.upper() != "TOP":
        return tokens, None
    number = place + 1
    bracketed = tokens[number].token_type is TokenType.L_PAREN
    number += bracketed
    end = number + 1 + bracketed
    if len(tokens) <= end or tokens[number].token_type is not TokenType.NUMBER:
        return tokens, None
    if bracketed and tokens[number + 1].token_type is not TokenType.R_PAREN:
        return tokens, None
    if tokens[end].text.upper() in {"PERCENT", "WITH"}:
        raise refused("TOP with PERCENT or TIES", _LIMIT)
    return [*tokens[:place], *tokens[end:]], tokens[number].text


def limited_by(select: exp.Select, digits: str | None) -> exp.Select:
    """Return a SELECT with the LIMIT that TOP means."""
    if digits is not None:
        if select.args.get("limit") is not None or select.args.get("offset") is not None:
            raise refused("TOP together with LIMIT or OFFSET", _LIMIT)
        select.set("limit", exp.Limit(expression=exp.Literal.number(digits)))
    return select
