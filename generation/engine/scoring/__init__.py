"""Scores, intervals, comparisons, votes, and guesses that use no picture."""
