"""Charts of a dataset: counts, Vega-Lite specs, and drawing them in a child process."""
