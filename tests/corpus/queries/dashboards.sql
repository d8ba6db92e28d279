-- Charts of dashboards over a web shop.
-- world: shop

-- name: orders by month
SELECT DATE_TRUNC('month', created_at) AS month, COUNT(*) AS orders FROM orders GROUP BY 1 ORDER BY 1;

-- name: revenue by month
SELECT DATE_TRUNC('month', "orders"."created_at") AS "created_at", SUM("orders"."subtotal") AS "sum"
FROM "public"."orders"
GROUP BY DATE_TRUNC('month', "orders"."created_at")
ORDER BY DATE_TRUNC('month', "orders"."created_at") ASC;

-- name: revenue by category
SELECT p.category, SUM(o.subtotal) AS revenue, COUNT(*) AS orders
FROM orders o LEFT JOIN products p ON o.product_id = p.id
GROUP BY p.category
ORDER BY revenue DESC;

-- name: by source of the person
SELECT people.source, COUNT(*) AS count, SUM(orders.subtotal) AS total
FROM orders LEFT JOIN people ON orders.user_id = people.id
GROUP BY people.source
ORDER BY people.source ASC;

-- name: average order value
SELECT DATE_TRUNC('quarter', created_at) AS quarter, SUM(subtotal) / COUNT(*) AS aov, AVG(quantity) AS units
FROM orders
WHERE status = 'complete'
GROUP BY 1
ORDER BY 1;

-- name: share of total by status
SELECT status, COUNT(*) AS n, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS pct
FROM orders
GROUP BY status
ORDER BY pct DESC;

-- name: share of total by a scalar subquery
SELECT status, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM orders) AS share FROM orders GROUP BY status ORDER BY status;

-- name: share of total by a cross join
WITH by_status AS (SELECT status, COUNT(*) AS n FROM orders GROUP BY status),
     total AS (SELECT SUM(n) AS all_orders FROM by_status)
SELECT status, n, ROUND(100.0 * n / all_orders, 1) AS pct FROM by_status CROSS JOIN total ORDER BY status;

-- name: month over month
WITH monthly AS (SELECT DATE_TRUNC('month', created_at) AS month, SUM(subtotal) AS revenue FROM orders GROUP BY 1)
SELECT month, revenue, revenue - LAG(revenue) OVER (ORDER BY month) AS change
FROM monthly
ORDER BY month;

-- name: month over month in percent
SELECT DATE_TRUNC('month', created_at) AS month, COUNT(*) AS n,
       ROUND(100.0 * (COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY DATE_TRUNC('month', created_at)))
             / LAG(COUNT(*)) OVER (ORDER BY DATE_TRUNC('month', created_at)), 1) AS growth
FROM orders
GROUP BY DATE_TRUNC('month', created_at)
ORDER BY month;

