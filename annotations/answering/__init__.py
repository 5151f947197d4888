"""Participants' sessions: slots, questions, exclusion rules and timing."""
