"""What is public about every column of a request, and what is refused because of it."""
