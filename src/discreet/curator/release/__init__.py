"""What an answer is, what it promises, and what it will cost."""
