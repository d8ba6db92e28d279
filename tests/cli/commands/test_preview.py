"""``discreet preview``: what an answer would cost, without one and without a ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.folder import BY_CITY, COUNT, answered, ledger_trouble, prepare
from cli.program import refused
from discreet.front.opening import open_file
from front.declared_clinic import DECLARATION


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def test_a_preview_says_error_and_cost_and_makes_no_ledger():
    found = answered("preview --epsilon 0.5", BY_CITY)
    assert "± at 95%" in found.output
    assert "mean_cost" in found.output
    assert "costs epsilon 0.5\nthere is no ledger yet" in found.output
    assert not Path("clinic.ledger").exists()


def test_what_will_be_bought_is_said():
    assert (
        "the limit on rows of each person is bought first, from 1 to 2"
        in answered("preview --epsilon 1 --limits auto", COUNT).output
    )
    (words,) = json.loads(answered("preview --epsilon 1 --limits auto --json", COUNT).output)["bought"]
    assert "bought first" in words


def test_the_numbers_are_those_of_the_curator():
    content = json.loads(answered("preview --epsilon 0.5 --rows 50 --json", BY_CITY).output)
    expected = open_file("clinic.toml").preview(BY_CITY, epsilon=0.5, rows=50)
    assert content["epsilon"] == expected.epsilon == 0.5
    assert [one["margin"] for one in content["outputs"]] == [one.margin for one in expected.expectations]
    assert content["fits"] == expected.fits
    assert content["answered"] is False
    assert "50 values" in content["outputs"][1]["assumes"]


def test_the_inverse_keeps_the_margin_it_was_asked_for():
    content = json.loads(answered("preview --error n=20 --json", COUNT).output)
    assert content["outputs"][0]["margin"] <= 20
    offer = content["epsilon"]
    cheaper = json.loads(answered(f"preview --epsilon {0.95 * offer} --json", COUNT).output)
    assert cheaper["outputs"][0]["margin"] > 20


def test_beside_a_ledger_it_says_what_is_left_and_what_is_free():
    answered("query --epsilon 5", COUNT)
    head = open_file("clinic.toml").ledger.anchor()
    renamed = COUNT.replace(" n ", " how_many ")
    for question in (COUNT, renamed):
        said = answered("preview --epsilon 5", question).output
        assert "asking again costs nothing" in said
        assert said.endswith("\ncosts nothing: stored\n")
        assert "costs epsilon" not in said
    previews = [answered(f"preview --epsilon {epsilon} --json", COUNT) for epsilon in (15, 16)]
    fits = [json.loads(one.output)["fits"] for one in previews]
    assert fits[0] >= 1
    assert fits[1] == 0
    assert open_file("clinic.toml").ledger.anchor() == head


def test_a_file_may_be_changed_between_previews(clinic):
    wide = json.loads(answered("preview --epsilon 1 --json", COUNT).output)
    clinic.write_text(DECLARATION.replace("rows = 2", "rows = 1"))
    narrow = json.loads(answered("preview --epsilon 1 --json", COUNT).output)
    assert narrow["outputs"][0]["margin"] < wide["outputs"][0]["margin"]


@pytest.mark.parametrize("options", ["", "--epsilon x", "--error n=0", "--epsilon 1 --rows 0", "--rows 3"])
def test_refusals(options):
    refused(f"preview {options}", COUNT)


def test_noise_that_the_budget_does_not_count(clinic):
    clinic.write_text(DECLARATION.replace("delta = 1e-6", ""))
    found = answered("preview --rho 0.1", COUNT)
    assert "does not fit" in found.output
    (limit, *_) = json.loads(answered("preview --rho 0.1 --json", COUNT).output)["budget"]
    assert limit["cost"] is None


def test_a_damaged_ledger_is_said():
    Path("clinic.ledger").write_bytes(b"x" * 5000)
    ledger_trouble("preview --epsilon 1", COUNT)
