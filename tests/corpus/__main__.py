"""Prints how much of the corpus is answered, by kind and by construct.

    python -m tests.corpus [--kind dashboards] [--name month] [--show refused] [--mark]

With ``--mark`` the files say afterwards which queries are answered, and what the refusals of the others say.
"""

from __future__ import annotations

import argparse

from tests.corpus.coverage import by_construct, by_kind
from tests.corpus.marking import mark
from tests.corpus.measuring import ANSWERED, Worlds, outcomes
from tests.corpus.reading import corpus


def main() -> None:
    """Run what is asked for and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", default="")
    parser.add_argument("--name", default="")
    parser.add_argument("--show", nargs="*", default=["WRONG", "FAILED"])
    parser.add_argument("--mark", action="store_true")
    options = parser.parse_args()
    chosen = [query for query in corpus() if options.kind in query.kind and options.name in query.name]
    worlds = Worlds()
    found = outcomes(chosen, worlds)
    worlds.close()
    for one in found:
        if one.what in options.show and one.what != ANSWERED:
            print(f"{one.what}  {one.query.title}  [{one.query.mark}]\n    {one.said}")
    if options.mark:
        mark(found)
    print(by_kind(found), by_construct(found), sep="\n\n")


if __name__ == "__main__":
    main()
