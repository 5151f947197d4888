"""How methods are read beyond a board: slices, comparisons, curves, questions, skipped steps."""
