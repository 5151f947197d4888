"""Training methods of the site: orders, examples, the process that trains, and what it leaves."""
