"""The worked example of triangles: both adaptive mechanisms beat the global sensitivity."""

from __future__ import annotations

import pytest

pytest.importorskip("networkx")

from examples import triangles as example


@pytest.mark.statistical
def test_triangles_with_noise_for_this_network():
    network = example.made_up(1500)
    truth, errors = example.edge_private(network, runs=25)
    assert truth > 1000
    assert errors["a bought bound on the local one"] < errors["global sensitivity"] / 2
    assert errors["smooth sensitivity"] < errors["global sensitivity"]


@pytest.mark.statistical
def test_edges_and_degrees_where_persons_are_hidden():
    network = example.made_up(1500)
    answers = example.node_private(network)
    exact, released = answers["edges"]
    assert abs(released - exact) < 0.5 * exact
    exact, released = answers["persons of degree 10 or less"]
    assert abs(released - exact) < 4000


def test_it_prints(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example.made_up, "__defaults__", (300,))
    example.main(str(tmp_path))
    assert "triangles" in capsys.readouterr().out
