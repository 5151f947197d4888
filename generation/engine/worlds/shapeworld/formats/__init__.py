"""How ShapeWorld's datasets are written for other people's programs."""
