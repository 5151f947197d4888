"""Studies: the sample, the plan and the filter, opening and closing, and the share that is published."""
