"""Fresh twins on boards: their suite, the gap between a split and its twins, and who may make them."""
