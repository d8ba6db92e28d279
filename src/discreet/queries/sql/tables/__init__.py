"""The tables of a FROM clause: how they join, and what their columns are called."""
