-- Reports over a star of sales, dates, items and stores, as in TPC-DS.
-- world: retail

-- name: brand sales in a month
SELECT d_year, i_brand_id AS brand_id, i_brand AS brand, SUM(ss_ext_sales_price) AS sum_agg
FROM date_dim, store_sales, item
WHERE d_date_sk = ss_sold_date_sk AND ss_item_sk = i_item_sk AND i_manufact_id = 102 AND d_moy = 11
GROUP BY d_year, i_brand, i_brand_id
ORDER BY d_year, sum_agg DESC, brand_id
LIMIT 100;

-- name: averages under a promotion
SELECT i_category, AVG(ss_quantity) AS agg1, AVG(ss_list_price) AS agg2, AVG(ss_coupon_amt) AS agg3,
       AVG(ss_sales_price) AS agg4
FROM store_sales, date_dim, item, promotion
WHERE ss_sold_date_sk = d_date_sk AND ss_item_sk = i_item_sk AND ss_promo_sk = p_promo_sk
  AND (p_channel_email = 'N' OR p_channel_event = 'N') AND d_year = 2000
GROUP BY i_category
ORDER BY i_category
LIMIT 100;

-- name: manager's categories
SELECT d_year, i_category, SUM(ss_ext_sales_price) AS total
FROM date_dim dt, store_sales, item
WHERE dt.d_date_sk = store_sales.ss_sold_date_sk AND store_sales.ss_item_sk = item.i_item_sk
  AND item.i_manager_id = 1 AND dt.d_moy = 12 AND dt.d_year = 2001
GROUP BY d_year, i_category
ORDER BY total DESC, d_year, i_category;

-- name: day names by store
SELECT s_store_name,
       SUM(CASE WHEN d_day_name = 'Sunday' THEN ss_sales_price ELSE NULL END) AS sun_sales,
       SUM(CASE WHEN d_day_name = 'Monday' THEN ss_sales_price ELSE NULL END) AS mon_sales,
       SUM(CASE WHEN d_day_name = 'Friday' THEN ss_sales_price ELSE NULL END) AS fri_sales
FROM date_dim, store_sales, store
WHERE d_date_sk = ss_sold_date_sk AND s_store_sk = ss_store_sk AND d_year = 2000
GROUP BY s_store_name
ORDER BY s_store_name;

-- name: buckets of quantity
SELECT CASE WHEN ss_quantity BETWEEN 1 AND 20 THEN '01-20' WHEN ss_quantity BETWEEN 21 AND 40 THEN '21-40'
            WHEN ss_quantity BETWEEN 41 AND 60 THEN '41-60' ELSE 'more' END AS bucket,
       COUNT(*) AS n, AVG(ss_net_profit) AS profit
FROM store_sales
GROUP BY 1
ORDER BY 1;

-- name: counts under conditions from one scan
SELECT (SELECT COUNT(*) FROM store_sales WHERE ss_quantity BETWEEN 1 AND 20) AS bucket1,
       (SELECT AVG(ss_sales_price) FROM store_sales WHERE ss_quantity BETWEEN 21 AND 40) AS bucket2,
       (SELECT COUNT(*) FROM store_sales WHERE ss_quantity > 40) AS bucket3;

-- name: profit by state and county with subtotals
SELECT s_state, s_county, SUM(ss_net_profit) AS total_sum
FROM store_sales JOIN store ON s_store_sk = ss_store_sk
GROUP BY ROLLUP (s_state, s_county);

-- name: averages with subtotals
SELECT i_category, s_state, GROUPING(s_state) AS g_state, AVG(ss_quantity) AS agg1, AVG(ss_list_price) AS agg2
FROM store_sales, item, store
WHERE ss_item_sk = i_item_sk AND ss_store_sk = s_store_sk
GROUP BY ROLLUP (i_category, s_state)
ORDER BY i_category, s_state;

-- name: share of category revenue
SELECT i_category, SUM(ss_ext_sales_price) AS itemrevenue,
       SUM(ss_ext_sales_price) * 100 / SUM(SUM(ss_ext_sales_price)) OVER () AS revenueratio
FROM store_sales, item, date_dim
WHERE ss_item_sk = i_item_sk AND i_category IN ('Sports', 'Books', 'Home') AND ss_sold_date_sk = d_date_sk
  AND d_date BETWEEN CAST('2000-02-22' AS DATE) AND (CAST('2000-02-22' AS DATE) + INTERVAL 300 DAYS)
