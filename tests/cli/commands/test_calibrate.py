"""`discreet calibrate` finds what just keeps the promise, and shows digits on the safe side."""

from __future__ import annotations

import json

import pytest

from cli.program import discreet, refused
from discreet import accounting
from discreet.privacy import events

PROMISE = "calibrate --epsilon 1 --delta 1e-6"


def answered(command):
    found = discreet(f"{command} --json")
    assert (found.code, found.errors) == (0, "")
    return json.loads(found.output)


def run(noise=4, rate="0.01", steps=10_000):
    return events.PoissonSampled(events.Gaussian(noise_multiplier=noise), rate=rate) * steps


def cost(event):
    return accounting.epsilon(event, delta=1e-6).upper


def test_the_noise_of_the_lecture():
    content = answered(f"{PROMISE} --rate 0.01 --steps 10000")
    noise = content["noise_multiplier"]
    assert noise == pytest.approx(4.3021, abs=2e-4)
    assert len(str(noise)) <= 7
    assert cost(run(noise)) == content["epsilon"]["upper"] <= 1 < cost(run(noise - 2e-5))
    shown = discreet(f"{PROMISE} --rate 0.01 --steps 10000").output.splitlines()[0]
    assert shown.split() == ["noise", "multiplier", str(noise)]


def test_the_number_of_steps():
    content = answered(f"{PROMISE} --rate 0.01 --noise-multiplier 4 --find steps")
    steps = content["steps"]
    assert cost(run(steps=steps)) <= 1 < cost(run(steps=steps + 1))
    shown = discreet(f"{PROMISE} --rate 0.01 --noise-multiplier 4 --find steps").output
    assert f"steps    {steps:,}" in shown


def test_the_rate():
    rate = answered(f"{PROMISE} --noise-multiplier 4 --steps 10000 --find rate")["rate"]
    assert cost(run(rate=rate)) <= 1 < cost(run(rate=rate + 2e-8))
    assert answered(f"{PROMISE} --noise-multiplier 100 --steps 4 --find rate")["rate"] == 1.0


def test_the_epsilon_of_each_release():
    content = answered("calibrate --epsilon 1 --delta 0 --mechanism laplace --steps 100 --find each-epsilon")
    assert content["each_epsilon"] == 0.01
    pure = answered("calibrate --epsilon 2 --delta 0 --mechanism pure --find each-epsilon")
    assert pure["each_epsilon"] == 2.0


def test_where_the_loader_shuffles_epochs_are_counted():
    content = answered(f"{PROMISE} --rate 0.01 --steps 10000 --loader shuffled")
    noise = content["noise_multiplier"]
    assert cost(events.Gaussian(noise_multiplier=noise) * 100) <= 1
    assert noise == pytest.approx(42.2468, abs=2e-4)
    assert "shuffles" in content["assumption"]
    # At epsilon 1 and this noise ten epochs fit, whole ones: a thousand steps at a rate of 1/100.
    steps = answered(f"{PROMISE} --rate 0.01 --noise-multiplier 13.36 --loader shuffled --find steps")[
        "steps"
    ]
    assert steps == 1000


def test_steps_of_a_recorded_event(tmp_path):
    (tmp_path / "step.json").write_text(events.Laplace(epsilon="1/8").to_json())
    found = answered(f"calibrate --epsilon 1 --delta 0 --event {tmp_path / 'step.json'} --find steps")
    assert found["steps"] == 8


def test_no_step_at_all_is_an_answer():
    found = discreet("calibrate --epsilon 0.001 --delta 1e-6 --noise-multiplier 1 --find steps")
    assert found.code == 0
    assert found.output.splitlines()[0].split() == ["steps", "0"]


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("calibrate --delta 1e-6", "the following arguments are required: --epsilon"),
        (f"{PROMISE} --noise-multiplier 3", "--noise-multiplier is given, but it is what should be found"),
        (f"{PROMISE} --find steps", "--mechanism is missing"),
        (f"{PROMISE} --find each-epsilon", "--mechanism is missing"),
        (f"{PROMISE} --noise-multiplier 3 --find rate --loader shuffled", "--loader shuffles"),
        (
            "calibrate --epsilon 1 --delta 0 --steps 10",
            "--noise-multiplier that just keeps the promise was not",
        ),
        ("calibrate --epsilon 0 --delta 1e-6", "--epsilon is not positive"),
        ("calibrate --epsilon -1 --delta 1e-6", "--epsilon is not positive"),
        ("calibrate --epsilon x --delta 1e-6", "--epsilon is text that is not a number"),
        ("calibrate --epsilon 1 --delta 1 --steps 10", "--delta is out of range"),
        (f"{PROMISE} --rate 2 --steps 10", "--rate is out of range"),
        (f"{PROMISE} --noise-multiplier 0 --find steps", "--noise-multiplier is not positive"),
        (
            f"{PROMISE} --mechanism pure --each-epsilon 0 --find steps",
            "most is a number of steps that still keeps",
        ),
    ],
)
def test_unclear_requests_are_refused(typed, reason):
    assert refused(typed).startswith(reason)
