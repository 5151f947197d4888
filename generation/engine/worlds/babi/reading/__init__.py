"""Reading stories as a stranger would: from their sentences alone, knowing nothing of how they were made.

What is said is worked out slowly and plainly, to prove what events and programs claim. Understood are our own
sentences and those of the released data.
"""
