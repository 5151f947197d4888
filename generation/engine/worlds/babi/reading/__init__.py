"""A reader of stories that knows only their sentences, and nothing about how they were made.

It finds the meaning of sentences slowly and plainly, to prove events and programs. It understands our own sentences and
those of the released data.
"""
