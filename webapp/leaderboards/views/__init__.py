"""Views of leaderboards."""
