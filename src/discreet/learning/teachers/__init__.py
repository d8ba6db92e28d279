"""Teachers: models of disjoint shards vote with noise, and a student learns from their answers alone."""
