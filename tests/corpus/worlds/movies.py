"""Movies, after the Join Order Benchmark: a title is protected, with all that is known of it."""

from __future__ import annotations

import numpy as np
import pyarrow
from tests.corpus.world import Private, World, gaps

import discreet as dp

TITLES, NAMES, COMPANIES, KEYWORDS = 2000, 300, 90, 60
KINDS = ["movie", "tv series", "tv movie", "video movie", "episode"]
INFO = ["budget", "bottom 10 rank", "genres", "rating", "release dates", "countries", "votes"]
GENRES = ["Action", "Comedy", "Drama", "Horror", "Sci-Fi", "Thriller"]
PLACES = ["Germany", "Sweden", "USA", "Denmark", "Bulgaria"]


def world() -> World:
    """Make the tables."""
    draw = np.random.default_rng(74)
    private = {
        "title": Private("id", {"kind_id": dp.Keys(range(1, 6)), "production_year": dp.Bounds(1950, 2020)}),
        "movie_companies": Private(
            "movie_id",
            {"company_id": dp.Keys(range(1, COMPANIES + 1)), "company_type_id": dp.Keys([1, 2])},
        ),
        "movie_info": Private(
            "movie_id", {"info_type_id": dp.Keys(range(1, 8)), "info": dp.Keys(GENRES + PLACES)}
        ),
        "movie_info_idx": Private("movie_id", {"info_type_id": dp.Keys(range(1, 8))}),
        "movie_keyword": Private("movie_id", {"keyword_id": dp.Keys(range(1, KEYWORDS + 1))}),
        "cast_info": Private(
            "movie_id",
            {
                "person_id": dp.Keys(range(1, NAMES + 1)),
                "role_id": dp.Keys(range(1, 5)),
                "nr_order": dp.Bounds(0, 100),
            },
        ),
        "complete_cast": Private("movie_id", {"status_id": dp.Keys([1, 2])}),
    }
    return World("movies", public_tables(draw) | private_tables(draw), private)


def public_tables(draw: np.random.Generator) -> dict[str, pyarrow.Table]:
    """Names of persons, companies, keywords and types."""
    words = ["character-name-in-title", "sequel", "murder", "marvel-cinematic-universe", "blood", "fight"]
    return {
        "kind_type": pyarrow.table({"id": np.arange(1, 6), "kind": KINDS}),
        "info_type": pyarrow.table({"id": np.arange(1, 8), "info": INFO}),
        "role_type": pyarrow.table(
            {"id": np.arange(1, 5), "role": ["actor", "actress", "director", "writer"]}
        ),
        "company_type": pyarrow.table({"id": [1, 2], "kind": ["production companies", "distributors"]}),
        "comp_cast_type": pyarrow.table({"id": [1, 2], "kind": ["complete", "complete+verified"]}),
        "keyword": pyarrow.table(
            {
                "id": np.arange(1, KEYWORDS + 1),
                "keyword": [words[k] if k < 6 else f"keyword-{k}" for k in range(KEYWORDS)],
            }
        ),
        "company_name": pyarrow.table(
            {
                "id": np.arange(1, COMPANIES + 1),
                "name": [f"{('Film', 'Warner', 'Bavaria Büro')[k % 3]} {k}" for k in range(COMPANIES)],
                "country_code": gaps(draw, [("[us]", "[de]", "[pl]")[k % 3] for k in range(COMPANIES)], 0.05),
            }
        ),
        "name": pyarrow.table(
            {
                "id": np.arange(1, NAMES + 1),
                "name": [f"{('Downey', 'Bert', 'Żak', 'Angela')[k % 4]}, {k}" for k in range(NAMES)],
                "gender": gaps(draw, [("m", "f")[k % 2] for k in range(NAMES)], 0.1),
            }
        ),
    }


def private_tables(draw: np.random.Generator) -> dict[str, pyarrow.Table]:
    """Titles, and what belongs to each."""
    titles = np.arange(1, TITLES + 1)
    company = draw.choice(titles, 3500)
    keyword = draw.choice(titles, 5000)
    cast = draw.choice(titles, 8000)
    rated = draw.choice(titles, 1200, replace=False)
    notes = [
        "(co-production)",
        "(presents)",
        "(VHS)",
        "(as Metro-Goldwyn-Mayer Pictures)",
        "(2006) (USA) (TV)",
    ]
    return {
        "title": pyarrow.table(
            {
                "id": titles,
                "title": [f"{('Champion', 'Money', 'Vampire', 'Ärger')[k % 4]} {k}" for k in titles],
                "kind_id": draw.integers(1, 6, TITLES),
                "production_year": gaps(draw, draw.integers(1950, 2021, TITLES), 0.05),
            }
        ),
        "movie_companies": pyarrow.table(
            {
                "movie_id": company,
                "company_id": draw.integers(1, COMPANIES + 1, 3500),
                "company_type_id": draw.integers(1, 3, 3500),
                "note": gaps(draw, draw.choice(notes, 3500), 0.2),
            }
        ),
        "movie_info": pyarrow.table(
            {
                "movie_id": draw.choice(titles, 4000),
                "info_type_id": np.repeat([3, 6], 2000),
                "info": np.concatenate([draw.choice(GENRES, 2000), draw.choice(PLACES, 2000)]),
            }
        ),
        "movie_info_idx": pyarrow.table(
            {
                "movie_id": np.concatenate([rated, rated[:300]]),
                "info_type_id": np.concatenate([np.full(1200, 4), np.full(300, 2)]),
                "info": [f"{draw.integers(1, 10)}.{draw.integers(0, 10)}" for _ in range(1500)],
            }
        ),
        "movie_keyword": pyarrow.table(
            {"movie_id": keyword, "keyword_id": np.minimum(draw.zipf(1.3, 5000), KEYWORDS)}
        ),
        "cast_info": pyarrow.table(
            {
                "movie_id": cast,
                "person_id": draw.integers(1, NAMES + 1, 8000),
                "role_id": draw.integers(1, 5, 8000),
                "nr_order": gaps(draw, draw.integers(1, 40, 8000), 0.2),
                "note": gaps(draw, draw.choice(["(voice)", "(producer)", "(uncredited)"], 8000), 0.5),
            }
        ),
        "complete_cast": pyarrow.table(
            {"movie_id": titles[::3], "status_id": draw.integers(1, 3, len(titles[::3]))}
        ),
    }