-- name: running total
-- plain: SELECT month, SUM(COALESCE(n, 0)) OVER (ORDER BY month) AS running FROM (SELECT UNNEST(RANGE(DATE '2023-01-01', DATE '2025-01-01', INTERVAL 1 MONTH)) AS month) AS all_months LEFT JOIN (SELECT DATE_TRUNC('month', created_at) AS month, COUNT(*) AS n FROM people GROUP BY 1) AS m USING (month) ORDER BY month
SELECT month, SUM(n) OVER (ORDER BY month ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running
FROM (SELECT DATE_TRUNC('month', created_at) AS month, COUNT(*) AS n FROM people GROUP BY 1) AS m
ORDER BY month;

-- name: three-month average
SELECT month, AVG(revenue) OVER (ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS smooth
FROM (SELECT DATE_TRUNC('month', created_at) AS month, SUM(subtotal) AS revenue FROM orders GROUP BY 1) AS m
ORDER BY month;

-- name: top five products
SELECT p.title, SUM(o.quantity) AS units
FROM orders o JOIN products p ON p.id = o.product_id
GROUP BY p.title
ORDER BY units DESC
LIMIT 5;

-- name: top vendor of each category
SELECT category, vendor, revenue
FROM (SELECT p.category, p.vendor, SUM(o.subtotal) AS revenue,
             ROW_NUMBER() OVER (PARTITION BY p.category ORDER BY SUM(o.subtotal) DESC) AS rn
      FROM orders o JOIN products p ON p.id = o.product_id GROUP BY p.category, p.vendor) AS ranked
WHERE rn = 1
ORDER BY category;

-- name: categories above a threshold
SELECT p.category, AVG(r.rating) AS stars
FROM reviews r JOIN products p ON r.product_id = p.id
GROUP BY p.category
HAVING AVG(r.rating) > 3 AND COUNT(*) > 100
ORDER BY stars DESC;

-- name: buckets of order value
SELECT CASE WHEN subtotal < 50 THEN '0-50' WHEN subtotal < 150 THEN '50-150' WHEN subtotal < 300 THEN '150-300' ELSE '300+' END AS bucket,
       COUNT(*) AS n
FROM orders
GROUP BY bucket
ORDER BY n DESC;

-- name: bins by width
SELECT FLOOR(subtotal / 50.0) * 50.0 AS bin, COUNT(*) AS n FROM orders GROUP BY FLOOR(subtotal / 50.0) * 50.0 ORDER BY 1;

-- name: age bands of people
SELECT CASE WHEN age BETWEEN 18 AND 24 THEN '18-24' WHEN age BETWEEN 25 AND 44 THEN '25-44' WHEN age >= 45 THEN '45+' ELSE 'unknown' END AS band,
       plan, COUNT(*) AS people
FROM people
GROUP BY 1, 2
ORDER BY 1, 2;

-- name: totals below the rows
SELECT status, COUNT(*) AS n FROM orders GROUP BY status
UNION ALL
SELECT 'total', COUNT(*) FROM orders;

-- name: rollup of year and quarter
SELECT EXTRACT(YEAR FROM created_at) AS y, EXTRACT(QUARTER FROM created_at) AS q, COUNT(*) AS n
FROM orders
GROUP BY ROLLUP (EXTRACT(YEAR FROM created_at), EXTRACT(QUARTER FROM created_at));

-- name: cube of source and plan
SELECT source, plan, COUNT(*) AS n FROM people GROUP BY CUBE (source, plan);

-- name: grouping sets
SELECT status, EXTRACT(YEAR FROM created_at) AS y, SUM(subtotal) AS total
FROM orders
GROUP BY GROUPING SETS ((status), (EXTRACT(YEAR FROM created_at)), ());

-- name: pivot of statuses by month
SELECT DATE_TRUNC('month', created_at) AS month,
       COUNT(*) FILTER (WHERE status = 'complete') AS complete,
       COUNT(*) FILTER (WHERE status = 'cancelled') AS cancelled,
       COUNT(*) FILTER (WHERE status = 'refunded') AS refunded
FROM orders
GROUP BY 1
ORDER BY 1;

-- name: refund rate by category
SELECT p.category, AVG(CASE WHEN o.status = 'refunded' THEN 1.0 ELSE 0.0 END) AS refund_rate
FROM orders o INNER JOIN products p ON o.product_id = p.id
GROUP BY p.category
ORDER BY p.category;

-- name: last ninety days
SELECT COUNT(*) AS orders FROM orders WHERE created_at >= DATE '2024-12-31' - INTERVAL '90 days';

-- name: since a day, as text
SELECT COUNT(DISTINCT user_id) AS buyers FROM orders WHERE created_at >= '2024-06-01' AND created_at < '2024-07-01';

-- name: the last month
SELECT COUNT(*) AS n FROM orders WHERE DATE_TRUNC('month', created_at) = DATE '2024-05-01';

-- name: day of week
SELECT EXTRACT(DOW FROM created_at) AS dow, COUNT(*) AS n FROM orders GROUP BY 1 ORDER BY 1;

-- name: hour of day on mobile
SELECT EXTRACT(HOUR FROM happened_at) AS hour, COUNT(*) AS views FROM events WHERE device = 'mobile' GROUP BY hour ORDER BY hour;

-- name: daily active users in a week
SELECT CAST(happened_at AS DATE) AS day, COUNT(DISTINCT user_id) AS dau
FROM events
WHERE happened_at >= '2024-03-04' AND happened_at < '2024-03-11'
GROUP BY CAST(happened_at AS DATE)
ORDER BY day;

-- name: weekly active users
SELECT DATE_TRUNC('week', happened_at) AS week, COUNT(DISTINCT user_id) AS wau FROM events
WHERE happened_at >= TIMESTAMP '2024-01-01 00:00:00' AND happened_at < TIMESTAMP '2024-04-01 00:00:00'
GROUP BY 1 ORDER BY 1;

-- name: stickiness
WITH d AS (SELECT COUNT(DISTINCT user_id) AS dau FROM events WHERE CAST(happened_at AS DATE) = DATE '2024-03-04'),
     m AS (SELECT COUNT(DISTINCT user_id) AS mau FROM events WHERE happened_at >= '2024-03-01' AND happened_at < '2024-04-01')
SELECT 1.0 * dau / mau AS stickiness FROM d, m;

-- name: funnel
SELECT COUNT(DISTINCT CASE WHEN page = 'home' THEN user_id END) AS home,
       COUNT(DISTINCT CASE WHEN page = 'product' THEN user_id END) AS product,
       COUNT(DISTINCT CASE WHEN page = 'checkout' THEN user_id END) AS checkout
FROM events;

-- name: funnel as conversion
SELECT 100.0 * COUNT(*) FILTER (WHERE saw_checkout = 1) / COUNT(*) AS conversion
FROM (SELECT user_id, MAX(CASE WHEN page = 'checkout' THEN 1 ELSE 0 END) AS saw_checkout FROM events GROUP BY user_id) AS u;

-- name: funnel steps, one below the other
SELECT 'viewed' AS step, COUNT(DISTINCT user_id) AS users FROM events WHERE page = 'product'
UNION ALL SELECT 'cart', COUNT(DISTINCT user_id) FROM events WHERE page = 'cart'
UNION ALL SELECT 'bought', COUNT(DISTINCT user_id) FROM orders;

-- name: people who never ordered
SELECT source, COUNT(*) AS n FROM people WHERE id NOT IN (SELECT user_id FROM orders) GROUP BY source ORDER BY source;

-- name: buyers who reviewed
SELECT COUNT(DISTINCT o.user_id) AS n FROM orders o WHERE EXISTS (SELECT 1 FROM reviews r WHERE r.user_id = o.user_id);

-- name: repeat buyers
SELECT SUM(CASE WHEN n > 1 THEN 1 ELSE 0 END) * 100.0 / COUNT(*) AS repeat_rate
FROM (SELECT user_id, COUNT(*) AS n FROM orders GROUP BY user_id) AS t;

-- name: orders per person
SELECT CASE WHEN n = 1 THEN 'one' WHEN n <= 5 THEN 'few' ELSE 'many' END AS kind, COUNT(*) AS people
FROM (SELECT user_id, COUNT(id) AS n FROM orders GROUP BY user_id) AS t
GROUP BY 1
ORDER BY people DESC;

-- name: lifetime value by source
SELECT p.source, AVG(t.value) AS ltv
FROM people p JOIN (SELECT user_id, LEAST(SUM(subtotal), 3000) AS value FROM orders GROUP BY user_id) t ON t.user_id = p.id
GROUP BY p.source
ORDER BY ltv DESC;

-- name: cohorts by month of signup
SELECT DATE_TRUNC('quarter', p.created_at) AS cohort,
       COUNT(DISTINCT p.id) AS size, COUNT(o.id) AS orders, SUM(o.subtotal) AS revenue
FROM people p LEFT JOIN orders o ON o.user_id = p.id
GROUP BY 1
ORDER BY 1;

-- name: retention after a month
SELECT DATEDIFF('month', p.created_at, o.created_at) AS months_since, COUNT(DISTINCT o.user_id) AS users
FROM people p JOIN orders o ON p.id = o.user_id
WHERE DATEDIFF('month', p.created_at, o.created_at) BETWEEN 0 AND 12
GROUP BY 1
ORDER BY 1;

-- name: days to the first order
SELECT AVG(DATEDIFF('day', p.created_at, f.first_order)) AS days
FROM people p JOIN (SELECT user_id, MIN(created_at) AS first_order FROM orders GROUP BY user_id) f ON f.user_id = p.id;

-- name: net revenue
SELECT SUM(subtotal + tax - COALESCE(discount, 0)) AS net, SUM(discount) AS given FROM orders WHERE status <> 'cancelled';

-- name: ratings as stars
-- refused: write + - * /, comparisons, CASE, COALESCE, NULLIF
SELECT rating, COUNT(*) AS n, RPAD('', 1, '*') AS star FROM reviews GROUP BY rating ORDER BY rating DESC;

-- name: words in reviews
SELECT COUNT(*) AS praising FROM reviews WHERE LOWER(body) LIKE '%great%' OR body ILIKE 'TRÈS%' OR body = 'très bien';

-- name: mail domains
SELECT COUNT(*) AS n FROM people WHERE email LIKE '%@example.com';

-- name: mail domains by a function
-- refused: write SUBSTRING(name, 1, 3), with whole numbers from 1 to
SELECT SUBSTRING(email, POSITION('@' IN email) + 1, 20) AS domain, COUNT(*) AS n FROM people GROUP BY 1 ORDER BY n DESC;

-- name: states with their names
-- refused: write the position of the calculation, as in GROUP BY 1, or
SELECT COALESCE(state, 'n/a') AS state, COUNT(*) AS people, ROUND(AVG(age), 0) AS age FROM people GROUP BY state ORDER BY people DESC;

-- name: sessions
SELECT COUNT(*) AS sessions FROM (SELECT DISTINCT user_id, session FROM events) AS s;

-- name: time on page
SELECT page, AVG(seconds) AS mean, MEDIAN(seconds) AS median, MAX(seconds) AS longest FROM events GROUP BY page ORDER BY page;

-- name: bounce
SELECT COUNT(*) FILTER (WHERE views = 1) / COUNT(*) AS bounce_rate
FROM (SELECT user_id, session, COUNT(*) AS views FROM events GROUP BY user_id, session) AS s;

-- name: product with the best rating
SELECT product_id, AVG(rating) AS stars FROM reviews GROUP BY product_id ORDER BY stars DESC LIMIT 1;

-- name: rank of categories
SELECT category, revenue, RANK() OVER (ORDER BY revenue DESC) AS place
FROM (SELECT p.category, SUM(o.subtotal) AS revenue FROM orders o JOIN products p ON p.id = o.product_id GROUP BY p.category) AS c
ORDER BY place;

-- name: pareto of products
WITH r AS (SELECT product_id, SUM(subtotal) AS revenue FROM orders GROUP BY product_id)
SELECT COUNT(*) AS products FROM r WHERE revenue > 0.05 * (SELECT SUM(revenue) FROM r);

-- name: alert when few
SELECT COUNT(*) < 100 AS alert FROM orders WHERE created_at = '2024-11-29';

-- name: average per day
SELECT AVG(n) AS mean_per_day FROM (SELECT created_at, COUNT(*) AS n FROM orders WHERE created_at BETWEEN '2024-01-01' AND '2024-03-31' GROUP BY created_at) AS d;

-- name: latest orders
-- never: add it to GROUP BY, or take COUNT, SUM or AVG of it
SELECT id, user_id, subtotal FROM orders ORDER BY created_at DESC LIMIT 20;

-- name: best customers
-- never: ask without GROUP BY id
SELECT p.name, SUM(o.subtotal) AS spent FROM people p JOIN orders o ON o.user_id = p.id GROUP BY p.id, p.name ORDER BY spent DESC LIMIT 10;

-- name: mails to write to
-- never: add it to GROUP BY, or take COUNT, SUM or AVG of it
SELECT email FROM people WHERE state = 'NY';

-- name: products bought together
-- never: equate the persons of both sides, as in ON a.user_id =
SELECT COUNT(*) AS pairs FROM orders a JOIN orders b ON a.created_at = b.created_at AND a.product_id < b.product_id;
