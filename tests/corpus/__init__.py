"""Queries as people write them, each with the exact answer that it should come close to.

`queries` has a file for each kind of source. In front of a query stand its name, the world that it is
about, and, if it is not answered, what its refusal says:

- ``refused``: an answer could be private, but is not in the language yet;
- ``never``: no private answer exists, because one person decides about others, or a person itself is shown.

``python -m tests.corpus`` runs all of them and prints how many are answered, by kind and by construct.
"""
