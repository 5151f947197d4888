"""What a split is made of: filters, sealing, overlap with train, question sets, withheld answers."""
