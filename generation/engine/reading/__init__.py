"""Reading published files, with limits on JSON."""
