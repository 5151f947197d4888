"""Charts of the analysis as Vega-Lite: slices, differences, learning curves, and training sizes over k."""
