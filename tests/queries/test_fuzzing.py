"""Twenty thousand questions made at random: each is answered or refused in our own words, and tells nothing.

Nothing but a `DiscreetError` may come out, and neither a literal of the question nor a value of the data is
in it. A sample of what is accepted is computed over rows of the worst values of every type; it must not fail.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from unittest import mock

import pytest

from canary import ASKED_TEXT, canaries_in
from discreet.data import compute
from discreet.data.salt import Salt
from discreet.errors import DiscreetError, RequestRefused
from discreet.queries.binding.bind import bind
from discreet.queries.sql.select import parse
from effort import sizes
from queries.fuzz_grammar import Grammar
from queries.worlds import worlds

INPUTS = 20_000
PARTS = 20
COMPUTED = 200

# An accident may put the planted literal where a name stands: names, unlike literals, may be shown.
_WORDS = "LIKE|THEN|ELSE|AND|OR|IN|NOT|BETWEEN|WHEN|TIMESTAMP|DATE|SELECT|WHERE|BY|ON|HAVING|CASE|ESCAPE"
_BEFORE = rf"\bAS\s*|(?<!\w)(?!(?:{_WORDS})\b)\w+\s*|\)\s*"
NAMED = re.compile(rf"""(?i)({_BEFORE})(['"]){ASKED_TEXT}\2|"{ASKED_TEXT}\"""")


def questions(seed: int, many: int):
    """Questions as they are, with one accident, and with several."""
    chooser = random.Random(seed)
    grammar = Grammar(chooser)
    for number in range(many):
        text = grammar.question(chooser.choice([0, 0, 1, 2]))
        if number % 5:
            text = grammar.mutated(text, accidents=1 if number % 5 < 3 else None)
        yield NAMED.sub(r"\1 named", text)


def attempt(text: str, tables):
    """The bound query, or None if it is refused, having looked at the words."""
    try:
        return bind(parse(text, tables), tables)
    except DiscreetError as error:
        refusal = error
    assert not canaries_in(f"{refusal!r} {refusal.args}"), "a canary is in a refusal"
    if isinstance(refusal, RequestRefused):
        assert ";" in str(refusal), "a refusal says what to write instead"
        assert refusal.__cause__ is None
    return None


@pytest.mark.slow
@pytest.mark.parametrize("part", sizes(0, *range(1, PARTS)))
def test_every_input_is_answered_or_refused(part):
    tables = worlds(part).with_person
    seen = Counter()
    for text in questions(1000 + part, INPUTS // PARTS):
        try:
            bound = attempt(text, tables)
        except Exception as error:  # whatever it is, say for which text
            pytest.fail(f"{type(error).__name__} for {text!r}")
        seen[bound is None] += 1
        if bound is not None and seen[False] <= COMPUTED // PARTS:
            try:
                compute(bound.plan, tables, salt=Salt(value="salt"))
            except DiscreetError as error:
                pytest.fail(f"{type(error).__name__} while computing {text!r}")
    assert seen[False] >= INPUTS // PARTS // 20  # neither the grammar nor the language has run dry
    assert seen[True] >= INPUTS // PARTS // 4


def test_what_comes_in_is_as_wild_as_it_should_be():
    """The control: inputs hold canaries, deep nesting, endless numbers and characters of all kinds."""
    texts = list(questions(1000, 2000))
    assert sum(bool(canaries_in(text.encode("utf-8", "replace"))) for text in texts) > 100
    for wanted in ("(" * 15, "9" * 400, "\0", "\U0001f600", "UNION ALL", "OVER (PARTITION BY", "LEFT JOIN"):
        assert any(wanted in text for text in texts), wanted


@pytest.mark.leaks_on_purpose
def test_a_refusal_that_repeats_the_question_is_noticed():
    """The control of the control."""
    tables = worlds(0).without

    def telling(text, tables):
        raise RequestRefused(f"cannot read {text}; write something else")

    text = next(text for text in questions(1, 2000) if canaries_in(text.encode("utf-8", "replace")))
    with mock.patch.dict(globals(), {"parse": telling}), pytest.raises(AssertionError, match="canary"):
        attempt(text, tables)


@pytest.mark.parametrize("sign", ["->", "->>"])
def test_the_parser_logs_nothing_of_a_text_that_is_no_path(sign, caplog):
    """A text after an arrow is read as a path into JSON, and one that is none was logged, literal and all."""
    with caplog.at_level(0), pytest.raises(RequestRefused):
        parse(f"SELECT COUNT(*) AS n FROM visits WHERE note {sign} '5 {ASKED_TEXT}' = 'x'", worlds(0).without)  # noqa: S608
    assert not caplog.records
