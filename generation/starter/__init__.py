"""A world of its own package."""
