"""Forking while nobody has SQLite open.

SQLite keeps account of its files' locks in the process. One that is forked while another thread has a file open
inherits that account, with locks that nobody will ever give back: for the forked process the database stays locked.
"""

import os
import threading

no_forks = threading.RLock()  # hold it while a thread of a process that forks has SQLite open; forks wait

os.register_at_fork(before=no_forks.acquire, after_in_parent=no_forks.release, after_in_child=no_forks.release)
