"""Scores, intervals, comparisons, votes, and guesses without pictures."""
