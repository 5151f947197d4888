"""The sessions of participants: slots, questions, exclusion rules and timing."""
