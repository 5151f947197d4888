"""What participants do: sessions, slots, questions, rules of exclusion, timing."""
