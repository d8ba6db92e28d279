"""Explanations of counts by chosen keys."""

from __future__ import annotations

from queries.asking.test_counted_keys import BY_TOWN, OFFER, clinic


def test_an_explanation_says_what_is_counted_and_from_when_on_it_is_shown(tmp_path):
    text = clinic(tmp_path).explain(f"{BY_TOWN} HAVING n > 77 ORDER BY n", **OFFER)
    assert "by 'town' (keys to be chosen): as many groups as combinations are shown" in text
    assert "counted by persons, at most 1 for a person" in text
    assert "with probability 50% at a count of 15" in text
    assert "n ± 3" in text
    assert "afterwards, by released values: sorted by 'n'" in text
    assert "77" not in text
    assert "SELECT" not in text


def test_the_statement_is_shown_if_asked_for(tmp_path):
    text = clinic(tmp_path).explain(BY_TOWN, sql=True, **OFFER)
    assert "the engine's statement" in text
    assert "SELECT" in text


def test_known_keys_are_told_from_those_to_be_chosen(tmp_path):
    text = clinic(tmp_path).explain(
        "SELECT ward, town, COUNT(*) AS n FROM visits GROUP BY ward, town", **OFFER
    )
    assert "'ward' (of 4 known keys), 'town' (keys to be chosen)" in text
