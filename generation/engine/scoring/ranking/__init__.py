"""Orders of methods: all pairs compared on the same questions, intervals of ranks, and the Pareto front."""
