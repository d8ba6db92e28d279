"""Windows over an answer: which rows they see, and what their values can be."""
