"""Retail in a star, after TPC-DS: sales and returns are private; dates, items and stores are public."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow
from tests.corpus.world import Private, World, days, decimals, gaps

import discreet as dp

CUSTOMERS, ITEMS, STORES, SALES, WEB, RETURNS = 1300, 80, 8, 7000, 3000, 900
CATEGORIES = ["Books", "Electronics", "Home", "Jewelry", "Music", "Sports"]
FIRST, DAYS = datetime.date(2000, 1, 1), 1096


def world() -> World:
    """Make the tables; dates are kept as numbers of days, as in a warehouse."""
    keys = dp.Keys(range(DAYS))
    items, stores = dp.Keys(range(1, ITEMS + 1)), dp.Keys(range(1, STORES + 1))
    money = dp.Bounds(0, 1000, step=0.01)
    private = {
        "customer": Private(
            "c_customer_sk",
            {
                "c_birth_year": dp.Bounds(1920, 2000),
                "c_birth_month": dp.Keys(range(1, 13)),
                "c_birth_country": dp.Keys(["CANADA", "CHILE", "CÔTE D'IVOIRE", "JAPAN", None]),
                "c_preferred_cust_flag": dp.Keys(["N", "Y", None]),
            },
        ),
        "store_sales": Private(
            "ss_customer_sk",
            {
                "ss_sold_date_sk": keys,
                "ss_item_sk": items,
                "ss_store_sk": stores,
                "ss_promo_sk": dp.Keys([1, 2, 3, None]),
                "ss_quantity": dp.Bounds(0, 100),
                "ss_list_price": money,
                "ss_sales_price": money,
                "ss_ext_sales_price": dp.Bounds(0, 20000, step=0.01),
                "ss_coupon_amt": money,
                "ss_net_profit": dp.Bounds(-1000, 1000, step=0.01),
            },
        ),
        "store_returns": Private(
            "sr_customer_sk",
            {
                "sr_returned_date_sk": keys,
                "sr_item_sk": items,
                "sr_store_sk": stores,
                "sr_return_quantity": dp.Bounds(0, 100),
                "sr_return_amt": money,
            },
        ),
        "web_sales": Private(
            "ws_bill_customer_sk",
            {
                "ws_sold_date_sk": keys,
                "ws_item_sk": items,
                "ws_quantity": dp.Bounds(0, 100),
                "ws_ext_sales_price": dp.Bounds(0, 20000, step=0.01),
                "ws_net_profit": dp.Bounds(-1000, 1000, step=0.01),
            },
        ),
    }
    return World("retail", tables(), private)


def tables() -> dict[str, pyarrow.Table]:
    """Make all rows."""
    draw = np.random.default_rng(73)
    day, item, store = np.arange(DAYS), np.arange(1, ITEMS + 1), np.arange(1, STORES + 1)
    calendar = [FIRST + datetime.timedelta(days=int(k)) for k in day]
    public = {
        "date_dim": pyarrow.table(
            {
                "d_date_sk": day,
                "d_date": days("2000-01-01", day),
                "d_year": [one.year for one in calendar],
                "d_moy": [one.month for one in calendar],
                "d_qoy": [(one.month - 1) // 3 + 1 for one in calendar],
                "d_dow": [one.isoweekday() % 7 for one in calendar],
                "d_day_name": [one.strftime("%A") for one in calendar],
            }
        ),
        "item": pyarrow.table(
            {
                "i_item_sk": item,
                "i_item_id": [f"ITEM{k:04d}" for k in item],
                "i_category": [CATEGORIES[k % 6] for k in item],
                "i_class": [f"class {k % 11}" for k in item],
                "i_brand": [f"brand {k % 9}" for k in item],
                "i_brand_id": item % 9,
                "i_manufact_id": item % 5 + 100,
                "i_manager_id": item % 4 + 1,
                "i_current_price": decimals(draw.integers(100, 9900, ITEMS)),
                "i_color": draw.choice(["azure", "blush", "peru", "salmon"], ITEMS),
            }
        ),
        "store": pyarrow.table(
            {
                "s_store_sk": store,
                "s_store_name": [f"{name} store" for name in ("able", "bar", "cally", "ese") for _ in "ab"],
                "s_state": [("TN", "SD", "GA")[k % 3] for k in store],
                "s_county": [("Ziebach County", "Walker County")[k % 2] for k in store],
                "s_number_employees": store * 30,
            }
        ),
        "promotion": pyarrow.table(
            {
                "p_promo_sk": [1, 2, 3],
                "p_channel_email": ["N", "Y", "N"],
                "p_channel_event": ["Y", "N", "N"],
            }
        ),
    }
    return public | private_tables(draw)


def private_tables(draw: np.random.Generator) -> dict[str, pyarrow.Table]:
    """Customers with what they bought and brought back."""
    customer = np.arange(1, CUSTOMERS + 1)
    list_price = draw.integers(200, 20000, SALES)
    price = list_price * draw.integers(30, 101, SALES) // 100
    quantity = draw.integers(1, 101, SALES)
    buyer, sold = draw.choice(customer, SALES), draw.integers(0, 1000, SALES)
    item, store = draw.integers(1, ITEMS + 1, SALES), draw.integers(1, STORES + 1, SALES)
    back = draw.choice(SALES, RETURNS, replace=False)
    web_price = draw.integers(200, 15000, WEB)
    countries = ["CANADA", "CHILE", "CÔTE D'IVOIRE", "JAPAN"]
    return {
        "customer": pyarrow.table(
            {
                "c_customer_sk": customer,
                "c_first_name": [f"Name {k % 90}" for k in customer],
                "c_birth_year": gaps(draw, draw.integers(1920, 2001, CUSTOMERS), 0.03),
                "c_birth_month": draw.integers(1, 13, CUSTOMERS),
                "c_birth_country": gaps(draw, draw.choice(countries, CUSTOMERS), 0.05),
                "c_preferred_cust_flag": gaps(draw, draw.choice(["N", "Y"], CUSTOMERS), 0.04),
            }
        ),
        "store_sales": pyarrow.table(
            {
                "ss_customer_sk": buyer,
                "ss_ticket_number": np.arange(SALES) // 2,
                "ss_sold_date_sk": sold,
                "ss_item_sk": item,
                "ss_store_sk": store,
                "ss_promo_sk": gaps(draw, draw.integers(1, 4, SALES), 0.3),
                "ss_quantity": quantity,
                "ss_list_price": decimals(list_price),
                "ss_sales_price": decimals(price),
                "ss_ext_sales_price": decimals(price * quantity),
                "ss_coupon_amt": gaps(draw, decimals(draw.integers(0, 5000, SALES)), 0.5),
                "ss_net_profit": decimals(draw.integers(-90000, 90000, SALES)),
            }
        ),
        "store_returns": pyarrow.table(
            {
                "sr_customer_sk": buyer[back],
                "sr_ticket_number": back // 2,
                "sr_returned_date_sk": sold[back] + draw.integers(1, 90, RETURNS),
                "sr_item_sk": item[back],
                "sr_store_sk": store[back],
                "sr_return_quantity": draw.integers(1, 50, RETURNS),
                "sr_return_amt": decimals(draw.integers(100, 90000, RETURNS)),
            }
        ),
        "web_sales": pyarrow.table(
            {
                "ws_bill_customer_sk": draw.choice(customer, WEB),
                "ws_order_number": np.arange(WEB) // 2,
                "ws_sold_date_sk": draw.integers(0, DAYS, WEB),
                "ws_item_sk": draw.integers(1, ITEMS + 1, WEB),
                "ws_quantity": draw.integers(1, 101, WEB),
                "ws_ext_sales_price": decimals(web_price * 3),
                "ws_net_profit": decimals(draw.integers(-90000, 90000, WEB)),
            }
        ),
    }
