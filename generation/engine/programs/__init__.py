"""Programs: what they demand, which steps they can lose, and answers with a step left out."""
