"""Teachers: models of disjoint shards vote with noise, and a student learns from public rows and their votes."""
