"""Orders of a board's rows beside that by accuracy: intervals of ranks, and weights that a reader gives to slices."""
