"""From an offer to a request: how it is split, which noise is added, what is measured."""
