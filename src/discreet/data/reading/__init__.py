"""How stored values, frames and files are read: every value in a form that cannot fail."""
