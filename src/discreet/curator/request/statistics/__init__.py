"""Statistics under other neighbor relations, each with the mechanism that releases it."""
