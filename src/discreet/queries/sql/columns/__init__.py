"""What a SELECT shows: columns, keys, totals, windows over the answer, order and limit."""
