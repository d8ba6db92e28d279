"""The edges and what lies beyond them, from the command line: infinity or a reason, never a traceback."""

from __future__ import annotations

import json

import pytest

from cli.program import discreet, refused


def answered(typed):
    found = discreet(f"account {typed} --json")
    assert (found.code, found.errors) == (0, "")
    return json.loads(found.output)


@pytest.mark.parametrize("rate", ["-0.1", "1.1", "3/2", "nan", "inf", "x"])
@pytest.mark.parametrize("loader", ["poisson", "shuffled"])
def test_rates_outside_the_unit_interval(rate, loader):
    typed = f"account --noise-multiplier 1 --rate {rate} --loader {loader} --delta 1e-5"
    assert refused(typed).startswith("--rate ")


def test_rates_at_the_ends():
    assert answered("--noise-multiplier 1 --rate 0 --steps 100 --delta 0")["epsilon"]["upper"] == 0
    always = answered("--noise-multiplier 1 --rate 1 --steps 100 --delta 1e-5")["epsilon"]["upper"]
    plain = answered("--noise-multiplier 1 --steps 100 --delta 1e-5")["epsilon"]["upper"]
    assert always == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize("noise", ["0", "-1", "nan", "x"])
def test_noise_that_is_none(noise):
    assert refused(f"account --noise-multiplier {noise} --delta 1e-5").startswith("--noise-multiplier ")


@pytest.mark.parametrize("typed", ["--noise-multiplier 1", "--noise-multiplier 4 --rate 0.01 --steps 10000"])
def test_at_delta_zero_an_unbounded_loss_has_an_infinite_epsilon(typed):
    assert answered(f"{typed} --delta 0")["epsilon"]["upper"] == "infinity"
    assert "epsilon  infinity" in discreet(f"account {typed} --delta 0").output


@pytest.mark.parametrize("delta", ["1", "1.5", "-0.1", "nan", "x"])
def test_deltas_out_of_range(delta):
    assert refused(f"account --noise-multiplier 1 --delta {delta}").startswith("--delta ")


@pytest.mark.parametrize("epsilon", ["-1", "nan", "inf", "x"])
def test_epsilons_out_of_range(epsilon):
    assert refused(f"account --noise-multiplier 1 --at-epsilon {epsilon}").startswith("--at-epsilon ")
    assert refused(f"account --mechanism laplace --epsilon {epsilon} --delta 0").startswith("--each-epsilon ")


def test_tiny_and_huge_epsilons():
    tiny = answered("--mechanism laplace --epsilon 1e-9 --steps 100 --delta 1e-12")["epsilon"]["upper"]
    assert 0 < tiny <= 1.01e-7
    assert answered("--mechanism pure --epsilon 10000 --delta 1e-6")["epsilon"]["upper"] == pytest.approx(1e4)
    assert answered("--noise-multiplier 1 --at-epsilon 500")["delta"]["upper"] < 1e-300
    assert answered("--noise-multiplier 1 --at-epsilon 1e-300")["delta"]["upper"] == pytest.approx(0.3829249)


def test_a_thousand_million_repetitions():
    found = answered("--noise-multiplier 4 --rate 0.01 --steps 1e9 --delta 1e-6")["epsilon"]
    assert found["upper"] == pytest.approx(3603.4, abs=0.5)
    assert found["lower"] > 3600
    assert refused("account --noise-multiplier 4 --steps 1e19 --delta 1e-6").startswith(
        "--steps is out of range"
    )
    assert refused("account --noise-multiplier 4 --steps -1 --delta 1e-6").startswith(
        "--steps is out of range"
    )


def test_relations_do_not_mix():
    reason = refused("account --noise-multiplier 1 --then --truth 3/4 --delta 1e-5")
    assert reason.startswith("--neighbors differ between parts (add-remove person, replace person)")
    assert "relations do not mix" in reason
    assert refused("account --noise-multiplier 1 --delta 0.1", "--neighbors", "nobody").startswith(
        "--neighbors "
    )


def test_unknown_events_are_refused_by_name(tmp_path):
    file = tmp_path / "events.json"
    for content in ('{"event": "Unheard"}', '[{"event": "Pure", "epsilon": "1"}, {"event": "Unheard"}]'):
        file.write_text(content)
        assert "unknown name 'Unheard'" in refused(f"account --event {file} --delta 1e-5")


@pytest.mark.parametrize("content", ["", "{", "3", "[3]", '"x"', '{"event": 3}', "[" * 100_000, "\x00"])
def test_files_that_hold_no_events(content, tmp_path):
    file = tmp_path / "events.json"
    file.write_text(content)
    refused(f"account --event {file} --delta 1e-5")


def test_files_that_cannot_be_read(tmp_path):
    assert "No such file" in refused(f"account --event {tmp_path / 'none.json'} --delta 1e-5", code=5)
    assert "directory" in refused(f"account --event {tmp_path} --delta 1e-5", code=5)
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    refused(f"account --event {binary} --delta 1e-5")


@pytest.mark.parametrize("group", ["0", "-1", "x", "1.5"])
def test_groups_of_nobody(group):
    assert "--group" in refused(f"account --noise-multiplier 1 --group {group} --delta 1e-5")
