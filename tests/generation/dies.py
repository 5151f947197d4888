"""A child process that kills itself with the signal in `LANG`, as if a fault in a parser had crashed it."""

import os

if __name__ == "__main__":
    os.kill(os.getpid(), int(os.environ["LANG"]))
