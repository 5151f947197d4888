"""How bAbI was published, and how we write and read it so."""
