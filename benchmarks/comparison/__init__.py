"""The same small work by this package and by its peers, each in an environment of its own."""
