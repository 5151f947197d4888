"""Views of studies."""
