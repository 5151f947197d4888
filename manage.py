#!/usr/bin/env python3
"""Horsesense's command line: `python manage.py help` lists what there is."""

import gc
import os
import sys

OLDEST, TOO_NEW = (3, 11), (3, 14)


def main():
    """Run the command named on the command line; in words that old Pythons read too, so that they get this far."""
    if not OLDEST <= sys.version_info[:2] < TOO_NEW:
        sys.exit(unsupported(sys.version_info[:2]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    gc.set_threshold(50000)  # modules are no garbage; to look for it after every 700 objects takes a sixth of a start
    try:
        import django
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import ManagementUtility
    except ImportError as error:
        sys.exit(
            refused(
                "Expected the packages of requirements.txt in this Python, got none (%s): "
                "run `make .venv` and then .venv/bin/python manage.py ..." % error
            )
        )
    utility = ManagementUtility(sys.argv)
    try:
        if sys.argv[1:2] == ["version"]:  # otherwise Django prints its own
            django.setup()
            utility.fetch_command("version").run_from_argv(sys.argv)
        else:
            utility.execute()
    except ImproperlyConfigured as error:
        sys.exit(refused(str(error)))


def unsupported(version):
    """Return exit status 2 after saying in one line which Pythons will do."""
    return refused(
        "Expected Python 3.11, 3.12 or 3.13, got %d.%d (%s): "
        "use another one, for example `make PYTHON=python3.12 .venv`" % (version[0], version[1], sys.executable)
    )


def refused(line):
    sys.stderr.write(line + "\n")
    return 2


if __name__ == "__main__":
    main()
