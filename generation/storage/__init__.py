"""What is kept: files, the index of a split, rows as the engine's items, pictures, and limits of space."""