GROUP BY i_category
ORDER BY i_category;

-- name: share of class within category
SELECT i_category, i_class, SUM(ss_ext_sales_price) AS revenue,
       SUM(ss_ext_sales_price) * 100 / SUM(SUM(ss_ext_sales_price)) OVER (PARTITION BY i_category) AS ratio
FROM store_sales JOIN item ON ss_item_sk = i_item_sk
WHERE i_category IN ('Music', 'Jewelry')
GROUP BY i_category, i_class
ORDER BY i_category, i_class;

-- name: monthly averages and deviations
SELECT i_category, d_moy, SUM(ss_sales_price) AS sum_sales,
       AVG(SUM(ss_sales_price)) OVER (PARTITION BY i_category) AS avg_monthly_sales
FROM item, store_sales, date_dim
WHERE ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk AND d_year = 2001 AND i_category IN ('Books', 'Home')
GROUP BY i_category, d_moy
ORDER BY i_category, d_moy;

-- name: stores ranked by profit
SELECT s_store_name, SUM(ss_net_profit) AS profit, RANK() OVER (ORDER BY SUM(ss_net_profit) DESC) AS rank_within
FROM store_sales JOIN store ON ss_store_sk = s_store_sk
GROUP BY s_store_name
ORDER BY rank_within;

-- name: store and web together
SELECT channel, SUM(sales) AS sales
FROM (SELECT 'store' AS channel, ss_ext_sales_price AS sales, ss_customer_sk AS customer FROM store_sales
      UNION ALL
      SELECT 'web' AS channel, ws_ext_sales_price AS sales, ws_bill_customer_sk AS customer FROM web_sales) AS x
GROUP BY channel
ORDER BY channel;

-- name: totals of two channels, one below the other
SELECT 'store' AS channel, COUNT(*) AS n, SUM(ss_ext_sales_price) AS sales FROM store_sales
UNION ALL
SELECT 'web' AS channel, COUNT(*) AS n, SUM(ws_ext_sales_price) AS sales FROM web_sales;

-- name: web to store ratio by month
WITH s AS (SELECT d_moy, SUM(ss_ext_sales_price) AS store_sales FROM store_sales, date_dim
           WHERE ss_sold_date_sk = d_date_sk AND d_year = 2000 GROUP BY d_moy),
     w AS (SELECT d_moy, SUM(ws_ext_sales_price) AS web_sales FROM web_sales, date_dim
           WHERE ws_sold_date_sk = d_date_sk AND d_year = 2000 GROUP BY d_moy)
SELECT s.d_moy, web_sales / store_sales AS ratio FROM s JOIN w ON s.d_moy = w.d_moy ORDER BY s.d_moy;

-- name: year over year by quarter
WITH q AS (SELECT d_year, d_qoy, SUM(ss_ext_sales_price) AS total FROM store_sales JOIN date_dim ON ss_sold_date_sk = d_date_sk
           WHERE d_year IN (2000, 2001) GROUP BY d_year, d_qoy)
SELECT now.d_qoy, now.total / prev.total AS growth
FROM q AS now JOIN q AS prev ON now.d_qoy = prev.d_qoy AND now.d_year = prev.d_year + 1
ORDER BY now.d_qoy;

-- name: bought and brought back
SELECT s_store_name, SUM(ss_quantity) AS sold, SUM(sr_return_quantity) AS returned
FROM store_sales, store_returns, store
WHERE ss_customer_sk = sr_customer_sk AND ss_item_sk = sr_item_sk AND ss_ticket_number = sr_ticket_number
  AND s_store_sk = ss_store_sk
GROUP BY s_store_name
ORDER BY s_store_name;

-- name: returned within time
SELECT SUM(CASE WHEN sr_returned_date_sk - ss_sold_date_sk <= 30 THEN 1 ELSE 0 END) AS days_30,
       SUM(CASE WHEN sr_returned_date_sk - ss_sold_date_sk > 30 AND sr_returned_date_sk - ss_sold_date_sk <= 60 THEN 1 ELSE 0 END) AS days_60,
       SUM(CASE WHEN sr_returned_date_sk - ss_sold_date_sk > 60 THEN 1 ELSE 0 END) AS days_more
