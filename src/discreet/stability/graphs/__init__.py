"""Statistics of graphs whose edges, or persons with all their edges, are private."""
