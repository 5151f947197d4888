"""Rows of boards and their orders: by accuracy, by intervals of ranks, and by weights that a reader gives to slices."""
