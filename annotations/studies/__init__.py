"""What a study asks: its sample, plan and filter, when it is open, and what it may publish."""
