"""What the API takes and answers, as JSON."""
