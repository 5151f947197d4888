"""A reader of stories that knows only their sentences, and nothing about how they were made.

It finds the meaning of sentences by slow and simple rules, to prove events and programs. It understands the sentences
of this package and those of the released data.
"""
