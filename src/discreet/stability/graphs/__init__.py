"""Statistics of graphs whose edges, or persons with all their edges, are private."""

from discreet.exports import publish
from discreet.stability.graphs.projection import (
    Projection,
    cumulative_sensitivity,
    edges_sensitivity,
    histogram_sensitivity,
    project_to_degree,
)
from discreet.stability.graphs.stars import stars
from discreet.stability.graphs.triangles import triangles
from discreet.stability.graphs.truncation import truncated_triangles

__all__ = [
    "Projection",
    "cumulative_sensitivity",
    "edges_sensitivity",
    "histogram_sensitivity",
    "project_to_degree",
    "stars",
    "triangles",
    "truncated_triangles",
]

publish(__name__)
