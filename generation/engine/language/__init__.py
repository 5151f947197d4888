"""Question texts: families of wordings, their files, writing and recognising texts, and words as numbers."""
