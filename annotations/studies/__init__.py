"""What a study asks: its sample, plan and filter, when it is open, and what of it is published."""
