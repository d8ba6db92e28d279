"""What a request can say: expressions, relations, measures, plans, declarations."""
