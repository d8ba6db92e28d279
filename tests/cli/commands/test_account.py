"""`discreet account` says what the accountant says, with its method, relation and assumption."""

from __future__ import annotations

import io
import json
import sys

import pytest

from cli.program import discreet, refused
from discreet import accounting
from discreet.privacy import events

LECTURE = "account --mechanism sampled-gaussian --noise-multiplier 4 --rate 0.01 --steps 10000 --delta 1e-5"
RUN = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000


def answered(command, *more):
    found = discreet(f"{command} --json", *more)
    assert (found.code, found.errors) == (0, "")
    return json.loads(found.output)


def read(content):
    return events.Event.from_object(content["event"])


def test_the_table_of_the_lecture_comes_from_one_command():
    found = discreet(f"{LECTURE} --ladder")
    assert (found.code, found.errors) == (0, "")
    rows = {line.split("  ")[0].strip(): line for line in found.output.splitlines() if line}
    for name, shown, method in [
        ("basic", "12,112", "sum of epsilon"),
        ("strong", "363", "leading term of strong composition"),
        ("amplified", "10.3", "2 q epsilon per step"),
        ("moments", "1.2586", "moments accountant"),
        ("renyi", "1.0355", "optimal conversion"),
        ("tight", "0.9469", "laws of the losses, composed"),
    ]:
        cells = [cell.strip() for cell in rows[name].split("  ") if cell.strip()]
        assert cells[1] == shown
        assert method in cells[3]
    assert "no guarantee" in rows["strong"]
    assert "no guarantee" in rows["amplified"]


def test_the_interval_of_the_lecture():
    found = discreet(LECTURE)
    assert found.code == 0
    lines = dict(line.split(maxsplit=1) for line in found.output.splitlines() if not line.startswith(" "))
    assert float(lines["epsilon"].split()[0]) == pytest.approx(0.94687, abs=2e-5)
    assert "certified: from 0.9468" in lines["epsilon"]
    assert lines["delta"] == "1e-05"
    assert lines["run"] == repr(RUN)
    assert lines["hides"] == "adding or removing one person"


def test_json_has_every_digit_and_the_event():
    content = answered(LECTURE)
    exact = accounting.epsilon(RUN, delta=1e-5)
    assert content["epsilon"] == {"lower": exact.lower, "upper": exact.upper}
    assert content["delta"] == 1e-5
    assert content["certified"] is True
    assert content["neighbors"] == "add-remove person"
    assert read(content) == RUN
    ladder = answered(f"{LECTURE} --ladder")["ladder"]
    assert [row["name"] for row in ladder][-1] == "tight"
    assert {row["name"] for row in ladder if not row["proven"]} == {"strong", "amplified"}


def test_what_is_assumed_about_sampling_is_said():
    assumption = answered(LECTURE)["assumption"]
    assert assumption.startswith("Poisson sampling")
    assert "--loader shuffled" in assumption
    assert answered("account --noise-multiplier 1 --delta 1e-5")["assumption"] == ""


def test_a_loader_that_shuffles_gets_the_safe_answer():
    content = answered(f"{LECTURE} --loader shuffled")
    assert read(content) == events.Gaussian(noise_multiplier=4) * 100
    assert content["epsilon"]["upper"] > 13
    assert "shuffles" in content["assumption"]
    assert "No amplification" in content["assumption"]
    assert "Poisson" not in content["assumption"]
    assert "assumes  a loader that shuffles" in discreet(f"{LECTURE} --loader shuffled").output
    assert read(answered(f"{LECTURE} --loader poisson")) == RUN


def test_delta_at_an_epsilon():
    content = answered("account --noise-multiplier 1 --at-epsilon 1")
    exact = accounting.delta(events.Gaussian(noise_multiplier=1), epsilon=1)
    assert content["delta"] == {"lower": exact.lower, "upper": exact.upper}
    assert content["epsilon"] == 1.0
    assert "delta    0.126937" in discreet("account --noise-multiplier 1 --at-epsilon 1").output


