"""How a question would be answered, in words."""
