"""Question texts: families of wordings, their files, writing and recognising them, words as numbers."""
