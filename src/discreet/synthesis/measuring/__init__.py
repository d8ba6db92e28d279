"""The private steps: exact tables, the noise on them, and the choice among them."""
