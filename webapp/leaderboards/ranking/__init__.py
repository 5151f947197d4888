"""Rows of boards and their orders, all pairs with intervals of ranks, and weights that a reader gives to slices."""
