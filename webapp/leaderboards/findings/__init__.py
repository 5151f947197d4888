"""Findings: results of papers, reproduced on this site, with statements that hold or do not hold.

`definitions` reads the JSON file of each finding. `finding_run` makes its datasets, trains its methods and judges its
statements with the figures of `figure_reader`. `records` reads and writes records. `pages` has the content of the
pages, which show the figures of a record beside those of the paper, and `chart` has their charts.
"""
