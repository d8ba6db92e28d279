"""Triangles of a social network, where no one may learn about any friendship.

One edge can be in as many triangles as there are other nodes, so noise for the global sensitivity is as
large as the network. In this one the worst pair of nodes has far fewer common neighbors. Two
mechanisms make use of it: one buys an upper bound on the local sensitivity and adds noise
for it, the other adds noise in proportion to the smooth sensitivity. Then the stricter question, where no one
may learn of any *person*, with all friendships: edges and degrees of a projection that is stable.

Run with ``python examples/triangles.py``, and a folder for the picture if you like; needs networkx.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction

import networkx
import numpy as np
from picture import save

from discreet.figures import GRAY, Axes, draw_points, group_places, label_axes, next_style, panels, reference
from discreet.mechanisms import Laplace
from discreet.mechanisms.adaptive.private_local_sensitivity import PrivateLocalSensitivity
from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity
from discreet.privacy.neighbors import ADD_REMOVE_ROW
from discreet.stability.graphs.projection import cumulative_sensitivity, edges_sensitivity, project_to_degree
from discreet.stability.graphs.triangles import triangles

EPSILON, DELTA = 1, Fraction(1, 10**6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A made-up network: an edge table on a public number of nodes."""

    nodes: int
    first: np.ndarray
    second: np.ndarray


def made_up(nodes: int = 3000) -> Network:
    """Return a network with a power law of degrees and many triangles."""
    graph = networkx.powerlaw_cluster_graph(nodes, 8, 0.7, seed=1)
    table = np.array(graph.edges(), dtype=np.int64)
    return Network(nodes=nodes, first=table[:, 0], second=table[:, 1])


def edge_private(network: Network, runs: int = 30) -> tuple[int, dict[str, float]]:
    """Return the number of triangles, and the median error of three mechanisms that hide each edge."""
    profile = triangles(network.first, network.second, nodes=network.nodes)
    truth, most = int(profile.value), network.nodes - 2
    worst = Laplace(sensitivity=most, epsilon=EPSILON, size=1, neighbors=ADD_REMOVE_ROW)
    bought = PrivateLocalSensitivity(
        change=1, global_sensitivity=most, epsilon=EPSILON, delta=DELTA, neighbors=ADD_REMOVE_ROW
    )
    smooth = SmoothSensitivity.best(
        epsilon=EPSILON,
        decay=Fraction(1, 20),
        lower=0,
        upper=network.nodes**2,
        grid=1,
        neighbors=ADD_REMOVE_ROW,
    )
    answers = {
        "global sensitivity": lambda: worst.release(truth),
        "a bought bound on the local one": lambda: bought.release(truth, int(profile.local_at(0))).answer,
        "smooth sensitivity": lambda: smooth.release(profile),
    }
    errors = {
        words: float(np.median([abs(int(ask()) - truth) for _ in range(runs)]))
        for words, ask in answers.items()
    }
    return truth, errors


def node_private(network: Network, degree: int = 60) -> dict[str, tuple[float, float]]:
    """Return what hides each person, with all edges: the truth on the network, and a private answer."""
    projected = project_to_degree(
        network.first, network.second, persons=np.arange(network.nodes), degree=degree
    )
    edges = Laplace(sensitivity=edges_sensitivity(degree), epsilon=Fraction(EPSILON, 2), size=1)
    counts = Laplace(
        sensitivity=cumulative_sensitivity(degree), epsilon=Fraction(EPSILON, 2), size=degree + 1
    )
    degrees = np.bincount(np.concatenate([network.first, network.second]), minlength=network.nodes)
    return {
        "edges": (len(network.first), float(edges.release(projected.edges()))),
        "persons of degree 10 or less": (
            float((degrees <= 10).sum()),
            float(counts.release(projected.cumulative())[10]),
        ),
    }


def plot(truth: int, errors: dict[str, float]) -> Axes:
    """Draw the median errors beside the number of triangles."""
    (ax,) = panels(None)
    places = group_places(ax, ["global", "bought local bound", "smooth"])
    draw_points(ax, places, list(errors.values()), next_style(ax), spread=None, label="median error")
    reference(ax, [-0.5, 2.5], [truth] * 2, label="triangles", color=GRAY)
    ax.set_yscale("log")
    title = f"Triangles of a network, edges hidden, epsilon = {EPSILON}"
    return label_axes(ax, x="sensitivity", y="triangles", title=title)


def main(folder: str | None = None) -> None:
    """Print errors and answers."""
    network = made_up()
    truth, errors = edge_private(network)
    print(f"{truth} triangles; the median error at epsilon = {EPSILON}, if no edge may be learned, with")
    for words, error in errors.items():
        print(f"  {words:<34} {error:>8.0f}")
    print("if no person may be learned, with all edges:")
    for words, (exact, answer) in node_private(network).items():
        print(f"  {words:<34} {exact:>8.0f} in the network, {answer:>8.0f} released")
    save(lambda: plot(truth, errors), "triangles", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
