"""The linkage attack: what joins with a register learn, and what noisy counts bound."""

from __future__ import annotations

from math import exp, log

import pytest

from examples import linkage_attack as example


@pytest.fixture(scope="module")
def found():
    return example.attacks()


def test_classes_hold_k_rows_at_least_and_few_are_left_out():
    people = example.made_up_people()
    for k in (2, 5):
        published = example.classes(people, k)
        assert published.groupby("cell").size().min() >= k
        assert len(published) >= (1 - example.MOST_LEFT_OUT) * example.PEOPLE
        # A class is one sex, one district, and birth years next to each other.
        assert published.groupby("cell")[["sex", "district"]].nunique().max().max() == 1


def test_attacks_are_those_of_a_plain_loop():
    people = example.made_up_people()
    tables = [example.classes(people, 3, offset) for offset in (0, 5)]
    seen = [{cell: set(rows["diagnosis"]) for cell, rows in table.groupby("cell")} for table in tables]
    alone = sum(len(seen[0][cell]) == 1 for cell in tables[0]["cell"])
    assert example.disclosed(tables[0]) == alone / example.PEOPLE
    both = tables[0].join(tables[1]["cell"].rename("again"), how="inner")
    known = sum(
        len(seen[0][first] & seen[1][second]) == 1
        for first, second in zip(both["cell"], both["again"], strict=True)
    )
    assert example.disclosed_by_two(people, 3) == known / example.PEOPLE


def test_nobody_is_alone_under_k_anonymity_and_the_attack_goes_on(found):
    assert found[1][0] > 0.1
    for k in example.SIZES[1:]:
        assert found[k][0] == 0
    assert found[2][1] > 0.1
    assert found[5][2] > 3 * found[5][1] > 0


def test_noise_bounds_what_is_believed():
    """Bayes' rule for two diagnoses of one person, whose reports are e^epsilon apart at most."""
    for prior in (0.01, 0.125, 0.5):
        after = example.posterior(0.1, prior)
        assert log(after / (1 - after)) - log(prior / (1 - prior)) == pytest.approx(0.1)
        assert after <= prior * exp(0.1)
    assert len(example.noisy_counts(0.1)) == example.DIAGNOSES


def test_it_prints_and_draws(capsys, tmp_path):
    example.main(str(tmp_path))
    assert "13.6%" in capsys.readouterr().out
    assert (tmp_path / "linkage_attack.png").exists()
