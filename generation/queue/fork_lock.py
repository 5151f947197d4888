"""A lock that delays forks while a thread has SQLite open.

SQLite keeps a record of its file locks in the memory of the process. If a process forks while another of its threads
has a database file open, the forked process inherits this record, and nobody ever releases the inherited locks. For
the forked process, the database stays locked.
"""

import os
import threading

no_forks = threading.RLock()  # a process that forks holds it while one of its threads has SQLite open; forks wait

os.register_at_fork(before=no_forks.acquire, after_in_parent=no_forks.release, after_in_child=no_forks.release)
