"""Made-up shops and film archives whose tables refer to each other by keys, and what people ask about them.

The first is a wholesaler: customers place orders, orders have line items; nations, suppliers and parts are
public. The second is an archive of films: casts, companies, keywords and notes refer to a film; kinds of
everything are public. Each question is compared with what DuckDB answers exactly about the same rows.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

import discreet as dp

Frames = Mapping[str, pd.DataFrame]

START = datetime.date(1993, 1, 1)
END = datetime.date(1998, 12, 31)
SEGMENTS = ["BUILDING", "MACHINERY", "HOUSEHOLD"]
PRIORITIES = ["1-URGENT", "2-HIGH", "3-LOW"]
MODES = ["AIR", "MAIL", "SHIP", "TRUCK"]


def _dates(random: np.random.Generator, many: int) -> np.ndarray:
    days = (END - START).days
    return np.datetime64(START) + random.integers(0, days + 1, many).astype("timedelta64[D]")


def _day(values: np.ndarray) -> list[datetime.date]:
    return [one.astype(object) for one in values.astype("datetime64[D]")]


def wholesaler(seed: int = 0, customers: int = 120) -> dict[str, pd.DataFrame]:
    """Return the tables of a wholesaler: every row refers to rows that exist."""
    random = np.random.default_rng(seed)
    region = pd.DataFrame({"r_regionkey": [0, 1], "r_name": ["ASIA", "EUROPE"]})
    nation = pd.DataFrame(
        {
            "n_nationkey": range(5),
            "n_name": ["CHINA", "JAPAN", "FRANCE", "GERMANY", "RUSSIA"],
            "n_regionkey": [0, 0, 1, 1, 1],
        }
    )
    supplier = pd.DataFrame(
        {
            "s_suppkey": range(20),
            "s_name": [f"supplier {one}" for one in range(20)],
            "s_nationkey": random.integers(0, 5, 20),
        }
    )
    part = pd.DataFrame(
        {
            "p_partkey": range(40),
            "p_type": random.choice(["PROMO STEEL", "SMALL BRASS", "LARGE TIN"], 40),
            "p_brand": random.choice(["Brand#12", "Brand#23"], 40),
            "p_container": random.choice(["MED BOX", "SM CASE"], 40),
            "p_size": random.integers(1, 51, 40),
        }
    )
    offered = [(p, s) for p in range(40) for s in random.choice(20, 4, replace=False)]
    partsupp = pd.DataFrame(offered, columns=["ps_partkey", "ps_suppkey"])
    partsupp["ps_supplycost"] = random.integers(1, 100, len(offered)).astype(float)
    customer = pd.DataFrame(
        {
            "c_custkey": range(1, customers + 1),
            "c_name": [f"customer {one}" for one in range(customers)],
            "c_nationkey": random.integers(0, 5, customers),
            "c_mktsegment": random.choice(SEGMENTS, customers),
            "c_acctbal": random.integers(-900, 9000, customers).astype(float),
            "c_phone": [f"{10 + one % 5}-555" for one in range(customers)],
        }
    )
    owner = np.repeat(customer["c_custkey"], random.integers(0, 9, customers))
    orders = pd.DataFrame(
        {
            "o_orderkey": 1000 + np.arange(len(owner)),
            "o_custkey": owner.to_numpy(),
            "o_orderstatus": random.choice(["F", "O"], len(owner)),
            "o_totalprice": random.integers(1, 5000, len(owner)).astype(float),
            "o_orderdate": _day(_dates(random, len(owner))),
            "o_orderpriority": random.choice(PRIORITIES, len(owner)),
            "o_comment": random.choice(["plain", "special requests", "other"], len(owner)),
        }
    )
    order = np.repeat(orders["o_orderkey"].to_numpy(), random.integers(1, 5, len(orders)))
    many = len(order)
    place = random.integers(0, len(offered), many)
    shipped = _dates(random, many)
    lineitem = pd.DataFrame(
        {
            "l_orderkey": order,
            "l_partkey": partsupp["ps_partkey"].to_numpy()[place],
            "l_suppkey": partsupp["ps_suppkey"].to_numpy()[place],
            "l_linenumber": pd.Series(order).groupby(order).cumcount().to_numpy() + 1,
            "l_quantity": random.integers(1, 51, many),
            "l_extendedprice": random.integers(1, 1000, many).astype(float),
            "l_discount": random.integers(0, 11, many) / 100,
            "l_tax": random.integers(0, 9, many) / 100,
            "l_returnflag": random.choice(["A", "N", "R"], many),
            "l_linestatus": random.choice(["F", "O"], many),
            "l_shipdate": _day(shipped),
            "l_commitdate": _day(shipped + random.integers(-20, 21, many).astype("timedelta64[D]")),
            "l_receiptdate": _day(shipped + random.integers(1, 31, many).astype("timedelta64[D]")),
            "l_shipmode": random.choice(MODES, many),
        }
    )
    return {
        "region": region,
        "nation": nation,
        "supplier": supplier,
        "part": part,
        "partsupp": partsupp,
        "customer": customer,
        "orders": orders,
        "lineitem": lineitem,
    }


def wholesaler_tables(
    frames: Frames, source: Callable[[str, pd.DataFrame], Any] = lambda name, frame: frame
) -> dict[str, Any]:
    """Declare the tables of a wholesaler: one customer is one person."""
    days = dp.Dates(START, datetime.date(1999, 2, 28))
    public = {
        name: dp.PublicTable(frames[name]) for name in ("region", "nation", "supplier", "part", "partsupp")
    }
    customer = dp.Table(
        source("customer", frames["customer"]),
        person="c_custkey",
        limits=dp.Limits(rows=1),
        columns={
            "c_acctbal": dp.Bounds(-1000, 10000, step=1),
            "c_mktsegment": dp.Keys(SEGMENTS),
        },
    )
    orders = dp.Table(
        source("orders", frames["orders"]),
        person=dp.through("customer", on="o_custkey", to="c_custkey"),
        limits=dp.Limits(rows=10),
        columns={
            "o_totalprice": dp.Bounds(0, 5000, step=1),
            "o_orderdate": days,
            "o_orderpriority": dp.Keys(PRIORITIES),
            "o_orderstatus": dp.Keys(["F", "O"]),
        },
    )
    lineitem = dp.Table(
        source("lineitem", frames["lineitem"]),
        person=dp.through("orders", on="l_orderkey", to="o_orderkey"),
        limits=dp.Limits(rows=40),
        columns={
            "l_quantity": dp.Bounds(0, 50),
            "l_extendedprice": dp.Bounds(0, 1000, step=1),
            "l_discount": dp.Bounds(0, 1, step=0.01),
            "l_tax": dp.Bounds(0, 1, step=0.01),
            "l_returnflag": dp.Keys(["A", "N", "R"]),
            "l_linestatus": dp.Keys(["F", "O"]),
            "l_shipmode": dp.Keys(MODES),
            "l_shipdate": days,
            "l_commitdate": days,
            "l_receiptdate": days,
        },
    )
    return {**public, "customer": customer, "orders": orders, "lineitem": lineitem}


def archive(seed: int = 1, films: int = 80) -> dict[str, pd.DataFrame]:
    """Return the tables of an archive of films: every note refers to a film that exists."""
    random = np.random.default_rng(seed)
    title = pd.DataFrame(
        {
            "id": np.arange(films) + 1,
            "kind_id": random.integers(1, 4, films),
            "production_year": random.integers(1950, 2020, films),
            "title": [f"film {one}" for one in range(films)],
        }
    )

    def notes(most: int, **columns: Callable[[int], Any]) -> pd.DataFrame:
        film = np.repeat(title["id"].to_numpy(), random.integers(0, most + 1, films))
        found: dict[str, Any] = {"id": np.arange(len(film)) + 1, "movie_id": film}
        found |= {name: draw(len(film)) for name, draw in columns.items()}
        return pd.DataFrame(found)

    def numbers(least: int, most: int) -> Callable[[int], Any]:
        return lambda many: random.integers(least, most + 1, many)

    def words(*choices: str) -> Callable[[int], Any]:
        return lambda many: random.choice(list(choices), many)

    return {
        "kind_type": pd.DataFrame({"id": [1, 2, 3], "kind": ["movie", "episode", "tv series"]}),
        "info_type": pd.DataFrame({"id": [1, 2, 3], "info": ["rating", "votes", "top 250 rank"]}),
        "company_type": pd.DataFrame({"id": [1, 2], "kind": ["production companies", "distributors"]}),
        "company_name": pd.DataFrame(
            {
                "id": np.arange(10) + 1,
                "name": [f"company {one}" for one in range(10)],
                "country_code": ["[us]", "[de]"] * 5,
            }
        ),
        "keyword": pd.DataFrame({"id": [1, 2, 3, 4], "keyword": ["sequel", "love", "murder", "hero"]}),
        "role_type": pd.DataFrame({"id": [1, 2], "role": ["actor", "actress"]}),
        "name": pd.DataFrame(
            {
                "id": np.arange(30) + 1,
                "name": [f"{'BTD'[one % 3]} person {one}" for one in range(30)],
                "gender": ["m", "f"] * 15,
            }
        ),
        "link_type": pd.DataFrame({"id": [1, 2], "link": ["follows", "features"]}),
        "title": title,
        "movie_companies": notes(
            3,
            company_id=numbers(1, 10),
            company_type_id=numbers(1, 2),
            note=words("(presents)", "(co-production)", "(as a studio)"),
        ),
        "movie_info_idx": notes(3, info_type_id=numbers(1, 3), info=words("2.0", "5.5", "8.0")),
        "movie_info": notes(4, info_type_id=numbers(1, 3), info=words("Germany", "Sweden", "USA", "Drama")),
        "movie_keyword": notes(4, keyword_id=numbers(1, 4)),
        "cast_info": notes(5, person_id=numbers(1, 30), role_id=numbers(1, 2), note=words("(voice)", "-")),
        "movie_link": notes(2, linked_movie_id=numbers(1, films), link_type_id=numbers(1, 2)),
    }


def archive_tables(
    frames: Frames, source: Callable[[str, pd.DataFrame], Any] = lambda name, frame: frame, rows: int = 500
) -> dict[str, Any]:
    """Declare the tables of an archive: one film is one person."""
    tables: dict[str, Any] = {}
    for name, frame in frames.items():
        if "movie_id" in frame.columns:
            person: Any = dp.through("title", on="movie_id", to="id")
        elif name == "title":
            person = "id"
        else:
            tables[name] = dp.PublicTable(frame)
            continue
        tables[name] = dp.Table(source(name, frame), person=person, limits=dp.Limits(rows=rows))
    return tables


def supplier_tables(frames: Frames) -> dict[str, Any]:
    """Declare the tables of a wholesaler: one supplier is one person, and customers are public."""
    public = ("region", "nation", "part", "customer", "orders")
    limits = dp.Limits(rows=200)
    priced = {
        "l_extendedprice": dp.Bounds(0, 1000, step=1),
        "l_discount": dp.Bounds(0, 1, step=0.01),
    }
    return {
        **{name: dp.PublicTable(frames[name]) for name in public},
        "supplier": dp.Table(frames["supplier"], person="s_suppkey", limits=dp.Limits(rows=1)),
        "partsupp": dp.Table(
            frames["partsupp"],
            person=dp.through("supplier", on="ps_suppkey", to="s_suppkey"),
            limits=limits,
            columns={"ps_supplycost": dp.Bounds(0, 100, step=1)},
        ),
        "lineitem": dp.Table(
            frames["lineitem"],
            person=dp.through("supplier", on="l_suppkey", to="s_suppkey"),
            limits=limits,
            columns=priced,
        ),
    }
