"""The model's server: its address, its interfaces, its errors and its limits."""
