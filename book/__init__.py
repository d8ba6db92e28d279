"""The book and the release: the site with its reference, lectures and pictures; packages that were tried."""
