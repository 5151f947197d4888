"""Analysis of methods beyond a board: slices, comparisons, curves, questions, skipped steps."""
