"""Reading files that other people published, with limits on what JSON may hold."""
