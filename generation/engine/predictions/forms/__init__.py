"""The forms of prediction files: what each of them is recognised by, and its reader.

Each reader yields records with named columns, except for plain lines. `records` chooses the column of ids and the
column of answers, with the same rules for all forms.
"""
