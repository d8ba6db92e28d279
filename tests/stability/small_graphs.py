"""All graphs on a few nodes, each as a set of bits: one for each pair of nodes."""

from __future__ import annotations

from itertools import combinations

import numpy as np


class SmallGraphs:
    """The graphs on `nodes` nodes, numbered from 0 on."""

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        self.pairs = list(combinations(range(nodes), 2))
        self.bit = {pair: index for index, pair in enumerate(self.pairs)}

    def __iter__(self):
        return iter(range(1 << len(self.pairs)))

    def edges(self, graph: int) -> list[tuple[int, int]]:
        return [pair for index, pair in enumerate(self.pairs) if graph >> index & 1]

    def columns(self, graph: int) -> tuple[np.ndarray, np.ndarray]:
        table = np.array(self.edges(graph), dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def neighbors(self, graph: int) -> list[int]:
        return [graph ^ (1 << index) for index in range(len(self.pairs))]

    def degrees(self, graph: int) -> list[int]:
        return [sum(node in edge for edge in self.edges(graph)) for node in range(self.nodes)]

    def triangles(self, graph: int) -> int:
        return sum(
            all(graph >> self.bit[pair] & 1 for pair in combinations(corners, 2))
            for corners in combinations(range(self.nodes), 3)
        )
