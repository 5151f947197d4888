"""Replies of models: their thoughts, and the answer that the rest of a reply asserts.

The modules need only the standard library of Python 3.9, because `static/ask.py` is built from them, too.
"""
