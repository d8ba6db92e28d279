"""SELECT over tables of answers."""