FROM store_sales, store_returns
WHERE ss_customer_sk = sr_customer_sk AND ss_item_sk = sr_item_sk AND ss_ticket_number = sr_ticket_number;

-- name: customers of both channels
SELECT COUNT(*) AS both
FROM customer
WHERE EXISTS (SELECT * FROM store_sales WHERE ss_customer_sk = c_customer_sk)
  AND EXISTS (SELECT * FROM web_sales WHERE ws_bill_customer_sk = c_customer_sk);

-- name: customers of one channel only
-- refused: write SELECT DISTINCT in both parts, which are answers then; or LEFT JOIN private rows on the person, and write WHERE x IS NULL
SELECT COUNT(*) AS n FROM (
  SELECT DISTINCT ss_customer_sk AS customer FROM store_sales
  EXCEPT
  SELECT DISTINCT ws_bill_customer_sk AS customer FROM web_sales) AS only_store;

-- name: customers above the average of returns
-- refused: ask for the number first, and write what was released in its place: what is measured here is paid for before that answer is known
WITH ctr AS (SELECT sr_customer_sk AS customer, SUM(sr_return_amt) AS total FROM store_returns GROUP BY sr_customer_sk)
SELECT COUNT(*) AS n FROM ctr WHERE total > (SELECT AVG(total) * 1.2 FROM ctr);

-- name: best customers
-- never: ask without GROUP BY c_customer_sk
SELECT c_customer_sk, SUM(ss_quantity * ss_sales_price) AS csales
FROM store_sales, customer
WHERE ss_customer_sk = c_customer_sk
GROUP BY c_customer_sk
ORDER BY csales DESC
LIMIT 10;

-- name: birth countries of buyers
SELECT c_birth_country, COUNT(DISTINCT c_customer_sk) AS buyers, AVG(ss_sales_price) AS price
FROM customer JOIN store_sales ON c_customer_sk = ss_customer_sk
WHERE c_preferred_cust_flag = 'Y' AND c_birth_year BETWEEN 1950 AND 1980
GROUP BY c_birth_country;

-- name: demographics of a quantity
SELECT AVG(ss_quantity) AS q, AVG(ss_ext_sales_price) AS p, SUM(ss_coupon_amt) AS c
FROM store_sales JOIN customer ON ss_customer_sk = c_customer_sk
WHERE (c_birth_month IN (1, 2, 3) AND ss_sales_price BETWEEN 50.00 AND 100.00)
   OR (c_birth_month IN (6, 7) AND ss_net_profit BETWEEN 0 AND 500);

-- name: items of a color by price band
SELECT i_color, FLOOR(i_current_price / 25) * 25 AS band, COUNT(*) AS n
FROM store_sales JOIN item ON ss_item_sk = i_item_sk
GROUP BY i_color, FLOOR(i_current_price / 25) * 25
ORDER BY i_color, band;

-- name: spread of prices
SELECT i_category, STDDEV_SAMP(ss_sales_price) / AVG(ss_sales_price) AS cov
FROM store_sales JOIN item ON ss_item_sk = i_item_sk
GROUP BY i_category
HAVING COUNT(*) > 100
ORDER BY i_category;

-- name: weekend against weekdays
SELECT CASE WHEN d_dow IN (0, 6) THEN 'weekend' ELSE 'weekday' END AS part, COUNT(*) AS n, SUM(ss_ext_sales_price) AS total
FROM store_sales JOIN date_dim ON ss_sold_date_sk = d_date_sk
GROUP BY 1;

-- name: spending per customer
SELECT COUNT(*) AS customers, AVG(total) AS mean_total
FROM (SELECT ss_customer_sk, LEAST(SUM(ss_sales_price), 5000) AS total FROM store_sales GROUP BY ss_customer_sk) AS t;

-- name: baskets by size
SELECT lines, COUNT(*) AS tickets
FROM (SELECT ss_customer_sk, ss_ticket_number, LEAST(COUNT(*), 10) AS lines FROM store_sales GROUP BY ss_customer_sk, ss_ticket_number) AS t
GROUP BY lines
ORDER BY lines;

-- name: large stores
SELECT s_store_name, COUNT(*) AS n
FROM store_sales JOIN store ON ss_store_sk = s_store_sk
WHERE s_number_employees > (SELECT AVG(s_number_employees) FROM store)
GROUP BY s_store_name
ORDER BY n DESC;
