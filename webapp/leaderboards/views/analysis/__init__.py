"""Pages that analyse boards: slices, comparisons, curves, grids, metrics, single questions."""
