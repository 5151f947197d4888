"""Storage: files, the indexes of splits, rows as the engine's items, pictures, and limits of space."""
