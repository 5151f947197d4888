"""Metrics of counts: errors of numbers, grounding of boxes, and guesses from distributions of answers."""
