"""Networks that answer "how many" questions, which Dancette et al. 2020 compare.

Dancette, Cadene, Chen and Cord 2020, Overcoming Statistical Shortcuts for Open-ended Visual Counting, section 4 and
appendix 6.2.
"""
