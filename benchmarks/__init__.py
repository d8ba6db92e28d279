"""Measurements against peers. A package of its own name, since a peer installs one called the same."""
