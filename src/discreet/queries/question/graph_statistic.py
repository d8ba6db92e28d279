"""Questions about a graph: statistics, not yet paid for.

::

    friends = dp.Graph("friends.parquet", ends=("one", "other"), nodes=3000)
    budget = dp.Budget(epsilon=2, delta=1e-6, neighbors="edges")
    curator = dp.Curator({"friends": friends}, budget=budget, ledger="friends.ledger")

    triangles = curator.graph("friends").triangles()
    curator.preview(triangles, epsilon=1, delta=1e-7)
    curator.ask(triangles, epsilon=1, delta=1e-7)
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from discreet.curator.request.statistics.base import ReleasedStatistic
from discreet.curator.request.statistics.by_profile import ByBoughtBound, ByProposal, BySmoothSensitivity
from discreet.curator.request.statistics.graph_counts import DegreeCounts, EdgeCount
from discreet.curator.request.statistics.profiled import TriangleStatistic
from discreet.data.tables.graph import Graph
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.privacy.rational import rational, whole
from discreet.queries.question.statistic import StatisticQuestion
from discreet.records import dataclass

__all__ = ["GraphQuestions"]

_MOST_DEGREE = 100_000


@dataclass(frozen=True, slots=True)
class GraphQuestions:
    """What may be asked about a graph of which one edge comes or goes. Building a question touches nothing.

    Parameters
    ----------
    table : str
        The graph.
    """

    table: str

    def edges(self) -> StatisticQuestion:
        """Ask for the number of edges: for epsilon, epsilon and delta, or rho."""
        return self._ask("the number of edges", _edges)

    def degrees(self, *, most: int) -> StatisticQuestion:
        """Ask how many nodes have 0, 1, …, `most` edges, the last with those that have more.

        For epsilon, epsilon and delta, or rho.
        """
        last = whole(most, "most", least=1, most=_MOST_DEGREE)
        return self._ask("the number of nodes of each degree", partial(_degrees, last))

    def triangles(self, *, common: int | None = None) -> StatisticQuestion:
        """Ask for the number of triangles.

        For epsilon with delta a bound on the local sensitivity is bought, and the noise is for that bound
        (`PrivateLocalSensitivity`); the answer has an interval. For epsilon alone, or rho, noise is in
        proportion to the smooth sensitivity, and how large it was stays private.

        Parameters
        ----------
        common : int, optional
            How many neighbors two nodes have in common at most, as you suppose without having looked: noise
            is chosen for it, and errors are stated for it. The guarantee does not depend on it. By default
            the root of the number of nodes.
        """
        supposed = None if common is None else whole(common, "common", least=0)
        return self._ask("the number of triangles", partial(_triangles, supposed))

    def triangles_within(self, bound: int) -> StatisticQuestion:
        """Ask for the number of triangles with noise for a proposed local sensitivity, or no answer.

        Propose-test-release, for epsilon with delta. There is an answer, likely, where many edges would have
        to change before some pair of nodes had more than `bound` common neighbors; no answer costs the same.
        """
        proposed = rational(bound, "bound", positive=True)
        return self._ask("the number of triangles, or no answer", partial(_triangles_within, proposed))

    def _ask(self, words: str, made: Callable[[Graph, Offer], ReleasedStatistic]) -> StatisticQuestion:
        def checked(table: RelatedTable, offer: Offer) -> ReleasedStatistic:
            if not isinstance(table, Graph):
                raise ParameterError("question", f"is about {self.table!r}, which is no graph", "fixed(…)")
            return made(table, offer)

        return StatisticQuestion(table=self.table, words=words, made=checked)


def _edges(graph: Graph, offer: Offer) -> ReleasedStatistic:
    return EdgeCount(nodes=graph.nodes, offer=offer)


def _degrees(most: int, graph: Graph, offer: Offer) -> ReleasedStatistic:
    if most > graph.nodes - 1:
        raise ParameterError("most", "is a degree that no node can have", f"at most {graph.nodes - 1}")
    return DegreeCounts(nodes=graph.nodes, most=most, offer=offer)


def _triangles(common: int | None, graph: Graph, offer: Offer) -> ReleasedStatistic:
    statistic = TriangleStatistic(nodes=graph.nodes, common=common)
    if offer.epsilon is not None and offer.delta is not None:
        return ByBoughtBound(statistic=statistic, offer=offer)
    return BySmoothSensitivity(statistic=statistic, offer=offer)


def _triangles_within(bound: Fraction, graph: Graph, offer: Offer) -> ReleasedStatistic:
    statistic = TriangleStatistic(nodes=graph.nodes)
    return ByProposal(statistic=statistic, bound=statistic.in_steps(bound, "bound"), offer=offer)
