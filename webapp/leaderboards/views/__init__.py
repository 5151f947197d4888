"""The pages of leaderboards."""