@pytest.mark.parametrize(
    ("typed", "event"),
    [
        ("--mechanism gaussian --noise-multiplier 2", events.Gaussian(noise_multiplier=2)),
        ("--noise-multiplier 2 --steps 3", events.Gaussian(noise_multiplier=2) * 3),
        ("--noise-multiplier 4 --rate 1/100 --steps 10_000", RUN),
        ("--mechanism laplace --epsilon 0.1", events.Laplace(epsilon=0.1)),
        ("--mechanism pure --each-epsilon 0.1 --steps 1e2", events.Pure(epsilon=0.1) * 100),
        ("--mechanism randomized-response --truth 3/4", events.RandomizedResponse(truth="3/4")),
        ("--truth 0.5 --categories 4", events.RandomizedResponse(truth="0.5", categories=4)),
        (
            "--mechanism laplace --epsilon 0.05 --steps 50 --then --noise-multiplier 20 --steps 200 "
            "--then --noise-multiplier 1 --rate 0.01 --steps 1000",
            events.Laplace(epsilon=0.05) * 50
            + events.Gaussian(noise_multiplier=20) * 200
            + events.PoissonSampled(events.Gaussian(noise_multiplier=1), rate=0.01) * 1000,
        ),
        ("--noise-multiplier 6 --group 3", events.group(events.Gaussian(noise_multiplier=6), 3)),
    ],
)
def test_options_describe_the_event(typed, event):
    content = answered(f"account {typed} --delta 1e-6")
    assert read(content) == event
    assert content["epsilon"]["upper"] == float(accounting.epsilon(event, delta=1e-6))


def test_the_relation_can_be_named():
    content = answered("account --noise-multiplier 2 --delta 1e-6", "--neighbors", "replace row")
    assert content["neighbors"] == "replace row"


def test_events_come_from_a_file_or_the_input(tmp_path, monkeypatch):
    first, second = events.Laplace(epsilon=0.1) * 3, events.Gaussian(noise_multiplier=5)
    one, several = tmp_path / "one.json", tmp_path / "several.json"
    one.write_text(first.to_json())
    several.write_text(f"[{first.to_json()}, {second.to_json()}]")
    assert read(answered(f"account --event {one} --delta 1e-6")) == first
    assert read(answered(f"account --event {several} --delta 1e-6 --steps 2")) == (first + second) * 2
    then = f"account --event {one} --then --noise-multiplier 5 --delta 1e-6"
    assert read(answered(then)) == first + second
    monkeypatch.setattr(sys, "stdin", io.StringIO(second.to_json()))
    assert read(answered("account --event - --delta 1e-6")) == second


def test_what_stands_before_then_is_not_carried_on():
    command = "account --noise-multiplier 2 --rate 0.1 --then --noise-multiplier 3 --delta 1e-6"
    assert read(answered(command)) == (
        events.PoissonSampled(events.Gaussian(noise_multiplier=2), rate=0.1)
        + events.Gaussian(noise_multiplier=3)
    )


def test_the_question_may_stand_anywhere():
    early = discreet("account --delta 1e-6 --noise-multiplier 2 --then --noise-multiplier 3")
    late = discreet("account --noise-multiplier 2 --then --noise-multiplier 3 --delta 1e-6")
    assert early == late


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("--noise-multiplier 1", "--delta or --at-epsilon: one of them is needed"),
        ("--noise-multiplier 1 --delta 0.1 --at-epsilon 1", "--delta or --at-epsilon: one of them is needed"),
        ("--delta 1e-5", "--mechanism is missing; allowed: one of sampled-gaussian, gaussian"),
        ("--epsilon 1 --delta 1e-5", "--mechanism is missing"),
        (
            "--mechanism sampled-gaussian --rate 0.1 --delta 1e-5",
            "--noise-multiplier is missing, which sampled",
        ),
        (
            "--mechanism gaussian --noise-multiplier 1 --rate 0.1 --delta 1e-5",
            "--rate does not apply to gaussian",
        ),
        ("--noise-multiplier 1 --loader shuffled --delta 1e-5", "--loader does not apply to gaussian"),
        ("--noise-multiplier 1 --at-epsilon 1 --ladder", "--ladder does not apply at an epsilon"),
        ("--noise-multiplier 1 --delta 0 --ladder", "--delta is out of range"),
        ("--event a.json --mechanism pure --delta 1e-5", "--mechanism and --event are both given"),
        ("--event a.json --rate 0.5 --delta 1e-5", "--rate does not apply to event"),
        ("--mechanism magic --delta 1e-5", "argument --mechanism: invalid choice"),
    ],
)
def test_unclear_requests_are_refused(typed, reason):
    assert refused(f"account {typed}").startswith(reason)
